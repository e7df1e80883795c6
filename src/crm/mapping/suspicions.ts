import type { ListName } from '../../domain/field.ts'
import type { Guid } from '../../domain/guid.ts'
import type { Oddity } from '../../domain/oddity.ts'
import { type Time, systemTime } from '../../time/time.ts'
import { type Cell, type RowAccess, isBlank, plainText, showCell } from './cell.ts'
import { type FieldFound, FieldCoverage } from './field-coverage.ts'
import { IdTexts } from './id-texts.ts'
import { type DateNotes, dateNotes } from './dates.ts'

interface Mark {
  readonly column: string
  readonly what: string
  readonly found: string
}

const NO_MARKS: readonly Mark[] = []
const COMMA = 'holds a comma, and no row has the '
const THOUSAND = {
  '.': 'ends in .000, most likely a thousand, and is read as a whole number without it',
  ',': 'ends in ,000, most likely a thousand, and is read as a whole number without it',
} as const
const THOUSANDS = { '.': /^\s*[+-]?\d+\.000\s*$/, ',': /^\s*[+-]?\d+,000\s*$/ } as const
const SKIPPED = 'names a time that the clocks skip as they go forward, and is read as the time after the change'
const MAYBE_THOUSAND =
  'has three digits after its point, and may be thousands: crm.texts.decimal says what the point is'
const BLANK_PRICE = 'is blank and served as 0, though other rows have a price'
const FAR_AHEAD = 'is more than 5 years ahead'
const BLANK = 'is there, and blank in every row'
/** More are counted no further while serving: the memory of a list that is wrong throughout. */
const MOST_ROWS = 100_000
const MOST_EXAMPLES = 20
/** Of more different values in a column those that come later are not counted. */
const MOST_VALUES = 10_000
/** Records that `check --show` can show of a list. */
export const MOST_SHOWN = 1000
/** Blank prices that are noted as long as no row has one: a list without prices is no mistake. */
const MOST_BLANK_PRICES = 10_000
const YEAR_SECONDS = 365.25 * 86_400
/** Starts far ahead that are noted beyond as many as are not. */
const MOST_FAR = 1000
/** A column that none of so many rows has is not looked for any longer. */
const ROWS_TO_APPEAR = 64

/** What one read of all rows found of its columns. */
interface Columns {
  /** Of dates, by their field. */
  readonly dates: Map<string, DateNotes>
  /** Columns that are there, and those of which a cell held something. */
  readonly there: Set<string>
  readonly held: Set<string>
  /** The values that `not` lets pass and how many cells hold each, by column. */
  readonly passed: Map<string, Map<string, number>>
  rows: number
  hasPrice: boolean
  /** Events that start more than five years ahead, and all others. */
  far: number
  near: number
  readonly begunAtSeconds: number
}

/**
 * What is suspicious in the rows of one list, noted while they are mapped; a row that is mapped again is noted again. It outlives
 * mappings: a file has one for each read.
 */
export class Suspicions {
  /** All faults of a row are told, for whoever reads once and serves nothing; else the first. */
  readonly thorough: boolean
  /** Of the rows that were mapped thoroughly, in their order, each once: a file is read again where it changes meanwhile. */
  readonly firstIds = new Set<Guid>()
  /** The ids of rows that were mapped thoroughly, as the CRM writes them, and what it calls their column. */
  readonly idTexts = new Map<Guid, string>()
  idColumn = 'Id'
  /** The ids of venues as this list writes them. */
  readonly venueTexts = new IdTexts()
  /** Where the fields come from. */
  readonly coverage = new FieldCoverage()
  /** Cells of the row at hand. */
  marks: readonly Mark[] = NO_MARKS
  /** There are marks, or some row was noted, which may be in order when it is mapped again. */
  isWatching = false
  readonly #rows = new Map<string, Map<Guid, string>>()
  #hasSeparator = false
  #columns: Columns
  /** Of the last read that mapped every row. */
  #before: Columns
  #isPartial = false
  /** What was there and blank in each of so many rows, when all were read last. */
  #blank: { readonly columns: readonly string[]; readonly rows: number } = { columns: [], rows: 0 }

  readonly #time: Pick<Time, 'now'>
  #blankPrices = 0
  /** Fields that nothing reads, when all rows were read last. */
  #missed: readonly Oddity[] = []

  constructor(thorough = false, time: Pick<Time, 'now'> = systemTime) {
    this.thorough = thorough
    this.#time = time
    this.#columns = noColumns(time)
    this.#before = this.#columns
  }

