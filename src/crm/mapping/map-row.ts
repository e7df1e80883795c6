// Maps the rows of a CRM to records. In: the rows of a connector, and a ListSetting, which says which column each field
// comes from. Out: records, or why a row is withheld.

import { type EventRecord, EVENTS } from '../../domain/event.ts'
import { faultKey } from '../../domain/fault-counts.ts'
import { type RecordTable, blankRecord } from '../../domain/field.ts'
import type { Extended, FurtherValue } from '../../domain/further.ts'
import { type Guid, EMPTY_GUID } from '../../domain/guid.ts'
import { type VenueRecord, VENUES } from '../../domain/venue.ts'
import { fieldsOf } from '../../domain/json-value.ts'
import { isOnPurpose, RowFault } from '../../domain/withheld.ts'
import type { Change } from '../../sync/port.ts'
import { type FieldName, type FieldsOf, type Readers, furtherReadersOf, readersOf, textReader } from './readers.ts'
import { conditionsOf, letPassBy } from './conditions.ts'
import { conversionsOf } from './conversions.ts'
import { type ListSetting, type MappingContext, columnName, mappedColumns } from './list-setting.ts'
import type { DateNotes } from './dates.ts'
import { type CellObject, type Reader, SHEET, hasColumn, isBlank, showCell } from '../cells/cell.ts'
import { FieldCoverage } from './field-coverage.ts'
import {
  type EventFacts,
  type NameOf,
  soldOutNotes,
  statusNotes,
  suspiciousEventCells,
  suspiciousVenueCells,
} from './suspicious-cells.ts'
import { type SuspiciousCell, Suspicions } from './suspicions.ts'
import { unreadNotes } from './unread-notes.ts'

/**
 * The version of the records. Raise it if any CRM's row becomes a different record than before, or is packed otherwise:
 * snapshots of other versions are not used.
 */
export const RECORDS = 7

/** A kind of record: how it is made from its fields, and which of its values are suspicious. */
export interface RowKind<Item> {
  readonly table: RecordTable<FieldsOf<Item>>
  /** The field with a venue's id, and the function that returns this id of a record. */
  readonly venueField: FieldName
  readonly venueIn: (record: Item) => Guid
  readonly titleOf: (readers: Readers<Item>, row: CellObject) => string | RowFault | null
  /** Returns the cells of a record that are suspicious, for example because they contradict each other. */
  readonly suspiciousIn: (
    record: Item,
    nameOf: NameOf,
    facts: EventFacts,
    suspicions: Suspicions,
    row: CellObject,
  ) => readonly SuspiciousCell[]
}

const HIDDEN = { code: 'hidden-row', found: 'hidden' } as const

export const EVENT_ROWS: RowKind<EventRecord> = {
  table: EVENTS,
  venueField: 'VenueId',
  venueIn: ({ VenueId }) => VenueId,
  titleOf: ({ Name }, row) => Name(row),
  suspiciousIn: suspiciousEventCells,
}
export const VENUE_ROWS: RowKind<VenueRecord> = {
  table: VENUES,
  venueField: 'Id',
  venueIn: ({ Id }) => Id,
  titleOf: ({ Name }, row) => Name(row),
  suspiciousIn: suspiciousVenueCells,
}

/** How the rows of one list become records. Built once, then run for each row. */
export interface ListMapping<Item> extends EventFacts {
  readonly readers: Readers<Item>
  /** The readers of all fields but the id, in the order of the table. */
  readonly fields: readonly { readonly name: string; readonly read: Reader<unknown> }[]
  readonly blank: ReturnType<typeof blankRecord>
  /** The readers of the further fields; `null` if none is declared. */
  readonly further: readonly Reader<FurtherValue>[] | null
  /** Conditions for the row to be in the list, checked in this order once its id is known. */
  readonly conditions: readonly ((row: CellObject) => RowFault | null)[]
  readonly dateReaders: readonly Reader<unknown>[]
  readonly dateNotes: readonly DateNotes[]
  /** Counts filled fields, and the values that pass a `not` condition, for `check`; `null` while serving. */
  readonly count: ((row: CellObject) => void) | null
  readonly kind: Omit<RowKind<Item>, 'table'>
  readonly suspicions: Suspicions
  /** Reads the CRM's own id; `null` if it is the id itself. */
  readonly idText: ((row: CellObject) => string | null) | null
  /** Returns the row's text in the field with a venue's id. */
  readonly venueText: (row: CellObject) => string | null
  /** Looks for columns that no row has had yet; `null` once nothing is left to look for. */
  probe: ((row: CellObject) => boolean) | null
  readonly nameOf: NameOf
}

