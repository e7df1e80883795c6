import { EVENT_FIELDS } from '../../domain/event.ts'
import { VENUE_FIELDS } from '../../domain/venue.ts'

export type ListName = 'events' | 'venues'

/** The columns that a file of each list may have; they are called as the contract calls the fields, in that very case. */
export const LIST_COLUMNS: Readonly<Record<ListName, readonly string[]>> = {
  events: [...EVENT_FIELDS.map((field) => field.name), 'Links', 'Active', 'ShowOnWeb'],
  venues: [...VENUE_FIELDS.map((field) => field.name), 'Links', 'Active'],
}