  /** What is suspicious in a Start that lies far ahead; null if nothing is. */
  farAhead(epochSeconds: number): string | null {
    const columns = this.#columns
    const years = (epochSeconds - columns.begunAtSeconds) / YEAR_SECONDS
    if (years <= 5) {
      columns.near++
      return null
    }
    columns.far++
    if (years > 50) return 'is more than 50 years ahead'
    // Most dates of such a list are so: there is no need to note them all.
    return this.thorough || columns.far < columns.near + MOST_FAR ? FAR_AHEAD : null
  }

  /** A read of all rows begins. */
  begin(): void {
    if (!this.#isPartial) this.#before = this.#columns
    this.#isPartial = false
    this.#columns = noColumns(this.#time)
    this.#hasSeparator = false
    this.#blankPrices = 0
    this.coverage.begin()
  }

  /** A row is what it was, and so is not mapped. */
  skip(): void {
    this.#isPartial = true
    this.coverage.skip()
  }

  /** A read of all rows has ended: a column can be judged to be blank only now, as a read of changes sees few rows. */
  judge(rows: number): void {
    if (this.#isPartial) return
    const { there, held } = this.#columns
    this.#blank = { columns: [...there].filter((column) => !held.has(column)), rows }
    this.#missed = this.coverage.missed((column) => this.#wasThere(column), rows)
  }

  /** To note the dates of one field in, and what the CRM calls it. */
  datesIn(field: string, column = field): DateNotes {
    const { dates } = this.#columns
    const notes = dates.get(field) ?? dateNotes(column, (cell) => this.#mark(column, SKIPPED, cell))
    dates.set(field, notes)
    return notes
  }

  /** Reads a row a second time without counting its dates again. */
  again<Value>(read: () => Value): Value {
    const counts = [...this.#columns.dates.values()].map((dates) => [dates, dates.wallTimes] as const)
    this.marks = NO_MARKS
    const value = read()
    for (const [dates, count] of counts) dates.wallTimes = count
    return value
  }

  /** @param sign the decimal sign of texts */
  seeInteger(column: string, cell: Cell, sign: '.' | ','): void {
    const text = plainText(cell)
    // Nearly no cell holds this, so it is asked before the pattern.
    if (typeof cell === 'number' || text === null || text.length < 5 || !text.includes('000')) return
    const own = typeof cell === 'string' ? sign : '.'
    if (THOUSANDS[own].test(text)) this.#mark(column, THOUSAND[own], cell)
  }

  seePrice(column: string, cell: Cell): void {
    if (!isBlank(cell)) this.#columns.hasPrice = true
    else if (this.#hasPrice || this.thorough || ++this.#blankPrices <= MOST_BLANK_PRICES) {
      this.#mark(column, BLANK_PRICE, cell)
    }
  }

  /** Most events lie far ahead, as those of the sample do: that is no slip. */
  get #isOfTheFuture(): boolean {
    const { far, near } = this.#isPartial ? this.#before : this.#columns
    return far > near
  }

  get #hasPrice(): boolean {
    return this.#columns.hasPrice || (this.#isPartial && this.#before.hasPrice)
  }

  seeUnsaidPrice(column: string, cell: Cell): void {
    // A number of a sheet has no digits of its own but those that count.
    if (typeof cell !== 'string' || cell.length < 5) return
    if (/(?<![\d.,])[1-9]\d{0,2}\.\d{3}(?![\d.,])/.test(cell)) this.#mark(column, MAYBE_THOUSAND, cell)
  }

  /** @param separator what separates tags, in words */
  seeTags(column: string, text: string, count: number, separator: string): void {
    if (count > 1) this.#hasSeparator = true
    else if (count === 1 && text.includes(',')) {
      this.#mark(column, `${COMMA}${separator} that separates tags: each is read as one tag`, text)
    }
  }

  /** @param value null if the row has none that passes; the column is known all the same */
  countPassed(column: string, value: string | null): void {
    const { passed } = this.#columns
    const values = passed.get(column) ?? new Map<string, number>()
    passed.set(column, values)
    if (value !== null && (values.size < MOST_VALUES || values.has(value))) {
      values.set(value, (values.get(value) ?? 0) + 1)
    }
  }

  #mark(column: string, what: string, cell: Cell): void {
    this.marks = [...this.marks, { column, what, found: showCell(cell) }]
    this.isWatching = true
  }

  /** Notes what is odd in a row that can be served, and forgets what was. */
  note(id: Guid, odd: readonly Mark[], where: () => string): void {
    for (const rows of this.#rows.values()) rows.delete(id)
    for (const { column, what, found } of [...this.marks, ...odd]) {
      const key = `${column}\n${what}`
      const rows = this.#rows.get(key) ?? new Map<Guid, string>()
      this.#rows.set(key, rows)
      if (rows.size >= MOST_ROWS && !this.thorough) continue
      rows.set(id, rows.size < MOST_EXAMPLES ? `${where()}: ${column} is ${found}` : '')
    }
    this.marks = NO_MARKS
    this.isWatching = this.#rows.values().some((rows) => rows.size > 0)
  }

  /** Looks into rows until each column has held something, which for nearly all is the first; false where nothing is left to look for. */
  probe<Row>(columns: Iterable<string>, access: RowAccess<Row>): (row: Row) => boolean {
    let rows = 0
    let probes = Array.from(new Set(columns), (column) => ({
      column,
      cell: access.cell(column),
      isThere: access.isThere?.(column) ?? ((): boolean => true),
    }))
    return (row) => {
      const { there, held } = this.#columns
      this.#columns.rows++
      if (++rows <= ROWS_TO_APPEAR) for (const { column, isThere } of probes) if (isThere(row)) there.add(column)
      let isChanged = rows === ROWS_TO_APPEAR
      for (const { column, cell } of probes) {
        if (isBlank(cell(row))) continue
        held.add(column)
        isChanged = true
      }
      if (isChanged) {
        probes = probes.filter(({ column }) => !held.has(column) && (rows < ROWS_TO_APPEAR || there.has(column)))
      }
      return probes.length > 0
    }
  }

  /** What there is now in the rows that are served. */
  list(serves: (id: Guid) => boolean): readonly Oddity[] {
    const found: Oddity[] = []
    for (const [key, rows] of this.#rows) {
      const [column = '', what = ''] = key.split('\n')
      if (what.startsWith(COMMA) && this.#hasSeparator) continue
      if (what === BLANK_PRICE && !this.#hasPrice) continue
      if (what === FAR_AHEAD && this.#isOfTheFuture) continue
      let [count, example] = [0, '']
      for (const [id, told] of rows) {
        // Whoever asks for all faults of a row wants what would be suspicious in it too.
        if (!this.thorough && !serves(id)) continue
        count++
        if (example === '') example = told === '' ? id : told
      }
      if (count > 0) found.push({ column, what, count, example, where: /^(.*?): /.exec(example)?.[1] ?? null })
    }
    found.push(...this.#missed)
    const { columns, rows } = this.#blank
    for (const column of columns) {
      if (this.#columns.held.has(column)) continue
      found.push({ column, what: BLANK, count: rows, example: `${column} is blank`, where: null })
    }
    return found
  }

  /** Where each field comes from; counted if the rows were mapped thoroughly. */
  get fields(): readonly FieldFound[] {
    return this.coverage.found((column) => this.#wasThere(column))
  }

  #wasThere(column: string): boolean {
    const { there, held } = this.#isPartial ? this.#before : this.#columns
    return there.has(column) || held.has(column)
  }

  /** How many dates were read as wall times because they have no offset, by column. */
  get wallDates(): ReadonlyMap<string, number> {
    const { dates } = this.#isPartial ? this.#before : this.#columns
    return new Map([...dates.values()].flatMap(({ column, wallTimes }) => (wallTimes > 0 ? [[column, wallTimes]] : [])))
  }

  /** The values that `not` lets pass, the most frequent first, by column. */
  get passed(): ReadonlyMap<string, readonly (readonly [value: string, count: number])[]> {
    return new Map(
      Array.from(this.#columns.passed, ([column, values]) => [
        column,
        [...values].toSorted(([, left], [, right]) => right - left),
      ]),
    )
  }

  /** What the CRM calls the columns of dates. */
  get dateColumns(): readonly string[] {
    return Array.from(this.#columns.dates.values(), ({ column }) => column)
  }
}

function noColumns(time: Pick<Time, 'now'>): Columns {
  return {
    dates: new Map(),
    there: new Set(),
    held: new Set(),
    passed: new Map(),
    rows: 0,
    hasPrice: false,
    far: 0,
    near: 0,
    begunAtSeconds: time.now().wallMs / 1000,
  }
}

/** Those of both lists. */
export type ListSuspicions = Readonly<Record<ListName, Suspicions>>

export function listSuspicions(thorough = false): ListSuspicions {
  return { events: new Suspicions(thorough), venues: new Suspicions(thorough) }
}
