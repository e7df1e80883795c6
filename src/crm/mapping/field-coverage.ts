import type { FoundSuspicion } from '../../domain/withheld.ts'
import { type FieldSource, type FieldSources, columnsOf } from '../../config/crm/sources.ts'
import type { RecordTable } from '../../domain/field.ts'
import type { FurtherField } from '../../domain/further.ts'
import { type Cell, type CellObject, cellAt, isBlank, shownText, showCell } from '../cells/cell.ts'
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
const NEEDED: Readonly<Record<RecordTable['kind'], readonly (readonly FieldName[])[]>> = {
  event: [['Name'], ['Start'], ['Finish'], ['TicketCapacity', 'TicketsAvailable'], ['TicketsAvailable'], ['Price']],
  venue: [['Name']],
}

/** The rows of one read, and by field how many of them have a value. */
export interface FieldCounts {
  readonly tallies: Map<string, { filled: number; example: string | null }>
  rows: number
}

/** Tells whether any row has a column. */
type IsThere = (column: string) => boolean

/** The source of each field of a list, and what the rows hold there. */
export class FieldCoverage {
  readonly #table: RecordTable
  readonly #sources: ReadonlyMap<string, FieldSource | null | undefined>
  readonly #further: readonly string[]

  constructor(table: RecordTable, fields: FieldSources, further: readonly FurtherField[]) {
    this.#table = table
    this.#sources = new Map(Object.entries(fields))
    this.#further = further.map(({ name }) => name)
  }

  /** The columns of the fields that `missed` reports if no row has them. */
  get needed(): ReadonlySet<string> {
    const fields = [...NEEDED[this.#table.kind].flat(), ...this.#further]
    return new Set(fields.flatMap((name) => columnsOf(this.#sources.get(name))))
  }

  /** Returns a counter to be called with each row. Only `check` uses it, because it is too slow for serving. */
  counter(): (row: CellObject, counts: FieldCounts) => void {
    const fields = Array.from(this.#sources).flatMap(([name, source]) => {
      const columns = columnsOf(source)
      const cells =
        source?.kind === 'column'
          ? [columnCell(source, { isAddress: name === 'Website' })]
          : columns.map((column) => cellAt(column))
      return columns.length === 0 ? [] : [{ name, cells, isWhole: source?.kind === 'join', sign: signOf(source) }]
    })
    return (row, counts) => {
      const { tallies } = counts
      counts.rows++
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
   */
  missed({ tallies }: FieldCounts, isThere: IsThere, rows: number): readonly FoundSuspicion[] {
    if (rows === 0) return []
    const { kind, list } = this.#table
    const isMissed = (field: string): boolean => {
      const source = this.#sources.get(field)
      const isRead = source === null || (tallies.get(field)?.filled ?? 0) > 0 || this.reads(field, isThere)
      return !isRead
    }
    const names = new Set<FieldName>()
    const needed = NEEDED[kind].filter((fields) => {
      const isNew = fields.every((field) => isMissed(field) && !names.has(field))
      if (isNew) for (const field of fields) names.add(field)
      return isNew
    })
    const columns = [...needed.map((fields) => fields.join(' and ')), ...this.#further.filter(isMissed)]
    return columns.map((column) => ({ column, code: 'no-column', of: list, count: rows, first: null }))
  }

  /** Returns true if a column, or the configuration, gives the field a value. */
  reads(field: string, isThere: IsThere): boolean {
    const source = this.#sources.get(field) ?? null
    const columns = columnsOf(source)
    return source !== null && (columns.length === 0 || columns.some(isThere))
  }

  /** Returns all fields of the list, in order. */
  found({ tallies, rows: of }: FieldCounts, isThere: IsThere): readonly FieldFound[] {
    return [...this.#table.fields.map(({ name }) => name), ...this.#further].map((field) => {
      const source = this.#sources.get(field) ?? null
      if (source === null) return { field, from: null, filled: 0, of, example: null }
      if (columnsOf(source).length === 0) return { field, from: writtenAs(source), filled: of, of, example: null }
      const { filled, example } = tallies.get(field) ?? { filled: 0, example: null }
      // An empty list says nothing about its columns.
      const isRead = of === 0 || filled > 0 || this.reads(field, isThere)
      return { field, from: isRead ? writtenAs(source) : null, filled, of, example }
    })
  }
}

function signOf(source: FieldSource | null | undefined): string {
  return source?.kind === 'subtract' ? ' − ' : ' '
}

function writtenAs(source: FieldSource): string {
  if (source.kind === 'value') return `the value ${JSON.stringify(source.value)}`
  if (source.kind === 'lasting') {
    return source.lastingMs === 'day'
      ? 'the end of the day of Start'
      : `${source.lastingMs / 60_000} minutes after Start`
  }
  const columns = columnsOf(source).join(source.kind === 'subtract' ? ' − ' : ' + ')
  const pairs = (source.values ?? []).map(([from, to]) => `${from} = ${to ?? 'blank'}`)
  return pairs.length === 0 ? columns : `${columns} (${pairs.join(', ')})`
}

const LONGEST_EXAMPLE = 40

function shown(cell: Cell): string {
  return (shownText(cell)?.trim() ?? showCell(cell)).slice(0, LONGEST_EXAMPLE)
}
