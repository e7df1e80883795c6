import { type Column, countOf, isMoment } from './column.ts'
import { EVENT_NAMES, named, isNamed } from './field-names.ts'
import { type Line, counted, example, lineOf, OPEN, sourceOf } from './line.ts'
import { howMany } from '../domain/printable.ts'
import { trimWhiteSpace } from '../domain/white-space.ts'
import { dayAlone } from './written-dates.ts'

/**
 * Returns true if the column has a different value in each row, apart from a few blank ones such as a sum below the
 * list.
 */
function hasOneEach({ isDistinct, filled, cells: { length: rows } }: Column): boolean {
  return isDistinct && hasFew(rows - filled, rows)
}

function hasFew(blank: number, rows: number): boolean {
  return blank === 0 || (rows > 3 && blank <= Math.max(1, rows * 0.02))
}

/** The columns whose texts together are the id. */
export type IdColumns = readonly Column[]

/** The column that is the id by its contents and its name; `null` if none is. */
export function idField(columns: readonly Column[], linked: Column | null = null): Column | null {
  const unique = columns.filter(hasOneEach)
  const [first] = columns
  const called = first !== undefined && unique.includes(first) && ENDS_WITH_ID.test(first.name) ? first : null
  const coded = first !== undefined && unique.includes(first) && isCode(first) ? first : null
  return linked ?? unique.find(({ isGuid }) => isGuid) ?? named(unique, EVENT_NAMES.Id) ?? called ?? coded
}

/** Whether a column holds codes or numbers of its own, and does not just count the rows, which another export changes. */
function isCode({ texts }: Column): boolean {
  const isCount = texts.every(({ text }, at) => Number(text) === at + 1 || Number(text) === at)
  return (
    !isCount && texts.every(({ text }) => /^(?=\D*\d)[\p{L}\p{N}_#/-]{1,64}$/u.test(text) && dayAlone(text) === null)
  )
}

/** Matches the name of a first column such as `Perf. ID`, `Show No.` and `showId`. */
const ENDS_WITH_ID = /(?:(?<!\p{L})(?:[Ii][Dd]|[Nn][Rr]|[Nn][Oo]|[Nn][º°]|№)|\p{Ll}I[dD])\.?$/u

/** The most columns that an id joins. */
const MOST_JOINED = 3

/**
 * Finds the columns that are different in each row together: the title, else the title and the start, else these and
 * the place.
 */
export function joinedId(...parts: readonly IdColumns[]): IdColumns {
  const joined: Column[] = []
  for (const part of parts) {
    joined.push(...part.filter((column) => !joined.includes(column)))
    if (joined.length > MOST_JOINED) return []
    if (joined.length > 0 && areOneEach(joined)) return joined
  }
  return []
}

function areOneEach(columns: IdColumns): boolean {
  const [first] = columns
  if (first === undefined) return false
  const seen = new Set<string>()
  let filled = 0
  for (const row of first.cells.keys()) {
    const texts = columns.map(({ cells }) => trimWhiteSpace(cells[row]?.text ?? ''))
    if (texts[0] === '') continue
    filled++
    seen.add(JSON.stringify(texts))
  }
  return filled > 0 && seen.size === filled && hasFew(first.cells.length - filled, first.cells.length)
}

export function idLine(id: IdColumns, columns: readonly Column[], isCalledId: boolean): Line {
  const [first] = id
  if (first === undefined) {
    const question = 'No column and no join of title and start is different in each row. Which one is, or which join'
    return { key: 'Id', value: OPEN, evidence: `${question}: { join: [COLUMN, COLUMN] }?${candidatesAmong(columns)}` }
  }
  const { filled, isGuid, cells } = first
  const blank = cells.length === filled ? '' : ` in ${howMany(cells.length, 'row')}`
  const facts = `${howMany(filled, 'different value')}${blank}${isGuid ? ', all GUIDs' : ''}; ${example(first)}`
  if (isCalledId) return lineOf('Id', first, facts)
  const parts = id.map(({ name }) => name).join(', ')
  const effect = `no column is a number of its own${candidatesAmong(columns)}; an event whose ${parts} changes gets another address`
  return { key: 'Id', value: sourceOf(id), evidence: `${facts}; ${effect}` }
}

function candidatesAmong(columns: readonly Column[]): string {
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
      if (!isVenue && (isNamed(from, EVENT_NAMES.Name) || (from.isDistinct && isNamed(from, EVENT_NAMES.Id)))) continue
      const found = countOf(from.texts, (text) => values.has(trimWhiteSpace(text)))
      const isSure = found > from.filled * 0.8
      // A few values in common may be chance, unless the column's name fits.
      if (found === 0 || (!isSure && !isVenue)) continue
      // Numbers may match by chance, so a column of names counts more.
      const isId = isVenue || (from.name.endsWith('.id') && id.name === 'id')
      const score = (found / from.filled) * (from.kind === 'number' && !isId ? 0.5 : 1)
      if (score > most) {
        best = { from, id, found, isSure }
        most = score
      }
    }
  }
  return best
}

export function venueIdOf(columns: readonly Column[], link: VenueLink | null): Line | null {
  const filled = columns.filter((column) => column.filled > 0)
  const from = link?.from ?? named(filled, EVENT_NAMES.VenueId)
  if (from === null) return null
  if (link?.isSure === true) {
    return lineOf('VenueId', from, `its values are in ${link.id.name} of the venues; ${example(from)}`)
  }
  const found = link?.found ?? 0
  const fact = `${counted(found)} of ${howMany(from.filled, 'row')} ${found === 1 ? 'matches' : 'match'} a row of the venues file`
  return { key: 'VenueId', value: OPEN, evidence: `Is it ${from.name}? ${fact}. Name the column here, or write null.` }
}
