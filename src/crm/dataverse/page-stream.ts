import type { CrmFailure, Page } from '../../replica/port.ts'
import type { CellObject } from '../mapping/cell.ts'
import type { RowChange } from './row-changes.ts'
import { slices } from './row-changes.ts'
import type { PageAnswer, TableReader } from './table-reader.ts'

export interface StreamOptions<Item> {
  readonly reader: TableReader<Item>
  /** The same with every page: a size that changes midway is refused. */
  readonly prefer: readonly string[]
  readonly signal: AbortSignal
  /** What a page without `value` means: no change, or a fault. */
  readonly valueMayBeMissing: boolean
  /** Whether to wait for a while where a further page does not come. */
  readonly isPatient: boolean
  /** Null where the rows cannot be understood. */
  readonly changesOf: (rows: readonly CellObject[]) => readonly RowChange<Item>[] | null
}

export type StreamEnd =
  | { readonly ok: true; readonly deltaLink: string | null; readonly requests: number }
  | { readonly ok: false; readonly failure: CrmFailure }

// Twenty million rows: whoever has more has other troubles.
const MOST_PAGES = 20_000

/** The pages from a first one on, each in slices that the replica applies between two requests. */
export async function* streamPages<Item>(
  first: PageAnswer,
  options: StreamOptions<Item>,
): AsyncGenerator<Page<Item>, StreamEnd, void> {
  const { reader, prefer, signal, valueMayBeMissing, isPatient, changesOf } = options
  const { from } = reader.table
  // A link is kept until twice as many pages came: links that go round meet it again, whatever their number (Brent).
  let kept = { link: '', until: 1 }
  let answer = first
  for (let requests = 1; ; requests++) {
    if (answer.kind === 'error') return { ok: false, failure: answer.failure }
    const { page, begunAt } = answer
    if (page.rows === null && !valueMayBeMissing) return broken(`${from}: the answer has no value`)
    const rows = page.rows ?? []
    const unprepared = await reader.table.rows.prepare(rows, begunAt, signal)
    if (unprepared !== null) return { ok: false, failure: unprepared }
    const changes = changesOf(rows)
    if (changes === null) return broken(`${from}: a deleted entry names no row`)
    for (const slice of slices(changes)) {
      yield {
        begunAt,
        sourceLagMs: 0,
        changes: slice.map(({ change }) => change),
        whereIs: (index) => `${from}, id ${slice[index]?.change.id ?? 'unknown'}`,
        changedAtMs: (index) => reader.table.rows.changedAtMs(slice[index]?.row),
      }
    }
    const { nextLink } = page
    if (nextLink === null) return { ok: true, deltaLink: page.deltaLink, requests }
    if (nextLink === kept.link || requests > MOST_PAGES) return broken(`${from}: the pages have no end`)
    if (requests === kept.until) kept = { link: nextLink, until: 2 * requests }
    answer = await (isPatient ? reader.patientPage(nextLink, prefer, signal) : reader.page(nextLink, prefer, signal))
  }
}

function broken(message: string): StreamEnd {
  return { ok: false, failure: { kind: 'broken', message, retryAfterMs: null } }
}
