// Maps the rows of a CRM to records. In: the rows of a connector, read through its RowAccess, and a ListSetting, which
// says which column each field comes from. Out: records, or why a row is withheld.

import { type EventRecord, EVENTS } from '../../domain/event.ts'
import { faultKey } from '../../domain/fault-counts.ts'
import { type RecordTable, blankRecord } from '../../domain/field.ts'
import type { Extended, FurtherValue } from '../../domain/further.ts'
import { type Guid, EMPTY_GUID } from '../../domain/guid.ts'
import { type VenueRecord, VENUES } from '../../domain/venue.ts'
import { isOnPurpose, RowFault } from '../../domain/withheld.ts'
import type { Change } from '../../sync/port.ts'
import {
  type FieldName,
  type FieldsOf,
  type Readers,
  furtherOf,
  furtherReadersOf,
  nameOfColumn,
  readersOf,
  textReader,
} from './readers.ts'
import { type LetPass, conditionsOf, letPassBy } from './conditions.ts'
import { conversionsOf } from './conversions.ts'
import { type ListSetting, type MappingContext, mappedColumns } from './list-setting.ts'
import type { DateNotes } from './dates.ts'
import { type Reader, type RowAccess } from '../cells/cell.ts'
import { MOST_SHOWN, Suspicions } from './suspicions.ts'

/**
 * The version of the records. Raise it if any CRM's row becomes a different record than before, or is packed otherwise:
 * snapshots of other versions are not used.
 */
export const RECORDS = 4

/** A kind of record: how it is made from its fields, and which of its values are suspicious. */
export interface RowKind<Item> {
  readonly table: RecordTable<FieldsOf<Item>>
  /** The field with a venue's id, and the function that returns this id of a record. */
  readonly venueField: FieldName
  readonly venueIn: (record: Item) => Guid
  readonly titleOf: <Row>(readers: Readers<Row, Item>, row: Row) => string | RowFault | null
  /** Reads the dates of a row in order to count them. */
  readonly readDates: <Row>(readers: Readers<Row, Item>, row: Row) => void
  /** Returns the cells of a record that are suspicious, for example because they contradict each other. */
  readonly suspiciousIn: (
    record: Item,
    nameOf: NameOf,
    times: EventTimes,
    suspicions: Suspicions,
  ) => Parameters<Suspicions['note']>[1]
}

/** The dates of the current row as numbers: comparing their texts would take 0.2 µs. */
interface EventTimes {
  /** Whether TicketCapacity has a source. */
  readonly hasCapacity: boolean
  readonly start: DateNotes
  readonly finish: DateNotes
}

type NameOf = (field: FieldName) => string

const NONE: readonly never[] = []
const HIDDEN = { what: 'is in a row that the workbook hides, and the row is served', found: 'hidden' } as const

export const EVENT_ROWS: RowKind<EventRecord> = {
  table: EVENTS,
  venueField: 'VenueId',
  venueIn: ({ VenueId }) => VenueId,
  titleOf: ({ Name }, row) => Name(row),
  readDates({ Start, Finish }, row) {
    Start(row)
    Finish(row)
  },
  suspiciousIn: suspiciousEventCells,
}
export const VENUE_ROWS: RowKind<VenueRecord> = {
  table: VENUES,
  venueField: 'Id',
  venueIn: ({ Id }) => Id,
  titleOf: ({ Name }, row) => Name(row),
  readDates: () => {},
  suspiciousIn: suspiciousVenueCells,
}

/** How the rows of one list become records. Built once, then run for each row. */
export interface ListMapping<Row, Item> extends EventTimes {
  readonly readers: Readers<Row, Item>
  /** The readers of all fields but the id, in the order of the table. */
  readonly fields: readonly { readonly name: string; readonly read: Reader<Row, unknown> }[]
  readonly blank: ReturnType<typeof blankRecord>
  /** The readers of the further fields; `null` if none is declared. */
  readonly further: readonly Reader<Row, FurtherValue>[] | null
  /** Conditions for the row to be in the list, checked in this order once its id is known. */
  readonly conditions: readonly ((row: Row) => RowFault | null)[]
  /** Counts filled fields for `check`; `null` while serving. */
  readonly countFields: ((row: Row) => void) | null
  /** The values that pass a `not` condition, for `check`. */
  readonly letPass: readonly LetPass<Row>[]
  readonly kind: Omit<RowKind<Item>, 'table'>
  readonly suspicions: Suspicions
  /** Reads the CRM's own id; `null` if it is the id itself. */
  readonly idText: ((row: Row) => string | null) | null
  /** Returns the row's text in the field with a venue's id. */
  readonly venueText: (row: Row) => string | null
  /** Looks for columns that no row has had yet; `null` once nothing is left to look for. */
  probe: ((row: Row) => boolean) | null
  /** Returns true if a row has the column at all. */
  readonly isThere: (column: string, row: Row) => boolean
  readonly nameOf: NameOf
  readonly isHidden: ((row: Row) => boolean) | null
}

