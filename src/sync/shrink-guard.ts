import type { Observe } from '../observe/observation.ts'
import { type Sighting, countMissing } from './absence.ts'
import { type Failure, type ReadKind, failureOf } from './port.ts'
import type { RecordList } from '../records/record-list.ts'
import { type Moment, elapsedMs } from '../time/time.ts'

/** A list that lost so much that the CRM is not believed; the list of before is served. */
export interface Shrunk {
  /** When the first read that was not believed began. */
  readonly since: Moment
  /** As of when that was heard of one who reads the list; null for the one who does. */
  readonly heardAt?: Moment | null
  /** Records that the CRM no longer has, and records whose rows became unreadable, as the last read saw them. */
  readonly absent: number
  readonly unreadable: number
}

/** The same as it is told to those who were not there. */
export interface ToldShrunk extends Pick<Shrunk, 'absent' | 'unreadable'> {
  readonly forMs: number
}

/** How the shrink guard is set: for how long the old list is served on, in ms; null if it is off. */
export interface ShrinkGuardSetting {
  readonly shrinkGuardMs: number | null
}

/** One read, as it is judged. */
export interface Judged extends Sighting {
  readonly kind: ReadKind
  readonly begun: Moment
  /** It mentioned every row, and all of it shows one state of the CRM. */
  readonly complete: boolean
  readonly oneMoment: boolean
  /** The moment that the read shows, monotonic ms. */
  readonly sinceMs: number
  /** Rows that are kept as unreadable and that it found readable after all. */
  readonly resolved: number
}

interface Circumstances extends ShrinkGuardSetting {
  readonly now: Moment
  readonly observe: Observe
}

/** Which reads prove that the list is what it was: those that see as much as the one that was not believed. */
type Proof = 'any' | 'complete' | 'full'

/** Why what a read takes off the web must stay, null if it may go; and whether that is too much to happen by itself. */
interface Verdict {
  readonly failure: Failure | null
  readonly isShort: boolean
}

/** What the guard knows of a list, whatever its records are. */
interface GuardedList extends Pick<RecordList<unknown>, 'shards' | 'served' | 'kept' | 'lostCount'> {
  readonly kind: { readonly name: string }
}

/** What a read would take off the web. */
interface Loss {
  readonly absent: number
  readonly unreadable: number
}

/** Whether what a read takes off the web is believed (architecture: The shrink guard, One moment). */
export class ShrinkGuard {
  shrunk: Shrunk | null = null
  /** Why the last read was not believed; null while the list is. */
  failure: Failure | null = null
  #proof: Proof = 'any'
  /** The log has it. */
  #isTold = false
  /** A read of several moments that missed much, and when it ended: one that begins then has to miss the same. */
  #unconfirmed: { readonly read: Sighting; readonly endedAt: number } | null = null
  /** When the operator said that a shorter list is right, until a read has proved it; null otherwise. */
  #acceptedAt: number | null = null

  get acceptsShorter(): boolean {
    return this.#acceptedAt !== null
  }

  acceptShorter(atMs: number): void {
    this.#acceptedAt = atMs
  }

  /** Goes on from what another process, or another instance, did not believe. */
  resume(list: string, records: number, shrunk: Shrunk): void {
    this.shrunk = shrunk
    this.failure = failureOf('shrunk', shrunkMessage(list, shrunk, records, null))
    this.#proof = 'full'
  }

