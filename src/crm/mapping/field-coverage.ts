import type { FieldSource, FieldSources } from '../../config/crm/sources.ts'
import type { RecordTable } from '../../domain/field.ts'
import type { FurtherField } from '../../domain/further.ts'
import type { Suspicion } from '../../domain/withheld.ts'
import { type Cell, type RowAccess, isBlank, shownText, showCell } from '../cells/cell.ts'
import { columnCell } from './column-cell.ts'

/** The source of a field, and the number of rows with a value there. */
export interface FieldFound {
  readonly field: string
  /** The columns, or the constant; `null` if nothing reads the field. */
  readonly from: string | null
  readonly filled: number
  readonly of: number
  readonly example: string | null
}

type FieldName = keyof FieldSources

/** Fields without which records mislead callers. Of several fields in one entry, any one is enough for that entry. */
const NEEDED: Readonly<
  Record<RecordTable['kind'], readonly (readonly [fields: readonly FieldName[], what: string])[]>
> = {
  event: [
    [['Name'], 'is read from no column: no event has a name'],
    [['Start'], 'is read from no column: no event can be served'],
    [['Finish'], 'is read from no column: no event can be served'],
    [['TicketCapacity', 'TicketsAvailable'], 'are read from no column: every event is sold out'],
    [['TicketsAvailable'], 'is read from no column: every event is sold out'],
    [['Price'], 'is read from no column: every price is 0'],
  ],
  venue: [[['Name'], 'is read from no column: no venue has a name']],
}

interface Tally {
  filled: number
  example: string | null
}

interface Counts {
  readonly tallies: Map<string, Tally>
  rows: number
}

/** Tracks the source of each field of a list, and the number of rows with a value in it. */
export class FieldCoverage {
  #table: RecordTable | null = null
  #sources: FieldSources = {}
  #further: readonly FurtherField[] = []
  #now: Counts = { tallies: new Map(), rows: 0 }
  /** The counts of the last read that mapped every row. */
  #before = this.#now
  #isPartial = false

  /** Starts the counts of a new full read. */
  begin(): void {
    if (!this.#isPartial) this.#before = this.#now
    this.#isPartial = false
    this.#now = { tallies: new Map(), rows: 0 }
  }

  /** Notes that an unchanged row was not mapped, so this read's counts are incomplete. */
  skip(): void {
    this.#isPartial = true
  }

  get #counts(): Counts {
    return this.#isPartial ? this.#before : this.#now
  }

  map(table: RecordTable, fields: FieldSources, further: readonly FurtherField[] = []): void {
    this.#further = further
    this.#table = table
    this.#sources = fields
  }

  /** The columns of the fields that `missed` reports if no row has them. */
  get needed(): ReadonlySet<string> {
    const fields = this.#table === null ? [] : NEEDED[this.#table.kind].flatMap(([names]) => names)
    const sources = Object.entries(this.#sources)
    const declared = this.#further.map(({ name }) => name)
    const isNeeded = (name: string): boolean => declared.includes(name) || fields.some((field) => field === name)
    return new Set(sources.flatMap(([name, source]) => (isNeeded(name) ? columnsOf(source) : [])))
  }

  /** Returns a counter to be called with each row. Only `check` uses it, because it is too slow for serving. */
  counter<Row>(access: RowAccess<Row>): (row: Row) => void {
    const fields = Object.entries(this.#sources).flatMap(([name, source]) => {
      const columns = columnsOf(source)
      const cells =
        source?.kind === 'column' ? [columnCell(name, source, access)] : columns.map((column) => access.cell(column))
      return columns.length === 0 ? [] : [{ name, cells, isWhole: source?.kind === 'join', sign: signOf(source) }]
    })
    return (row) => {
      const { tallies } = this.#now
      this.#now.rows++
      for (const { name, cells, isWhole, sign } of fields) {
        const found = cells.map((cell) => cell(row)).filter((cell) => !isBlank(cell))
        const tally = tallies.get(name) ?? { filled: 0, example: null }
        tallies.set(name, tally)
        if (found.length === 0 || (isWhole && found.length < cells.length)) continue
        tally.filled++
        tally.example ??= found.map(shown).join(sign)
      }
    }
  }

