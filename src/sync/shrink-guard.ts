import type { Observe } from '../observe/observation.ts'
import { isBefore } from '../domain/date-time.ts'
import { type Sighting, missingRows } from './absence.ts'
import { type Failure, type ReadKind, failureOf } from './port.ts'
import type { RecordList } from '../records/record-list.ts'
import type { HeldRow } from '../records/held-row.ts'
import { type ListState, type Shrunk, type ShrunkLimits, servedUntil } from './served-list.ts'
import { type Moment, earlierBy, elapsedMs } from '../time/time.ts'

/** A read to be judged. */
export interface Judged extends Sighting {
  readonly kind: ReadKind
  readonly begun: Moment
  /** `complete`: it mentioned every row. `oneMoment`: all its pages show the same state of the CRM. */
  readonly complete: boolean
  readonly oneMoment: boolean
  /** The moment that the read shows, monotonic ms. */
  readonly sinceMs: number
  /** The served rows that the CRM reports as removed. */
  readonly removed: number
}

interface Circumstances extends ShrunkLimits {
  readonly now: Moment
  readonly observe: Observe
  /** Serves the old list if its age is known. Returns the age in ms; `null` if it is unknown. */
  readonly serveOld: () => number | null
}

/** The reads that can prove that the list is intact: at least as thorough as the one that was not believed. */
type Proof = 'any' | 'complete' | 'full'

/**
 * `failure`: why the loss must wait, or `null` if it may be applied. `isShort`: the loss is too large to be a normal
 * change. `release`: call it once the loss is applied; until then the old list is served on.
 */
interface Verdict {
  readonly failure: Failure | null
  readonly isShort: boolean
  readonly release: () => void
}

/** The properties of a list that the guard uses. */
interface GuardedList extends Pick<RecordList<unknown>, 'rows' | 'served' | 'kept' | 'lostCount'> {
  readonly kind: Pick<RecordList<unknown>['kind'], 'name'>
}

/** The rows that a complete read did not mention. */
interface Missing {
  readonly rows: number
  /** Those of events that ended lately. A list of coming events loses them by and by, so they are no loss. */
  readonly over: number
  /** Those that are served although their rows became unreadable. */
  readonly unreadable: number
}

/** The rows that a read would remove or withhold. */
interface Loss {
  readonly absent: number
  readonly unreadable: number
}

/** Decides whether the losses of a read are believed (architecture: The shrink guard, One moment). */
export class ShrinkGuard {
  shrunk: Shrunk | null = null
  /** Why the last read was not believed; `null` while the list is believed. */
  failure: Failure | null = null
  #proof: Proof = 'any'
  /** The current loss was logged. */
  #isTold = false
  /**
   * A read of several moments that missed many rows, and when it ended. A read that begins later must miss the same
   * rows.
   */
  #unconfirmed: { readonly number: number; readonly begunAt: number; readonly endedAt: number } | null = null
  /** The records served at the previous judgement, absent events that were over excluded, and whether there were more before. */
  #served = 0
  #hadMore = false
  /** When the operator accepted a shorter list, monotonic ms, until a read has proved it; `null` otherwise. */
  #acceptedAt: number | null = null

  get acceptsShorter(): boolean {
    return this.#acceptedAt !== null
  }

  acceptShorter(atMs: number): void {
    this.#acceptedAt = atMs
  }

  /** What another process needs to continue the judgement; `null` while the list is believed. */
  toldAt(now: Moment): ListState['shrunk'] {
    if (this.shrunk === null) return null
    const { since, absent, unreadable } = this.shrunk
    return { forMs: Math.floor(elapsedMs(since, now)), absent, unreadable }
  }

  /** Resumes the judgement that another process told at `asOf`. */
  resume(
    { kind, served, lostCount }: GuardedList,
    { forMs, absent, unreadable }: NonNullable<ListState['shrunk']>,
    asOf: Moment,
  ): void {
    this.shrunk = { since: earlierBy(asOf, forMs), absent, unreadable }
    this.failure = failureOf('shrunk', shrunkMessage(kind.name, this.shrunk, served + lostCount, null))
    this.#proof = 'full'
  }

