import type { FieldSource, FieldSources } from '../../config/crm/sources.ts'
import type { DateTime } from '../../domain/date-time.ts'
import { type Field, type RowValues, LINKS } from '../../domain/field.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import { type WithheldFault, RowFault } from '../../domain/withheld.ts'
import type { Zone } from '../../domain/zone.ts'
import {
  type Cell,
  type Reader,
  type RowAccess,
  CellFault,
  LateTime,
  isBlank,
  plainText,
  shownText,
} from '../cells/cell.ts'
import {
  type Conversions,
  conversionsOf,
  textConversion,
  toDecimal,
  toId,
  toInt32,
  toLinks,
  toLinksOfText,
  toNamedId,
  toNamedVenueId,
  toText,
  toVenueId,
} from './conversions.ts'
import { type DateNotes, type DateOrigin, ANY_DATE_TIME, finishReader, toDateTime, wallZoneOf } from './dates.ts'
import { columnCell } from './column-cell.ts'
import type { ListSetting, MappingContext } from './list-setting.ts'
import type { FurtherField, FurtherType, FurtherValue } from '../../domain/further.ts'

/** A reader for each of the contract's fields of a record. */
export type Readers<Row, Item> = { readonly [Name in keyof Omit<Item, 'Further'>]: Reader<Row, Item[Name]> }

export type FieldName = keyof FieldSources

export type FieldsOf<Item> = readonly (Field & { readonly name: keyof Item & FieldName })[]

/** Returns the reader of each field, for the field's type and its source in the mapping. */
export function readersOf<Row, Item>(
  fields: FieldsOf<Item>,
  { from, fields: sources }: ListSetting,
  access: RowAccess<Row>,
  context: MappingContext,
): Readers<Row, Item> {
  const { idNamespace, venuesFrom, showIn, lists, texts = null, written = null, suspicions, htmlText } = context
  const conversions = conversionsOf(lists, texts)
  const sourceOf = (name: FieldName): FieldSource | null => sources[name] ?? null
  const read = <Value>(
    name: FieldName,
    convert: (cell: Cell) => Value | CellFault,
    fault?: WithheldFault,
    plain: (cell: Cell) => Value | CellFault = convert,
  ): Reader<Row, Value> => cellReader(originOf(name, sourceOf(name), access), convert, fault, plain)
  const dateOf = (name: FieldName): DateOrigin<Row> => {
    const source = sourceOf(name)
    return dateOriginOf(name, source, access, context, suspicions.datesIn(name, nameOfColumn(name, source)))
  }
  const readId = idNamespace === null ? toId : toNamedId(idNamespace, from)
  const readVenueId = idNamespace === null ? toVenueId : toNamedVenueId(idNamespace, venuesFrom)
  const int32In = (column: string): Conversions['int32'] =>
    written === null
      ? conversions.int32
      : seen(conversions.int32, (cell) => suspicions.seeInteger(column, cell, texts?.decimal ?? '.'))
  const tagsIn = (column: string): Conversions['tags'] => {
    const separators = texts?.tags ?? [';']
    if (lists !== 'text' || separators.includes(',')) return conversions.tags
    const separator = separators.join() === ';' ? 'semicolon' : separators.join(' or ')
    return seen(conversions.tags, (cell, tags) => {
      if (typeof cell === 'string' && !(tags instanceof CellFault))
        suspicions.seeTags(column, cell, tags.length, separator)
    })
  }
  const byType: { readonly [Type in keyof RowValues]: (name: FieldName) => Reader<Row, RowValues[Type]> } = {
    guid: (name) => (name === 'Id' ? read(name, readId, 'no-id') : read(name, readVenueId)),
    text: (name) => read(name, textConversion(sourceOf(name), htmlText), 'unreadable', toText),
    int32(name) {
      const source = sourceOf(name)
      if (source?.kind === 'subtract') return differenceReader(source.columns, access, int32In)
      return read(name, int32In(nameOfColumn(name, source)), 'unreadable', toInt32)
    },
    decimal(name) {
      const source = sourceOf(name)
      const { decimal } = conversions
      if (name !== 'Price' || source === null) return read(name, decimal, 'unreadable', toDecimal)
      const column = nameOfColumn(name, source)
      const isUnsaid = written !== null && written.decimal === null
      const convert = seen(decimal, (cell) => {
        suspicions.seePrice(column, cell)
        if (isUnsaid) suspicions.seeUnsaidPrice(column, cell)
      })
      return read(name, convert, 'unreadable', toDecimal)
    },
    'date-time'(name) {
      const source = sourceOf(name)
      const lastingMs = lastingOf(source)
      if (name === 'Finish' && (lastingMs !== null || source?.kind === 'join')) {
        return finishReader(dateOf(name), dateOf('Start'), lastingMs, source?.kind === 'join', showIn)
      }
      const dates = dateOf(name)
      const missing = new RowFault('missing', dates.column, { expected: ANY_DATE_TIME, found: null })
      return dateReader<Row, never>(dates, showIn, () => missing)
    },
    tags: (name) => read(name, tagsIn(nameOfColumn(name, sourceOf(name)))),
    links: (name) => read(name, lists === 'text' ? toLinksOfText : toLinks),
  }
  const readers: Partial<Record<FieldName, Reader<Row, unknown>>> = {}
  for (const { name, type } of [...fields, LINKS]) readers[name] = byType[type](name)
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- each field has got the reader of its type
  return readers as Readers<Row, Item>
}

