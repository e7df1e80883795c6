// How the replica stays new. In: pages of changes from a source (this file is the port). Out: lists that may be
// answered from, and how old they are.

import type { EventRecord } from '../domain/event.ts'
import type { ListName } from '../domain/field.ts'
import type { Guid } from '../domain/guid.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { Withheld } from '../domain/withheld.ts'
import type { FailureKind } from '../observe/observation.ts'
import type { Moment } from '../time/time.ts'

/**
 * What the replica needs of a CRM: one source a list, each a stream of pages of changes since a cursor.
 * Three ways of reading fit it (token delta, time delta with an id scan of ids, full read and compare).
 */
export interface Crm {
  readonly events: Source<EventRecord>
  readonly venues: Source<VenueRecord>
  /** Looks, before anything is read, whether the CRM has what the configuration names. */
  examine?(): Promise<Examination>
  /** All that is wrong with a list that was refused as broken, for whoever has to correct it; null where its failure says all. */
  diagnose?(list: ListName): Promise<Diagnosis | null>
  /** Lets go of connections and files; reads under way end as failures. */
  close(): Promise<void>
}

/** What a broken list was most likely meant to be. Nothing of it is served. */
export interface Diagnosis<Item = unknown> {
  readonly problems: readonly string[]
  readonly changes: readonly Change<Item>[]
  readonly ignored: readonly string[]
}

export interface Examination {
  /** Why the lists cannot be read; one that is `misconfigured` stays until an operator changes something. */
  readonly problems: readonly Failure[]
  /** What an operator should know all the same, a sentence each. */
  readonly warnings: readonly string[]
}

export interface Source<Item> {
  /** Whether `changes` reads exist. Where not, every refresh is a full read and there is no audit beside it. */
  readonly reportsChanges: boolean
  /** How often TicketsAvailable and TicketCapacity are read on their own; null where the other reads carry them. */
  readonly availabilityEveryMs: number | null
  readonly repeatedId: RepeatedId
  /** The CRM's name of the column that holds the id. */
  readonly idColumn?: string
  /** The longest that one page may take; past it the read is given up and its late result never used. */
  readonly patienceMs: number
  /** Pages of at most `PAGE_ROWS`, then the outcome. The signal aborts: the generator must then end soon. */
  read(request: ReadRequest): PageStream<Item>
  /** Calls back when the CRM hints at a change (NOTIFY, a webhook): read now, trust nothing else. What it gives ends that. */
  onHint?(callback: () => void): () => void
  /** Whether what the last read found is another by now, where that costs next to nothing: after a failure it is read again then. */
  hasChanged?(): Promise<boolean>
  /** Whether another process may go on from the cursor; where it is not said, none may. */
  travels?(cursor: Cursor): boolean
  /** What an admin should know of a row that is served all the same, as a sentence; null where nothing. */
  remarkOn?(id: Guid): string | null
}

/**
 * Which row is served where one read meets an id again. The first: the others are left out. The later: it is the same row, seen
 * again. Neither: they are two rows, and nobody knows which is right; the id is withheld as a whole, whatever reads of changes
 * bring, until a full read meets it once. That needs reads of which each pass shows one moment.
 */
export type RepeatedId = 'serves-first' | 'serves-later' | 'serves-neither'

export type ReadKind = 'full' | 'changes' | 'availability'

/**
 * A refresh, one after another. An audit: in full, beside the refreshes, which go on meanwhile. An addition: what came while a
 * refresh waits, of which removals and the confirmation are dropped.
 */
export type ReadPurpose = 'refresh' | 'audit' | 'addition'

export interface ReadRequest {
  readonly kind: ReadKind
  /** A refresh where it is not said. */
  readonly purpose?: ReadPurpose
  /** What the last successful read returned; null before it, or after it was refused. */
  readonly cursor: Cursor | null
  readonly held: Held
  /** All changes have to be known now, for a request past the maximum age or for the other list: a source that mostly confirms nothing sweeps. */
  readonly mustConfirm?: boolean
  /** What a source may withdraw that sees half of a list; null if nothing is served yet. */
  readonly served?: ServedRows | null
  readonly signal: AbortSignal
}

