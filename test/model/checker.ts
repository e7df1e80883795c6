import type { Guid } from '../../src/domain/guid.ts'
import type { Replica } from '../../src/sync/replica.ts'
import type { Moment } from '../../src/time/time.ts'
import { elapsedMs } from '../../src/time/time.ts'
import type { Glimpse } from './glimpse.ts'
import type { ReadLog } from './read-log.ts'
import type { Setting } from './setting.ts'
import { type Span, type Story, reportedMs } from './story.ts'
import type { Table } from './table.ts'
import type { VirtualTime } from './virtual-time.ts'

type AnyList = Replica['events'] | Replica['venues']

/** A request, as of its arrival. */
export interface Asked {
  readonly lists: readonly AnyList[]
  readonly moment: Moment
  readonly trueMs: number
  /** The shrink guard held one of the lists. */
  readonly isShrunk: boolean
}

export interface Refusal {
  readonly retryAfterMs: number
  /** The number of waiting requests at its arrival. */
  readonly waiting: number
  /** Returns true if the request could be answered at once now. */
  readonly isAnswerable: () => boolean
}

/** Clocks show whole milliseconds, and sums of small numbers are inexact. */
const TOLERANCE_MS = 0.01

/** Checks every answer against the complete history of the CRM. */
export class Checker {
  readonly counts: { shown: number; notFound: number; refused: number } = { shown: 0, notFound: 0, refused: 0 }
  /** The first few violations, one sentence each. */
  readonly wrong: string[] = []
  wrongs = 0
  readonly #tables: Readonly<Record<'events' | 'venues', Table>>
  readonly #setting: Setting
  readonly #log: ReadLog
  readonly #time: VirtualTime
  readonly #lastEpoch = new Map<string, number>()
  readonly #lastSold = new Map<string, number>()

  constructor(tables: Readonly<Record<'events' | 'venues', Table>>, setting: Setting, log: ReadLog, time: VirtualTime) {
    this.#tables = tables
    this.#setting = setting
    this.#log = log
    this.#time = time
  }

  crash(cause: unknown): void {
    this.#fault(`a request crashed: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`)
  }

  /** Checks an answer about one row, or about an event whose venue decides. */
  answer(asked: Asked, ageMs: number, glimpses: readonly Glimpse[]): void {
    this.#checkHold(asked)
    this.#checkAge(asked, ageMs)
    for (const glimpse of glimpses) {
      if (glimpse.epoch === null) this.counts.notFound++
      else this.counts.shown++
      this.#checkGlimpse(glimpse, ageMs)
    }
  }

