import { type Guid, parseGuid } from '../../domain/guid.ts'
import type { Change, Failure } from '../../sync/port.ts'
import type { Moment } from '../../time/time.ts'
import { type Cell, type CellObject, type RowAccess, isList, isObject } from '../cells/cell.ts'
import { type ListSetting, type MappedColumn, type MappingContext, mappedColumns } from '../mapping/list-setting.ts'
import { type ColumnNames, likelyNames } from './metadata.ts'
import type { Labels, ZoneCodes } from './labels.ts'
import { ZONE_CODE, ZONE_NAME } from './stock-mapping.ts'
import { RowFault } from '../../domain/withheld.ts'
import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import {
  type AvailabilityMapping,
  type RowKind,
  availabilityMapping,
  listMapping,
  mapRow,
  tooLargeRow,
} from '../mapping/map-row.ts'

/** One list in Dataverse, and how its rows become records. */
export interface EntityTable<Item> {
  readonly name: 'events' | 'venues'
  readonly from: string
  readonly rows: TableRows
  readonly labels: Labels
  readonly unlabelled: UnlabelledRows
  /** `null` for venues. */
  readonly availability: AvailabilityMapping<CellObject> | null
  mapRow(row: CellObject, where: () => string, version: number): Change<Item>
}

export interface TableParts extends Pick<MappingContext, 'zone' | 'showIn' | 'venuesFrom' | 'suspicions' | 'htmlText'> {
  readonly labels: Labels
  readonly zones: ZoneCodes
}

export function entityTable<Item extends { readonly Id: Guid }>(
  kind: RowKind<Item>,
  setting: ListSetting,
  { labels, zones, ...parts }: TableParts,
): EntityTable<Item> {
  const rows = new TableRows(setting, labels, zones)
  const unlabelled = new UnlabelledRows()
  const context = { ...parts, idNamespace: null, lists: 'text' } as const
  const mapping = listMapping(kind, setting, rows, context)
  const tooLarge = (row: CellObject, where: string, version: number): Change<Item> => {
    const id = mapping.readers.Id(row)
    return tooLargeRow(id instanceof RowFault ? null : id, where, version)
  }
  return {
    name: kind.table.list,
    from: setting.from,
    rows,
    labels,
    unlabelled,
    availability: kind.table.list === 'events' ? availabilityMapping(setting, rows, context) : null,
    mapRow(row, where, version) {
      const change =
        bytesOf(row, LARGEST_ROW_BYTES) > LARGEST_ROW_BYTES
          ? tooLarge(row, where(), version)
          : mapRow(mapping, row, where, version)
      // Only served rows are noted.
      if (change.id !== null) unlabelled.note(change.id, change.kind === 'record' ? rows.missingWords(row) : [])
      return change
    },
  }
}

/** Shorter texts are counted as if their characters were ASCII. */
const SHORT_TEXT = 1024

/** Returns the approximate bytes of a cell as JSON. Stops counting at `most`. */
function bytesOf(cell: Cell, most: number): number {
  if (typeof cell === 'string') return 2 + (cell.length <= SHORT_TEXT ? cell.length : Buffer.byteLength(cell))
  let bytes = 2
  if (isList(cell)) {
    for (const item of cell) if ((bytes += 1 + bytesOf(item, most - bytes)) > most) break
  } else if (isObject(cell)) {
    for (const name of Object.keys(cell))
      if ((bytes += 4 + name.length + bytesOf(cell[name] ?? null, most - bytes)) > most) break
  }
  return bytes
}

/** The column with the time of a row's last change, to the second. */
export const CHANGE_TIME = 'modifiedon'

interface MissingWord {
  readonly column: string
  readonly code: string
}

/** Reads the rows of one table by configured column names. */
class TableRows implements RowAccess<CellObject> {
  /** The columns to request. Nothing else is read: CRM rows also hold secrets, for example a venue's wifi password. */
  readonly columns: readonly MappedColumn[]
  /** Whether the time of change is requested too. Some tables lack it, for example virtual ones. */
  readsChangeTime: boolean
  /** Whether the records have ids other than the key, by which Dataverse reports deletions; `null` before any row came. */
  hasOwnIds: boolean | null = null
  /** Replaced once the table's definition has been read. */
  names: ColumnNames
  readonly #labels: Labels
  readonly #zones: ZoneCodes
  readonly #tagColumn: string | null
  readonly #labelled: readonly { readonly column: string; readonly cellOf: (row: CellObject) => Cell }[]
  readonly #zoneColumns: ReadonlySet<string>

  constructor(setting: ListSetting, labels: Labels, zones: ZoneCodes) {
    this.#labels = labels
    this.#zones = zones
    const tags = setting.fields.Tags
    this.#tagColumn = tags?.kind === 'column' ? tags.column : null
    this.#zoneColumns = new Set(zoneColumns(setting))
    const hasCode = this.#zoneColumns.has(ZONE_NAME)
    const mapped = mappedColumns(setting)
    const labelled = new Set(mapped.filter(({ label }) => label).map(({ column }) => column))
    this.#labelled = Array.from(labelled, (column) => ({ column, cellOf: this.#plainCell(column) }))
    this.columns = hasCode ? [...mapped, { column: ZONE_CODE, label: false, key: 'fields.Start' }] : mapped
    this.readsChangeTime = !mapped.some(({ column }) => column === CHANGE_TIME)
    this.names = likelyNames(this.columns)
  }

