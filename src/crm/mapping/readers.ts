import type { Condition, FieldSource, FieldSources } from '../../config/crm/sources.ts'
import type { DateTime } from '../../domain/date-time.ts'
import type { Field, RowValues } from '../../domain/field.ts'
import { LINKS } from '../../domain/field.ts'
import type { WithheldFault } from '../../domain/withheld.ts'
import type { Zone } from '../../domain/zone.ts'
import type { Cell, Reader, RowAccess } from './cell.ts'
import { Misfit, Reason, isBlank, plainText, showCell } from './cell.ts'
import { toDecimal, toFlag, toInt32, toLinks, toLinksOfText, toTags, toTagsOfText, toText } from './conversions.ts'
import type { DateNotes } from './dates.ts'
import { toDateTime, toWallDateTime, wallZoneOf } from './dates.ts'
import { toId, toNamedId, toNamedVenueId, toVenueId } from './ids.ts'
import type { FlagColumn, ListSetting, MappingSurroundings } from './list-setting.ts'
import type { Suspicions } from './suspicions.ts'

/** A reader for each field of a record. */
export type Readers<Row, Item> = { readonly [Name in keyof Item]: Reader<Row, Item[Name]> }

type FieldName = keyof FieldSources

/** The fields of a record, by the names that a mapping knows. */
export type FieldsOf<Item> = readonly (Field & { readonly name: keyof Item & FieldName })[]

/** The readers of all fields, each by the type of its field and where the mapping says it comes from. */
export function readersOf<Row, Item>(
  fields: FieldsOf<Item>,
  { from, fields: sources }: ListSetting,
  access: RowAccess<Row>,
  { idNamespace, venuesFrom, zone, showIn, lists, isWritten = false, suspicions }: MappingSurroundings,
): Readers<Row, Item> {
  const sourceOf = (name: FieldName): FieldSource | null => sources[name] ?? null
  const read = <Value>(
    name: FieldName,
    convert: (cell: Cell) => Value | Misfit,
    fault?: WithheldFault,
  ): Reader<Row, Value> => cellReader(originOf(name, sourceOf(name), access), convert, fault)
  const readId = idNamespace === null ? toId : toNamedId(idNamespace, from)
  const readVenueId = idNamespace === null ? toVenueId : toNamedVenueId(idNamespace, venuesFrom)
  const int32In = (column: string): ((cell: Cell) => number | Misfit) =>
    isWritten
      ? (cell) => {
          suspicions.seeInteger(column, cell)
          return toInt32(cell)
        }
      : toInt32
  const byType: { readonly [Type in keyof RowValues]: (name: FieldName) => Reader<Row, RowValues[Type]> } = {
    guid: (name) => (name === 'Id' ? read(name, readId, 'no-id') : read(name, readVenueId)),
    text: (name) => read(name, toText),
    int32(name) {
      const source = sourceOf(name)
      return source?.kind === 'subtract' ? differenceReader(source.columns, access, int32In) : read(name, int32In(name))
    },
    decimal: (name) => read(name, toDecimal),
    'date-time'(name) {
      const source = sourceOf(name)
      const hasZone = source?.kind === 'column' && source.wallTimeIn !== undefined
      const convert = hasZone ? toWallDateTime : toDateTime
      const wallZone = wallZoneOf(source, access, zone)
      return dateReader(originOf(name, source, access), wallZone, convert, showIn, suspicions.datesIn(name))
    },
    tags: (name) => read(name, lists === 'text' ? seenTags(name, suspicions) : toTags),
    links: (name) => read(name, lists === 'text' ? toLinksOfText : toLinks),
  }
  const readers: Partial<Record<FieldName, Reader<Row, unknown>>> = {}
  for (const { name, type } of [...fields, LINKS]) readers[name] = byType[type](name)
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- each field has got the reader of its type
  return readers as Readers<Row, Item>
}

function seenTags(column: string, suspicions: Suspicions): typeof toTagsOfText {
  return (cell) => {
    const tags = toTagsOfText(cell)
    if (typeof cell === 'string' && !(tags instanceof Misfit)) suspicions.seeTags(column, cell, tags.length)
    return tags
  }
}