export function listMapping<Item>(
  kind: RowKind<Item>,
  setting: ListSetting,
  context: MappingContext,
): ListMapping<Item> {
  const { fields, active, showOnWeb, further = [], updatedAt = null } = setting
  const { suspicions, lists, texts } = context
  const { flag } = conversionsOf(lists, texts ?? null)
  const nameOf = (field: string): string => columnName(setting, field)
  suspicions.map(new FieldCoverage(kind.table, fields, further), updatedAt, nameOf(kind.venueField))
  const readers = readersOf(kind.table.fields, setting, context)
  const byName = Object.entries<Reader<unknown>>(readers)
  const dates = kind.table.fields.filter(({ type }) => type === 'date-time')
  const dateNames = new Set<string>(dates.map(({ name }) => name))
  const furtherReaders = furtherReadersOf(kind.table.list, further, setting, context)
  const [start, finish] = [suspicions.datesIn('Start', nameOf('Start')), suspicions.datesIn('Finish', nameOf('Finish'))]
  // What is said of the columns of the events' conditions is said once, for the events.
  const rowConditions = setting.hasConditionsOfEvents === true ? { ...setting, active: null, showOnWeb: null } : setting
  const letPass = [...letPassBy(rowConditions.active), ...letPassBy(rowConditions.showOnWeb)]
  return {
    readers,
    fields: byName.flatMap(([name, read]) => (name === 'Id' ? [] : [{ name, read }])),
    blank: blankRecord(kind.table.fields, further.length > 0),
    further: further.length === 0 ? null : furtherReaders,
    dateReaders: [
      ...byName.flatMap(([name, read]) => (dateNames.has(name) ? [read] : [])),
      ...furtherReaders.filter((_, index) => further[index]?.type === 'date-time'),
    ],
    dateNotes: suspicions.dates,
    conditions: [...conditionsOf(active, 'inactive', flag), ...conditionsOf(showOnWeb, 'not-shown', flag)],
    count: suspicions.counter(letPass),
    kind,
    suspicions,
    idText: context.idNamespace === null ? null : textReader('Id', setting),
    venueText: textReader(kind.venueField, setting),
    hasCapacity: (fields.TicketCapacity ?? null) !== null,
    start,
    finish,
    statusNote: kind.table.list === 'events' ? statusNotes(further, nameOf) : () => null,
    soldOutNote: soldOutNotes(setting, nameOf),
    // Only a file brings columns that nobody chose.
    unreadNotes:
      kind.table.list === 'events' && texts !== undefined
        ? unreadNotes(
            further,
            mappedColumns(setting).map(({ column }) => column),
            nameOf,
          )
        : () => [],
    probe: suspicions.probe(mappedColumns(rowConditions).map(({ column }) => column)),
    nameOf,
  }
}

export type MappedRow<Item> = Extract<Change<Item>, { readonly kind: 'record' | 'withheld' }>

/**
 * Maps a row to its record, or to the faults for which it is withheld. Reads the id first, then the conditions, then
 * the values. A withheld row gets all its faults.
 */
export function mapRow<Item extends { readonly Id: Guid } & Extended>(
  mapping: ListMapping<Item>,
  row: CellObject,
  where: () => string,
  version: number,
): MappedRow<Item> {
  const { suspicions, dateNotes } = mapping
  if (mapping.probe !== null && !mapping.probe(row)) mapping.probe = null
  mapping.count?.(row)
  const first = mapUntilFault(mapping, row, where, version)
  const mapped = first.kind === 'record' ? first : withAllFaults(mapping, row, first, where)
  for (const notes of dateNotes) {
    if (notes.isWallTime) notes.wallTimes++
    notes.isWallTime = false
  }
  if (mapped.kind === 'record') suspicions.noteId(mapped.id)
  return mapped
}