function seen<Value>(convert: (cell: Cell) => Value, see: (cell: Cell, value: Value) => void): (cell: Cell) => Value {
  return (cell) => {
    const value = convert(cell)
    see(cell, value)
    return value
  }
}

/** The source of a field's value: its cell in a row, and the CRM's name for it. */
interface Origin<Row> {
  readonly column: string
  readonly cell: (row: Row) => Cell
  /** The text to read instead of a blank cell, as the configuration writes it; absent if a blank cell stays blank. */
  readonly constant?: string
}

/** The source of a field of any name; `null` if nothing reads it. */
function sourceNamed(sources: FieldSources, name: string): FieldSource | null {
  return new Map<string, FieldSource | null | undefined>(Object.entries(sources)).get(name) ?? null
}

/** The source of a date. @param notes the notes on the field's dates */
function dateOriginOf<Row>(
  name: string,
  source: FieldSource | null,
  access: RowAccess<Row>,
  { zone, lists, texts = null }: MappingContext,
  notes: DateNotes,
): DateOrigin<Row> {
  const { column, cell, constant } = originOf(name, source, access, 'any')
  return {
    column,
    cell: constant === undefined ? cell : (row) => blankAs(cell(row), constant),
    wallZone: wallZoneOf(source, access, zone),
    hasZone: source !== null && 'wallTimeIn' in source && source.wallTimeIn !== undefined,
    rules: conversionsOf(lists, texts).dates,
    notes,
  }
}

export function nameOfColumn(name: string, source: FieldSource | null): string {
  if (source?.kind === 'join') return source.columns.join(' + ')
  return source?.kind === 'column' ? source.column : name
}

/** @param blank whether a joined value is blank if any of its columns is, or only if all are */
function originOf<Row>(
  name: string,
  source: FieldSource | null,
  access: RowAccess<Row>,
  blank: 'any' | 'all' = 'all',
): Origin<Row> {
  const column = nameOfColumn(name, source)
  if (source === null || source.kind === 'subtract' || source.kind === 'lasting') return { column, cell: () => null }
  if (source.kind === 'value') return { column, cell: () => null, constant: source.value }
  const { whenBlank } = source
  const constant = typeof whenBlank === 'string' ? { constant: whenBlank } : {}
  if (source.kind === 'join') {
    const isBlankByOne = blank === 'any' && whenBlank !== null
    // In dates, digits count rather than the zeros that a format shows.
    const textOf = blank === 'any' ? plainText : shownText
    const cell = joinedCell(source.columns.map(access.cell.bind(access)), textOf, isBlankByOne)
    return { column, cell, ...constant }
  }
  return { column, cell: columnCell(name, source, access), ...constant }
}

