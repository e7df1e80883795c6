import type { FaultCounts } from '../domain/fault-counts.ts'
import type { RecordList } from '../records/record-list.ts'
import type { Drift } from './drift.ts'
import type { Page, ReadKind, RepeatedId } from './port.ts'
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
}

/** The moments of the page that is being applied, monotonic ms in the source's time. */
export class PageMoments {
  /** What the page shows is at least as new as this. */
  readAt = 0
  /** When it is applied. */
  now = 0
  #begunAt = Number.NaN
  /** When the pages of the same request were applied: what was written then is older than the present page. */
  readonly #appliedAt = new Set<number>()

  begin({ begunAt: { monotonicMs }, sourceLagMs }: Page<unknown>, nowMs: number): void {
    this.readAt = monotonicMs - sourceLagMs
    this.now = nowMs - sourceLagMs
    if (monotonicMs !== this.#begunAt) this.#appliedAt.clear()
    this.#begunAt = monotonicMs
    this.#appliedAt.add(this.now)
  }

  /** Returns true if the page is older than what was written at `writtenAt`. */
  isOlder(writtenAt: number, readAt: number = this.readAt, now: number = this.now): boolean {
    return readAt < writtenAt && !(now >= writtenAt && this.#appliedAt.has(writtenAt))
  }
}
