import { type Failure, failureOf } from '../../sync/port.ts'
import type { Moment, Time } from '../../time/time.ts'
import { type Cell, plainText, sourceDigits } from '../cells/cell.ts'
import type { DataverseClient } from './client.ts'
import { type ChoiceType, readLabels, readRows, readTables } from './metadata.ts'
import { type Zone, openNamedZone } from '../../domain/zone.ts'

interface LabelsSettings {
  readonly client: DataverseClient
  readonly time: Time
  /** The name of the entity set. */
  readonly from: string
  /** The language of the labels, as an LCID; `null` for the language of the application user. */
  readonly language: number | null
  readonly columns: readonly string[]
  /** Called when codes of a column turn out to have no label. */
  readonly onMissing: (column: string, codes: number) => void
}

interface Column {
  words: ReadonlyMap<string, string>
  type: ChoiceType | null
  /** Codes without a label: their option was deleted, or its label cannot be read yet. */
  readonly missing: Set<string>
}

const FIRST_PAUSE_MS = 10_000
const LONGEST_PAUSE_MS = 900_000
const MOST_MISSING = 1000
/** Option numbers are Int32. */
const LONGEST_CODE = 11
/** The codes of several choices, of which a column has a few hundred at most. */
const LONGEST_CODES = 16_384

/**
 * The labels that people see for the codes in some columns of one table. A code without a known label is looked up at
 * once; if it has none, it is looked up again at growing intervals, not with every page.
 */
export class Labels {
  readonly #settings: LabelsSettings
  readonly #columns = new Map<string, Column>()
  /** Logical names by entity set, once known. */
  #tables: ReadonlyMap<string, string> | null = null
  /** When the last attempt to read labels began, and the last successful one. */
  #triedAtMs = Number.NEGATIVE_INFINITY
  #readAtMs = Number.NEGATIVE_INFINITY
  #pauseMs = FIRST_PAUSE_MS
  /** How often labels were found for missing codes. Rows read earlier are served without them. */
  finds = 0
  #appliedFinds = 0

  constructor(settings: LabelsSettings) {
    this.#settings = settings
    for (const name of settings.columns) this.#columns.set(name, { words: new Map(), type: null, missing: new Set() })
  }

  /** Records that all rows have been read since `finds` had this value. */
  appliedTo(finds: number): void {
    this.#appliedFinds = Math.max(this.#appliedFinds, finds)
  }

  /** Reads all labels again; if that fails, the known ones stay. */
  async read(signal: AbortSignal): Promise<Failure | null> {
    if (this.#columns.size === 0) return null
    const { client, time, from, language } = this.#settings
    const begunAtMs = time.now().monotonicMs
    this.#triedAtMs = begunAtMs
    const tables = this.#tables ?? (await readTables(client, signal, from))
    if ('kind' in tables) return tables
    const table = tables.get(from)
    if (table === undefined) return failureOf('broken', `the definition of ${from} was not found`)
    this.#tables = tables
    let hasFound = false
    for (const [name, column] of this.#columns) {
      const found = await readLabels(client, { table, column: name, type: column.type, language }, signal)
      if ('kind' in found) return found
      column.words = found.words
      column.type = found.type
      for (const code of column.missing) if (found.words.has(code)) hasFound = column.missing.delete(code)
    }
    if (hasFound) this.finds++
    this.#readAtMs = begunAtMs
    return null
  }

  /** Looks up unknown codes of a page, unless the labels were read since the page was requested. */
  async prepare(
    cellsOf: (column: string) => Iterable<Cell>,
    askedAt: Moment,
    signal: AbortSignal,
  ): Promise<Failure | null> {
    const unknown = this.#unknownIn(cellsOf)
    if (unknown.size === 0) return null
    const restMs = this.#hasMissing ? FIRST_PAUSE_MS : 0
    if (this.#readAtMs < askedAt.monotonicMs && this.#sinceTryMs() >= restMs) {
      const failure = await this.read(signal)
      if (failure !== null) return failure
    }
    for (const [name, codes] of unknown) this.#miss(name, codes)
    return null
  }

  /**
   * Returns true if rows read before contain a code whose label has been found since. Looks up missing labels at
   * intervals.
   */
  async haveGrown(signal: AbortSignal): Promise<boolean> {
    if (this.#hasMissing && this.#sinceTryMs() >= this.#pauseMs) {
      this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
      // A failure is harmless: missing labels have been reported, and are looked up again later.
      await this.read(signal)
    }
    return this.finds > this.#appliedFinds
  }

  /** Returns the label of each code in a cell; `null` if a code has none. */
  wordsOf(column: string, cell: Cell): readonly (string | null)[] {
    const words = this.#columns.get(column)?.words
    return codesOf(cell).map((code) => words?.get(code) ?? null)
  }

  missingIn(column: string, cell: Cell): readonly string[] {
    const words = this.#columns.get(column)?.words
    return codesOf(cell).filter((code) => words?.has(code) !== true)
  }

  get #hasMissing(): boolean {
    return this.#columns.values().some(({ missing }) => missing.size > 0)
  }

