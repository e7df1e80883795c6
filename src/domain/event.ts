import type { DateTime } from './date-time.ts'
import type { Decimal } from './decimal.ts'
import type { Field } from './field.ts'
import type { Guid } from './guid.ts'
import type { Link } from './link.ts'

/** An event that may be shown, its values canonical (contract §2). `VenueId` is the empty GUID where none is assigned yet. */
export interface EventRecord {
  readonly Id: Guid
  readonly Name: string | null
  readonly VenueId: Guid
  readonly TicketCapacity: number
  readonly TicketsAvailable: number
  readonly Start: DateTime
  readonly Finish: DateTime
  readonly Price: Decimal
  readonly Tags: readonly string[]
  /** Only those the CRM's row carries; `self`, `venue` and the operator's are added when it is formatted (contract §2.1). */
  readonly Links: readonly Link[]
}

export type EventField = Exclude<keyof EventRecord, 'Links'>

/** The fields of an event in declaration order (contract §2). */
export const EVENT_FIELDS: readonly Field<EventField>[] = [
  { name: 'Id', type: 'guid' },
  { name: 'Name', type: 'text' },
  { name: 'VenueId', type: 'guid' },
  { name: 'TicketCapacity', type: 'int32' },
  { name: 'TicketsAvailable', type: 'int32' },
  { name: 'Start', type: 'date-time' },
  { name: 'Finish', type: 'date-time' },
  { name: 'Price', type: 'decimal' },
  { name: 'Tags', type: 'tags' },
]