/** Returns the CRM's name for the column of a list's id. */
export function idColumnOf({ fields }: Pick<ListSetting, 'fields'>): string {
  return nameOfColumn('Id', fields.Id ?? null)
}

export function listMapping<Row, Item>(
  kind: RowKind<Item>,
  setting: ListSetting,
  access: RowAccess<Row>,
  context: MappingContext,
): ListMapping<Row, Item> {
  const { active, showOnWeb, further = [], updatedAt = null } = setting
  const { suspicions, lists, texts = null } = context
  const { flag } = conversionsOf(lists, texts)
  suspicions.coverage.map(kind.table, setting.fields, further)
  suspicions.updatedAt = updatedAt
  suspicions.venueTexts.column = nameOfColumn(kind.venueField, setting.fields[kind.venueField] ?? null)
  const readers = readersOf(kind.table.fields, setting, access, context)
  return {
    readers,
    fields: Object.entries<Reader<Row, unknown>>(readers).flatMap(([name, read]) =>
      name === 'Id' ? [] : [{ name, read }],
    ),
    blank: blankRecord(kind.table.fields, further.length > 0),
    further: further.length === 0 ? null : furtherReadersOf(further, setting, access, context),
    conditions: [
      ...conditionsOf(active, access, 'inactive', flag),
      ...conditionsOf(showOnWeb, access, 'not-shown', flag),
    ],
    countFields: suspicions.thorough ? suspicions.coverage.counter(access) : null,
    letPass: [...letPassBy(active, access), ...letPassBy(showOnWeb, access)],
    kind,
    suspicions,
    idText: context.idNamespace === null ? null : textReader('Id', setting, access),
    venueText: textReader(kind.venueField, setting, access),
    hasCapacity: (setting.fields.TicketCapacity ?? null) !== null,
    start: suspicions.datesIn('Start'),
    finish: suspicions.datesIn('Finish'),
    probe: suspicions.probe(
      mappedColumns(setting).map(({ column }) => column),
      access,
    ),
    isThere: (column, row) => access.isThere?.(column)(row) ?? true,
    nameOf: (field) => nameOfColumn(field, setting.fields[field] ?? null),
    isHidden: access.isHidden?.bind(access) ?? null,
  }
}

export type MappedRow<Item> = Extract<Change<Item>, { readonly kind: 'record' | 'withheld' }>

/**
 * Maps a row to its record, or to the faults for which it is withheld. Reads the id first, then the conditions, then
 * the values. A withheld row gets all its faults.
 */
export function mapRow<Row, Item extends { readonly Id: Guid } & Extended>(
  mapping: ListMapping<Row, Item>,
  row: Row,
  where: () => string,
  version: number,
): MappedRow<Item> {
  const { suspicions, start, finish, readers, kind } = mapping
  if (mapping.probe !== null && !mapping.probe(row)) mapping.probe = null
  if (suspicions.thorough) {
    const mapped = mapThoroughly(mapping, row, where, version)
    return mapped.kind === 'record' ? mapped : withAllFaults(mapping, row, mapped)
  }
  const [starts, finishes] = [start.wallTimes, finish.wallTimes]
  const mapped = mapShortly(mapping, row, where, version)
  if (mapped.kind === 'record') return mapped
  // Reading stopped at the row's first fault, possibly before its dates. Read both again, so that each counts once.
  ;[start.wallTimes, finish.wallTimes] = [starts, finishes]
  kind.readDates(readers, row)
  return withAllFaults(mapping, row, mapped)
}