/** Matches a day that a spreadsheet wrote as midnight, next to a separate time column. */
const MIDNIGHT = /^(\d{4}-\d\d-\d\d)[T ]00:00(?::00(?:\.0+)?)?$/

function dayOf(text: string): string {
  return text.charCodeAt(4) === HYPHEN && text.length >= 16 ? text.replace(MIDNIGHT, '$1') : text
}

const HYPHEN = 0x2d

function joinedCell<Row>(
  cells: readonly ((row: Row) => Cell)[],
  textOf: (cell: Cell) => string | null,
  isBlankByOne: boolean,
): (row: Row) => Cell {
  return (row) => {
    let text: string | null = null
    // Set if the last cell is a late time.
    let late: LateTime | null = null
    for (const cellOf of cells) {
      const cell = cellOf(row)
      if (isBlank(cell)) {
        if (isBlankByOne) return null
        continue
      }
      const part = textOf(cell)
      // A cell that is not text is returned as it is, so the fault shows it.
      if (part === null) return cell
      late = cell instanceof LateTime ? lateAfter(text, cell) : null
      text = text === null ? trimWhiteSpace(part) : `${dayOf(text)} ${trimWhiteSpace(part)}`
    }
    return late ?? text
  }
}

function lateAfter(day: string | null, time: LateTime): LateTime {
  if (day === null) return time
  return new LateTime(`${dayOf(day)} ${time.text}`, `${dayOf(day)} ${time.shown}`, time.days)
}

/** Returns a reader of the text that a field is read from. */
export function textReader<Row>(
  name: FieldName,
  { fields }: Pick<ListSetting, 'fields'>,
  access: RowAccess<Row>,
): (row: Row) => string | null {
  const { cell, constant } = originOf(name, fields[name] ?? null, access)
  return (row) => shownText(constant === undefined ? cell(row) : blankAs(cell(row), constant))
}

function blankAs(cell: Cell, constant: string): Cell {
  return isBlank(cell) ? constant : cell
}

function lastingOf(source: FieldSource | null): number | null {
  if (source?.kind === 'lasting') return source.lastingMs
  const whenBlank = source?.kind === 'column' || source?.kind === 'join' ? source.whenBlank : null
  return typeof whenBlank === 'object' && whenBlank !== null ? whenBlank.lastingMs : null
}

/** @param plain reads the configured value of a blank cell, whose numbers are not written as the file's are */
function cellReader<Row, Value>(
  { column, cell, constant }: Origin<Row>,
  convert: (cell: Cell) => Value | CellFault,
  fault: WithheldFault = 'unreadable',
  plain = convert,
): Reader<Row, Value> {
  const read = (row: Row): Value | RowFault => {
    const value = convert(cell(row))
    return value instanceof CellFault ? new RowFault(fault, column, value) : value
  }
  if (constant === undefined) return read
  const asPlain = plain(constant)
  const written = asPlain instanceof CellFault ? convert(constant) : asPlain
  const whenBlank = written instanceof CellFault ? new RowFault(fault, column, written) : written
  return (row) => (isBlank(cell(row)) ? whenBlank : read(row))
}

/** @param blank what a blank cell is read as */
function dateReader<Row, Blank>(
  { column, cell, wallZone, hasZone, rules, notes }: DateOrigin<Row>,
  showIn: Zone,
  blank: () => Blank | RowFault,
): Reader<Row, DateTime | Blank> {
  return (row) => {
    const zone = wallZone(row)
    if (zone instanceof CellFault) return new RowFault('unreadable', column, zone)
    const value = toDateTime(cell(row), zone, showIn, rules, notes, hasZone)
    if (value instanceof CellFault) return new RowFault('unreadable', column, value)
    return value ?? blank()
  }
}