  judge(list: GuardedList, read: Judged, circumstances: Circumstances): Verdict {
    const { served, lostCount } = list
    const { name } = list.kind
    const gone = read.complete ? countMissing(list, read) : { missing: 0, unreadable: 0 }
    const { missing: absent } = gone
    const unreadableNow = (read.kind === 'full' ? list.kept.size : list.kept.fromRefreshes) - read.resolved
    // Of a read of changes that is complete, what an audit found may be among the missing.
    const leaving = absent + Math.max(0, unreadableNow - gone.unreadable)
    const isShort = leaving > 0 && isTooMuch(leaving + lostCount, served + lostCount)
    const isHeld = circumstances.shrinkGuardMs !== null && isShort && !this.acceptsShorter
    // A second reading has agreed before if the guard holds already.
    if (!read.oneMoment && isMuch(absent, served) && !(isHeld && this.shrunk !== null)) {
      const unconfirmed = this.#unconfirmed
      // One that began before the other had ended may have been cut by the same change.
      const isSecond = unconfirmed !== null && read.begunAt >= unconfirmed.endedAt
      if (!isSecond || isMuch(countMissing(list, read, unconfirmed.read).missing, served)) {
        const endedAt = circumstances.now.monotonicMs
        if (isSecond || unconfirmed === null) this.#unconfirmed = { read, endedAt }
        return { isShort, failure: failureOf('unconfirmed', unconfirmedMessage(name, absent, served, isSecond)) }
      }
    }
    if (read.complete) this.#unconfirmed = null
    if (isHeld) {
      const unreadable = list.kept.size - read.resolved - gone.unreadable + lostCount
      const seen = { absent: read.complete ? absent : null, unreadable }
      return { isShort, failure: this.#hold(list, read, seen, circumstances) }
    }
    if (this.#isProof(read)) this.#release(isShort || read.sinceMs >= (this.#acceptedAt ?? read.sinceMs))
    return { isShort, failure: null }
  }

  #release(endsAccepting: boolean): void {
    this.shrunk = this.failure = null
    this.#isTold = false
    this.#proof = 'any'
    // A read that shows the list as it was before, still long, is not the one the operator meant.
    if (endsAccepting) this.#acceptedAt = null
  }

  #hold(
    { kind: { name }, served, kept, lostCount }: GuardedList,
    { kind, complete, begun }: Judged,
    seen: { readonly absent: number | null; readonly unreadable: number },
    { observe, shrinkGuardMs, now }: Circumstances,
  ): Failure {
    const { unreadable } = seen
    const absent = seen.absent ?? this.shrunk?.absent ?? 0
    const since = this.shrunk?.since ?? begun
    const shrunk = { since, absent, unreadable }
    this.shrunk = shrunk
    const proof = kind === 'full' && kept.size > 0 ? 'full' : complete ? 'complete' : 'any'
    if (this.#proof !== 'full' && proof !== 'any') this.#proof = proof
    const records = served + lostCount
    const faults = kept.faults.ranked()
    const until = new Date(untilOf(shrunk, shrinkGuardMs ?? 0, now)).toISOString()
    if (!this.#isTold) observe({ kind: 'shrunk', list: name, absent, unreadable, records, faults, until })
    this.#isTold = true
    this.failure = failureOf('shrunk', shrunkMessage(name, shrunk, records, faults[0]?.column ?? null))
    return this.failure
  }

  #isProof({ kind, complete }: Judged): boolean {
    return this.#proof === 'any' || (complete && (kind === 'full' || this.#proof === 'complete'))
  }
}

/** More than half of the records, and more than ten, are rather a fault than the truth. */
function isTooMuch(leaving: number, records: number): boolean {
  return leaving > 10 && leaving * 2 > records
}

/** Whether more is absent than one read of several moments may say: more than ten, and a twentieth of the records. */
function isMuch(absent: number, served: number): boolean {
  return absent > 10 && absent * 20 > served
}

/** When the old list is no longer served, by the wall clock. */
export function untilOf({ since }: Shrunk, shrinkGuardMs: number, now: Moment): number {
  return now.wallMs - elapsedMs(since, now) + shrinkGuardMs
}

/** Whether the old list may be answered from, however old it is: what was heard of the guard is not. */
export function isServedOn(
  { since, heardAt = null }: Shrunk,
  { shrinkGuardMs, maxAgeMs }: ShrinkGuardSetting & { readonly maxAgeMs: number },
  now: Moment,
): boolean {
  if (shrinkGuardMs === null || elapsedMs(since, now) >= shrinkGuardMs) return false
  return heardAt === null || elapsedMs(heardAt, now) <= maxAgeMs
}

/** @param column the one in which most rows became unreadable; null if nobody knows */
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
    ? `${what}: the reading before missed others, so nothing goes until two agree`
    : `${what}: they go when a second reading agrees`
}
