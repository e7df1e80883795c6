import {
  type FieldSource,
  type FieldSources,
  type LastingSource,
  type SubtractSource,
  columnsOf,
  joinedColumns,
  onlyWhereOf,
  secondColumn,
} from '../../config/crm/sources.ts'
import { type Field, type RowValues, LINKS } from '../../domain/field.ts'
import { type WithheldFault, RowFault } from '../../domain/withheld.ts'
import { type Cell, type CellObject, type Reader, CellFault, isBlank, shownText } from '../cells/cell.ts'
import {
  type Conversions,
  type Convert,
  conversionsOf,
  textConversion,
  translatedTags,
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
import {
  type DateOrigin,
  dateReader,
  dayRules,
  finishRules,
  rulesOfBoth,
  formatOfDay,
  optionalDateReader,
  wallZoneOf,
} from './dates.ts'
import { type CellUse, columnCell } from './column-cell.ts'
import { amountFinder } from './amounts.ts'
import { holdsIn } from './conditions.ts'
import { OF_DATE, OF_TEXT, joinedCell } from './joined-cell.ts'
import { type ListSetting, type MappingContext, columnName, sourceNamed } from './list-setting.ts'
import { looksLikeList, writtenList } from '../cells/parse-cell.ts'
import { type FurtherField, type FurtherValue, FIELD_TYPE_OF } from '../../domain/further.ts'
import type { ListName } from '../../domain/field.ts'
import { textNotes } from './text-notes.ts'
import { statusPosition } from '../../domain/event-status.ts'

/** A reader for each of the contract's fields of a record. */
export type Readers<Item> = { readonly [Name in keyof Omit<Item, 'Further'>]: Reader<Item[Name]> }

export type FieldName = keyof FieldSources

export type FieldsOf<Item> = readonly (Field & { readonly name: keyof Item & FieldName })[]

/** Returns the reader of each field, for the field's type and its source in the mapping. */
export function readersOf<Item>(fields: FieldsOf<Item>, setting: ListSetting, context: MappingContext): Readers<Item> {
  const readerOf = readersByType(setting, context)
  const readers: Partial<Record<FieldName, Reader<unknown>>> = {}
  for (const { name, type } of [...fields, LINKS]) readers[name] = readerOf[type](name)
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- each field has got the reader of its type
  return readers as Readers<Item>
}

/** Returns the readers of the further fields, in the order of their declaration: what is blank is null (contract §7). */
export function furtherReadersOf(
  list: ListName,
  fields: readonly FurtherField[],
  setting: ListSetting,
  context: MappingContext,
): readonly Reader<FurtherValue>[] {
  const readerOf = readersByType(setting, context, true)
  const status = list === 'events' ? statusPosition(fields) : -1
  return fields.map(({ name, type }, at) => {
    if (sourceNamed(setting.fields, name) === null) return () => null
    return readerOf[at === status ? 'status' : type === 'url' ? type : FIELD_TYPE_OF[type]](name)
  })
}

/** Converts what is blank to null; an empty text that the CRM distinguishes from null stays empty if `keepsEmpty`. */
function nullIfBlank<Value>(convert: Convert<Value>, keepsEmpty: boolean): Convert<Value | null> {
  return (cell) => (isBlank(cell) && !(keepsEmpty && cell === '') ? null : convert(cell))
}

interface ReadValues extends RowValues {
  readonly flag: boolean | null
  readonly url: string | null
  readonly status: string | null
}

type ReadersByType = {
  readonly [Type in keyof ReadValues]: (name: string) => Reader<ReadValues[Type] | null>
}

/** Returns the reader of a field by its type. @param isFurther whether blank cells are null */
function readersByType(setting: ListSetting, context: MappingContext, isFurther = false): ReadersByType {
  const { idNamespace, venuesFrom, showIn, lists, texts = null, isByHand = false, suspicions, htmlText } = context
  const conversions = conversionsOf(lists, texts)
  const sourceOf = (name: string): FieldSource | null => sourceNamed(setting.fields, name)
  const read = <Value>(
    name: string,
    convert: Convert<Value>,
    fault?: WithheldFault,
    plain: Convert<Value> = convert,
    { keepsEmpty = false, ...use }: CellUse & { readonly keepsEmpty?: boolean } = {},
  ): Reader<Value | null> => {
    const origin = originOf(setting, name, 'all', use)
    if (!isFurther) return cellReader(origin, convert, fault, plain)
    return cellReader(origin, nullIfBlank(convert, keepsEmpty), fault, nullIfBlank(plain, keepsEmpty))
  }
  const dateOf = (name: string, from: ListSetting = setting): DateOrigin => {
    const source = sourceNamed(from.fields, name)
    const second = secondColumn(source)
    const origin = originOf(from, name, 'any')
    const isEnd = name === 'Finish' && !isFurther
    // A further field of one list may have the name of a contract field of the other.
    const notes = suspicions.datesIn(isFurther ? `further ${name}` : name, origin.column)
    notes.areDays = !isFurther && context.days?.has(name) === true
    if (context.texts !== undefined) notes.formatOfDay = (text) => formatOfDay(text, conversions.dates)
    const single = isEnd && source?.kind === 'column' ? finishRules(conversions.dates) : conversions.dates
    const [start = null, finish = null] = ['Start', 'Finish'].map((each) => sourceNamed(from.fields, each))
    const [day] = columnsOf(start)
    const areOne = day !== undefined && day === columnsOf(finish)[0]
    // A Finish that is a duration after Start is the last of several days.
    const mayBeDays = areOne || (name === 'Start' && lastingOf(finish) !== null)
    const rules = mayBeDays && !isFurther ? rulesOfBoth(single) : single
    return {
      column: origin.column,
      cell: filledCell(origin),
      wallZone: wallZoneOf(source, context.zone),
      listZone: context.zone,
      hasZone: source !== null && 'wallTimeIn' in source && source.wallTimeIn !== undefined,
      rules: notes.areDays ? dayRules(rules) : rules,
      isEnd,
      isJoined: source?.kind === 'join',
      notes,
      instead: second === null ? null : dateOf(name, { ...from, fields: { ...from.fields, [name]: second } }),
    }
  }
  const readId = idNamespace === null ? toId : toNamedId(idNamespace, setting.from)
  const readVenueId = idNamespace === null ? toVenueId : toNamedVenueId(idNamespace, venuesFrom)
  const int32In = (column: string): Conversions['int32'] =>
    isByHand
      ? seen(conversions.int32, (cell) => suspicions.seeInteger(column, cell, texts?.decimal ?? '.'))
      : conversions.int32
  const tagsIn = (name: string): Conversions['tags'] => {
    const column = columnName(setting, name)
    return seen(conversions.tags, (cell, tags) => {
      if (typeof cell !== 'string' || tags instanceof CellFault || writtenList(cell) !== null) return
      if (looksLikeList(cell)) suspicions.suspect(column, 'list', cell)
    })
  }
  const textIn = (name: string, isAddress: boolean): Convert<string | null> => {
    const source = sourceOf(name)
    const note = textNotes(source, columnName(setting, name), isAddress, suspicions)
    return seen(textConversion(source, htmlText), note)
  }
  const currency = texts?.currency ?? []
  const ofNumbers = {
    int32: amountFinder(conversions.int32, currency),
    decimal: amountFinder(conversions.decimal, currency),
  }
  return {
    guid: (name) => (name === 'Id' ? read(name, readId, 'no-id') : read(name, readVenueId)),
    text(name) {
      const isAddress = name === 'Website'
      const use = { keepsEmpty: true, isText: true, isAddress }
      return read(name, textIn(name, isAddress || (isFurther && name === 'Image')), 'unreadable', toText, use)
    },
    url(name) {
      return read(name, textIn(name, true), 'unreadable', toText, { keepsEmpty: true, isText: true, isAddress: true })
    },
    status(name) {
      const use = { keepsEmpty: true, isText: true, translatesLater: true }
      return read(name, textConversion(sourceOf(name), htmlText, true), 'unreadable', toText, use)
    },
    int32(name) {
      const source = sourceOf(name)
      if (source?.kind === 'subtract') return differenceReader(source, int32In, isFurther)
      const use = { amountsIn: ofNumbers.int32 }
      return read(name, int32In(columnName(setting, name)), 'unreadable', toInt32, use)
    },
    decimal(name) {
      const { decimal } = conversions
      const use = { amountsIn: ofNumbers.decimal }
      if (name !== 'Price' || sourceOf(name) === null) return read(name, decimal, 'unreadable', toDecimal, use)
      const column = columnName(setting, name)
      const convert = seen(decimal, (cell) => suspicions.seePrice(column, cell))
      return read(name, convert, 'unreadable', toDecimal, use)
    },
    'date-time'(name) {
      const source = sourceOf(name)
      if (isFurther) return optionalDateReader(dateOf(name), showIn)
      if (name !== 'Finish') return dateReader(dateOf(name), showIn)
      const [start, columns, lastingMs] = [dateOf('Start'), columnsOf(source), lastingOf(source)]
      const hasOther = lastingMs !== null || secondColumn(source) !== null
      const isShared = hasOther && columns.length > 0 && columns.join('\n') === columnsOf(sourceOf('Start')).join('\n')
      return dateReader(dateOf(name), showIn, { start, lastingMs, isShared })
    },
    tags(name) {
      const translated = translatedTags(tagsIn(name), sourceOf(name))
      return read(name, translated, 'unreadable', conversions.tags, { translatesLater: true })
    },
    flag: (name) => read(name, conversions.flag),
    links: (name) => read(name, lists === 'text' ? toLinksOfText : toLinks),
  }
}

function seen<Value>(convert: (cell: Cell) => Value, see: (cell: Cell, value: Value) => void): (cell: Cell) => Value {
  return (cell) => {
    const value = convert(cell)
    see(cell, value)
    return value
  }
}

/** The source of a field's value: its cell in a row, and the CRM's name for it. */
interface Origin {
  readonly column: string
  readonly cell: (row: CellObject) => Cell
  /** The text to read instead of a blank cell, as the configuration writes it; absent if a blank cell stays blank. */
  readonly constant?: string
  /** Whether the row is one in which the constant is read. */
  readonly hasConstant: (row: CellObject) => boolean
}

/** @param blank whether a joined value is blank if any of its columns is, or only if all are */
function originOf(
  setting: Pick<ListSetting, 'fields'>,
  name: string,
  blank: 'any' | 'all' = 'all',
  use: CellUse = {},
): Origin {
  const source = sourceNamed(setting.fields, name)
  const column = columnName(setting, name)
  const hasConstant = holdsIn(onlyWhereOf(source))
  const nowhere = { column, cell: () => null, hasConstant }
  if (source === null || source.kind === 'subtract' || source.kind === 'lasting') return nowhere
  if (source.kind === 'value') return { ...nowhere, constant: source.value }
  const { whenBlank } = source
  const constant = typeof whenBlank === 'string' ? { constant: whenBlank } : {}
  if (source.kind === 'join') {
    const isBlankByOne = blank === 'any' && whenBlank !== null
    const cells = joinedColumns(source).map((part) => columnCell(part, { isText: use.isText === true }))
    const cell = joinedCell(cells, blank === 'any' ? OF_DATE : OF_TEXT, isBlankByOne)
    return { column, cell, hasConstant, ...constant }
  }
  return { column, cell: columnCell(source, use), hasConstant, ...constant }
}

/** Returns a reader of the text that a field is read from. */
export function textReader(name: FieldName, setting: Pick<ListSetting, 'fields'>): (row: CellObject) => string | null {
  const cellOf = filledCell(originOf(setting, name))
  return (row) => shownText(cellOf(row))
}

/** Returns a reader of a field's cell, or of the text that the configuration puts in place of a blank one. */
function filledCell({ cell: cellOf, constant, hasConstant }: Origin): (row: CellObject) => Cell {
  if (constant === undefined) return cellOf
  return (row) => {
    const cell = cellOf(row)
    return isBlank(cell) && hasConstant(row) ? constant : cell
  }
}

function lastingOf(source: FieldSource | null): LastingSource['lastingMs'] | null {
  if (source?.kind === 'lasting') return source.lastingMs
  const whenBlank = source?.kind === 'column' || source?.kind === 'join' ? source.whenBlank : null
  return typeof whenBlank === 'object' && whenBlank?.kind === 'lasting' ? whenBlank.lastingMs : null
}

/** @param plain reads the configured value of a blank cell, whose numbers are not written as the file's are */
function cellReader<Value>(
  { column, cell, constant, hasConstant }: Origin,
  convert: Convert<Value>,
  fault: WithheldFault = 'unreadable',
  plain = convert,
): Reader<Value> {
  const read = (row: CellObject): Value | RowFault => {
    const value = convert(cell(row))
    return value instanceof CellFault ? new RowFault(fault, column, value) : value
  }
  if (constant === undefined) return read
  const asPlain = plain(constant)
  const written = asPlain instanceof CellFault ? convert(constant) : asPlain
  const whenBlank = written instanceof CellFault ? new RowFault(fault, column, written) : written
  return (row) => (isBlank(cell(row)) && hasConstant(row) ? whenBlank : read(row))
}

const MAX_INT32 = 2_147_483_647

/**
 * Reads the first column minus all others, at least 0; a blank cell counts as 0, and so does a row in which nothing is
 * read.
 * @param isFurther whether it is null if the first cell is blank: what is left of an unknown number is unknown
 */
function differenceReader(
  source: SubtractSource,
  int32In: (column: string) => Conversions['int32'],
  isFurther: boolean,
): Reader<number | null> {
  const { whenBlank } = source
  const parts = joinedColumns(source).map((part) => {
    const { column } = part
    return { column, cellOf: columnCell(part), toNumber: int32In(column) }
  })
  const [subtractedFrom = ''] = source.columns
  const subtracted = ({ expected, found }: CellFault): Pick<CellFault, 'expected' | 'found'> => {
    return { expected: expected.kind === 'integer' ? { ...expected, subtractedFrom } : expected, found }
  }
  const constant = whenBlank === undefined ? null : toInt32(whenBlank)
  // The configuration refuses a constant that is no number.
  const instead = constant instanceof CellFault ? null : constant
  const isRead = holdsIn(onlyWhereOf(source))
  return (row) => {
    if (!isRead(row)) return isFurther ? null : 0
    let rest = 0
    let isBlankAtFirst = false
    for (const [index, { column, cellOf, toNumber }] of parts.entries()) {
      const cell = cellOf(row)
      const number = toNumber(cell)
      if (number instanceof CellFault)
        return new RowFault('unreadable', column, index === 0 ? number : subtracted(number))
      rest = index === 0 ? number : rest - number
      if (index === 0) isBlankAtFirst = isBlank(cell)
    }
    if (isBlankAtFirst && (instead !== null || isFurther)) return instead
    // Subtracting a negative number may exceed the field's range.
    return Math.min(Math.max(rest, 0), MAX_INT32)
  }
}
