import { type Failure, failureOf } from '../../sync/port.ts'
import type { Moment, Time } from '../../time/time.ts'
import { type Cell, sourceDigits } from '../mapping/cell.ts'
import type { DataverseClient } from './client.ts'
import { type ChoiceType, readLabels, readTables } from './metadata.ts'

export interface LabelsSettings {
  readonly client: DataverseClient
  readonly time: Time
  /** The entity set. */
  readonly from: string
  /** The LCID. */
  readonly language: number
  readonly columns: readonly string[]
  /** Told once of each code of a column that has no word. */
  readonly onMissing: (column: string, codes: number) => void
}

interface Column {
  words: ReadonlyMap<string, string>
  type: ChoiceType | null
  /** Codes that were not found: their option was deleted, or its word is not to be had yet. */
  readonly missing: Set<string>
}

const FIRST_PAUSE_MS = 10_000
const LONGEST_PAUSE_MS = 900_000
const MOST_MISSING = 1000
/** The number of an option is an Int32. */
const LONGEST_CODE = 11

/**
 * The words that people see for the codes in some columns of one table. A code without a word is looked for at once; one
 * that has none is looked for again at growing intervals, and costs no request with each page that holds it.
 */
export class Labels {
  readonly #settings: LabelsSettings
  readonly #columns = new Map<string, Column>()
  /** The table's logical name, once it is known. */
  #tables: ReadonlyMap<string, string> | null = null
  /** When the last read of words began, and the last one that succeeded. */
  #triedAtMs = Number.NEGATIVE_INFINITY
  #readAtMs = Number.NEGATIVE_INFINITY
  #pauseMs = FIRST_PAUSE_MS
  /** How often a code that had been missing was found: rows that were read before that are shown without its word. */
  finds = 0
  #appliedFinds = 0

  constructor(settings: LabelsSettings) {
    this.#settings = settings
    for (const name of settings.columns) this.#columns.set(name, { words: new Map(), type: null, missing: new Set() })
  }

  /** All rows were read with the words as they were after so many finds. */
  appliedTo(finds: number): void {
    this.#appliedFinds = Math.max(this.#appliedFinds, finds)
  }

  /** Reads them all again; what was known stays where that fails. */
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

  /** Looks for what a page holds and nobody knows yet, unless that was done since the page was asked for. */
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

  /** Whether rows that were read hold a code that has got its word since; looks for missing ones now and then. */
  async haveGrown(signal: AbortSignal): Promise<boolean> {
    if (this.#hasMissing && this.#sinceTryMs() >= this.#pauseMs) {
      this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
      // Where that fails nothing is lost: what is missing was told, and is looked for again.
      await this.read(signal)
    }
    return this.finds > this.#appliedFinds
  }

  /** Each code's word, null where it has no word. */
  wordsOf(column: string, cell: Cell): readonly (string | null)[] {
    const words = this.#columns.get(column)?.words
    return codesOf(cell).map((code) => words?.get(code) ?? null)
  }

  /** The codes of a cell that have no word. */
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

/** Several choices are one text of numbers between commas. */
function codesOf(cell: Cell): readonly string[] {
  if (typeof cell === 'boolean') return [String(cell)]
  if (typeof cell !== 'string') {
    const digits = sourceDigits(cell)
    return digits === null ? [] : [digits]
  }
  return cell
    .split(',')
    .map((code) => code.trim())
    .filter((code) => code !== '')
}