function mapShortly<Row, Item extends { readonly Id: Guid } & Extended>(
  mapping: ListMapping<Row, Item>,
  row: Row,
  where: () => string,
  version: number,
): MappedRow<Item> {
  const { readers, conditions, kind, suspicions, idText, venueText, nameOf, isHidden } = mapping
  if (suspicions.isWatching) suspicions.current = []
  const id = readers.Id(row)
  if (id instanceof RowFault) return withheldRow(id, null, where(), version)
  for (const condition of conditions) {
    const reason = condition(row)
    if (reason !== null) return withheldRow(reason, id, where(), version)
  }
  const record = recordOf(mapping, row, id)
  if (record instanceof RowFault) return withheldRow(record, id, where(), version)
  const cells = kind.suspiciousIn(record, nameOf, mapping, suspicions)
  const all = isHidden?.(row) === true ? [...cells, { ...HIDDEN, column: nameOf('Id') }] : cells
  if (all.length > 0 || suspicions.isWatching) suspicions.note(id, all, where)
  const venue = kind.venueIn(record)
  if (venue !== EMPTY_GUID) suspicions.venueTexts.note(venue, () => venueText(row), id, where)
  return idText === null
    ? { kind: 'record', id, record, version }
    : { kind: 'record', id, record, version, idText: idText(row) }
}

/** As `mapShortly`, for `check`: also notes the suspicious values of withheld rows. */
function mapThoroughly<Row, Item extends { readonly Id: Guid } & Extended>(
  mapping: ListMapping<Row, Item>,
  row: Row,
  where: () => string,
  version: number,
): MappedRow<Item> {
  const { suspicions, letPass, countFields } = mapping
  countFields?.(row)
  for (const { column, valueIn } of letPass) suspicions.countPassed(column, valueIn(row))
  suspicions.current = []
  reasonsIn(mapping, row)
  const { current } = suspicions
  const mapped = suspicions.again(() => mapShortly(mapping, row, where, version))
  if (mapped.kind === 'record') {
    if (suspicions.firstIds.size < MOST_SHOWN) suspicions.firstIds.add(mapped.id)
  } else if (mapped.id !== null && current.length > 0 && meantBy(mapping, row, saidBy(mapping, row)).length === 0) {
    suspicions.current = current
    suspicions.note(mapped.id, [], where)
  }
  return mapped
}

const LONGEST_NAME = 80

/** Adds the row's name and all its other faults. A row that the CRM withholds on purpose gets no other faults. */
function withAllFaults<Row, Item>(
  mapping: ListMapping<Row, Item>,
  row: Row,
  mapped: MappedRow<never> & { readonly kind: 'withheld' },
): MappedRow<never> {
  const { readers, kind, suspicions, idText } = mapping
  const said = saidBy(mapping, row)
  const meant = meantBy(mapping, row, said)
  const all = meant.length > 0 ? meant : [...said, ...suspicions.again(() => reasonsIn(mapping, row))]
  const also = all.length > 1 ? othersThan(mapped.withheld, all) : []
  const title = kind.titleOf(readers, row)
  const name = typeof title === 'string' ? title.slice(0, LONGEST_NAME).toWellFormed() : ''
  const more = { ...(name === '' ? {} : { name }), ...(also.length === 0 ? {} : { also }) }
  const withheld = { ...mapped.withheld, ...more }
  return { ...mapped, withheld, ...(idText === null ? {} : { idText: idText(row) }) }
}

/** Returns the faults other than the first, each once: several fields may read the same column. */
function othersThan(first: RowFault, all: readonly RowFault[]): readonly RowFault[] {
  const known = new Set([faultKey(first.fault, first.column)])
  return all.filter(({ fault, column }) => known.size < known.add(faultKey(fault, column)).size)
}

function saidBy<Row, Item>({ conditions }: ListMapping<Row, Item>, row: Row): readonly RowFault[] {
  return conditions.map((condition) => condition(row)).filter((reason) => reason !== null)
}

/** Conditions that withhold the row on purpose. A condition on a column that the row lacks is not on purpose. */
function meantBy<Row, Item>(
  { isThere }: ListMapping<Row, Item>,
  row: Row,
  said: readonly RowFault[],
): readonly RowFault[] {
  return said.filter((reason) => isOnPurpose(reason) && reason.column !== null && isThere(reason.column, row))
}

/** Reads all fields and returns their faults. */
function reasonsIn<Row, Item>({ readers, further }: ListMapping<Row, Item>, row: Row): readonly RowFault[] {
  const all: readonly Reader<Row, unknown>[] = [...Object.values<Reader<Row, unknown>>(readers), ...(further ?? [])]
  return all.map((read) => read(row)).filter((value) => value instanceof RowFault)
}

const LONGEST_SECONDS = 7 * 86_400

