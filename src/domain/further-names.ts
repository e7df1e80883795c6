import { EVENTS } from './event.ts'
import { type ListName, LINKS } from './field.ts'
import { VENUES } from './venue.ts'

/** What a further field may be called (contract §7). */
export const FURTHER_NAME = /^[A-Z][A-Za-z0-9]{0,63}$/

/** Members that records and lists have besides their fields. */
const MEMBERS = [LINKS.name, 'Rel', 'Href', 'LinkName', 'Events', 'Venues']

const TAKEN: Readonly<Record<ListName, readonly string[]>> = {
  events: [...EVENTS.fields.map(({ name }) => name), ...MEMBERS],
  venues: [...VENUES.fields.map(({ name }) => name), ...MEMBERS],
}

/** Returns the contract's name that a further field would repeat, ignoring case; `null` if it repeats none. */
export function takenName(list: ListName, name: string): string | null {
  return TAKEN[list].find((taken) => taken.toLowerCase() === name.toLowerCase()) ?? null
}
