// The connector kit: reads any CRM through a small interface. In: a `RowHost`, which gives the rows of both lists as
// JSON texts. Out: a `Crm` (connector-crm.ts). The interface that authors see is marquee-connector.d.ts.

import type { ListShape, TextSettings } from '../../config/crm/sources.ts'
import type { ListName } from '../../domain/field.ts'
import type { Cell, CellObject } from '../cells/cell.ts'
import type { Pauses } from '../kit/throttle.ts'
import type { Row } from './marquee-connector.d.ts'
import type { ListSetting, MappingContext } from '../mapping/list-setting.ts'
import type { MappedRow } from '../mapping/map-row.ts'
import type { Guid } from '../../domain/guid.ts'
import type { Change, Cursor, Failed, Failure, ListReading, OnPause, ReadRequest } from '../../sync/port.ts'
import type { Moment } from '../../time/time.ts'

/**
 * A way of reading a list, named like the connector's method. `version` has no rows: its cursor is the version. `check`
 * is the connector's own, and one of the events: its rows are sentences.
 */
export type Way = 'full' | 'version' | 'changes' | 'since' | 'ids' | 'byId' | 'availability' | 'check'

/** An audit runs beside the refreshes of its list. */
export type Purpose = 'refresh' | 'audit'

/** The argument of a way of reading: a cursor, a time, or ids. */
export type WayArgument = string | readonly string[] | null

/** A row as a JSON text, or as its cells. For the way `ids`, it is `[id, updatedAt]`. */
export type StreamRow = Buffer | CellObject | readonly Cell[]

export interface StreamBatch<Item = never> {
  readonly rows: readonly StreamRow[]
  /** What the rows mean for the list, if the stream has mapped them itself; `rows` is empty then. */
  readonly mapped?: readonly Change<Item>[]
  /** The number of each row's line in the output of a command; absent if rows have none. */
  readonly lines?: readonly number[]
  /** Where a row is; absent if rows are named by their ids. */
  readonly at?: (index: number) => string
  /** The CRM's ids of rows that are gone. */
  readonly deleted: readonly string[]
  /** How many rows the whole list has; `null` if the CRM does not say. */
  readonly total: number | null
  /** How far behind its own data the CRM answered, in ms. */
  readonly lagMs: number
  /** Whether the answer has as many rows as were requested. */
  readonly full: boolean
  /** Why rows cannot have moved between the pages of this read; `null` if they may have. */
  readonly stable: 'order' | 'moment' | null
  /** Why the list may still be being written; absent if it is not. */
  readonly unsure?: string
  /** When the rows last changed, wall-clock ms; absent if only their `updatedAt` says it. */
  readonly changedAtMs?: number
  /** Columns that are blank in every row on purpose; absent if there are none. */
  readonly blank?: readonly string[]
  /** Whether the next batch continues the same answer of the CRM. */
  readonly goesOn: boolean
}

/** How a read of rows ended. */
export type RowsEnd =
  | {
      readonly ok: true
      /** Where the next read of changes begins; `null` if the connector gave none. */
      readonly cursor: string | null
      /** Whether changes may be missing, so that they must be asked for again. */
      readonly more?: boolean
      /** The version of what a full read brought, if the connector said it. */
      readonly version?: string
      /** Whether the version is that of the cursor, so that the list need not be read; absent if the reader compares. */
      readonly isSame?: boolean
      /** The moment up to which the list is known; absent for the beginning of the read. */
      readonly asOf?: Moment
      /** The number of requests that the read sent; absent if they were not counted. */
      readonly requests?: number
    }
  | Failed

export type Rows<Item = never> = AsyncGenerator<StreamBatch<Item>, RowsEnd, void>

/** How the bytes of a held row are recognized. */
export interface KnownLines {
  readonly idColumn: string
  /** Whether ids are derived from texts that are not GUIDs. */
  readonly isDerived: boolean
  /** Derives the id from its text; `null` if the text is not an id. */
  readonly idOf: (text: string) => Guid | null
  /** A hash of the mapping: with another mapping, the same bytes become other records. */
  readonly seed: number
  /** Notes that a row is not mapped again. */
  readonly skip: () => void
}

/** Maps the rows of a list for a stream that does so row by row, since each tells how to go on. */
export interface RowMapper<Item> {
  /** Begins a read of all rows. @param written how people wrote them; absent if a program did */
  begin(written?: Written): void
  /** Returns `null` for a row that adds nothing, such as a copy of a place. */
  map(row: CellObject, where: () => string, version?: number): MappedRow<Item> | null
  /** Returns the rows that are known only at the end of a read. */
  rest(): readonly MappedRow<Item>[]
  readonly lines: KnownLines
}