function suspiciousEventCells(
  { Start, Finish, TicketCapacity, TicketsAvailable, Price }: EventRecord,
  nameOf: NameOf,
  { hasCapacity, start, finish }: EventTimes,
  suspicions: Suspicions,
): ReturnType<RowKind<EventRecord>['suspiciousIn']> {
  const isOversold = hasCapacity && TicketsAvailable > TicketCapacity
  const lastsSeconds = finish.epochSeconds - start.epochSeconds
  const [endsBeforeStart, isLong] = [lastsSeconds < 0, lastsSeconds > LONGEST_SECONDS]
  const farAhead = suspicions.farAhead(start.epochSeconds)
  const isNegative = Price.startsWith('-')
  // Nearly all rows leave here, and the check runs for each.
  if (!endsBeforeStart && !isOversold && !isLong && farAhead === null && !isNegative) return NONE
  const cellOf = (left: FieldName, found: string | number, what: string, right: FieldName, other: string | number) => ({
    column: nameOf(left),
    what: `${what} ${nameOf(right)}`,
    found: `${found}, and ${nameOf(right)} ${other}`,
  })
  return [
    ...(endsBeforeStart ? [cellOf('Finish', Finish, 'is before', 'Start', Start)] : []),
    ...(isLong ? [cellOf('Finish', Finish, 'is more than 7 days after', 'Start', Start)] : []),
    ...(farAhead === null ? [] : [{ column: nameOf('Start'), what: farAhead, found: Start }]),
    ...(isNegative ? [{ column: nameOf('Price'), what: 'is negative', found: Price }] : []),
    ...(isOversold ? [cellOf('TicketsAvailable', TicketsAvailable, 'is above', 'TicketCapacity', TicketCapacity)] : []),
  ]
}

/** Returns impossible coordinates: most likely a decimal point was read as a thousands separator. */
function suspiciousVenueCells(
  { Longitude, Latitude }: VenueRecord,
  nameOf: NameOf,
): ReturnType<RowKind<VenueRecord>['suspiciousIn']> {
  const [isEast, isNorth] = [Math.abs(Number(Longitude)) > 180, Math.abs(Number(Latitude)) > 90]
  // Nearly all rows leave here, and the check runs for each.
  if (!isEast && !isNorth) return NONE
  return [
    ...(isEast ? [{ column: nameOf('Longitude'), what: 'is not between -180 and 180', found: String(Longitude) }] : []),
    ...(isNorth ? [{ column: nameOf('Latitude'), what: 'is not between -90 and 90', found: String(Latitude) }] : []),
  ]
}

export function withheldRow(reason: RowFault, id: Guid | null, where: string, version: number): MappedRow<never> {
  const { fault, column, expected, found } = reason
  return { kind: 'withheld', id, withheld: { fault, column, where, expected, found }, version }
}

const TOO_LARGE: RowFault = new RowFault('too-large', null, null)

export function tooLargeRow(id: Guid | null, where: string, version: number): MappedRow<never> {
  return withheldRow(TOO_LARGE, id, where, version)
}

/** How the rows of a separate read of availability become changes. */
export interface AvailabilityMapping<Row> {
  /** The columns that the read needs. */
  readonly columns: readonly string[]
  /** Maps a row; `null` if a value cannot be read. */
  changeOf(row: Row): Extract<Change<never>, { readonly kind: 'availability' }> | null
}

export function availabilityMapping<Row>(
  setting: ListSetting,
  access: RowAccess<Row>,
  context: Omit<MappingContext, 'suspicions'>,
): AvailabilityMapping<Row> {
  const { Id = null, TicketCapacity = null, TicketsAvailable = null } = setting.fields
  const counted = { ...setting, fields: { Id, TicketCapacity, TicketsAvailable }, active: null, showOnWeb: null }
  // The rows have few columns, so their notes are not reported.
  const { readers } = listMapping(EVENT_ROWS, counted, access, { ...context, suspicions: new Suspicions() })
  return {
    columns: mappedColumns(counted).map(({ column }) => column),
    changeOf(row) {
      const [id, capacity, available] = [readers.Id(row), readers.TicketCapacity(row), readers.TicketsAvailable(row)]
      if (id instanceof RowFault || capacity instanceof RowFault || available instanceof RowFault) return null
      return { kind: 'availability', id, TicketCapacity: capacity, TicketsAvailable: available }
    },
  }
}

/** Reads the fields of a row, and stops at the first that cannot be read. */
function recordOf<Row, Item>({ fields, further, blank }: ListMapping<Row, Item>, row: Row, id: Guid): Item | RowFault {
  const record: Record<string, unknown> = { ...blank, Id: id }
  for (const { name, read } of fields) {
    const value = read(row)
    if (value instanceof RowFault) return value
    record[name] = value
  }
  if (further !== null) {
    const values = furtherOf(further, row)
    if (values instanceof RowFault) return values
    record['Further'] = values
  }
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- each field has got the value of its type
  return record as Item
}
