import { trimWhiteSpace } from '../domain/white-space.ts'
import { type Column, isMoment } from './column.ts'
import { EVENT_NAMES, isNamed, named } from './field-names.ts'
import { hasOneEach } from './id-columns.ts'
import { type Line, counted, example, lineOf, OPEN } from './line.ts'
import { howMany } from '../domain/printable.ts'

/** How events refer to venues: `from` in the events holds the values of `id` in the venues. */
export interface VenueLink {
  readonly from: Column
  readonly id: Column
  /** How many of the events' values match a venue, and how many match if case and blanks are ignored. */
  readonly found: number
  readonly nearly: number
  /** Whether enough values match. */
  readonly isSure: boolean
}

/** The most columns tested as ids. */
const MOST_IDS = 64

export function linkOf(events: readonly Column[], venues: readonly Column[]): VenueLink | null {
  const froms = events
    .filter((from) => from.filled > 0 && !isMoment(from) && from.kind !== 'time')
    .map((from) => ({ from, texts: from.texts.map(({ text, count }) => ({ text, count, loose: loosely(text) })) }))
  let best: VenueLink | null = null
  let most = 0
  for (const id of venues.filter(hasOneEach).slice(0, MOST_IDS)) {
    // White space at the ends of an id does not count.
    const values = new Set(id.texts.map(({ text }) => trimWhiteSpace(text)))
    const looseValues = new Set(id.texts.map(({ text }) => loosely(text)))
    for (const { from, texts } of froms) {
      const isVenue = isNamed(from, EVENT_NAMES.VenueId)
      if (!isVenue && (isNamed(from, EVENT_NAMES.Name) || isSameColumn(from, id))) continue
      let [found, nearly] = [0, 0]
      for (const { text, loose, count } of texts) {
        if (values.has(trimWhiteSpace(text))) found += count
        if (looseValues.has(loose)) nearly += count
      }
      const isSure = found > from.filled * 0.8
      // A few values in common may be chance, unless the column's name fits.
      if (!isSure && !isVenue) continue
      // Numbers may match by chance, so a column of names counts more.
      const share = (found + nearly / 1000) / from.filled
      const isId = isVenue || (from.name.endsWith('.id') && id.name === 'id')
      const score = share * (from.kind === 'number' && !isId ? 0.5 : 1)
      if (score > most) [best, most] = [{ from, id, found, nearly, isSure }, score]
    }
  }
  return best
}

/** One file may hold both lists. What is different in each of its rows is no link. */
function isSameColumn(from: Column, id: Column): boolean {
  return from.name === id.name && hasOneEach(from)
}

function loosely(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, '')
}

export function venueIdOf(columns: readonly Column[], link: VenueLink | null, venuesAreKnown: boolean): Line | null {
  const filled = columns.filter((column) => column.filled > 0)
  const from = link?.from ?? named(filled, EVENT_NAMES.VenueId)
  if (from === null || (link === null && !venuesAreKnown)) return null
  if (link?.isSure === true) {
    return lineOf('VenueId', from, `its values are in ${link.id.name} of the venues; ${example(from)}`)
  }
  const nearly =
    link === null || link.nearly === link.found
      ? ''
      : ` (${counted(link.nearly)} if case and blanks are ignored, but ids must match exactly)`
  const held = `${counted(link?.found ?? 0)} of ${howMany(from.filled, 'row')} ${link?.found === 1 ? 'matches' : 'match'} a row of the venues file${nearly}`
  return { key: 'VenueId', value: OPEN, evidence: `Is it ${from.name}? ${held}. Name the column here, or write null.` }
}
