import type { EventRecord } from '../../domain/event.ts'
import type { VenueRecord } from '../../domain/venue.ts'
import type { Refusal } from './refusal.ts'

/** Reads one thing of a row, or says why the row cannot be served. */
export type Reader<Row, Value> = (row: Row) => Value | Refusal

/** How the rows of one list become records: made once from names and settings, then run for each row. */
export interface ListMapping<Row, Item> {
  readonly fields: { readonly [Name in keyof Item]: Reader<Row, Item[Name]> }
  /** Whether the row is in the list at all, asked in this order once its id is known; null where it is. */
  readonly conditions: readonly ((row: Row) => Refusal | null)[]
}

export type EventMapping<Row> = ListMapping<Row, EventRecord>
export type VenueMapping<Row> = ListMapping<Row, VenueRecord>
