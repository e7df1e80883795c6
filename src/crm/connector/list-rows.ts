import { RowFault } from '../../domain/withheld.ts'
import { meantHint, nearestName } from '../../domain/nearest-name.ts'
import { type Guid, parseGuid } from '../../domain/guid.ts'
import type { ListName } from '../../domain/field.ts'
import type { FurtherField } from '../../domain/further.ts'
import { remembered } from '../../domain/named-ids.ts'
import { printable } from '../../domain/printable.ts'
import type { Change, Held } from '../../sync/port.ts'
import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import {
  type Cell,
  type CellObject,
  cellAt,
  isBlank,
  isList,
  isObject,
  rowPaths,
  showCell,
  shownText,
  whereIs,
} from '../cells/cell.ts'
import { type ListSetting, type MappingContext, mappedColumns } from '../mapping/list-setting.ts'
import {
  type AvailabilityMapping,
  type ListMapping,
  type MappedRow,
  type RowKind,
  availabilityMapping,
  listMapping,
  mapRow,
  rowsOfPlaces,
  tooLargeRow,
  unreadableRow,
} from '../mapping/map-row.ts'
import { parseShallow } from '../cells/parse-cell.ts'
import { digestOf, seedOf } from '../cells/row-digest.ts'
import type { KnownLines, RowMapper, StreamRow, StreamShape, Written } from './row-host.ts'

/** Stands for an `updatedAt` of null. It is not valid UTF-8, so a null that becomes a time counts as a change. */
const NO_STAMP: Buffer = Buffer.from([0xff])
/** Holds one stamp while its digest is made: a buffer for each would cost as much as reading the row. */
const SCRATCH: Buffer = Buffer.alloc(64)

/** Copies a short text of ASCII into the scratch. Returns false for any other text. */
function isCopied(text: string): boolean {
  if (text.length > SCRATCH.length) return false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > 0x7f) return false
    SCRATCH[at] = code
  }
  return true
}

export interface ConnectorRow<Item> {
  readonly change: Change<Item>
  /** The row's `updatedAt` as the CRM writes it; `null` if it has none. */
  readonly stamp: string | null
  /** About how many bytes it has as JSON. */
  readonly bytes: number
  /** Whether it is not a JSON object; absent if it is. */
  readonly isTorn?: boolean
}

/** Where a row is. `isWhole`: the place names the list too, and is better than the row's id. */
export interface RowPlace {
  readonly place: string
  readonly isWhole: boolean
}

export interface KnownId {
  /** `null` if the CRM's id is unusable. */
  readonly id: Guid | null
  readonly text: string
  readonly stamp: string | null
  readonly version: number
}

export type ListParts = Pick<MappingContext, 'idNamespace' | 'zone' | 'showIn' | 'suspicions' | 'texts'> & {
  readonly further: readonly FurtherField[]
  /** What `<from>` of `idNamespace` is. */
  readonly from: Readonly<Record<ListName, string>>
}

/** The number of ids cached to recognize rows. */
const MOST_IDS = 200_000

/** Turns the rows of one list into changes. */
export class ListRows<Item extends { readonly Id: Guid }> implements RowMapper<Item> {
  readonly name: ListName
  readonly shape: StreamShape
  #mapping: ListMapping<Item>
  /** Maps the rows of events to the places in them; `null` if each row is one of the list. */
  #places: ReturnType<typeof rowsOfPlaces<Item>> | null = null
  readonly #mappingOf: (written?: Written) => ListMapping<Item>
  readonly #columns: ReturnType<typeof mappedColumns>
  /** `null` for venues. */
  readonly #availability: AvailabilityMapping | null
  readonly #stampOf: ((row: CellObject) => Cell) | null
  readonly #idPath: string
  readonly #idCell: (row: CellObject) => Cell
  /** Part of every version: with another mapping, the same row becomes another record. */
  #seed: number
  readonly #seedOf: (days: ReadonlySet<string>) => number
  readonly #isDerived: boolean
  readonly #idOfText: (text: string) => Guid | null