/** What a stream that maps its rows gets for a read. */
export interface MappedReading<Item> {
  readonly list: RowMapper<Item>
  readonly request: ReadRequest
  /** The version of the held list; `null` if there is none. */
  readonly version: string | null
}

/** One list as it is read: the rows of a connector (row-stream.ts), or of a file. */
export interface RowSource<Item> {
  readonly name: ListName
  /** What is known about the list; `null` until that is known. */
  readonly known: StreamShape | null
  readonly budget: ListReading['budget']
  /** The number of requests of the last read in each way that was read to its end and counted. */
  readonly requests: ReadonlyMap<Way, number>
  /** Whether the stream maps its rows itself. */
  readonly mapsRows: boolean
  shape(): Promise<StreamShape | Failure>
  open(
    way: Way,
    argument: WayArgument,
    signal: AbortSignal,
    purpose?: Purpose,
    reading?: MappedReading<Item>,
  ): Rows<Item>
  onHint?(callback: (hint: Hint) => void): () => void
  onPause?(callback: OnPause): void
  /** Whether another process may go on from the version that a cursor holds; absent if none may. */
  travels?(cursor: Cursor): boolean
  /** Whether the list has changed since the last read, if that is cheap to find out. */
  hasChanged?(): Promise<boolean>
}

/** How to read and map a list, from the connector and the configuration. */
export interface StreamShape
  extends Omit<ListShape, 'active' | 'showOnWeb'>, Pick<ListSetting, 'active' | 'showOnWeb' | 'hasConditionsOfEvents'> {
  readonly ways: ReadonlySet<Way>
  readonly repeats: Repeats
  /** Whether the rows are those of the events, and each place in them is a row of this list; absent if not. */
  readonly isWithinEvents?: boolean
  /** Reads cells that are HTML; absent if no field has any. */
  readonly htmlText?: MappingContext['htmlText']
}

/** How people or a spreadsheet wrote the rows of a list. */
export interface Written {
  readonly lists: MappingContext['lists']
  readonly texts: TextSettings | null
  /** The columns of days. */
  readonly days: ReadonlySet<string>
}

/** Which of two rows of one read with the same id is served. */
type Repeats = 'later' | 'first' | 'neither'

/** What a connector says of a change: ids of rows, that any row may have changed, or nothing. */
export type Hint = readonly string[] | 'all' | null

/** Ends a read as a failure. Thrown by connectors that ship. */
export class ReadFault extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

/** What a connector declares before any read. */
export interface ConnectorOutline {
  readonly events: ListOutline
  readonly venues: ListOutline
  /** The digest of all files that the connector consists of; absent if it ships with Marquee. */
  readonly code?: string
  /** The budget of requests; absent if the connector sends them by itself. */
  readonly budget?: ListReading['budget']
  /** Whether the connector has something to close; absent if not. */
  readonly closes?: true
}

export interface ListOutline {
  readonly ways: readonly Way[]
  /** `later` if absent. */
  readonly repeats?: Repeats
  /** Its `fields`, `active`, `showOnWeb` and `updatedAt`, not checked yet. */
  readonly said: unknown
}

/** The secrets of a connector, which are read again if the CRM refuses them. */
interface GivenSecrets {
  /** Reads the secrets again; returns whether any has changed. */
  refresh(): Promise<boolean>
  /** Names the files that are read again, as the rest of a sentence; empty if there are none. */
  readonly rereadNote: string
  /** Removes the secrets from a text. */
  shown(text: string): string
}

/** Runs a connector, in this process or in a separate one. */
export interface RowHost {
  readonly name: string
  ready(): Promise<ConnectorOutline | Failure>
  /** Reads rows. Fails if the connector gives nothing for too long. */
  rows(list: ListName, way: Way, argument: WayArgument, signal: AbortSignal, purpose?: Purpose): Rows
  readonly given: GivenSecrets
  /** Tells when requests have to wait; absent if the connector sends them by itself. */
  readonly pauses?: Pauses
  /** Called after a secret in `given` has changed; absent if each read takes its settings from there. */
  takeSecrets?(): void
  /** Calls back when the connector hints at a change. Returns a function that stops this. */
  onHint(list: ListName, callback: (hint: Hint) => void): () => void
  close(): Promise<void>
}

/** A row of a connector that `givesCells`: its values may be the cell objects of cells/cell.ts. */
export function rowOfCells(cells: CellObject): Row {
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- the reader takes such rows as they are
  return cells as Row
}
