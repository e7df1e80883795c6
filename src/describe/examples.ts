import { parseDateTimeText } from '../domain/date-time.ts'
import type { DateTime } from '../domain/date-time.ts'
import type { EventRecord } from '../domain/event.ts'
import { EVENTS } from '../domain/event.ts'
import type { Field, FieldType, ListName } from '../domain/field.ts'
import type { Guid } from '../domain/guid.ts'
import { parseGuid } from '../domain/guid.ts'
import type { Decimal } from '../domain/number.ts'
import { parseDecimal } from '../domain/number.ts'
import type { VenueRecord } from '../domain/venue.ts'
import { VENUES } from '../domain/venue.ts'
import type { Zone } from '../domain/zone.ts'
import { showInstant } from '../domain/zone.ts'
import type { Formatter } from '../formats/format.ts'
import type { Shape } from '../formats/media-types.ts'
import { recordsOf } from '../formats/page-frame.ts'

/** The bodies of the sample's event and venue, as this instance would send them. */
export class Examples {
  readonly #formatter: Formatter
  readonly #event: EventRecord
  readonly #venue: VenueRecord

  constructor(formatter: Formatter, zone: Zone) {
    this.#formatter = formatter
    this.#event = eventOf(new Values(EVENTS.fields, zone))
    this.#venue = venueOf(new Values(VENUES.fields, zone))
  }

  record(list: ListName, shape: Shape): string {
    return list === 'events' ? this.#formatter.event(this.#event, shape) : this.#formatter.venue(this.#venue, shape)
  }

  id(list: ListName): string {
    return list === 'events' ? this.#event.Id : this.#venue.Id
  }

  /** A page of one record. */
  page(list: ListName, shape: Shape): string {
    const { before, after } = this.#formatter.frame({ list, self: `~/${list}`, next: null, isEmpty: false }, shape)
    return `${before}${this.record(list, shape).slice(recordsOf(shape).skip)}${after}`
  }
}

/** The examples of a table's fields, read as a CRM's values are. */
class Values<Name extends string> {
  readonly #fields: readonly (Field & { readonly name: Name })[]
  readonly #zone: Zone

  constructor(fields: readonly (Field & { readonly name: Name })[], zone: Zone) {
    this.#fields = fields
    this.#zone = zone
  }

  text(name: Name): string | null {
    const value = this.#read(name, 'text')
    return typeof value === 'string' ? value : null
  }

  int32(name: Name): number {
    return Number(this.#read(name, 'int32'))
  }

  tags(name: Name): readonly string[] {
    const value = this.#read(name, 'tags')
    return Array.isArray(value) ? value.map(String) : []
  }

  guid(name: Name): Guid {
    return parsed(name, parseGuid(String(this.#read(name, 'guid'))))
  }

  decimal(name: Name): Decimal {
    return parsed(name, parseDecimal(this.#example(name, 'decimal')))
  }

  dateTime(name: Name): DateTime {
    const read = parseDateTimeText(String(this.#read(name, 'date-time')))
    return parsed(name, read?.kind === 'instant' ? showInstant(read.instant, this.#zone) : null)
  }

  #read(name: Name, type: FieldType): unknown {
    return JSON.parse(this.#example(name, type))
  }

  #example(name: Name, type: FieldType): string {
    return parsed(name, this.#fields.find((field) => field.name === name && field.type === type)?.example ?? null)
  }
}

function parsed<Value>(name: string, value: Value | null): Value {
  if (value === null) throw new Error(`the example of ${name} is not a value of its type`)
  return value
}

function eventOf(values: Values<(typeof EVENTS.fields)[number]['name']>): EventRecord {
  return {
    Id: values.guid('Id'),
    Name: values.text('Name'),
    VenueId: values.guid('VenueId'),
    TicketCapacity: values.int32('TicketCapacity'),
    TicketsAvailable: values.int32('TicketsAvailable'),
    Start: values.dateTime('Start'),
    Finish: values.dateTime('Finish'),
    Price: values.decimal('Price'),
    Tags: values.tags('Tags'),
    Links: [],
  }
}

function venueOf(values: Values<(typeof VENUES.fields)[number]['name']>): VenueRecord {
  return {
    Id: values.guid('Id'),
    Name: values.text('Name'),
    AddressStreet1: values.text('AddressStreet1'),
    AddressStreet2: values.text('AddressStreet2'),
    AddressStreet3: values.text('AddressStreet3'),
    AddressCity: values.text('AddressCity'),
    AddressPostalCode: values.text('AddressPostalCode'),
    AddressState: values.text('AddressState'),
    AddressCountry: values.text('AddressCountry'),
    Longitude: values.decimal('Longitude'),
    Latitude: values.decimal('Latitude'),
    Telephone: values.text('Telephone'),
    Description: values.text('Description'),
    Website: values.text('Website'),
    Links: [],
  }
}
