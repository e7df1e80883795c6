import { z } from 'zod'
import type { EventRecord } from '../../domain/event.ts'
import type { VenueRecord } from '../../domain/venue.ts'
import type { Condition } from './condition.ts'
import { condition } from './condition.ts'
import type { ColumnSource, CountSource, DateSource, FieldSource, Labels } from './field-source.ts'
import { columnOnly, countSource, dateSource, fieldSource } from './field-source.ts'

/** What the file says of a field: undefined leaves it as the CRM's stock mapping has it, null drops it. */
type Override<Source> = Source | null | undefined

export type EventOverrides = {
  readonly [Name in keyof EventRecord]?: Name extends 'Id'
    ? ColumnSource | undefined
    : Name extends 'Start' | 'Finish'
      ? Override<DateSource>
      : Name extends 'TicketCapacity' | 'TicketsAvailable'
        ? Override<CountSource>
        : Override<FieldSource>
}

export type VenueOverrides = {
  readonly [Name in keyof VenueRecord]?: Name extends 'Id' ? ColumnSource | undefined : Override<FieldSource>
}

const STOCK = { shown: 'the stock column', description: 'Where the field comes from; null drops it.' }

type Overridable<Source> = z.ZodOptional<z.ZodNullable<z.ZodType<Source>>>

const field = (labels: Labels): Overridable<FieldSource> => fieldSource(labels).nullable().optional().meta(STOCK)
const count = (labels: Labels): Overridable<CountSource> => countSource(labels).nullable().optional().meta(STOCK)
const date = (labels: Labels): Overridable<DateSource> => dateSource(labels).nullable().optional().meta(STOCK)
const id = (): z.ZodOptional<z.ZodType<ColumnSource>> => columnOnly().optional().meta(STOCK)

/** `events.fields`. */
export function eventFields(labels: Labels): z.ZodType<EventOverrides> {
  return z
    .strictObject({
      Id: id(),
      Name: field(labels),
      VenueId: field(labels),
      TicketCapacity: count(labels),
      TicketsAvailable: count(labels),
      Start: date(labels),
      Finish: date(labels),
      Price: field(labels),
      Tags: field(labels),
      Links: field(labels),
    })
    .prefault({})
}

/** `venues.fields`. */
export function venueFields(labels: Labels): z.ZodType<VenueOverrides> {
  return z
    .strictObject({
      Id: id(),
      Name: field(labels),
      AddressStreet1: field(labels),
      AddressStreet2: field(labels),
      AddressStreet3: field(labels),
      AddressCity: field(labels),
      AddressPostalCode: field(labels),
      AddressState: field(labels),
      AddressCountry: field(labels),
      Longitude: field(labels),
      Latitude: field(labels),
      Telephone: field(labels),
      Description: field(labels),
      Website: field(labels),
      Links: field(labels),
    })
    .prefault({})
}

/** `active` or `showOnWeb`: undefined leaves the stock condition, null is none. */
export function override(description: string): z.ZodType<Condition | null | undefined> {
  return condition().nullable().optional().meta({ shown: 'the stock condition', description })
}
