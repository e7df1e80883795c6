import { type Column, isMoment, rowsOf } from './column.ts'
import { EVENT_NAMES, named, isNamed } from './field-names.ts'
import { type Line, counted, example, lineOf, OPEN, quoted } from './line.ts'
import { howMany } from '../domain/printable.ts'
import { trimWhiteSpace } from '../domain/white-space.ts'

/**
 * Returns true if the column has a different value in each row, apart from a few blank ones such as a sum below the
 * list.
 */
function hasOneEach({ isDistinct, filled, rows }: Column): boolean {
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

/** Returns true if a column may be the id although its name does not say so: its values differ, and no field fits. */
function mayBeId(column: Column): boolean {
  if (!hasOneEach(column) || isMoment(column) || column.kind === 'time') return false
  return Object.values(EVENT_NAMES).every((names) => named([column], names) === null)
}

export function idLine(id: Column | null, columns: readonly Column[]): Line {
  if (id === null) {
    // Ids come first in nearly all lists. Further on, counts may differ by chance.
    const [first] = columns
    if (first !== undefined && mayBeId(first)) {
      const evidence = `Is it ${first.name}? It has a different value in each row. Name the column here.`
      return { key: 'Id', value: OPEN, evidence }
    }
    const question = 'Which column has a different value in each row? Name it here'
    return { key: 'Id', value: OPEN, evidence: `${question}${candidatesFor(columns)}` }
  }
  const { rows, filled, isGuid, others } = id
  const blank = rows === filled ? '' : ` in ${howMany(rows, 'row')}`
  const compared =
    others === 0 ? '' : `, of which ${counted(filled - others)} ${filled - others === 1 ? 'was' : 'were'} compared`
  const evidence = `${howMany(filled, 'different value')}${blank}${compared}${isGuid ? ', all GUIDs' : ''}; ${example(id)}`
  return lineOf('Id', id, evidence)
}

const SOME = 3

/**
 * Describes candidates for the id: columns with such a name, those with the most different values, and a pair that is
 * unique together.
 */
function candidatesFor(columns: readonly Column[]): string {
  const filled = columns.filter((column) => column.filled > column.rows / 2 && column.others === 0)
  const byDistinct = filled.toSorted((left, right) => right.distinct - left.distinct)
  const called = named(filled, EVENT_NAMES.Id)
  const all = [...new Set([...(called === null ? [] : [called]), ...byDistinct])]
  const facts = all
    .slice(0, SOME)
    .map(({ name, distinct, rows }) => `${name} has ${howMany(distinct, 'different value')} in ${howMany(rows, 'row')}`)
  const pair = filled.some(hasOneEach) ? null : joinedId(all)
  const joined = pair === null ? '' : `; or { join: [${pair.map(({ name }) => quoted(name)).join(', ')}] }`
  return facts.length === 0 ? '' : ` (${facts.join('; ')})${joined}`
}

function joinedId(columns: readonly Column[]): readonly Column[] | null {
  const some = columns.slice(0, SOME + 2)
  for (const [index, left] of some.entries()) {
    for (const right of some.slice(index + 1)) {
      const texts = rowsOf([left, right]).map((row) => row.join(' '))
      if (texts.length === left.rows && new Set(texts).size === texts.length) return [left, right]
    }
  }
  return null
}

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
