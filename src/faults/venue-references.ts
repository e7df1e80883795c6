import type { ListSuspicions } from '../crm/mapping/suspicions.ts'
import { nearestName } from '../domain/nearest-name.ts'
import { type Guid, EMPTY_GUID } from '../domain/guid.ts'
import type { Suspicion } from '../domain/withheld.ts'
import { howMany } from '../domain/printable.ts'
import type { ServedLists } from '../sync/served-list.ts'
import { yieldToEventLoop } from '../time/waiting.ts'

type Texts = Readonly<Record<keyof ListSuspicions, Pick<ListSuspicions['events'], 'venueTexts'>>>

type IdTexts = ListSuspicions['events']['venueTexts']

const MOST_TEXTS = 20
/** What is suspicious in events that name venues, if the list of venues is empty. */
export const NO_VENUES = 'matches no venue: the list of venues is empty, so every /venue answers 404'
/** The most venues that a text is compared with. More would delay requests. */
const MOST_COMPARED = 2000

/** Returns the VenueId texts that match no venue, most frequent first. Empty until both lists were read. */
export async function unmatchedVenues(lists: ServedLists, texts: Texts): Promise<readonly Suspicion[]> {
  const { events, venues } = lists
  const known = texts.events.venueTexts
  const isHeld = (venue: Guid): boolean => venues.list.find(venue) !== null
  if (!events.isLoaded || !venues.isLoaded) return []
  if (venues.list.size === 0) return venueless(lists, known)
  const unmatched = new Map([...known].flatMap(([venue]) => (isHeld(venue) ? [] : [[venue, 0]])))
  // Usually all match, and no row needs to be looked at.
  if (unmatched.size === 0) return []
  await events.list.someServed(({ venue }) => {
    const count = unmatched.get(venue)
    if (count !== undefined) unmatched.set(venue, count + 1)
    return false
  }, yieldToEventLoop)
  for (const [venue, count] of unmatched) if (count === 0) known.delete(venue)
  const counts = [...unmatched].filter(([venue, count]) => count > 0 && !isHeld(venue))
  const byCount = counts.toSorted(([, left], [, right]) => right - left)
  const suspicions: Suspicion[] = []
  const names = [...texts.venues.venueTexts]
    .flatMap(([venue, { text }]) => (isHeld(venue) ? [text] : []))
    .slice(0, MOST_COMPARED)
  for (const [venue, count] of byCount.slice(0, MOST_TEXTS)) {
    suspicions.push(suspicionOf(venue, count, lists, known, names))
    await yieldToEventLoop()
  }
  const more = byCount.slice(MOST_TEXTS)
  const count = more.reduce((sum, [, rows]) => sum + rows, 0)
  const example = `${howMany(more.length, 'text')} besides those above`
  const what = 'contains more texts that match no venue'
  return count === 0 ? suspicions : [...suspicions, { column: known.column, what, count, example, where: null }]
}

/** The events that name a venue, if there are no venues at all; empty if no event names one. */
async function venueless({ events }: ServedLists, known: IdTexts): Promise<readonly Suspicion[]> {
  let count = 0
  await events.list.someServed(({ venue }) => {
    if (venue !== EMPTY_GUID) count++
    return false
  }, yieldToEventLoop)
  if (count === 0) return []
  const [first] = known
  const where = first?.[1].rows.values().next().value ?? null
  return [
    { column: known.column === '' ? 'VenueId' : known.column, what: NO_VENUES, count, example: where ?? '', where },
  ]
}

function suspicionOf(
  venue: Guid,
  count: number,
  { events }: ServedLists,
  known: IdTexts,
  venues: readonly string[],
): Suspicion {
  const { text = venue, rows = new Map<Guid, string>() } = known.get(venue) ?? {}
  const places: string[] = []
  for (const [id, where] of rows) {
    if (events.list.get(id)?.VenueId === venue) places.push(where)
    else rows.delete(id)
  }
  const near = nearestName(text, venues)
  const hint = near === null ? 'none is similar' : `the nearest is ${JSON.stringify(near)}`
  return {
    column: known.column,
    what: `is ${JSON.stringify(text)}, which matches no venue; ${hint}`,
    count,
    example: `${places.join('; ')}${count > places.length ? '; …' : ''}`,
    where: places[0] ?? null,
  }
}

/** Describes the events whose venue is withheld, in one sentence; `null` if there are none. */
export function withheldVenues({ events, venues }: ServedLists, texts: Texts): string | null {
  let count = 0
  let first: { readonly event: Guid; readonly venue: Guid } | null = null
  for (const { id: event, key } of events.list.rows()) {
    const venue = key?.venue ?? EMPTY_GUID
    if (venue === EMPTY_GUID || venues.list.find(venue)?.isServed !== false) continue
    count++
    if (first === null || event < first.event) first = { event, venue }
  }
  if (first === null) return null
  const { event, venue } = first
  const text = texts.events.venueTexts.get(venue)?.text ?? venue
  const place = texts.events.venueTexts.get(venue)?.rows.get(event) ?? event
  const where = venues.list.find(venue)?.withheld?.where ?? ''
  const fact = `venue ${JSON.stringify(text)} (${where}), which is not served`
  if (count === 1) return `event ${event} (${place}) refers to ${fact}: its /venue answers 404`
  return `${howMany(count, 'event')} refer to venues that are not served, so their /venue answers 404; the first is ${event} (${place}), which refers to ${fact}`
}
