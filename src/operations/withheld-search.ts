import { type RowFault, type WithheldFault, isOnPurpose, type WithheldRow, FAULTS } from '../domain/withheld.ts'
import type { ListName } from '../domain/field.ts'
import { faultWords, withheldWords } from '../faults/fault-words.ts'
import { scanRows } from './search-turns.ts'

export interface WithheldQuery {
  readonly list: ListName
  /** Words in lower case that must all appear in the row's id, name, position, column or reason. */
  readonly words: readonly string[]
  /** The fault to find; `null` for any. `mistakes` are all faults except drafts and inactive rows. */
  readonly fault: WithheldFault | 'mistakes' | null
  /** The column that must have the fault, or any fault if none is named; `null` for all rows. */
  readonly column: string | null
  readonly offset: number
}

const PAGE_ROWS = 20
/** The last page. Hits before it are kept during the search. */
const FURTHEST = 10_000
const LONGEST_TEXT = 200
/** The number of hits beyond two pages that are kept before they are sorted. */
const MOST_UNSORTED = 500

/** Parses a query; `null` if it is malformed. */
export function withheldQuery(given: (name: string) => string | undefined): WithheldQuery | null {
  const list = given('list') ?? 'events'
  const offset = given('offset') ?? '0'
  const fault = [...FAULTS, 'mistakes' as const].find((known) => known === given('reason')) ?? null
  if ((list !== 'events' && list !== 'venues') || !/^\d{1,9}$/.test(offset) || Number(offset) > FURTHEST) return null
  if (fault === null && (given('reason') ?? '') !== '') return null
  const column = given('column') || null
  return { list, words: wordsIn(given('q') ?? ''), fault, column, offset: Number(offset) }
}

/** Splits a search text into words in lower case. */
export function wordsIn(text: string): readonly string[] {
  const words = text.slice(0, LONGEST_TEXT).toLowerCase().split(/\s+/)
  return words.filter((word) => word !== '')
}

/** Orders mistakes first, then by position in the file or table. */
function inOrder(left: WithheldRow, right: WithheldRow): number {
  const [one, other] = [left.withheld, right.withheld]
  return (
    Number(isOnPurpose(one)) - Number(isOnPurpose(other)) ||
    placeOf(one.where) - placeOf(other.where) ||
    (one.where < other.where ? -1 : 1)
  )
}

function placeOf(where: string): number {
  return Number(/(?:row|line|item) (\d+)/.exec(where)?.[1] ?? 0)
}

/** Searches the withheld rows of a list in slices, between which requests run. */
export async function searchWithheld(
  rows: Iterable<WithheldRow>,
  { list, words, offset, ...about }: WithheldQuery,
  signal: AbortSignal,
  pause?: () => Promise<void>,
) {
  const most = offset + PAGE_ROWS
  let found: WithheldRow[] = []
  let [total, matching] = [0, 0]
  const look = (row: WithheldRow): void => {
    total++
    if (!isAbout(row, about) || !hasWords(row, words)) return
    matching++
    if (found.push(row) > 2 * most + MOST_UNSORTED) found = found.toSorted(inOrder).slice(0, most)
  }
  await scanRows(rows, signal, look, pause)
  // The number of withheld rows in the list, and of those that match the query.
  return { list, total, matching, offset, rows: found.toSorted(inOrder).slice(offset, most).map(shown) }
}

function isAbout({ withheld }: WithheldRow, { fault, column }: Pick<WithheldQuery, 'fault' | 'column'>): boolean {
  const has = (row: RowFault): boolean =>
    fault === null || (fault === 'mistakes' ? !isOnPurpose(row) : row.fault === fault)
  if (column === null) return has(withheld)
  return [withheld, ...(withheld.also ?? [])].some((row) => row.column === column && has(row))
}

/** Returns true if a text contains all words, which are in lower case. */
export function hasAll(text: string, words: readonly string[]): boolean {
  const lower = text.toLowerCase()
  return words.every((word) => lower.includes(word))
}

function hasWords(row: WithheldRow, words: readonly string[]): boolean {
  if (words.length === 0) return true
  const { id, name, where, reason } = shown(row)
  return hasAll(`${id ?? ''} ${name ?? ''} ${where} ${reason}`, words)
}

/** Returns the row for the dashboard, with reasons and remedies for the row and for each fault. */
function shown({ id, withheld }: WithheldRow) {
  const { name = null, where, fault } = withheld
  const faults = [withheld, ...(withheld.also ?? [])].map(faultWords)
  return { id, name, where, fault, ...withheldWords(withheld), faults }
}