  constructor(kind: RowKind<Item>, shape: StreamShape, parts: ListParts) {
    const { list } = kind.table
    const { fields, active, showOnWeb, updatedAt, htmlText, hasConditionsOfEvents = false } = shape
    const { further, from, ...context } = parts
    const said = { fields, active, showOnWeb, updatedAt, further, hasConditionsOfEvents }
    const setting: ListSetting = { from: from[list], ...said }
    this.name = list
    this.shape = shape
    this.#columns = mappedColumns(setting)
    // An API may write several tags as one text.
    const rules = { ...context, htmlText, venuesFrom: from.venues, lists: 'text' } as const
    this.#mappingOf = (written) => listMapping(kind, setting, { ...rules, ...written, isByHand: written !== undefined })
    this.#mapping = this.#mappingOf()
    this.#availability = list === 'events' ? availabilityMapping(setting, rules) : null
    this.#stampOf = updatedAt === null ? null : cellAt(updatedAt)
    this.#idPath = fields.Id?.kind === 'column' ? fields.Id.column : 'Id'
    this.#idCell = cellAt(this.#idPath)
    const { idNamespace, zone, showIn, texts } = parts
    this.#seedOf = (days) => seedOf([setting, texts, idNamespace, zone.id, showIn.id, ...days])
    this.#seed = this.#seedOf(new Set())
    this.#isDerived = idNamespace !== null
    this.#idOfText = idNamespace === null ? parseGuid : remembered((text) => this.idOf(text), MOST_IDS)
  }

  /** Begins a read of all rows. @param written how people wrote them; absent if a program did */
  begin(written?: Written): void {
    const { suspicions } = this.#mapping
    const { isWithinEvents = false, repeats } = this.shape
    suspicions.begin(repeats === 'first')
    if (written === undefined) {
      // The mapping outlives the read, so columns have to be looked for again.
      this.#mapping.probe = suspicions.probe(this.#columns.map(({ column }) => column))
      return
    }
    this.#mapping = this.#mappingOf(written)
    this.#seed = this.#seedOf(written.days)
    this.#places = isWithinEvents ? rowsOfPlaces(this.#mapping) : null
  }

