import type { ListName } from '../../domain/field.ts'
import type { Guid } from '../../domain/guid.ts'
import type { FoundSuspicion, SuspicionCode, SuspicionKind } from '../../domain/withheld.ts'
import { type Cell, type CellObject, cellAt, hasColumn, isBlank, plainText, showCell } from '../cells/cell.ts'
import type { FieldCounts, FieldCoverage, FieldFound } from './field-coverage.ts'
import type { DateNotes } from './dates.ts'
import type { LetPass } from './conditions.ts'
import { Midnights } from './midnights.ts'
import { IdTexts } from './id-texts.ts'

export interface SuspiciousCell extends SuspicionKind {
  readonly found: string
}

interface Example {
  readonly where: string
  readonly found: string
}

const NONE: readonly SuspiciousCell[] = []
const THOUSANDS = { '.': /^\s*[+-]?\d+\.000\s*$/, ',': /^\s*[+-]?\d+,000\s*$/ } as const
/** The most rows noted per suspicion while serving: if a whole list is wrong, they must not fill the memory. */
const MOST_ROWS = 100_000
const MOST_EXAMPLES = 20
/** Once this many different values of a column are counted, further ones are ignored. */
const MOST_VALUES = 10_000
/** The most records of a list that `check --show` can show. */
const MOST_SHOWN = 1000
/** The most blank prices noted before a row with a price is read: a list without prices is no mistake. */
const MOST_BLANK_PRICES = 10_000
/** If a column is in none of the first rows, Marquee stops looking for it after this many, unless its field is needed. */
const ROWS_TO_APPEAR = 64

/** Counts of one read of all rows. */
interface Columns {
  /** The columns that exist, and the columns with a value in any row. */
  readonly there: Set<string>
  readonly held: Set<string>
  /** The number of cells with each value that passes a `not` condition, by column. */
  readonly passed: Map<string, Map<string, number>>
  readonly fields: FieldCounts
  rows: number
  hasPrice: boolean
  readonly midnights: Midnights
}

/**
 * Collects the suspicious values of one list while its rows are mapped; mapping a row again replaces its notes. It
 * outlives mappings: a file gets a new one for each read.
 */
export class Suspicions {
  /** Whether to note the suspicions of all rows, as `check` does, instead of served rows alone. */
  readonly thorough: boolean
  /**
   * The ids of the first thoroughly mapped rows, in order. A set, because a file that changes meanwhile is read again.
   */
  readonly firstIds = new Set<Guid>()
  /** Venue ids as this list writes them. */
  readonly venueTexts = new IdTexts()
  /** The column of the time at which a row changed; `null` if there is none. */
  #updatedAt: string | null = null
  #coverage: FieldCoverage | null = null
  /** The suspicious cells of the current row. */
  current: readonly SuspiciousCell[] = NONE
  /** Whether the current row is suspicious or any row has notes, which mapping the row again may clear. */
  isWatching = false
  readonly #found = new Map<string, SuspicionKind & { readonly rows: Map<Guid, Example | null> }>()
  /** The ids of suspicious rows of the current read; `null` if a later row replaces an earlier one with its id. */
  #firstNoted: Set<Guid> | null = null
  #columns: Columns = noColumns()
  /** The counts of the last read that mapped every row. */
  #before = this.#columns
  #isPartial = false
  /** The notes on dates, by field. */
  readonly #dates = new Map<string, DateNotes>()
  #wallDatesBefore: ReadonlyMap<string, number> = new Map()
  /** The columns that were blank in every row of the last full read, and its number of rows. */
  #blank: { readonly columns: readonly string[]; readonly rows: number } = { columns: [], rows: 0 }

  #blankPrices = 0
  /** Suspicions about needed fields, such as Name, whose columns did not exist in the last full read. */
  #missed: readonly FoundSuspicion[] = []

  constructor(thorough = false) {
    this.thorough = thorough
  }

  /** Takes the mapping of the rows that follow. */
  map(coverage: FieldCoverage, updatedAt: string | null, venueColumn: string): void {
    this.#coverage = coverage
    this.#updatedAt = updatedAt
    this.venueTexts.column = venueColumn
  }

