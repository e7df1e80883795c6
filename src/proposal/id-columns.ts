import { type Column, countOf, isMoment } from './column.ts'
import { EVENT_NAMES, named, isNamed } from './field-names.ts'
import { type Line, counted, example, lineOf, OPEN } from './line.ts'
import { howMany } from '../domain/printable.ts'
import { trimWhiteSpace } from '../domain/white-space.ts'

/**
 * Returns true if the column has a different value in each row, apart from a few blank ones such as a sum below the
 * list.
 */
function hasOneEach({ isDistinct, filled, cells: { length: rows } }: Column): boolean {
  const blank = rows - filled
  return isDistinct && (blank === 0 || (rows > 3 && blank <= Math.max(1, rows * 0.02)))
}

export function idField(columns: readonly Column[], linked: Column | null = null): Column | null {
  const unique = columns.filter(hasOneEach)
  const [first] = columns
  const called = first !== undefined && unique.includes(first) && ENDS_WITH_ID.test(first.name) ? first : null
  return linked ?? unique.find(({ isGuid }) => isGuid) ?? named(unique, EVENT_NAMES.Id) ?? called
}

/** Matches the name of a first column such as `Perf. ID`, `Show No.` and `showId`. */
const ENDS_WITH_ID = /(?:(?<!\p{L})(?:[Ii][Dd]|[Nn][Rr]|[Nn][Oo]|[Nn][º°]|№)|\p{Ll}I[dD])\.?$/u

export function idLine(id: Column | null, columns: readonly Column[]): Line {
  if (id !== null) {
    const { filled, isGuid, cells } = id
    const blank = cells.length === filled ? '' : ` in ${howMany(cells.length, 'row')}`
    const evidence = `${howMany(filled, 'different value')}${blank}${isGuid ? ', all GUIDs' : ''}; ${example(id)}`
    return lineOf('Id', id, evidence)
  }
  const question =
    'Which column has a different value in each row? Name it here, or join two: { join: [COLUMN, COLUMN] }'
  return { key: 'Id', value: OPEN, evidence: `${question}${candidatesAmong(columns)}` }
}

function candidatesAmong(columns: readonly Column[]): string {
  const unique = columns
    .filter((column) => hasOneEach(column) && !isMoment(column) && column.kind !== 'time')
    .map(({ name }) => name)
  if (unique.length > 0) return ` (perhaps ${unique.slice(0, 3).join(', ')})`
  const called = named(columns, EVENT_NAMES.Id)
  if (called === null) return ''
  const [values, rows] = [called.texts.length, called.cells.length]
  return ` (${called.name} has ${howMany(values, 'different value')} in ${howMany(rows, 'row')})`
}

/** How events refer to venues: `from` in the events holds the values of `id` in the venues. */
export interface VenueLink {
  readonly from: Column
  readonly id: Column
  /** How many of the events' values match a venue. */
  readonly found: number
  /** Whether enough values match. */
  readonly isSure: boolean
}

/** The most columns tested as ids. */
const MOST_IDS = 64

export function linkOf(events: readonly Column[], venues: readonly Column[]): VenueLink | null {
  const froms = events.filter((from) => from.filled > 0 && !isMoment(from) && from.kind !== 'time')
  let best: VenueLink | null = null
  let most = 0
  for (const id of venues.filter(hasOneEach).slice(0, MOST_IDS)) {
    // White space at the ends of an id does not count.
    const values = new Set(id.texts.map(({ text }) => trimWhiteSpace(text)))
    for (const from of froms) {
      const isVenue = isNamed(from, EVENT_NAMES.VenueId)
      if (!isVenue && (isNamed(from, EVENT_NAMES.Name) || isSameColumn(from, id))) continue
      const found = countOf(from.texts, (text) => values.has(trimWhiteSpace(text)))
      const isSure = found > from.filled * 0.8
      // A few values in common may be chance, unless the column's name fits.
      if (!isSure && !isVenue) continue
      // Numbers may match by chance, so a column of names counts more.
      const isId = isVenue || (from.name.endsWith('.id') && id.name === 'id')
      const score = (found / from.filled) * (from.kind === 'number' && !isId ? 0.5 : 1)
      if (score > most) [best, most] = [{ from, id, found, isSure }, score]
    }
  }
  return best
}

/** One file may hold both lists. What is different in each of its rows is no link. */
function isSameColumn(from: Column, id: Column): boolean {
  return from.name === id.name && hasOneEach(from)
}

export function venueIdOf(columns: readonly Column[], link: VenueLink | null, venuesAreKnown: boolean): Line | null {
  const filled = columns.filter((column) => column.filled > 0)
  const from = link?.from ?? named(filled, EVENT_NAMES.VenueId)
  if (from === null || (link === null && !venuesAreKnown)) return null
  if (link?.isSure === true) {
    return lineOf('VenueId', from, `its values are in ${link.id.name} of the venues; ${example(from)}`)
  }
  const found = link?.found ?? 0
  const fact = `${counted(found)} of ${howMany(from.filled, 'row')} ${found === 1 ? 'matches' : 'match'} a row of the venues file`
  return { key: 'VenueId', value: OPEN, evidence: `Is it ${from.name}? ${fact}. Name the column here, or write null.` }
}
