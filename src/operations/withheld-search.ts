import { type RowFault, type WithheldFault, isOnPurpose, type WithheldRow, FAULTS } from '../domain/withheld.ts'
import type { ListName } from '../domain/field.ts'
import { faultWords, withheldWords } from '../faults/fault-words.ts'

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
/** The approximate number of rows between two pauses, so that a search does not delay requests. */
const SLICE_ROWS = 500

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

/** Searches the withheld rows of a list in slices of whole batches, between which requests run. */
export async function searchWithheld(
  batches: Iterable<readonly WithheldRow[]>,
  { list, words, offset, ...about }: WithheldQuery,
  pause: () => Promise<void>,
  signal: AbortSignal,
) {
  const most = offset + PAGE_ROWS
  let found: WithheldRow[] = []
  let [total, matching, sincePause] = [0, 0, 0]
  for (const batch of batches) {
    for (const row of batch) {
      if (!isAbout(row, about) || !holdsAll(row, words)) continue
      found.push(row)
      matching++
    }
    total += batch.length
    if (found.length > 2 * most + SLICE_ROWS) found = found.toSorted(inOrder).slice(0, most)
    sincePause += batch.length
    if (sincePause < SLICE_ROWS) continue
    sincePause = 0
    await pause()
    if (signal.aborted) break
  }
  const rows = found.toSorted(inOrder).slice(offset, most).map(shown)
  // The number of withheld rows in the list, and of those that match the query.
  return { list, total, matching, offset, rows }
}

function isAbout({ withheld }: WithheldRow, { fault, column }: Pick<WithheldQuery, 'fault' | 'column'>): boolean {
  const has = (row: RowFault): boolean =>
    fault === null || (fault === 'mistakes' ? !isOnPurpose(row) : row.fault === fault)
  if (column === null) return has(withheld)
  return [withheld, ...(withheld.also ?? [])].some((row) => row.column === column && has(row))
}

function holdsAll(row: WithheldRow, words: readonly string[]): boolean {
  if (words.length === 0) return true
  const { id, name, where, reason } = shown(row)
  const text = `${id ?? ''} ${name ?? ''} ${where} ${reason}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

/** Returns the row for the dashboard, with reasons and remedies for the row and for each fault. */
function shown({ id, withheld }: WithheldRow) {
  const { name = null, where, fault } = withheld
  const faults = [withheld, ...(withheld.also ?? [])].map(faultWords)
  return { id, name, where, fault, ...withheldWords(withheld), faults }
}