  /**
   * Reports needed fields, and declared further fields, that no column or constant sets and that the configuration does
   * not set to null.
   * @param isThere tells whether any row has the column
   */
  missed(isThere: (column: string) => boolean, rows: number): readonly Suspicion[] {
    if (this.#table === null || rows === 0) return []
    const { kind, list } = this.#table
    const told = new Set<FieldName>()
    const needed = NEEDED[kind].flatMap(([fields, what]) => {
      if (!fields.every((field) => this.#isMissed(field, isThere) && !told.has(field))) return []
      for (const field of fields) told.add(field)
      const example = isServable(fields) ? droppedIn(list, fields) : namedIn(list, fields)
      return [{ column: fields.join(' and '), what, count: rows, example, where: null }]
    })
    const declared = this.#further.flatMap(({ name }) => {
      if (!this.#isMissed(name, isThere)) return []
      const example = `add a column ${name}, or remove it from representation.further.${list}`
      return [{ column: name, what: `is read from no column: no ${kind} has it`, count: rows, example, where: null }]
    })
    return [...needed, ...declared]
  }

  #isMissed(field: string, isThere: (column: string) => boolean): boolean {
    const source = new Map<string, FieldSource | null | undefined>(Object.entries(this.#sources)).get(field)
    if (source === undefined) return true
    const columns = columnsOf(source)
    if ((this.#counts.tallies.get(field)?.filled ?? 0) > 0) return false
    return columns.length > 0 && !columns.some(isThere)
  }

  /**
   * Returns true if a column, or the configuration, gives the field a value. @param isThere tells whether any row has
   * the column
   */
  reads(field: FieldName, isThere: (column: string) => boolean): boolean {
    const source = this.#sources[field] ?? null
    const columns = columnsOf(source)
    return source !== null && (columns.length === 0 || columns.some(isThere))
  }

  /** Returns all fields of the list, in order. @param isThere tells whether any row has the column */
  found(isThere: (column: string) => boolean): readonly FieldFound[] {
    const fields: readonly { readonly name: string }[] = [...(this.#table?.fields ?? []), ...this.#further]
    const sources = new Map<string, FieldSource | null | undefined>(Object.entries(this.#sources))
    const { tallies, rows: of } = this.#counts
    return fields.map(({ name }) => {
      const source = sources.get(name) ?? null
      const columns = columnsOf(source)
      if (source === null) return { field: name, from: null, filled: 0, of, example: null }
      if (columns.length === 0) return { field: name, from: writtenAs(source), filled: of, of, example: null }
      const { filled, example } = tallies.get(name) ?? { filled: 0, example: null }
      // An empty list says nothing about its columns.
      const isRead = of === 0 || filled > 0 || columns.some(isThere)
      return { field: name, from: isRead ? writtenAs(source) : null, filled, of, example }
    })
  }
}

function isServable(fields: readonly FieldName[]): boolean {
  return !fields.includes('Start') && !fields.includes('Finish')
}

function droppedIn(list: string, fields: readonly FieldName[]): string {
  const nulls = fields.map((field) => `${field}: null`).join(', ')
  return `if this is intended, set crm.${list}.fields: { ${nulls} }`
}

function namedIn(list: string, fields: readonly FieldName[]): string {
  return `add a column ${fields.join(' and ')}, or name the existing one in crm.${list}.fields`
}

function columnsOf(source: FieldSource | null | undefined): readonly string[] {
  if (source?.kind === 'column') return [source.column]
  return source?.kind === 'join' || source?.kind === 'subtract' ? source.columns : []
}

function signOf(source: FieldSource | null | undefined): string {
  return source?.kind === 'subtract' ? ' − ' : ' '
}

function writtenAs(source: FieldSource): string {
  if (source.kind === 'value') return `the value ${JSON.stringify(source.value)}`
  if (source.kind === 'lasting') return `${source.lastingMs / 60_000} minutes after Start`
  return columnsOf(source).join(source.kind === 'subtract' ? ' − ' : ' + ')
}

const LONGEST_EXAMPLE = 40

function shown(cell: Cell): string {
  return (shownText(cell)?.trim() ?? showCell(cell)).slice(0, LONGEST_EXAMPLE)
}