const MAX_INT32 = 2_147_483_647

/** Reads the first column minus all others, at least 0; a blank cell counts as 0. */
function differenceReader<Row>(
  columns: readonly string[],
  access: RowAccess<Row>,
  int32In: (column: string) => Conversions['int32'],
): Reader<Row, number> {
  const parts = columns.map((column) => ({ column, cellOf: access.cell(column), toNumber: int32In(column) }))
  return (row) => {
    let rest = 0
    for (const [index, { column, cellOf, toNumber }] of parts.entries()) {
      const number = toNumber(cellOf(row))
      if (number instanceof CellFault) return new RowFault('unreadable', column, number)
      rest = index === 0 ? number : rest - number
    }
    // Subtracting a negative number may exceed the field's range.
    return Math.min(Math.max(rest, 0), MAX_INT32)
  }
}

/** As `differenceReader`, but `null` if the first cell is blank: what is left of an unknown number is unknown. */
function furtherDifferenceReader<Row>(
  columns: readonly string[],
  access: RowAccess<Row>,
  int32In: (column: string) => Conversions['int32'],
): Reader<Row, number | null> {
  const [first = ''] = columns
  const cellOf = access.cell(first)
  const read = differenceReader(columns, access, int32In)
  return (row) => {
    const rest = read(row)
    return rest instanceof RowFault || !isBlank(cellOf(row)) ? rest : null
  }
}

type Convert = (cell: Cell) => FurtherValue | CellFault

/** Returns the readers of the further fields, in the order of their declaration (contract §7). */
export function furtherReadersOf<Row>(
  fields: readonly FurtherField[],
  setting: ListSetting,
  access: RowAccess<Row>,
  context: MappingContext,
): readonly Reader<Row, FurtherValue>[] {
  const { lists, texts = null, showIn, htmlText } = context
  const conversions = conversionsOf(lists, texts)
  return fields.map(({ name, type }) => {
    const source = sourceNamed(setting.fields, name)
    if (source === null) return () => null
    const origin = originOf(name, source, access)
    const read = (convert: Convert, plain = convert): Reader<Row, FurtherValue> =>
      cellReader(origin, nullIfBlank(convert), 'unreadable', nullIfBlank(plain))
    const readersByType: Readonly<Record<FurtherType, () => Reader<Row, FurtherValue>>> = {
      text: () => cellReader(origin, furtherText(textConversion(source, htmlText)), 'unreadable', furtherText(toText)),
      integer: () =>
        source.kind === 'subtract'
          ? furtherDifferenceReader(source.columns, access, () => conversions.int32)
          : read(conversions.int32, toInt32),
      decimal: () => read(conversions.decimal, toDecimal),
      'date-time': () => {
        // The prefix separates these notes from the notes on the contract's dates: a further field of one list may have
        // the name of a contract field of the other.
        const notes = context.suspicions.datesIn(`further ${name}`, nameOfColumn(name, source))
        return dateReader(dateOriginOf(name, source, access, context, notes), showIn, () => null)
      },
      flag: () => read(conversions.flag),
      texts: () => read(conversions.tags),
    }
    return readersByType[type]()
  })
}

/** Reads the further fields of a row, and stops at the first that cannot be read. */
export function furtherOf<Row>(
  readers: readonly Reader<Row, FurtherValue>[],
  row: Row,
): readonly FurtherValue[] | RowFault {
  const values: FurtherValue[] = []
  for (const read of readers) {
    const value = read(row)
    if (value instanceof RowFault) return value
    values.push(value)
  }
  return values
}

function nullIfBlank(convert: Convert): Convert {
  return (cell) => (isBlank(cell) ? null : convert(cell))
}

/** A text of blanks is null; an empty one that the CRM distinguishes from null stays empty (contract §7). */
function furtherText(convert: Convert): Convert {
  return (cell) => (cell !== '' && isBlank(cell) ? null : convert(cell))
}