/** The records that are served while a list is read. */
export interface ServedRows {
  readonly count: number
  has(id: Guid): boolean
  /** Counts those that the read has not mentioned in the pages that it has given so far. */
  countMissing(): number
  /** When they will be past the maximum age, monotonic ms. */
  readonly tooOldAtMs: number
  /** When the shrink guard stops serving them, monotonic ms; `null` if it does not hold. */
  readonly servedOnUntilMs?: number | null
}

/** What the replica holds, for an id scan that compares versions. */
export interface Held {
  /** How many rows there are. */
  readonly size: number
  /** The version the row had when it was last read, NaN where the row is not held or had none, or `REPEATED`. */
  version(id: Guid): number
}

/** The version of an id that is withheld because several rows have it: an id scan names it as unchanged, without reading them. */
export const REPEATED: number = -Number.MAX_VALUE

/** Opaque to the replica: the connector's own text. */
export type Cursor = string & { readonly brand: 'Cursor' }

export function cursorOf(text: string): Cursor {
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- the one place
  return text as Cursor
}

/** What the replica applies between two requests. */
export const PAGE_ROWS = 1000

export interface Page<Item> {
  /** When the request that brought this page began; what counts is this, never its end. */
  readonly begunAt: Moment
  /** How far behind its source said it was (a standby, a cached API). Where it lags, a read that found nothing yields an empty page. */
  readonly sourceLagMs: number
  /** Which pass over the list the page is of, where a read makes several (a delta, then an id scan): a row is named once in each. */
  readonly pass?: number
  readonly changes: readonly Change<Item>[]
  /** About how many rows the list has, told once where it can be said before all were read: room is made for them at once. */
  readonly rowsInAll?: number
  /** Its rows are in the list, and are written only once the whole read is believed. */
  readonly onlyIfBelieved?: boolean
  /** Where the row of `changes[index]` stands, such as `events.json, row 3`. */
  whereIs(index: number): string
  /**
   * When the CRM says that the row of `changes[index]` was last changed, wall ms; NaN where it does not say. Asked for rows
   * whose change is published now, for a metric alone: no two clocks are compared for anything else.
   */
  updatedAtMs?(index: number): number
}

/** One row of a page. `version` is a number that moves when the CRM reports the row as changed, NaN where there is none. */
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

/** A read as it comes: its pages, then how it ended. */
export type PageStream<Item, End = ReadOutcome> = AsyncGenerator<Page<Item>, End, void>

export interface ReadEnd {
  readonly ok: true
  readonly cursor: Cursor | null
  /** Every row of the list was mentioned (in the last pass), and what was not is gone. */
  readonly complete: boolean
  /** All pages show one state of the CRM: a snapshot was held throughout, or it is one file. Else a row may be missing from the pages though no state of the CRM lacked it. */
  readonly oneMoment: boolean
  /** Nothing changed since the last full read, which is thereby as good as read again. */
  readonly unchanged: boolean
  /** The moment as of which all changes are known; null: when this read began. Where not even that, `confirms` is false. */
  readonly asOf: Moment | null
  /** Whether this read reported all changes since the last one (a delta by time does not: the sweep does). */
  readonly confirms: boolean
}

/** Why a read failed. `message` is one sentence for the operator: no secret, no row. */
export interface Failure {
  readonly kind: FailureKind
  readonly message: string
  /** What the CRM asked for (`Retry-After`), null where it did not; of a read that is `waiting`, when to look again at the latest. */
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

/** A bug must not end the reading: it is a failure like another, and said. */
export function failedInternally(cause: unknown): Failed {
  return failed('internal', cause instanceof Error ? `${cause.name}: ${cause.message}` : 'the connector failed')
}
