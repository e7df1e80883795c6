import { type RowFault, type WithheldFault, isOnPurpose } from '../domain/withheld.ts'
import type { ListName } from '../domain/field.ts'
import { type WithheldRow, FAULTS } from '../records/packed-withheld.ts'
import { faultWords, withheldWords } from '../faults/fault-words.ts'

export interface WithheldQuery {
  readonly list: ListName
  /** All of these words must be in the row's id, name, place, column or reason; in lower case. */
  readonly words: readonly string[]
  /** Null for any; mistakes are all but those that are meant: drafts, and what is not active. */
  readonly fault: WithheldFault | 'mistakes' | null
  /** Rows that have the fault, or any where none is named, in this column, be it not their first; null for all rows. */
  readonly column: string | null
  readonly offset: number
}

const PAGE_ROWS = 20
/** Further down nobody pages: what was found so far is kept meanwhile. */
const FURTHEST = 10_000
const LONGEST_TEXT = 200
/** Rows between two pauses, a batch more or less: a search must not be felt by the public side. */
const SLICE_ROWS = 500

/** Reads a query; null where it is malformed. */
export function withheldQuery(given: (name: string) => string | undefined): WithheldQuery | null {
  const list = given('list') ?? 'events'
  const offset = given('offset') ?? '0'
  const fault = [...FAULTS, 'mistakes' as const].find((known) => known === given('reason')) ?? null
  if ((list !== 'events' && list !== 'venues') || !/^\d{1,9}$/.test(offset) || Number(offset) > FURTHEST) return null
  if (fault === null && (given('reason') ?? '') !== '') return null
  const column = given('column') || null
  return { list, words: wordsIn(given('q') ?? ''), fault, column, offset: Number(offset) }
}

/** The words that somebody looks for, in lower case. */
export function wordsIn(text: string): readonly string[] {
  const words = text.slice(0, LONGEST_TEXT).toLowerCase().split(/\s+/)
  return words.filter((word) => word !== '')
}

/** Mistakes first, then as they stand in the file or the table. */
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

/** Searches the withheld rows of a list, in slices between which requests pass: those of a batch are looked at without a pause. */
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
  // All withheld rows of the list, and those that the query is about.
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

/** The row as the dashboard has it, with reason and remedy of all its faults, and of each. */
function shown({ id, withheld }: WithheldRow) {
  const { name = null, where, fault } = withheld
  const faults = [withheld, ...(withheld.also ?? [])].map(faultWords)
  return { id, name, where, fault, ...withheldWords(withheld), faults }
}