/** Where a field's value comes from: its cell in a row (null where the row lacks it), and what the CRM calls it. */
interface Origin<Row> {
  readonly column: string
  readonly cell: (row: Row) => Cell
}

function originOf<Row>(name: string, source: FieldSource | null, access: RowAccess<Row>): Origin<Row> {
  if (source === null || source.kind === 'subtract') return { column: name, cell: () => null }
  if (source.kind === 'value') return { column: name, cell: () => source.value }
  const { column, whenBlank, label } = source
  const cellOf = label ? access.label(column) : access.cell(column)
  if (whenBlank === null) return { column, cell: cellOf }
  const cell = (row: Row): Cell => {
    const found = cellOf(row)
    return isBlank(found) ? whenBlank : found
  }
  return { column, cell }
}

function cellReader<Row, Value>(
  { column, cell }: Origin<Row>,
  convert: (cell: Cell) => Value | Misfit,
  fault: WithheldFault = 'unreadable',
): Reader<Row, Value> {
  return (row) => {
    const value = convert(cell(row))
    return value instanceof Misfit ? new Reason(fault, column, value) : value
  }
}

function dateReader<Row>(
  { column, cell }: Origin<Row>,
  wallZone: (row: Row) => Zone | Misfit,
  convert: typeof toDateTime,
  showIn: Zone,
  notes: DateNotes,
): Reader<Row, DateTime> {
  return (row) => {
    const zone = wallZone(row)
    if (zone instanceof Misfit) return new Reason('unreadable', column, zone)
    const value = convert(cell(row), zone, showIn, notes)
    if (value instanceof Misfit) return new Reason('unreadable', column, value)
    return value ?? new Reason('missing', column, { expected: 'a date-time', found: null })
  }
}

const MAX_INT32 = 2_147_483_647

/** The first column less all others, never below 0; a blank one counts as 0. */
function differenceReader<Row>(
  columns: readonly string[],
  access: RowAccess<Row>,
  int32In: (column: string) => typeof toInt32,
): Reader<Row, number> {
  const parts = columns.map((column) => ({ column, cellOf: access.cell(column), toNumber: int32In(column) }))
  return (row) => {
    let rest = 0
    for (const [index, { column, cellOf, toNumber }] of parts.entries()) {
      const number = toNumber(cellOf(row))
      if (number instanceof Misfit) return new Reason('unreadable', column, number)
      rest = index === 0 ? number : rest - number
    }
    // Subtracting what is negative may leave more than a field can hold; it is cut at the other end too.
    return Math.min(Math.max(rest, 0), MAX_INT32)
  }
}

/** Why a row is not in the list, null where it is; `fault` is what its being left out is called. */
export function conditionsOf<Row>(
  condition: Condition | FlagColumn | null,
  access: RowAccess<Row>,
  fault: WithheldFault,
): readonly ((row: Row) => Reason | null)[] {
  if (condition === null) return []
  if ('whenBlank' in condition) return [flagCondition(condition, access, fault)]
  return condition.map((part) => oneOfCondition(part, access, fault))
}

function flagCondition<Row>({ column, whenBlank }: FlagColumn, access: RowAccess<Row>, fault: WithheldFault) {
  const cellOf = access.cell(column)
  return (row: Row): Reason | null => {
    const flag = toFlag(cellOf(row))
    if (flag instanceof Misfit) return new Reason('unreadable', column, flag)
    return (flag ?? whenBlank) ? null : new Reason(fault, column, null)
  }
}

/** Null holds none of the values. */
function oneOfCondition<Row>({ column, oneOf }: Condition[number], access: RowAccess<Row>, fault: WithheldFault) {
  const cellOf = access.cell(column)
  const values = new Set(oneOf.map(String))
  const expected = oneOf.length === 1 ? String(oneOf[0]) : `one of ${oneOf.join(', ')}`
  return (row: Row): Reason | null => {
    const cell = cellOf(row)
    const text = typeof cell === 'boolean' ? String(cell) : plainText(cell)
    return text !== null && values.has(text) ? null : new Reason(fault, column, { expected, found: showCell(cell) })
  }
}
