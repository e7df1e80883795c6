// Keeps the replica up to date. In: pages of changes from a source (this file is the port). Out: lists that may be
// answered from, with their age.

import type { EventRecord } from '../domain/event.ts'
import type { ListName } from '../domain/field.ts'
import type { Guid } from '../domain/guid.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { Withheld } from '../domain/withheld.ts'
import type { FailureKind } from '../observe/observation.ts'
import type { Moment } from '../time/time.ts'

/**
 * The port to a CRM: one source per list, each a stream of pages of changes since a cursor. It fits three ways of
 * reading: token delta, time delta with an id scan, and full read with comparison.
 */
export interface Crm {
  readonly events: ListSource<EventRecord>
  readonly venues: ListSource<VenueRecord>
  /** Checks, before the first read, whether the CRM has what the configuration names. */
  examine?(): Promise<Examination>
  /**
   * Checks for `check` whether a connector does what it promises: with five requests, or thoroughly. Only connectors
   * that use the kit's interface have this method.
   */
  conform?(isThorough: boolean): Promise<readonly Finding[]>
  /**
   * How rows become records, as far as a connector declares it: `null` while that is not known, absent if the
   * configuration says everything. Identifies stored records, together with the configuration.
   */
  readonly mapping?: unknown
  /** How the lists were last read in full, for `check`. */
  readonly readings?: readonly ListReading[]
  /** Closes connections and files. Running reads end as failures. */
  close(): Promise<void>
}

/** How a list is read, and the result of its last full read. */
export interface ListReading {
  readonly list: ListName
  /** The methods that the connector has for the list. */
  readonly ways: ReadonlySet<string>
  readonly updatedAt: string | null
  readonly rows: number
  /** The number of answers with rows. */
  readonly pages: number
  /** The number of rows in the first answer. */
  readonly pageRows: number
  /** Whether the first answer has as many rows as were requested. */
  readonly isFirstFull: boolean
  /** Whether the last answer had no rows. */
  readonly isEndEmpty: boolean
  /** The number of rows according to the CRM; `null` if it gave none. */
  readonly total: number | null
  /** The most requests that both lists may send; `null` if the connector sends them by itself. */
  readonly budget: { readonly most: number; readonly perMs: number } | null
  /** The number of requests of a read in each way, as far as it was counted. */
  readonly requests: ReadonlyMap<string, number>
  /** Whether the tickets are also read by themselves. */
  readonly readsTickets: boolean
}

/** A fault of a connector: a sentence, and whether rows are lost because of it. */
export interface Finding {
  readonly sentence: string
  readonly losesRows: boolean
}

export interface Examination {
  /** Why the lists cannot be read. A `misconfigured` problem stays until an operator changes something. */
  readonly problems: readonly Failure[]
  /** Other findings for the operator, one sentence each. */
  readonly warnings: readonly string[]
}

export interface ListSource<Item> {
  /** Whether `changes` reads exist. If not, every refresh is a full read and there are no audits. */
  readonly reportsChanges: boolean
  /** Whether TicketsAvailable and TicketCapacity are also read by themselves, before each refresh. */
  readonly readsTickets?: boolean
  readonly repeatedId: RepeatedId
  /** The CRM's name of the column that holds the id. */
  readonly idColumn?: string
  /** The time limit of one page. A page that takes longer is dropped and the read ends. */
  readonly patienceMs: number
  /** Yields pages of at most `PAGE_ROWS`, then returns the outcome. After an abort the generator must end soon. */
  read(request: ReadRequest): PageStream<Item>
  /**
   * Calls back when the CRM hints at a change (NOTIFY, a webhook). The hint only triggers a read. The returned function
   * unsubscribes.
   */
  onHint?(callback: () => void): () => void
  /** Calls back when a running read begins to wait, because the CRM or the budget of requests says so. */
  onPause?(callback: OnPause): void
  /**
   * Returns true if the data changed since the last read, if that is cheap to find out. A change ends the back-off
   * after a failure.
   */
  hasChanged?(): Promise<boolean>
  /** Returns true if another process may continue from the cursor. Without this method none may. */
  travels?(cursor: Cursor): boolean
  /**
   * Returns whether the rows that were read have a column for Price: `true` if any has. `null` if none has, but not all
   * rows of the list were read.
   */
  readsPrice?(): boolean | null
}

/** @param why the server that asks for the pause, in words without secrets */
export type OnPause = (forMs: number, why: string) => void

/** A read waits for a shorter pause without a word, and fails if the CRM asks it for a longer one at its beginning. */
export const SHORT_PAUSE_MS = 1000

/**
 * Which row is served if one read meets an id twice. `serves-first`: the others are withheld. `serves-later`: it is the
 * same row, seen again. `serves-neither`: they are different rows and nobody knows which is right. The id is then
 * withheld, regardless of reads of changes, until a full read meets it only once. This requires that each pass of a
 * read shows a single moment.
 */
export type RepeatedId = 'serves-first' | 'serves-later' | 'serves-neither'

export type ReadKind = 'full' | 'changes' | 'availability'

/**
 * `refresh`: one after another. `audit`: a full read beside the refreshes, which continue. `addition`: a read while a
 * refresh waits; its removals and its confirmation are ignored.
 */
export type ReadPurpose = 'refresh' | 'audit' | 'addition'

