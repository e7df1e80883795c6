import type { ListName } from '../domain/field.ts'

/** A resource with query parameters: a list, or the calendar of events (contract §4.1, §6). */
export type Listing = ListName | 'calendar'

/** The largest `limit` of each listing, and its default. */
export const LIMITS: Readonly<Record<Listing, { readonly most: number; readonly usual: number }>> = {
  events: { most: 200, usual: 50 },
  venues: { most: 200, usual: 50 },
  calendar: { most: 1000, usual: 1000 },
}

/** The values that each parameter accepts, as the end of a sentence. */
const TAKES = {
  from: 'a date such as 2026-07-12, or a date-time with an offset such as 2026-07-12T19:30:00+01:00 (its + written %2B) or 2026-07-12T18:30Z',
  to: 'a date such as 2026-07-12, or a date-time with an offset such as 2026-07-12T19:30:00+01:00 (its + written %2B) or 2026-07-12T18:30Z, not before from',
  venue:
    'the id of a venue, a GUID such as 5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34 and not the empty one; it may be repeated',
  tag: 'a tag, which must not be empty; it may be repeated',
  available: 'only true',
  limit: (listing: Listing) => `a whole number from 1 to ${LIMITS[listing].most} without leading zeros`,
  include: 'only venue',
  after: 'the value of after in a next link of this list, unchanged',
} as const

export type ListParameter = keyof typeof TAKES

/** Returns the values that a parameter accepts in this listing, as the end of a sentence. */
export function takenBy(name: ListParameter, listing: Listing): string {
  const takes = TAKES[name]
  return typeof takes === 'string' ? takes : takes(listing)
}

/** The parameters of each list, in the order of links (contract §4.1). */
export const LIST_PARAMETERS: Readonly<Record<Listing, readonly ListParameter[]>> = {
  events: ['from', 'to', 'venue', 'tag', 'available', 'limit', 'include', 'after'],
  venues: ['limit', 'after'],
  calendar: ['from', 'to', 'venue', 'tag', 'available', 'limit'],
}
