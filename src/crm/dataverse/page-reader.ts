import { nearestName } from '../../domain/nearest-name.ts'
import { type Change, type Failed, type Failure, type PageStream, PAGE_ROWS, failed } from '../../sync/port.ts'
import type { Time } from '../../time/time.ts'
import { type Rest, inSlices, sleep } from '../../time/waiting.ts'
import { type DataverseClient, type PageAnswer, type Refused, unknownColumn } from './client.ts'
import { type EntityTable, CHANGE_TIME } from './table-rows.ts'
import { definedNames, readAttributes, readTables } from './metadata.ts'
import { type Guid, parseGuid } from '../../domain/guid.ts'
import type { CellObject } from '../cells/cell.ts'

const LONGEST_WAIT_MS = 30_000
const FIRST_WAIT_MS = 1000
const MOST_WAITS = 5
const MOST_PATIENCE = 1024

/**
 * Returns the time limit of a page with all tries and waits. `exchangeMs`: the limit of one exchange with its
 * repetition.
 */
export function patienceWithWaits(exchangeMs: number): number {
  return exchangeMs * (MOST_WAITS + 1) + LONGEST_WAIT_MS
}

/** What a read asks for with each of its pages: Dataverse refuses a page size that changes midway. */
export interface PageWish {
  readonly rows: number
  /** Whether the last page is to have a link to the changes since. */
  readonly tracksChanges?: boolean
}

/** Requests the pages of one table, and diagnoses refused requests. */
export class PageReader<Item> {
  readonly client: DataverseClient
  readonly table: EntityTable<Item>
  readonly #time: Time
  readonly #onPause: (forMs: number) => void
  /** The number of rows per page, reduced once a page was too large. */
  pageRows: number
  readonly #mostRows: number
  /** The number of complete reads until larger pages are tried again. It doubles after each page that was too large. */
  #patience = 4
  #readsLeft = 0
  #definitionKnown = false

  /** @param onPause called before a wait that Dataverse asked for */
  constructor(
    client: DataverseClient,
    table: EntityTable<Item>,
    time: Time,
    onPause: (forMs: number) => void = () => {},
    mostRows: number = PAGE_ROWS,
  ) {
    this.pageRows = this.#mostRows = mostRows
    this.client = client
    this.table = table
    this.#time = time
    this.#onPause = onPause
  }

  /** Requests the first page of a read of these columns. If a column is unknown, looks up its real name and retries. */
  async first(columns: readonly string[], wish: PageWish, signal: AbortSignal): Promise<PageAnswer> {
    const { from, rows } = this.table
    const answer = await this.page(this.client.urlOf(`${from}?$select=${rows.selectOf(columns)}`), wish, signal)
    if (answer.kind === 'page') return answer
    if (answer.error === 'unknown-table') return this.#withTables(answer, signal)
    if (answer.error !== 'unknown-column') return this.#named(answer)
    const missing = unknownColumn(answer.body.message)
    if (rows.readsChangeTime && columns.includes(CHANGE_TIME) && (missing ?? CHANGE_TIME) === CHANGE_TIME) {
      rows.readsChangeTime = false
      const others = columns.filter((column) => column !== CHANGE_TIME)
      return this.first(others, wish, signal)
    }
    const before = rows.selectOf(columns)
    const failure = await this.#learnNames(answer, signal)
    if (failure !== null) return { ...answer, failure }
    return rows.selectOf(columns) === before ? this.#named(answer) : this.first(columns, wish, signal)
  }

  async page(url: string, wish: PageWish, signal: AbortSignal): Promise<PageAnswer> {
    const answer = await this.client.page(this.table.from, url, preferences(wish), signal)
    const isTooLarge = answer.kind === 'error' && answer.failure.kind === 'too-large'
    return isTooLarge ? this.#tooLarge(answer, wish) : answer
  }