  judge(list: GuardedList, read: Judged, circumstances: Circumstances): Verdict {
    const { lostCount } = list
    const served = list.served - read.removed
    const { name } = list.kind
    const missing = missingIn(list, read, circumstances.now)
    const absent = missing.rows - missing.over
    const records = served + lostCount - missing.over
    const unreadableNow = read.kind === 'full' ? list.kept.size : list.kept.fromRefreshes
    // The absent rows of a complete read of changes may include rows that an audit found unreadable, so those are
    // subtracted.
    const leaving = absent + Math.max(0, unreadableNow - missing.unreadable)
    this.#hadMore = served < this.#served || (served === this.#served && this.#hadMore)
    this.#served = served - missing.over
    // Records that are taken one by one over several reads are believed, the last one too.
    const isLastOfSeveral = leaving === 1 && lostCount === 0 && this.#hadMore
    const isShort = leaving > 0 && !isLastOfSeveral && isTooMuch(leaving + lostCount, records)
    const isHeld = circumstances.shrinkGuardMs !== null && isShort && !this.acceptsShorter
    // If the guard already holds the list, a second read has agreed before.
    if (!read.oneMoment && isMuch(missing.rows, served) && !(isHeld && this.shrunk !== null)) {
      const unconfirmed = this.#unconfirmed
      // A read that began before the other one ended does not count: the same change may have affected both.
      const isSecond = unconfirmed !== null && read.begunAt >= unconfirmed.endedAt
      if (!isSecond || isMuch(countDisputed(list, read, unconfirmed), served)) {
        const { number, begunAt } = read
        const endedAt = circumstances.now.monotonicMs
        if (isSecond || unconfirmed === null) this.#unconfirmed = { number, begunAt, endedAt }
        return {
          isShort,
          release: () => {},
          failure: failureOf('unconfirmed', unconfirmedMessage(name, missing.rows, served, isSecond)),
        }
      }
    }
    if (read.complete) this.#unconfirmed = null
    if (isHeld) {
      const unreadable = list.kept.size - missing.unreadable + lostCount
      const seen = { absent: read.complete ? absent : null, unreadable, records }
      return { isShort, release: () => {}, failure: this.#hold(list, read, seen, circumstances) }
    }
    const release = (): void => {
      if (this.#isProof(read))
        this.#release(isShort || (read.complete && read.sinceMs >= (this.#acceptedAt ?? read.sinceMs)))
    }
    return { isShort, release, failure: null }
  }

  #release(endsAccepting: boolean): void {
    this.shrunk = this.failure = null
    this.#isTold = false
    this.#proof = 'any'
    // A read that still shows the long list is older than what the operator accepted.
    if (endsAccepting) this.#acceptedAt = null
  }

  #hold(
    { kind: { name }, kept }: GuardedList,
    { kind, complete, begun }: Judged,
    seen: { readonly absent: number | null; readonly unreadable: number; readonly records: number },
    circumstances: Circumstances,
  ): Failure {
    const { unreadable, records } = seen
    const absent = seen.absent ?? this.shrunk?.absent ?? 0
    const since = this.shrunk?.since ?? begun
    const shrunk = { since, absent, unreadable }
    this.shrunk = shrunk
    const proof = kind === 'full' && kept.size > 0 ? 'full' : complete ? 'complete' : 'any'
    if (this.#proof !== 'full' && proof !== 'any') this.#proof = proof
    const faults = kept.faults.ranked()
    const { observe, now, serveOld } = circumstances
    const ageMs = serveOld()
    const until = ageMs === null ? null : new Date(servedUntil(shrunk, ageMs, circumstances, now)).toISOString()
    if (!this.#isTold) observe({ kind: 'shrunk', list: name, absent, unreadable, records, faults, until })
    this.#isTold = true
    this.failure = failureOf('shrunk', shrunkMessage(name, shrunk, records, faults[0]?.column ?? null))
    return this.failure
  }

  #isProof({ kind, complete }: Judged): boolean {
    return this.#proof === 'any' || (complete && (kind === 'full' || this.#proof === 'complete'))
  }
}

/** A list that had events for longer than this after their end is no list of coming events. */
const LATELY_MS = 32 * 86_400_000

function missingIn(list: GuardedList, read: Judged, { wallMs }: Moment): Missing {
  let [rows, over, unreadable] = [0, 0, 0]
  if (!read.complete) return { rows, over, unreadable }
  for (const row of missingRows(list, read, read.sinceMs)) {
    rows++
    const end = row.key?.end ?? null
    const isOver = end !== null && isBefore(end, { ms: wallMs, ticks: 0 })
    if (isOver && !isBefore(end, { ms: wallMs - LATELY_MS, ticks: 0 })) over++
    if (list.kept.get(row) !== undefined) unreadable++
  }
  return { rows, over, unreadable }
}

/** Counts the rows that a complete read did not mention, though an earlier one did. */
function countDisputed(list: GuardedList, read: Judged, before: { number: number; begunAt: number }): number {
  const wasSeen = (row: HeldRow): boolean => row.isSeen(before.number, before.begunAt)
  return missingRows(list, read, read.sinceMs).reduce((count, row) => (wasSeen(row) ? count + 1 : count), 0)
}

/** Losing all records, or more than half of four and more, is probably a fault. */
function isTooMuch(leaving: number, records: number): boolean {
  return leaving === records || (records >= 4 && leaving * 2 > records)
}

/**
 * Returns true if a read of several moments misses too much to be believed alone: more than ten, and more than a
 * twentieth.
 */
function isMuch(absent: number, served: number): boolean {
  return absent > 10 && absent * 20 > served
}

/** @param column The column with the most unreadable rows; `null` if unknown. */
function shrunkMessage(list: string, { absent, unreadable }: Loss, records: number, column: string | null): string {
  const most = column === null ? '' : `, most in ${column}`
  const missing = `${absent} of ${records} ${list} are missing from the CRM's list`
  const broken = `${unreadable} ${absent === 0 ? `of ${records} ${list} ` : ''}became unreadable${most}`
  const what = unreadable === 0 ? missing : absent === 0 ? broken : `${missing} and ${broken}`
  return `${what}: not believed until \`./marquee accept\``
}

function unconfirmedMessage(list: string, missing: number, served: number, isSecond: boolean): string {
  const what = `${missing} of ${served} ${list} are missing from the CRM's list, which may have changed while it was read`
  return isSecond
    ? `${what}: the previous read missed other records, so nothing is removed until two reads agree`
    : `${what}: they are removed if a second read agrees`
}