  map(row: CellObject, where: () => string, version = Number.NaN): MappedRow<Item> | null {
    if (this.#places !== null) return this.#places.map(row, where)
    return mapRow(this.#mapping, row, where, version)
  }

  rest(): readonly MappedRow<Item>[] {
    return this.#places?.rest() ?? []
  }

  get lines(): KnownLines {
    return {
      idColumn: this.#idPath,
      isDerived: this.#isDerived,
      idOf: this.#idOfText,
      seed: this.#seed,
      skip: () => this.#mapping.suspicions.skip(),
    }
  }

  /**
   * Maps a row. One that is not a JSON object is withheld.
   * @param at returns where the row is: its number, `line 7` of a command's output, or what the connector says of it
   * @param mapped the ids of the rows that this read has had: the last row of a page comes again with the next
   */
  read(row: StreamRow, at: () => RowPlace, held: Held, mapped: ReadonlySet<Guid>): ConnectorRow<Item> {
    if (!Buffer.isBuffer(row)) return this.#readCells(isCells(row) ? row : {}, null, at, held, mapped)
    const bytes = row.length
    const whereUnknown = (): string => (at().isWhole ? at().place : `${this.name}, ${at().place}`)
    if (bytes > LARGEST_ROW_BYTES) return { change: tooLargeRow(null, whereUnknown(), Number.NaN), stamp: null, bytes }
    const parsed = parseShallow(row.toString('utf8'))
    if (!parsed.ok || !isObject(parsed.cell)) {
      const isDeep = !parsed.ok && parsed.reason === 'depth'
      const found =
        parsed.ok || isDeep ? showCell(row.toString('utf8', 0, 100)) : `${at().place}: expected ${parsed.expected}`
      const kind = isDeep ? 'shallow-object' : parsed.ok ? 'object' : 'json'
      return { change: unreadableRow(kind, found, whereUnknown()), stamp: null, bytes, isTorn: !isDeep }
    }
    return this.#readCells(parsed.cell, row, at, held, mapped)
  }

  /** @param given the row as bytes; `null` if it came as cells */
  #readCells(
    cells: CellObject,
    given: Buffer | null,
    at: () => RowPlace,
    held: Held,
    mapped: ReadonlySet<Guid>,
  ): ConnectorRow<Item> {
    const idText = shownText(this.#idCell(cells))
    const where = (): string => {
      const { place, isWhole } = at()
      if (isWhole) return place
      return `${this.name}, ${idText === null ? place : `id ${idText.slice(0, 80)}`}`
    }
    const stamp = this.#stampOf === null ? null : stampText(this.#stampOf(cells))
    const text = given === null && this.#stampOf === null ? JSON.stringify(cells) : null
    const bytes = given?.length ?? (text === null ? sizeOfCells(cells) : sizeOf(text))
    if (bytes > LARGEST_ROW_BYTES)
      return { change: tooLargeRow(this.#idIn(cells), where(), this.#versionAt(stamp)), stamp, bytes }
    const version = this.#stampOf === null ? digestOfRow(given ?? text ?? '', this.#seed) : this.#versionAt(stamp)
    if (this.#stampOf === null) {
      const id = this.#idIn(cells)
      if (id !== null && held.version(id) === version) {
        if (!mapped.has(id)) this.#mapping.suspicions.skip()
        return { change: { kind: 'unchanged', id, idText }, stamp, bytes }
      }
    }
    const change = mapRow(this.#mapping, cells, where, version)
    // A withheld row is mapped again at each read, because its position may have changed.
    const isKept = change.kind === 'record' || this.#stampOf !== null
    return { change: isKept ? change : { ...change, version: Number.NaN }, stamp, bytes }
  }

  /** The columns that a row of the separate read of availability must have. */
  get availabilityColumns(): ReadonlySet<string> {
    return new Set(this.#availability?.columns)
  }

  /** Reads a row of the separate read of availability; `null` if it lacks a column. */
  availabilityIn(given: StreamRow): Change<Item> | null {
    const row = rowIn(given)
    if (this.#availability === null || row === null) return null
    // A missing column must not be read as 0.
    const lacksColumn = this.#availability.columns.some((column) => whereIs(row, column) === 'nowhere')
    return lacksColumn ? null : this.#availability.changeOf(row)
  }

  stampIn(given: StreamRow): string | null {
    const row = rowIn(given)
    return row === null || this.#stampOf === null ? null : stampText(this.#stampOf(row))
  }

  idOf(cell: Cell): Guid | null {
    return this.#idIn({ [this.#idPath]: cell })
  }

  #idIn(cells: CellObject): Guid | null {
    const id = this.#mapping.readers.Id(cells)
    return id instanceof RowFault ? null : id
  }

  /** Reads a pair of an id scan; `null` if it is not `[id, updatedAt]`. */
  knownId(given: StreamRow): KnownId | null {
    const pair = pairIn(given)
    const [cell = null, stampCell = null] = pair
    if (pair.length !== 2) return null
    const stamp = stampText(stampCell)
    return { id: this.idOf(cell), text: shownText(cell) ?? '', stamp, version: this.#versionAt(stamp) }
  }

  /** The version of a row, made from its `updatedAt`. Any other time, even an earlier one, is another version. */
  #versionAt(stamp: string | null): number {
    if (stamp === null) return digestOf(NO_STAMP, 0, NO_STAMP.length, this.#seed)
    const bytes = isCopied(stamp) ? SCRATCH : Buffer.from(stamp)
    return digestOf(bytes, 0, bytes === SCRATCH ? stamp.length : bytes.length, this.#seed)
  }

  /**
   * Looks for mapped paths that none of the first rows has. APIs leave out what is blank, so such a column is blank, and
   * only worth a warning. Without an id, or the time of a change, no row can be told from another.
   */
  lackingIn(first: readonly StreamRow[], meantBlank: readonly string[] = []): Lacking {
    const rows: CellObject[] = []
    const { updatedAt } = this.shape
    let sought = [
      ...this.#columns.filter(({ column, hasSecond = false }) => !hasSecond && !meantBlank.includes(column)),
      ...(updatedAt === null ? [] : [{ column: updatedAt, key: 'updatedAt' }]),
    ]
    for (const given of first) {
      const row = rowIn(given)
      if (row === null) continue
      rows.push(row)
      sought = sought.filter(({ column }) => whereIs(row, column) !== 'there')
      if (sought.length === 0) return NOTHING_LACKS
    }
    const there = new Set(rows.slice(0, ROWS_WITH_PATHS).flatMap(rowPaths))
    const lacking = sought.flatMap(({ column, key }) => {
      if (!rows.some((row) => whereIs(row, column) === 'nowhere')) return []
      const near = nearestName(column, there)
      if (near === null && rows.length < ENOUGH_ROWS && key !== 'fields.Id') return []
      return [{ key, words: `${JSON.stringify(column)} (${this.name}.${key}${meantHint(near)})` }]
    })
    const [needed, blank] = [true, false].map((isNeeded) => {
      const which = lacking.filter(({ key }) => NEEDED.has(key) === isNeeded)
      return [...new Set(which.map(({ words }) => words))].join(', ')
    })
    const has = [...there].slice(0, MOST_SHOWN).join(', ')
    const none = rows.length === 1 ? 'the first row has no' : `none of the first ${rows.length} rows has`
    const few = `${this.name}: ${none} ${blank}, which is blank where it is missing; rows have ${has}`
    return {
      fault: needed === '' ? null : printable(`${this.name}: no row has ${needed}; rows have ${has}`, 4000),
      warning: blank === '' ? null : printable(few, 4000),
    }
  }
}

/** What the first rows of a list lack: why it cannot be read, and what to warn of; `null` if nothing. */
interface Lacking {
  readonly fault: string | null
  readonly warning: string | null
}

const NOTHING_LACKS: Lacking = { fault: null, warning: null }
const NEEDED: ReadonlySet<string> = new Set(['fields.Id', 'updatedAt'])

/** An `updatedAt` as the CRM writes it; `null` if it is blank. */
export function stampText(cell: Cell): string | null {
  return isBlank(cell) ? null : shownText(cell)
}

/** Parses a row; `null` if it is not a JSON object, or too large. */
export function rowIn(given: StreamRow): CellObject | null {
  if (!Buffer.isBuffer(given)) return isCells(given) ? given : null
  const parsed = given.length > LARGEST_ROW_BYTES ? null : parseShallow(given.toString('utf8'))
  return parsed?.ok === true && isObject(parsed.cell) ? parsed.cell : null
}

/** Parses a pair of an id scan; an empty list if it is none. */
export function pairIn(given: StreamRow): readonly Cell[] {
  if (!Buffer.isBuffer(given)) return isCells(given) ? [] : given
  const parsed = parseShallow(given.toString('utf8'))
  return parsed.ok && isList(parsed.cell) ? parsed.cell : []
}

function isCells(given: Exclude<StreamRow, Buffer>): given is CellObject {
  return !Array.isArray(given)
}

/** The most bytes in UTF-8 for one UTF-16 code unit. */
const WIDEST = 3

/** About the bytes of a row as JSON, counted without writing it: exact if they may be too many. */
function sizeOfCells(cells: CellObject): number {
  let chars = 0
  for (const name in cells) chars += charsOf(cells[name] ?? null)
  return chars * WIDEST > LARGEST_ROW_BYTES ? Buffer.byteLength(JSON.stringify(cells)) : chars
}

/** The bytes of a text: exact if they may be too many. */
function sizeOf(text: string): number {
  return text.length * WIDEST > LARGEST_ROW_BYTES ? Buffer.byteLength(text) : text.length
}

/** Where the bytes of a row are written for its digest, one row after another. */
const written = Buffer.allocUnsafeSlow(LARGEST_ROW_BYTES)

function digestOfRow(given: Buffer | string, seed: number): number {
  if (typeof given !== 'string') return digestOf(given, 0, given.length, seed)
  return digestOf(written, 0, written.write(given), seed)
}

function charsOf(cell: Cell): number {
  if (typeof cell === 'string') return cell.length
  if (typeof cell !== 'object' || cell === null) return 0
  return isList(cell) ? cell.reduce<number>((sum, item) => sum + charsOf(item), 0) : JSON.stringify(cell).length
}

const ROWS_WITH_PATHS = 100
const ENOUGH_ROWS = 10
const MOST_SHOWN = 40