  /** Requests a further page of a long read. Waits out short outages, so the pages read so far are not lost. */
  async patientPage(url: string, wish: PageWish, signal: AbortSignal): Promise<PageAnswer> {
    let waitedMs = 0
    for (let waits = 0; ; waits++) {
      const answer = await this.page(url, wish, signal)
      if (answer.kind === 'page' || signal.aborted || waits === MOST_WAITS || !isPassing(answer.failure)) {
        return answer.kind === 'page' ? answer : this.#named(answer)
      }
      const waitMs = answer.failure.retryAfterMs ?? FIRST_WAIT_MS * 2 ** waits * (0.5 + this.#time.random() / 2)
      waitedMs += waitMs
      if (waitedMs > LONGEST_WAIT_MS) return answer
      if (answer.failure.retryAfterMs !== null) this.#onPause(waitMs)
      await sleep(waitMs, this.#time, signal)
    }
  }

  /** Records a complete read of all rows. After some, larger pages are tried again: the large rows may be gone. */
  readInFull(): void {
    if (this.pageRows === this.#mostRows || --this.#readsLeft > 0) return
    this.pageRows = Math.min(this.#mostRows, this.pageRows * 2)
    this.#readsLeft = this.#patience
  }

  #tooLarge(answer: Refused, { rows }: PageWish): Refused {
    this.#readsLeft = this.#patience
    this.#patience = Math.min(this.#patience * 2, MOST_PATIENCE)
    // Another read may have reduced it meanwhile.
    this.pageRows = Math.max(1, Math.min(this.pageRows, Math.floor(rows / 10)))
    const what = rows === 1 ? 'a row' : `a page of ${rows} rows`
    const message = `${this.table.from}: ${what} is too large; the next attempt requests pages of ${this.pageRows}`
    return { ...answer, failure: { ...answer.failure, message } }
  }

  /** Adds the table's name to failures that concern it. */
  #named(answer: Refused): PageAnswer {
    const { error, failure, body } = answer
    const { from, name, rows } = this.table
    if (error === 'missing-privilege') {
      return { ...answer, failure: { ...failure, message: `${from}: ${failure.message}` } }
    }
    if (error !== 'unknown-column') return answer
    const named = unknownColumn(body.message)
    // Quotes only configured names: the rest of an error's text may hold anything.
    const column =
      rows.columns.find((known) => known.column === named || rows.names.get(known.column) === named)?.column ?? null
    const words = column === null ? 'a column that the configuration names' : `the column ${column}`
    const message = `crm.${name}: ${from} does not have ${words}; correct the name in the configuration`
    return { ...answer, failure: { ...failure, message } }
  }

  async #learnNames(answer: Refused, signal: AbortSignal): Promise<Failure | null> {
    const { from, rows, name } = this.table
    if (this.#definitionKnown) return null
    const tables = await readTables(this.client, signal)
    const logicalName = 'kind' in tables ? undefined : tables.get(from)
    if (logicalName === undefined) return null
    const attributes = await readAttributes(this.client, logicalName, signal)
    if ('kind' in attributes || attributes.size === 0) return null
    const names = definedNames(rows.columns, attributes, name)
    if (typeof names === 'string') {
      return { ...answer.failure, message: `crm.${name}: ${from}: ${names}` }
    }
    rows.names = names
    this.#definitionKnown = true
    return null
  }

  async #withTables(answer: Refused, signal: AbortSignal): Promise<PageAnswer> {
    const { from, name } = this.table
    const tables = await readTables(this.client, signal)
    let near: string | null = null
    if (!('kind' in tables)) {
      near = Array.from(tables).find(([, logical]) => logical === from)?.[0] ?? nearestName(from, tables.keys())
    }
    const hint = near === null ? 'it takes the entity set name, such as msevtmgt_events' : `did you mean ${near}?`
    const message = `crm.${name}.from: the environment has no table ${from}; ${hint}`
    return { ...answer, failure: { ...answer.failure, message } }
  }
}

function preferences({ rows, tracksChanges = false }: PageWish): readonly string[] {
  return [...(tracksChanges ? ['odata.track-changes'] : []), `odata.maxpagesize=${rows}`]
}

function isPassing({ kind }: Failure): boolean {
  return kind === 'throttled' || kind === 'unreachable' || kind === 'timeout'
}

interface StreamOptions<Item> {
  readonly reader: PageReader<Item>
  readonly wish: PageWish
  readonly signal: AbortSignal
  /** Whether a page without `value` means no changes; otherwise it is a fault. */
  readonly valueMayBeMissing?: boolean
  /** Whether to wait out short outages between pages. */
  readonly isPatient?: boolean
  /** Called before each further page is requested. */
  readonly onRequest?: () => void
  /** Turns a row into a change; by default, a whole row. */
  readonly changeOf?: ChangeOf<Item>
}

/** Returns the change that a row reports; `null` if it reports none, `broken` if it cannot be understood. */
type ChangeOf<Item> = (row: CellObject) => Change<Item> | null | 'broken'

interface PagesEnd {
  readonly ok: true
  readonly deltaLink: string | null
  readonly requests: number
  /** Whether a changed row or the record of a deleted row is unknown, because its id is not the key. */
  readonly hasNameless: boolean
}

type StreamEnd = PagesEnd | Failed

const STEP = 32
// Ends reads of more than twenty million rows.
const MOST_PAGES = 20_000

/** Streams pages from the first one on, in batches that the replica applies between two requests. */
export async function* streamPages<Item>(first: PageAnswer, options: StreamOptions<Item>): PageStream<Item, StreamEnd> {
  const { reader, wish, signal, valueMayBeMissing = false, isPatient = false, onRequest } = options
  const { changeOf = (row): ReturnType<ChangeOf<Item>> => rowChange(row, reader.table) } = options
  const { from } = reader.table
  // Detects a cycle of links (Brent's algorithm): each link is compared with a kept one, that of page 1, 2, 4, 8, …
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
    const changes = await changesIn(rows, rest, changeOf)
    if (changes === null) return failed('broken', `${from}: a deleted entry names no row`)
    // A row without its key is no row of a table, so it says nothing about served records.
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
    onRequest?.()
    answer = await (isPatient ? reader.patientPage(nextLink, wish, signal) : reader.page(nextLink, wish, signal))
  }
}