function mapUntilFault<Item extends { readonly Id: Guid } & Extended>(
  mapping: ListMapping<Item>,
  row: CellObject,
  where: () => string,
  version: number,
): MappedRow<Item> {
  const { readers, conditions, kind, suspicions, idText, venueText, nameOf } = mapping
  if (suspicions.isWatching) suspicions.current = []
  const id = readers.Id(row)
  if (id instanceof RowFault) return withheldRow(id, null, where(), version)
  for (const condition of conditions) {
    const reason = condition(row)
    if (reason !== null) return withheldRow(reason, id, where(), version)
  }
  const record = recordOf(mapping, row, id)
  if (record instanceof RowFault) return withheldRow(record, id, where(), version)
  const cells = kind.suspiciousIn(record, nameOf, mapping, suspicions, row)
  const all = row[SHEET]?.isHidden === true ? [...cells, { ...HIDDEN, column: nameOf('Id') }] : cells
  if (all.length > 0 || suspicions.isWatching) suspicions.note(id, all, where)
  const venue = kind.venueIn(record)
  if (venue !== EMPTY_GUID) suspicions.venueTexts.note(venue, () => venueText(row), id, where)
  return idText === null
    ? { kind: 'record', id, record, version }
    : { kind: 'record', id, record, version, idText: idText(row) }
}

const LONGEST_NAME = 80

/** Adds the row's name and all its other faults. A row that the CRM withholds on purpose gets no other faults. */
function withAllFaults<Item>(
  mapping: ListMapping<Item>,
  row: CellObject,
  mapped: MappedRow<never> & { readonly kind: 'withheld' },
  where: () => string,
): MappedRow<never> {
  const { readers, dateReaders, conditions, kind, suspicions, idText } = mapping
  const reasons = conditions.map((condition) => condition(row)).filter((reason) => reason !== null)
  // A condition on a column that the row lacks is not on purpose.
  const meant = reasons.filter(
    (reason) => isOnPurpose(reason) && reason.column !== null && hasColumn(row, reason.column),
  )
  suspicions.current = []
  let all = meant
  if (meant.length === 0) all = [...reasons, ...faultsIn(mapping, row)]
  // Reading stopped at the row's first fault, possibly before its dates, which count all the same.
  else for (const read of dateReaders) read(row)
  const also = all.length > 1 ? othersThan(mapped.withheld, all) : []
  if (suspicions.thorough && mapped.id !== null && meant.length === 0 && suspicions.current.length > 0)
    suspicions.note(mapped.id, [], where)
  const title = kind.titleOf(readers, row)
  const name = typeof title === 'string' ? title.slice(0, LONGEST_NAME).toWellFormed() : ''
  const more = { ...(name === '' ? {} : { name }), ...(also.length === 0 ? {} : { also }) }
  const withheld = { ...mapped.withheld, ...more }
  return { ...mapped, withheld, ...(idText === null ? {} : { idText: idText(row) }) }
}

/** Reads all fields and returns their faults. */
function faultsIn<Item>({ readers, further }: ListMapping<Item>, row: CellObject): readonly RowFault[] {
  const all: readonly Reader<unknown>[] = [...Object.values<Reader<unknown>>(readers), ...(further ?? [])]
  return all.map((read) => read(row)).filter((value) => value instanceof RowFault)
}

/** Returns the faults other than the first, each once: several fields may read the same column. */
function othersThan(first: RowFault, all: readonly RowFault[]): readonly RowFault[] {
  const known = new Set([faultKey(first.fault, first.column)])
  return all.filter(({ fault, column }) => known.size < known.add(faultKey(fault, column)).size)
}

function withheldRow(reason: RowFault, id: Guid | null, where: string, version: number): MappedRow<never> {
  const { fault, column, expected, found } = reason
  return { kind: 'withheld', id, withheld: { fault, column, where, expected, found }, version }
}

/** A row that is no object of cells. @param found what it is instead */
export function unreadableRow(
  kind: 'json' | 'object' | 'shallow-object',
  found: string,
  where: string,
): MappedRow<never> {
  return withheldRow(new RowFault('unreadable', null, { expected: { kind }, found }), null, where, Number.NaN)
}