  /** Checks an answer about an event and its venue: the event is never visible without its venue. */
  answerOfTwo(asked: Asked, ageMs: number, event: Glimpse, venue: Glimpse): void {
    this.answer(asked, ageMs, [event, venue])
    const pointing = this.#story(event)?.pointing(event.epoch ?? 0) ?? []
    const points = pointing.at(-1)
    const current = this.#story(venue)?.epochs.at(-1)
    if (venue.epoch !== null || points === undefined || current === undefined) return
    // Two servers with different lags are like two CRMs.
    if (this.#setting.serverLagsMs.length > 1) return
    const nowMs = this.#time.trueMs
    const { visible, restoredMs } = this.#tables.venues
    if (visible !== null || !this.#log.wasToldWithin('venues', restoredMs, nowMs)) return
    const gone = this.#story(venue)?.lastShown()
    if (!current.shown) {
      // The shrink guard keeps events that the CRM does not show, or kept this one when its venue went.
      const { shrunkMs, releasedMs } = this.#log
      if (shrunkMs.has('events') || (releasedMs.get('events') ?? 0) >= (gone?.to ?? 0)) return
      if (gone === undefined || points.to > gone.to || points.endedSilently || this.#isUntold(event)) return
      // The replica may never have learnt that the venue was shown.
      const isKnown = this.#story(venue)?.before(gone)?.endedSilently === false
      if (!isKnown || !this.#log.wasToldWithin('venues', Math.max(gone.from, points.from), gone.to)) return
      this.#fault(`${event.id} points at ${venue.id}, though it went before, or with it`)
      return
    }
    // Deleted and created again before the deletion was known: the replica removes it late instead of adding it late.
    if (gone !== undefined && !this.#log.wasToldWithin('venues', gone.to, current.from)) return
    // The replica may not know that the event ever referred to another venue. It then seems to refer to the missing one
    // all along.
    const before = pointing.at(-2)
    if (before !== undefined && (before.endedSilently || !this.#log.wasToldWithin('events', before.to, points.from)))
      return
    if (current.from <= points.from && !this.#isUntold(venue)) {
      this.#fault(`${event.id} points at ${venue.id}, which is not shown though it was there before`)
    }
  }

  /** Compares the held list with the CRM after a long enough quiet time: they must be equal. */
  compare(list: AnyList, glimpse: (id: Guid) => Glimpse): void {
    const { name } = list.list.kind
    const table = this.#tables[name]
    const shown = table.shown()
    if (list.list.served !== shown.length) {
      this.#fault(`${list.list.served} ${name} are held, ${shown.length} are shown by the CRM`)
    }
    for (const { id, state } of shown) {
      const { epoch, sold } = glimpse(id)
      if (epoch === state?.epoch && (sold === null || sold === state.sold)) continue
      this.#fault(`${name} ${id} ended as ${epoch} with ${sold} sold instead of ${state?.epoch} with ${state?.sold}`)
    }
  }

  /** If nothing goes wrong, most events leave the list only because they are over. */
  #checkHold({ isShrunk }: Asked): void {
    const { seasonMs, trouble } = this.#setting
    if (isShrunk && seasonMs > 0 && trouble === 0)
      this.#fault('the shrink guard holds, though only events that are over have left')
  }

  refuse(asked: Asked, { retryAfterMs, waiting, isAnswerable }: Refusal): void {
    this.counts.refused++
    this.#checkHold(asked)
    const { waitForMs, waiting: mostWaiting, maxAgeMs, serverLagsMs } = this.#setting
    const unless = this.#unlessReadNow(asked)
    if (isAnswerable()) unless('502 though the data is within the maximum age')
    const isLate = elapsedMs(asked.moment, this.#time.peek()) >= waitForMs - TOLERANCE_MS
    const lagsTooFar = Math.max(...serverLagsMs) > 0 && Math.max(...serverLagsMs) + 1000 > maxAgeMs
    const wasShrunk = (list: AnyList): boolean => (this.#log.releasedMs.get(list.list.kind.name) ?? 0) >= asked.trueMs
    const hasReason = (list: AnyList): boolean =>
      this.#isFailing(list) || lagsTooFar || wasShrunk(list) || asked.isShrunk || this.#wasLeftBehind(list)
    this.#checkCursors(asked)
    // The read may have begun before the one that was not believed had ended, which reveals it.
    const isServed = (list: AnyList): boolean =>
      (list.ageMs(this.#time.peek()) ?? Infinity) <= maxAgeMs || this.#isServedOn(list, this.#setting.patienceMs * 20)
    if (asked.lists.every(isServed)) unless('502 though the shrink guard serves the old list')
    if (waiting < mostWaiting && !isLate && !asked.lists.some(hasReason)) this.#fault('502 without a reason')
    this.#checkRetryAfter(asked, retryAfterMs, isAnswerable)
  }

  /** Counts a refusal of an event's venue that is not served: a list past the maximum age cannot tell why. */
  refuseVenue(): void {
    this.counts.refused++
  }

  /** A failing list may have been read at the moment of the refusal; the report of that read comes later. */
  #unlessReadNow({ lists }: Asked): (what: string) => void {
    const failing = lists.filter((list) => list.isFailing).map(({ list }) => list.kind.name)
    const nowMs = this.#time.trueMs
    return (what) =>
      this.#time.after(0, () => {
        if (!failing.some((name) => (this.#log.endedMs[name] ?? 0) >= nowMs)) this.#fault(what)
      })
  }

  /** If only cursors fail, they must not cost more than a few failures. */
  #checkCursors({ lists }: Asked): void {
    const { trouble, cursorDeaths, maxAgeMs, refreshEveryMs, patienceMs } = this.#setting
    if (trouble > 0 || cursorDeaths === 0) return
    const backOffMs = Math.min(5000, Math.max(refreshEveryMs, maxAgeMs))
    const longestMs = maxAgeMs + 4 * (backOffMs + patienceMs) + 2000
    for (const list of lists) {
      const ageMs = list.ageMs(this.#time.peek()) ?? 0
      if (ageMs > longestMs)
        this.#fault(`502 for ${Math.round(ageMs - maxAgeMs)} ms though only a cursor does not work`)
    }
  }

  /** Checks that after `retryAfterMs` the request can be answered, or a try was made meanwhile. */
  #checkRetryAfter({ lists }: Asked, retryAfterMs: number, isAnswerable: () => boolean): void {
    const progress = lists.map((list) => this.#log.progress[list.list.kind.name] ?? 0)
    this.#time.after(retryAfterMs + 1, () => {
      const isIdle = lists.every((list, index) => {
        const { name } = list.list.kind
        return this.#log.progress[name] === progress[index] && !this.#log.isReading(name, this.#time.trueMs)
      })
      if (isIdle && !isAnswerable()) this.#fault(`Retry-After: ${retryAfterMs / 1000} was not true`)
    })
  }

  #checkAge({ lists, moment }: Asked, ageMs: number): void {
    const { maxAgeMs, staleIfErrorMs } = this.#setting
    for (const { list } of lists) {
      const { name } = list.kind
      const shrunkMs = this.#log.shrunkMs.get(name)
      if (shrunkMs === undefined || this.#time.trueMs - ageMs <= shrunkMs) continue
      // Checked again in the next turn: the read that released the guard may not have been logged yet.
      this.#time.after(0, () => {
        if (this.#log.shrunkMs.get(name) === shrunkMs)
          this.#fault(`${name} are vouched for while the shrink guard holds`)
      })
    }
    const sinceMs = elapsedMs(moment, this.#time.peek())
    // The age is looked up again once the request is admitted.
    if (ageMs <= Math.max(maxAgeMs, sinceMs) + TOLERANCE_MS) return
    const isFailing = lists.some((list) => this.#isFailing(list))
    if (staleIfErrorMs > 0 && ageMs <= maxAgeMs + staleIfErrorMs && isFailing) return
    // The other list may have been read since the request arrived.
    const mostMs = Math.max(maxAgeMs, sinceMs + TOLERANCE_MS)
    const old = lists.filter((list) => (list.ageMs(this.#time.peek()) ?? 0) > mostMs)
    const isServedOn = (): boolean => old.every((list) => this.#isServedOn(list, 0))
    if (isServedOn()) return
    const tell = (): void =>
      this.#fault(`an answer ${Math.round(ageMs)} ms old, ${Math.round(sinceMs)} ms after the request`)
    if (old.some(({ shrunk }) => shrunk === null)) return tell()
    // Checked again in the next turn: the read that engaged the guard may not have been logged yet.
    this.#time.after(0, () => {
      if (!isServedOn()) tell()
    })
  }

  #checkGlimpse(glimpse: Glimpse, ageMs: number): void {
    const since = this.#time.trueMs - ageMs - TOLERANCE_MS
    const story = this.#story(glimpse)
    if (story === undefined) {
      if (glimpse.epoch !== null) this.#fault(`${glimpse.id} is shown and never was`)
      return
    }
    const last = this.#lastEpoch.get(glimpse.id) ?? 0
    const epoch =
      glimpse.epoch ?? story.absentEpoch(since, last, (index) => this.#knownUntil(glimpse.list, story.epochs, index))
    this.#lastEpoch.set(glimpse.id, Math.max(last, epoch))
    // A restart may lose a change that only a full read reports, because the snapshot was written before that read.
    const isKept = story.epochs[epoch]?.endedSilently === true || this.#log.shrunkMs.has(glimpse.list)
    // After a kill, the snapshot of a list that the CRM does not answer for may be older than the last answer.
    const { restartEveryMs, staleIfErrorMs } = this.#setting
    const isForgotten = restartEveryMs > 0 && (isKept || staleIfErrorMs > 0)
    if (epoch < last && !isForgotten) this.#fault(`${glimpse.id} went back from ${last} to ${epoch}`)
    this.#checkSpan(glimpse, story.epochs, epoch, since, 'epoch')
    if (glimpse.sold === null) return
    const lastSold = this.#lastSold.get(glimpse.id) ?? 0
    this.#lastSold.set(glimpse.id, Math.max(lastSold, glimpse.sold))
    if (glimpse.sold < lastSold && !isForgotten)
      this.#fault(`${glimpse.id} went back from ${lastSold} to ${glimpse.sold} sold`)
    // The tickets of a row whose change was not reported are not reported either.
    const detailsUntil =
      story.epochs[epoch]?.endedSilently === true ? this.#knownUntil(glimpse.list, story.epochs, epoch) : 0
    this.#checkSpan(glimpse, story.sales, glimpse.sold, since, 'sale', detailsUntil)
  }

  #checkSpan(
    { list, id, epoch }: Glimpse,
    spans: readonly Span[],
    index: number,
    since: number,
    what: string,
    atLeast = 0,
  ): void {
    const span = spans[index]
    if (span === undefined) {
      this.#fault(`${id} shows ${what} ${index} that never was`)
      return
    }
    const until = Math.max(atLeast, this.#knownUntil(list, spans, index))
    const { trouble, idScanEveryMs } = this.#setting
    // A delta confirms nothing, but must report every change with a timely updatedAt.
    const tells =
      trouble === 0 && idScanEveryMs > 0 && this.#tables[list].stories.get(id)?.isPromptSince(span.to) === true
    const due = tells ? Math.max(since, this.#log.toldMs.get(list) ?? 0) : since
    if (until >= due) return
    const late = `${Math.round(due - until)} ms too long; it ended ${Math.round(this.#time.trueMs - span.to)} ms ago`
    this.#fault(`${list} ${id} ${epoch === null ? '404 for' : 'shows'} ${what} ${index} ${late}`)
  }

  /**
   * Returns until when a state may be shown, apart from the age: until its end if the CRM reports that, else until the
   * next audit.
   */
  #knownUntil(list: string, spans: readonly Span[], index: number): number {
    const span = spans[index]
    if (span === undefined || !span.endedSilently) return span?.to ?? 0
    return Math.min(reportedMs(spans, index), this.#log.auditedAt(list, span.to), this.#auditDueBy(span.to))
  }

  /**
   * Returns when an audit must have found what happened at `ms`: the one that ran then may have missed it, and the next
   * one needs time. Unlimited if reads fail.
   */
  #auditDueBy(ms: number): number {
    const { trouble, clocks, fullReadEveryMs, latencyMs } = this.#setting
    const isSure = trouble === 0 && clocks === 'steady'
    return isSure ? ms + 2 * fullReadEveryMs + 200 * latencyMs : Number.POSITIVE_INFINITY
  }

  /**
   * The shrink guard serves the old list for at least `forMs` more. A killed process has not told the next one since
   * when.
   */
  #isServedOn({ list, shrunk }: AnyList, forMs: number): boolean {
    const { shrinkGuardMs, restartEveryMs } = this.#setting
    const { shrunkMs: since, lastShrunkMs } = this.#log
    const shrunkMs = (shrunk === null ? since : lastShrunkMs).get(list.kind.name)
    if (shrinkGuardMs === null || shrinkGuardMs === 0 || shrunkMs === undefined) return false
    return restartEveryMs > 0 ? forMs === 0 : this.#time.trueMs + forMs - shrunkMs <= shrinkGuardMs
  }

  /** Returns true if the row's present state was never reported. */
  #isUntold(glimpse: Glimpse): boolean {
    return this.#story(glimpse)?.epochs.at(-2)?.endedSilently === true
  }

  /** The other list may have gone on without this one, whose servers lag behind the moment when it did. */
  #wasLeftBehind({ list }: AnyList): boolean {
    const { serverLagsMs, refreshEveryMs } = this.#setting
    const lagMs = Math.max(...serverLagsMs)
    const failedMs = this.#log.failedMs.get(list.kind.name) ?? Number.NEGATIVE_INFINITY
    return lagMs > 0 && this.#time.trueMs <= failedMs + lagMs + 2 * refreshEveryMs
  }

  /** The replica reports failure, and a read of the list did fail. */
  #isFailing(list: AnyList): boolean {
    return list.isFailing && (this.#log.failed[list.list.kind.name] ?? 0) > 0
  }

  #story({ list, id }: Glimpse): Story | undefined {
    return this.#tables[list].stories.get(id)
  }

  #fault(what: string): void {
    this.wrongs++
    if (this.wrong.length < 5) this.wrong.push(`at ${Math.round(this.#time.trueMs)} ms: ${what}`)
  }
}