interface RowChange<Item> {
  readonly row: CellObject
  readonly change: Change<Item>
}

/** Returns the changes that rows report, each id once: if a row occurs twice, the later one counts. */
async function changesIn<Item>(
  rows: readonly CellObject[],
  rest: Rest,
  changeOf: ChangeOf<Item>,
): Promise<readonly RowChange<Item>[] | null> {
  const changes = new Map<Guid | CellObject, RowChange<Item>>()
  for (const [index, row] of rows.entries()) {
    if (index % STEP === 0) await rest()
    const change = changeOf(row)
    if (change === 'broken') return null
    if (change !== null) changes.set(change.id ?? row, { row, change })
  }
  return [...changes.values()]
}

function rowChange<Item>(row: CellObject, table: EntityTable<Item>): ReturnType<ChangeOf<Item>> {
  if (!isDeleted(row)) {
    table.rows.learnKey(row)
    return table.mapRow(row, () => placeOf(row, table), versionOf(row))
  }
  const id = deletedId(row)
  if (id === null) return 'broken'
  table.unlabelled.note(id, [])
  return { kind: 'deleted', id }
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

/** Returns the id of a deleted row. `id` is a bare GUID, or the entity's URL according to OData 4.0. */
function deletedId(row: CellObject): Guid | null {
  const text = row['id'] ?? row['@odata.id'] ?? null
  return typeof text === 'string' ? parseGuid(/\(([^()]+)\)$/.exec(text)?.[1] ?? text) : null
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