const TOO_LARGE: RowFault = new RowFault('too-large', null, null)

export function tooLargeRow(id: Guid | null, where: string, version: number): MappedRow<never> {
  return withheldRow(TOO_LARGE, id, where, version)
}

/** Maps rows to the places in them. */
interface RowsOfPlaces<Item> {
  /** Returns `null` for a row that adds no place. */
  readonly map: (row: CellObject, where: () => string) => MappedRow<Item> | null
  /** Returns the places whose rows all have faults, once every row has been mapped. */
  readonly rest: () => readonly MappedRow<Item>[]
}

/**
 * Maps the rows of events to their venues: one for each distinct id, as the first row has it that can be read. Rows
 * without a place, and copies, are no faults. Copies that contradict are suspicious.
 */
export function rowsOfPlaces<Item extends { readonly Id: Guid } & Extended>(
  mapping: ListMapping<Item>,
): RowsOfPlaces<Item> {
  const { readers, conditions, suspicions, nameOf, venueText, blank } = mapping
  const served = new Map<Guid, Item>()
  const faulty = new Map<Guid, MappedRow<Item>>()
  function contradictionsIn(row: CellObject, id: Guid, first: Item): readonly SuspiciousCell[] {
    const copy = recordOf(mapping, row, id)
    if (copy instanceof RowFault)
      return [{ column: copy.column ?? '', code: 'unreadable-copy', found: copy.found ?? '' }]
    const before = fieldsOf(first)
    return Object.entries(fieldsOf(copy)).flatMap(([field, value]) => {
      const known = before[field]
      const isTold = typeof known === 'string' && typeof value === 'string' && value !== '' && known !== ''
      if (!isTold || known === value || known === blank[field] || value === blank[field]) return []
      return [
        { column: nameOf(field), code: 'contradicts', found: `${showCell(value)}, and ${showCell(known)} before` },
      ]
    })
  }
  return {
    map(row, where) {
      const id = readers.Id(row)
      const isNowhere = id instanceof RowFault && isBlank(venueText(row))
      if (isNowhere || conditions.some((condition) => condition(row) !== null)) return null
      if (id instanceof RowFault) return mapRow(mapping, row, where, Number.NaN)
      const first = served.get(id)
      if (first !== undefined) {
        for (const cell of contradictionsIn(row, id, first)) suspicions.add(id, cell, where)
        return null
      }
      const mapped = mapRow(mapping, row, where, Number.NaN)
      if (mapped.kind === 'record') {
        served.set(id, mapped.record)
        faulty.delete(id)
        return mapped
      }
      if (!faulty.has(id)) faulty.set(id, mapped)
      return null
    },
    rest: () => [...faulty.values()],
  }
}

/** How the rows of a separate read of availability become changes. */
export interface AvailabilityMapping {
  /** The columns that the read needs. */
  readonly columns: readonly string[]
  /** Maps a row; `null` if a value cannot be read. */
  readonly changeOf: (row: CellObject) => Extract<Change<never>, { readonly kind: 'availability' }> | null
}

export function availabilityMapping(
  setting: ListSetting,
  context: Omit<MappingContext, 'suspicions'>,
): AvailabilityMapping {
  const { Id = null, TicketCapacity = null, TicketsAvailable = null } = setting.fields
  const counted = { ...setting, fields: { Id, TicketCapacity, TicketsAvailable }, active: null, showOnWeb: null }
  // The rows have few columns, so their notes are not reported.
  const { readers } = listMapping(EVENT_ROWS, counted, { ...context, suspicions: new Suspicions() })
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
function recordOf<Item>({ fields, further, blank }: ListMapping<Item>, row: CellObject, id: Guid): Item | RowFault {
  const record: Record<string, unknown> = { ...blank, Id: id }
  for (const { name, read } of fields) {
    const value = read(row)
    if (value instanceof RowFault) return value
    record[name] = value
  }
  if (further !== null) {
    const values: FurtherValue[] = []
    for (const read of further) {
      const value = read(row)
      if (value instanceof RowFault) return value
      values.push(value)
    }
    record['Further'] = values
  }
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- each field has got the value of its type
  return record as Item
}