  #sinceTryMs(): number {
    return this.#settings.time.now().monotonicMs - this.#triedAtMs
  }

  #unknownIn(cellsOf: (column: string) => Iterable<Cell>): ReadonlyMap<string, ReadonlySet<string>> {
    const unknown = new Map<string, Set<string>>()
    for (const [name, { missing }] of this.#columns) {
      const codes = new Set<string>()
      for (const cell of cellsOf(name)) {
        for (const code of this.missingIn(name, cell)) {
          const isRoom = missing.size + codes.size < MOST_MISSING
          if (isRoom && code.length <= LONGEST_CODE && !missing.has(code)) codes.add(code)
        }
      }
      if (codes.size > 0) unknown.set(name, codes)
    }
    return unknown
  }

  #miss(name: string, codes: ReadonlySet<string>): void {
    const column = this.#columns.get(name)
    if (column === undefined) return
    const missing = Array.from(codes).filter((code) => !column.words.has(code))
    if (missing.length === 0) return
    for (const code of missing) column.missing.add(code)
    this.#pauseMs = FIRST_PAUSE_MS
    this.#settings.onMissing(name, missing.length)
  }
}

/** A column with several choices holds numbers separated by commas. */
function codesOf(cell: Cell): readonly string[] {
  if (typeof cell === 'boolean') return [String(cell)]
  if (typeof cell !== 'string') {
    const digits = sourceDigits(cell)
    return digits === null ? [] : [digits]
  }
  if (cell.length > LONGEST_CODES) return [cell]
  return cell
    .split(',')
    .map((code) => code.trim())
    .filter((code) => code !== '')
}

const AGAIN_AFTER_MS = 900_000

/** Time zones that cells name: by an IANA or Windows name, or by a Dataverse code, which is looked up on first use. */
export class ZoneCodes {
  readonly #client: DataverseClient
  readonly #time: Time
  #codes: ReadonlyMap<string, string> = new Map()
  #askedAtMs = Number.NEGATIVE_INFINITY

  constructor(client: DataverseClient, time: Time) {
    this.#client = client
    this.#time = time
  }

  zoneOf(cell: Cell): Zone | null {
    const text = plainText(cell)?.trim()
    return text === undefined ? null : openNamedZone(this.#codes.get(text) ?? text)
  }

  /** Looks up the codes if a cell holds an unknown one. Returns a failure if the lookup must be repeated. */
  async prepare(cells: Iterable<Cell>, signal: AbortSignal): Promise<Failure | null> {
    for (const cell of cells) {
      const text = plainText(cell)?.trim()
      if (text === undefined || !/^-?\d+$/.test(text) || this.zoneOf(cell) !== null) continue
      return this.#time.now().monotonicMs - this.#askedAtMs < AGAIN_AFTER_MS ? null : this.#lookUp(signal)
    }
    return null
  }

  async #lookUp(signal: AbortSignal): Promise<Failure | null> {
    const path = 'timezonedefinitions?$select=timezonecode,standardname'
    const rows = await readRows(this.#client, path, signal)
    // Without the right to read the codes, rows with nothing but a code are withheld. In an outage, the read fails
    // instead.
    if ('kind' in rows && rows.kind !== 'refused' && rows.kind !== 'misconfigured') return rows
    this.#askedAtMs = this.#time.now().monotonicMs
    if ('kind' in rows) return null
    const codes = new Map<string, string>()
    for (const { timezonecode = null, standardname = null } of rows) {
      const code = plainText(timezonecode)?.trim()
      if (code !== undefined && typeof standardname === 'string') codes.set(code, standardname)
    }
    this.#codes = codes
    return null
  }
}
