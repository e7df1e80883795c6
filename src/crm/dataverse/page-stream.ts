import { type Guid, parseGuid } from '../../domain/guid.ts'
import { type Change, type Failed, type PageStream, PAGE_ROWS, failed } from '../../sync/port.ts'
import type { CellObject } from '../cells/cell.ts'
import { type Rest, inSlices } from '../../time/waiting.ts'
import type { EntityTable } from './entity-table.ts'
import type { PageAnswer, PageReader } from './page-reader.ts'

export interface StreamOptions<Item> {
  readonly reader: PageReader<Item>
  /** Sent with every page: Dataverse refuses a page size that changes midway. */
  readonly prefer: readonly string[]
  readonly signal: AbortSignal
  /** Whether a page without `value` means no changes; otherwise it is a fault. */
  readonly valueMayBeMissing?: boolean
  /** Whether to wait out short outages between pages. */
  readonly isPatient?: boolean
  /** Turns rows into changes, by default whole rows; returns `null` if a row cannot be understood. */
  readonly changesOf?: ChangesOf<Item>
}

type ChangesOf<Item> = (rows: readonly CellObject[], rest: Rest) => Promise<readonly RowChange<Item>[] | null>

interface PagesEnd {
  readonly ok: true
  readonly deltaLink: string | null
  readonly requests: number
  /** Whether a changed row or the record of a deleted row is unknown, because its id is not the key. */
  readonly hasNameless: boolean
}

export type StreamEnd = PagesEnd | Failed

/** Rows between two looks at the clock. */
export const STEP = 32
// Ends reads of more than twenty million rows.
const MOST_PAGES = 20_000

/** Streams pages from the first one on, in batches that the replica applies between two requests. */
export async function* streamPages<Item>(first: PageAnswer, options: StreamOptions<Item>): PageStream<Item, StreamEnd> {
  const { reader, prefer, signal, valueMayBeMissing = false, isPatient = false } = options
  const { changesOf = (rows, rest): ReturnType<ChangesOf<Item>> => rowChanges(rows, rest, reader.table) } = options
  const { from } = reader.table
  // Detects links that form a cycle of any length (Brent's algorithm): the kept link is replaced after twice as many
  // pages.
  let kept = { link: '', until: 1 }
  let answer = first
  let hasNameless = false
  for (let requests = 1; ; requests++) {
    if (answer.kind === 'error') return { ok: false, failure: answer.failure }
    const { page, begunAt } = answer
    if (page.rows === null && !valueMayBeMissing) return failed('broken', `${from}: the answer has no value`)
    const rows = page.rows ?? []
    const rest = inSlices()
    for (const slice of slices(rows)) {
      const unprepared = await reader.table.rows.prepare(slice, begunAt, signal)
      if (unprepared !== null) return { ok: false, failure: unprepared }
      await rest()
    }
    const changes = await changesOf(rows, rest)
    if (changes === null) return failed('broken', `${from}: a deleted entry names no row`)
    // A row that lacks its key is no row of a table, so it says nothing about a record that is held.
    const isOwn = reader.table.rows.hasOwnIds === true
    hasNameless ||= isOwn && changes.some(({ change: { id, kind } }) => id === null || kind === 'deleted')
    for (const slice of slices(changes)) {
      yield {
        begunAt,
        sourceLagMs: 0,
        changes: slice.map(({ change }) => change),
        whereIs: (index) => `${from}, id ${slice[index]?.change.id ?? 'unknown'}`,
        updatedAtMs: (index) => reader.table.rows.updatedAtMs(slice[index]?.row),
      }
    }
    const { nextLink } = page
    if (nextLink === null) return { ok: true, deltaLink: page.deltaLink, requests, hasNameless }
    if (nextLink === kept.link || requests > MOST_PAGES) return failed('broken', `${from}: the pages have no end`)
    if (requests === kept.until) kept = { link: nextLink, until: 2 * requests }
    answer = await (isPatient ? reader.patientPage(nextLink, prefer, signal) : reader.page(nextLink, prefer, signal))
  }
}

/** A row and the change it reports. */
export interface RowChange<Item> {
  readonly row: CellObject
  readonly change: Change<Item>
}

/**
 * Returns the changes that rows report, each id once: if a row occurs twice, the later one counts. `null` if a deletion
 * names no row.
 */
async function rowChanges<Item>(
  rows: readonly CellObject[],
  rest: Rest,
  table: EntityTable<Item>,
): ReturnType<ChangesOf<Item>> {
  const byId = new Map<Guid, RowChange<Item>>()
  const withoutId: RowChange<Item>[] = []
  for (const [index, row] of rows.entries()) {
    if (index % STEP === 0) await rest()
    const isGone = isDeleted(row)
    if (!isGone) table.rows.learnKey(row)
    const change = isGone ? deletionOf(row) : table.mapRow(row, () => placeOf(row, table), versionOf(row))
    if (change === null) return null
    if (change.kind === 'deleted') table.unlabelled.note(change.id, [])
    if (change.id === null) withoutId.push({ row, change })
    else byId.set(change.id, { row, change })
  }
  return [...byId.values(), ...withoutId]
}

/** Splits changes into batches that the replica applies between two requests. */
function* slices<Entry>(entries: readonly Entry[]): Generator<readonly Entry[]> {
  for (let from = 0; from < entries.length; from += PAGE_ROWS) {
    yield entries.length <= PAGE_ROWS ? entries : entries.slice(from, from + PAGE_ROWS)
  }
}

function isDeleted(row: CellObject): boolean {
  const context = row['@odata.context']
  return (typeof context === 'string' && context.endsWith('/$deletedEntity')) || Object.hasOwn(row, '@odata.removed')
}

/** Parses a deletion. `id` is a bare GUID, or the entity's URL according to OData 4.0. */
function deletionOf(row: CellObject): Change<never> | null {
  const text = row['id'] ?? row['@odata.id'] ?? null
  if (typeof text !== 'string') return null
  const id = parseGuid(/\(([^()]+)\)$/.exec(text)?.[1] ?? text)
  return id === null ? null : { kind: 'deleted', id }
}

/** The row version from its ETag `W/"81052965"`. It changes with every change that Dataverse reports. */
function versionOf(row: CellObject): number {
  const etag = row['@odata.etag']
  const digits = typeof etag === 'string' ? /^W\/"(\d+)"$/.exec(etag)?.[1] : undefined
  return digits === undefined ? Number.NaN : Number(digits)
}

function placeOf<Item>(row: CellObject, { from, rows }: EntityTable<Item>): string {
  const key = rows.columns.find((column) => column.key === 'fields.Id')?.column
  const id = key === undefined ? null : rows.cell(key)(row)
  return typeof id === 'string' ? `${from}, id ${id.slice(0, 40)}` : from
}
