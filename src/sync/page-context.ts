import type { FaultCounts } from '../domain/fault-counts.ts'
import type { RecordList } from '../records/record-list.ts'
import type { Drift } from './drift.ts'
import type { Guid } from '../domain/guid.ts'
import type { Change, Page, ReadKind, RepeatedId } from './port.ts'
import type { Tombstones } from './tombstones.ts'

/** The context of one read's changes to a list. */
export interface PageApplierContext<Item> {
  readonly list: RecordList<Item>
  readonly tombstones: Tombstones
  readonly drift: Drift
  readonly kind: ReadKind
  /** Returns the next number of a read or pass. Numbers count up from 1 over all reads of the list. */
  readonly nextNumber: () => number
  /** When the read began, monotonic ms. */
  readonly begunAt: number
  readonly repeatedId: RepeatedId
  /** The CRM's name for the column of the id. */
  readonly idColumn: string
  /** The read is an audit. A change that it finds is drift if no read of changes reported it. */
  readonly audit: boolean
  /** Whether to record publish latency: not during the first full read or an audit. */
  readonly timesChanges: boolean
  /** Removals of served rows wait for `removePostponed`, because events that refer to a venue are removed before it. */
  readonly postponeRemovals: boolean
  /** Served rows that became unreadable stay unchanged until the shrink guard has judged. */
  readonly keepsFaults: boolean
  /** Counts rows that are newly withheld because of a mistake. */
  readonly newlyWithheld: FaultCounts
  readonly now: () => number
  /** The wall clock, whole seconds since 1970. */
  readonly wallS: () => number
}

type AnyRow<Item> = Extract<Change<Item>, { readonly kind: 'record' | 'withheld' }>
/** A row with an id of its own. */
export type RowChange<Item> = AnyRow<Item> & { readonly id: Guid }

export function hasId<Item>(change: AnyRow<Item>): change is RowChange<Item> {
  return change.id !== null
}

/** The moments of a page, monotonic ms in the source's time. */
export interface PageMoments {
  /** What the page shows is at least as new as this. */
  readonly readAt: number
  /** When it is applied. */
  readonly now: number
  /** When the request for it began, not shifted by a lag. */
  readonly begunAt: number
  /** When the pages of the same request are applied: what was written then is older than a later page. */
  readonly appliedAt: Set<number>
}

export const NO_PAGE: PageMoments = { readAt: 0, now: 0, begunAt: Number.NaN, appliedAt: new Set() }

/** @param before the page that was applied before */
export function momentsOf(page: Page<unknown>, nowMs: number, before: PageMoments): PageMoments {
  const { sourceLagMs } = page
  const begunAt = page.begunAt.monotonicMs
  const now = nowMs - sourceLagMs
  const appliedAt = begunAt === before.begunAt ? before.appliedAt : new Set<number>()
  appliedAt.add(now)
  return { readAt: begunAt - sourceLagMs, now, begunAt, appliedAt }
}

/** Returns true if the page is older than what was written at `writtenAt`. */
export function isOlder({ readAt, now, appliedAt }: PageMoments, writtenAt: number): boolean {
  return readAt < writtenAt && !(now >= writtenAt && appliedAt.has(writtenAt))
}

/** The removal of a row that is still served. */
export interface Postponed {
  readonly remove: () => void
  /** Whether the CRM withholds the row on purpose. */
  readonly isHiding: boolean
  /** The version of the withheld row; `NaN` if the row was deleted. */
  readonly version: number
  updatedAtMs: number
}

/** Cancels the removal of an id that a later row has. */
export function bringBack(
  { kind, id }: Change<unknown>,
  postponed: Map<Guid | null, Postponed>,
  list: Pick<RecordList<unknown>, 'version'>,
): void {
  // An id scan compares only versions: it may mean the withheld row, if that has the held version.
  const mayBeHidden = kind === 'unchanged' && postponed.get(id)?.version === list.version(id)
  if (!mayBeHidden) postponed.delete(id)
}

/** A change that waits until its read is believed. */
export interface Released<Item> {
  readonly change: RowChange<Item>
  readonly page: PageMoments
}