  /** The Web API's names of the columns, each once, for `$select`. */
  selectOf(columns: readonly string[]): string {
    return [...new Set(columns.map((column) => encodeURIComponent(this.names.get(column) ?? column)))].join(',')
  }

  /** Finds out whether the key was requested. Dataverse adds the key to each row even if it was not. */
  learnKey(row: CellObject): void {
    if (this.hasOwnIds !== null) return
    const requested = new Set(this.columns.map(({ column }) => this.names.get(column) ?? column))
    this.hasOwnIds = Object.entries(row).some(
      ([name, cell]) =>
        !name.startsWith('_') && !requested.has(name) && typeof cell === 'string' && parseGuid(cell) !== null,
    )
  }

  /** When the row was last changed, in wall-clock ms; NaN if unknown. */
  updatedAtMs(row: CellObject | undefined): number {
    const cell = row?.[CHANGE_TIME] ?? null
    return typeof cell === 'string' ? Date.parse(cell) : Number.NaN
  }

  /** Fetches what the rows of a page refer to: labels of new codes, and time zones. */
  async prepare(rows: readonly CellObject[], askedAt: Moment, signal: AbortSignal): Promise<Failure | null> {
    for (const column of this.#zoneColumns) {
      const cellOf = this.cell(column)
      const failure = await this.#zones.prepare(cellsOf(rows, cellOf), signal)
      if (failure !== null) return failure
    }
    return this.#labels.prepare((column) => cellsOf(rows, this.#plainCell(column)), askedAt, signal)
  }

  cell(column: string): (row: CellObject) => Cell {
    const plain = this.#plainCell(column)
    if (column !== ZONE_NAME || !this.#zoneColumns.has(column)) return plain
    // The column of zone names may hold anything; if it names no zone, the code counts.
    const codeCell = this.#plainCell(ZONE_CODE)
    return (row) => {
      const cell = plain(row)
      return this.#zones.zoneOf(cell) === null ? (codeCell(row) ?? cell) : cell
    }
  }

  label(column: string): (row: CellObject) => Cell {
    const cellOf = this.#plainCell(column)
    // A list, because a label may contain any separator.
    if (column === this.#tagColumn) return (row) => this.#labels.wordsOf(column, cellOf(row))
    return (row) => {
      const words = this.#labels.wordsOf(column, cellOf(row)).filter((word) => word !== null)
      return words.length === 0 ? null : words.join(', ')
    }
  }

  missingWords(row: CellObject): readonly MissingWord[] {
    return this.#labelled.flatMap(({ column, cellOf }) =>
      this.#labels.missingIn(column, cellOf(row)).map((code) => ({ column, code })),
    )
  }

  zoneOf(cell: Cell): ReturnType<ZoneCodes['zoneOf']> {
    return this.#zones.zoneOf(cell)
  }

  #plainCell(column: string): (row: CellObject) => Cell {
    return (row) => {
      const name = this.names.get(column) ?? column
      return Object.hasOwn(row, name) ? (row[name] ?? null) : null
    }
  }
}

function zoneColumns({ fields }: ListSetting): string[] {
  return [fields.Start, fields.Finish].flatMap((date) =>
    date?.kind === 'column' && date.wallTimeIn?.kind === 'column' ? [date.wallTimeIn.column] : [],
  )
}

function* cellsOf(rows: readonly CellObject[], cellOf: (row: CellObject) => Cell): Generator<Cell> {
  for (const row of rows) yield cellOf(row)
}

const MOST_ROWS = 10_000
const LONGEST_SHOWN = 20

/** Rows served without a label that the CRM lacks, for `check` and `explain`. */
class UnlabelledRows {
  readonly #rows = new Map<Guid, string>()

  note(id: Guid, [first]: readonly MissingWord[]): void {
    if (first === undefined) this.#rows.delete(id)
    else if (this.#rows.has(id) || this.#rows.size < MOST_ROWS) {
      this.#rows.set(id, `${first.code.slice(0, LONGEST_SHOWN)} in ${first.column}`)
    }
  }

  /**
   * Returns a sentence about one row; `null` if all its codes have labels. If too many rows lack labels, the sentence
   * says so.
   */
  remarkOn(id: Guid): string | null {
    const code = this.#rows.get(id)
    if (code !== undefined)
      return `It holds a code that has no label in the CRM, ${code}, and is shown without it: ${REMEDY}.`
    return this.#rows.size < MOST_ROWS
      ? null
      : `More than ${MOST_ROWS} rows hold a code that has no label: it may be one.`
  }

  warning(list: string): string | null {
    const [first] = this.#rows
    if (first === undefined) return null
    const [id, code] = first
    const { size } = this.#rows
    const count = `${size}${size < MOST_ROWS ? '' : ' or more'}`
    return `${count} of the ${list}, such as ${id}, hold a code that has no label in the CRM, such as ${code}, and are shown without it: ${REMEDY}`
  }
}

const REMEDY = 'give its option a label again, or remove it from the row'