  /** Returns a function that counts what a row holds; `null` unless all rows are noted. */
  counter(letPass: readonly LetPass[]): ((row: CellObject) => void) | null {
    const count = this.thorough ? this.#coverage?.counter() : undefined
    if (count === undefined) return null
    return (row) => {
      count(row, this.#columns.fields)
      for (const { column, valueIn } of letPass) this.#countPassed(column, valueIn(row))
    }
  }

  /** Notes the id of a row that can be served, for `check --show`. */
  noteId(id: Guid): void {
    if (this.thorough && this.firstIds.size < MOST_SHOWN) this.firstIds.add(id)
  }

  /**
   * Starts the counts of a new full read.
   * @param servesFirst whether the first of several rows with one id is served, so the notes on it stay
   */
  begin(servesFirst = false): void {
    if (!this.#isPartial) {
      this.#before = this.#columns
      this.#wallDatesBefore = this.#wallDatesNow
    }
    for (const notes of this.dates) notes.wallTimes = 0
    this.#isPartial = false
    this.#columns = noColumns()
    this.#blankPrices = 0
    this.#firstNoted = servesFirst ? new Set() : null
  }

  /** Notes that an unchanged row was not mapped, so this read's counts are incomplete. */
  skip(): void {
    this.#isPartial = true
  }

  /** Judges blank columns at the end of a full read: a read of changes sees too few rows. */
  judge(rows: number): void {
    if (this.#isPartial) return
    const { there, held } = this.#columns
    this.#blank = { columns: [...there].filter((column) => !held.has(column)), rows }
    this.#missed = this.#coverage?.missed(this.#counts.fields, this.#wasThere, rows) ?? []
  }

  /** Returns the notes on one field's dates. @param column the CRM's name for the field's column */
  datesIn(field: string, column: string): DateNotes {
    const known = this.#dates.get(field)
    if (known?.column === column) return known
    const seeSkipped = (cell: Cell): void => this.suspect(column, 'skipped-time', cell)
    const midnight = { isMidnight: false, isDay: false, areDays: false, midnight: null, formatOfDay: null }
    const notes = { column, isWallTime: false, wallTimes: 0, epochSeconds: 0, ...midnight, seeSkipped }
    this.#dates.set(field, notes)
    return notes
  }

  /** The notes on all dates. */
  get dates(): readonly DateNotes[] {
    return [...this.#dates.values()]
  }

  /** Counts the dates of an event that is served. */
  seeTimes(start: DateNotes, finish: DateNotes): void {
    this.#columns.midnights.see(start, finish)
  }

  /** @param sign the decimal separator of texts */
  seeInteger(column: string, cell: Cell, sign: '.' | ','): void {
    const text = plainText(cell)
    // A cheap test first: nearly no cell has three zeros.
    if (typeof cell === 'number' || text === null || text.length < 5 || !text.includes('000')) return
    const own = typeof cell === 'string' ? sign : '.'
    if (THOUSANDS[own].test(text)) this.suspect(column, 'fraction', cell, own)
  }

  seePrice(column: string, cell: Cell): void {
    if (!isBlank(cell)) {
      this.#columns.hasPrice = true
      return
    }
    const isCounted = this.#hasPrice || this.thorough
    if (!isCounted) this.#blankPrices++
    if (isCounted || this.#blankPrices <= MOST_BLANK_PRICES) this.suspect(column, 'blank-price', cell)
  }

  /** The counts that cover every row of the list. */
  get #counts(): Columns {
    return this.#isPartial ? this.#before : this.#columns
  }

  get #hasPrice(): boolean {
    return this.#columns.hasPrice || this.#counts.hasPrice
  }

  /** @param value the value that passed; `null` if none did, which still lists the column */
  #countPassed(column: string, value: string | null): void {
    const { passed } = this.#columns
    const values = passed.get(column) ?? new Map<string, number>()
    passed.set(column, values)
    if (value !== null && (values.size < MOST_VALUES || values.has(value))) {
      values.set(value, (values.get(value) ?? 0) + 1)
    }
  }

  suspect(column: string, code: SuspicionCode, cell: Cell, of = ''): void {
    this.current = [...this.current, { column, code, of, found: showCell(cell) }]
    this.isWatching = true
  }

  /** Replaces the notes on a row that can be served. */
  note(id: Guid, cells: readonly SuspiciousCell[], where: () => string): void {
    const all = [...this.current, ...cells]
    this.current = NONE
    if (this.#firstNoted?.has(id) === true) return
    for (const { rows } of this.#found.values()) rows.delete(id)
    for (const cell of all) this.add(id, cell, where)
    this.isWatching = this.#found.values().some(({ rows }) => rows.size > 0)
  }

  /** Adds a note on a row that can be served. */
  add(id: Guid, { column, code, of = '', found }: SuspiciousCell, where: () => string): void {
    const key = JSON.stringify([column, code, of])
    const suspicion = this.#found.get(key) ?? { column, code, of, rows: new Map<Guid, Example | null>() }
    this.#found.set(key, suspicion)
    const { rows } = suspicion
    if (rows.size >= MOST_ROWS && !this.thorough) return
    if (!rows.has(id)) rows.set(id, rows.size < MOST_EXAMPLES ? { where: where(), found } : null)
    this.#firstNoted?.add(id)
    this.isWatching = true
  }

  /**
   * Returns a function to call with each row until every column has held a value, usually in the first row. It returns
   * false once nothing is left to look for.
   */
  probe(columns: Iterable<string>): (row: CellObject) => boolean {
    let rows = 0
    const updatedAt = this.#updatedAt
    const all = new Set(updatedAt === null ? columns : [...columns, updatedAt])
    const needed = this.#coverage?.needed ?? new Set()
    const probes = new Set(
      Array.from(all, (column) => ({
        column,
        cell: cellAt(column),
        // Some APIs omit blank values, and without its time no change of a row is seen.
        isThere: column === updatedAt ? (): boolean => true : (row: CellObject) => hasColumn(row, column),
      })),
    )
    return (row) => {
      const { there, held } = this.#columns
      this.#columns.rows++
      rows++
      for (const probe of probes) {
        const { column, cell, isThere } = probe
        if (!there.has(column) && isThere(row)) there.add(column)
        if (!isBlank(cell(row))) held.add(column)
        const mayAppear = there.has(column) || rows < ROWS_TO_APPEAR || needed.has(column)
        if (held.has(column) || !mayAppear) probes.delete(probe)
      }
      return probes.size > 0
    }
  }

  /** Returns all suspicions in the rows that are served now. */
  list(serves: (id: Guid) => boolean): readonly FoundSuspicion[] {
    const found: FoundSuspicion[] = []
    for (const { rows, ...kind } of this.#found.values()) {
      const isPrice = kind.code === 'blank-price'
      if (isPrice && !this.#hasPrice) continue
      // A thorough check reports suspicious cells of withheld rows too, but a withheld price is not served as 0.
      const served = [...rows].filter(([id]) => (this.thorough && !isPrice) || serves(id))
      const [id, first = null] = served[0] ?? []
      if (id !== undefined) found.push({ ...kind, count: served.length, first: first ?? { id } })
    }
    found.push(...this.#counts.midnights.found(this.#dates.get('Start'), this.#dates.get('Finish')), ...this.#missed)
    const { columns, rows } = this.#blank
    for (const column of columns) {
      if (this.#columns.held.has(column)) continue
      found.push({ column, code: column === this.#updatedAt ? 'blank-time' : 'blank-column', count: rows, first: null })
    }
    return found
  }

  /**
   * Whether a row of the last full read, or a row read since, has a column that Price is mapped to. `null` if no mapped
   * row has one, but not all rows were mapped.
   */
  get readsPrice(): boolean | null {
    if (this.#coverage?.reads('Price', this.#wasThere) === true) return true
    return this.#isPartial || this.#columns.rows === 0 ? null : false
  }

  /** The column that each field is read from, with counts if the rows were mapped thoroughly. */
  get fields(): readonly FieldFound[] {
    return this.#coverage?.found(this.#counts.fields, this.#wasThere) ?? []
  }

  readonly #wasThere = (column: string): boolean =>
    [this.#columns, this.#counts].some(({ there, held }) => there.has(column) || held.has(column))

  /** The number of dates without an offset, read as wall times, by column. */
  get wallDates(): ReadonlyMap<string, number> {
    return this.#isPartial ? this.#wallDatesBefore : this.#wallDatesNow
  }

  get #wallDatesNow(): ReadonlyMap<string, number> {
    return new Map(this.dates.flatMap(({ column, wallTimes }) => (wallTimes > 0 ? [[column, wallTimes]] : [])))
  }

  /** The values that pass a `not` condition, by column, in descending order of frequency. */
  get passed(): ReadonlyMap<string, readonly (readonly [value: string, count: number])[]> {
    return new Map(
      Array.from(this.#columns.passed, ([column, values]) => [
        column,
        [...values].toSorted(([, left], [, right]) => right - left),
      ]),
    )
  }

  /** The CRM's names for the columns of dates. */
  get dateColumns(): readonly string[] {
    return this.dates.map(({ column }) => column)
  }
}

function noColumns(): Columns {
  return {
    there: new Set(),
    held: new Set(),
    passed: new Map(),
    fields: { tallies: new Map(), rows: 0 },
    rows: 0,
    hasPrice: false,
    midnights: new Midnights(),
  }
}

export type ListSuspicions = Readonly<Record<ListName, Suspicions>>

export function listSuspicions(thorough = false): ListSuspicions {
  return { events: new Suspicions(thorough), venues: new Suspicions(thorough) }
}