export interface ReadRequest {
  readonly kind: ReadKind
  /** `refresh` by default. */
  readonly purpose?: ReadPurpose
  /** The cursor of the last successful read; `null` before the first, or after the CRM refused it. */
  readonly cursor: Cursor | null
  readonly held: Held
  /**
   * Whether this read must confirm the list, by reporting all changes. It must if requests or the other list wait for
   * it. A source whose short reads confirm nothing (PostgreSQL) then scans all ids.
   */
  readonly mustConfirm?: boolean
  /**
   * The served rows, which limit what a source may withdraw after seeing half of a list; `null` if nothing is served
   * yet.
   */
  readonly served?: ServedRows | null
  readonly signal: AbortSignal
}

/** The records that are served while a list is being read. */
export interface ServedRows {
  readonly count: number
  has(id: Guid): boolean
  /** Counts the served rows that the pages so far have not mentioned. */
  countMissing(): number
}

/** The held rows, for an id scan that compares versions. */
export interface Held {
  readonly size: number
  /** Returns the version of the last read row; `NaN` if it is not held or has no version, or `REPEATED`. */
  version(id: Guid): number
}

/**
 * The version of an id that is withheld because several rows have it. An id scan reports such an id as `unchanged`
 * without reading the rows.
 */
export const REPEATED: number = -Number.MAX_VALUE

/** A connector's own text, which the replica does not interpret. */
export type Cursor = string & { readonly brand: 'Cursor' }

export function cursorOf(text: string): Cursor {
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- the one place
  return text as Cursor
}

/** The largest number of rows that are applied without a pause for requests. */
export const PAGE_ROWS = 1000

export interface Page<Item> {
  /**
   * How far the source says it is behind (a standby, a cached API), ms. A lagging source yields an empty page even if
   * it found nothing.
   */
  readonly sourceLagMs: number
  /**
   * The number of the pass, if a read makes several over the list (a delta, then an id scan). Each pass names a row
   * once.
   */
  readonly pass?: number
  readonly changes: readonly Change<Item>[]
  /**
   * Why the list may still be being written; said with any page. Nothing of the read is applied before its end, and
   * nothing at all if it misses a served row.
   */
  readonly unsure?: string
  /** Returns the position of the row of `changes[index]`: `events.json, row 3`. */
  whereIs(index: number): string
  /**
   * Returns when the CRM says the row of `changes[index]` last changed, wall ms; `NaN` if it does not say. Used only
   * for the publish latency metric: two machines' clocks are never compared for anything else.
   */
  updatedAtMs?(index: number): number
}

/**
 * One row of a page. `version` is a number that differs whenever the CRM reports a change of the row; `NaN` if there is
 * none.
 */
export type Change<Item> =
  | ({ readonly kind: 'record'; readonly id: Guid; readonly record: Item; readonly version: number } & Named)
  | ({
      readonly kind: 'withheld'
      readonly id: Guid | null
      readonly withheld: Withheld
      readonly version: number
    } & Named)
  | { readonly kind: 'deleted'; readonly id: Guid }
  | ({ readonly kind: 'unchanged'; readonly id: Guid } & Named)
  | {
      readonly kind: 'availability'
      readonly id: Guid
      readonly TicketCapacity: number
      readonly TicketsAvailable: number
    }

interface Named {
  /** The CRM's own id, from which the id was derived; null or absent if the id is the CRM's own. */
  readonly idText?: string | null
}

export type ReadOutcome = ReadEnd | Failed

/** The course of a read: its pages, each at least as new as the one before, then its outcome. */
export type PageStream<Item, End = ReadOutcome> = AsyncGenerator<Page<Item>, End, void>

export interface ReadEnd {
  readonly ok: true
  readonly cursor: Cursor | null
  /** The read (its last pass) mentioned every row of the list, so all others are gone. */
  readonly complete: boolean
  /**
   * All pages show the same state of the CRM: they come from one database snapshot or one file. Otherwise a row may be
   * missing from all pages although it always existed.
   */
  readonly oneMoment: boolean
  /** Nothing has changed since the last full read, so this read is worth a full one. */
  readonly unchanged: boolean
  /**
   * The moment up to which all changes are known; `null` for the beginning of this read. Ignored if `confirms` is
   * false.
   */
  readonly asOf: Moment | null
  /** The read reported all changes since the last one. A delta by time alone does not; its id scan does. */
  readonly confirms: boolean
}

/** A page without changes: it shows that the source is still working. */
export function heartbeat(pass = 0, sourceLagMs = 0): Page<never> {
  return { sourceLagMs, pass, changes: [], whereIs: () => '' }
}

/** Why a read failed. `message` is one sentence for the operator, without secrets or rows. */
export interface Failure {
  readonly kind: FailureKind
  readonly message: string
  /** The CRM's `Retry-After`; `null` if it sent none. For a read that is `waiting`: the latest time to look again. */
  readonly retryAfterMs: number | null
}

export interface Failed {
  readonly ok: false
  readonly failure: Failure
}

export function failureOf(kind: FailureKind, message: string, retryAfterMs: number | null = null): Failure {
  return { kind, message, retryAfterMs }
}

export function failed(kind: FailureKind, message: string, retryAfterMs: number | null = null): Failed {
  return { ok: false, failure: failureOf(kind, message, retryAfterMs) }
}

/** Turns a bug into a failure, because it must not end the polling. */
export function failedInternally(cause: unknown): Failed {
  return failed('internal', cause instanceof Error ? `${cause.name}: ${cause.message}` : 'the connector failed')
}
