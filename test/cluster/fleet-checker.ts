import type { Guid } from '../../src/domain/guid.ts'
import { EMPTY_GUID } from '../../src/domain/guid.ts'
import { isSame } from '../../src/cluster/followed-lists.ts'
import type { ServedLists } from '../../src/sync/served-list.ts'
import type { StoredEntry } from '../../src/cluster/store.ts'
import { type Span, type Story, reportedMs } from '../model/story.ts'
import type { Table } from '../model/table.ts'
import type { VirtualTime } from '../model/virtual-time.ts'
import type { Instance } from './instance.ts'
import type { Rights } from './rights.ts'

/** Two clocks drift apart by 400 ppm at most, and show whole milliseconds. */
const toleranceMs = (ageMs: number): number => 1 + ageMs / 1000

/** What one instance has shown of one row. */
interface Shown {
  epoch: number
  sold: number
}

/** Holds each answer of each instance against all that ever happened in the CRM. */
export class FleetChecker {
  answers = 0
  refused = 0
  notFound = 0
  wrongs = 0
  readonly wrong: string[] = []
  readonly #tables: Readonly<Record<'events' | 'venues', Table>>
  readonly #time: VirtualTime
  readonly #bounds: { readonly maxAgeMs: number; readonly staleIfErrorMs: number }
  readonly #last = new Map<Instance, Map<string, Shown>>()
  readonly #weather: { readonly downUntilMs: number }
  readonly #hidden: Pick<Rights, 'hides' | 'isUnknown'>
  /** Until when the CRM was down, the last time. */
  #wasDownMs = Number.NEGATIVE_INFINITY
  /** Until when there is a reason why reads of the CRM or of the store may fail. */
  #excusedUntilMs = Number.NEGATIVE_INFINITY
  readonly #writers = new Map<string, string>()
  /**
   * When a list last showed a venue, and when it last said that there is none: another that takes its place may never
   * have known.
   */
  readonly #shownMs = new Map<VenueList, Map<Guid, number>>()
  readonly #shownEpochs = new Map<VenueList, Map<Guid, number>>()
  readonly #absentMs = new Map<VenueList, Map<Guid, number>>()

  constructor(
    tables: Readonly<Record<'events' | 'venues', Table>>,
    time: VirtualTime,
    bounds: { readonly maxAgeMs: number; readonly staleIfErrorMs: number },
    weather: { readonly downUntilMs: number },
    hidden: Pick<Rights, 'hides' | 'isUnknown'>,
  ) {
    this.#weather = weather
    this.#hidden = hidden
    this.#tables = tables
    this.#time = time
    this.#bounds = bounds
  }

  fault(what: string): void {
    this.wrongs++
    if (this.wrong.length < 5) this.wrong.push(`at ${Math.round(this.#time.trueMs)} ms: ${what}`)
  }

  /** An answer about one event, of data so old by the instance's word. */
  event(instance: Instance, served: ServedLists, id: Guid, ageMs: number): void {
    const event = served.events.list.get(id)
    const shown = event === null ? null : { epoch: Number(event.Name), sold: event.TicketsAvailable }
    this.#row(instance, 'events', id, shown, ageMs)
  }

  venue(instance: Instance, served: ServedLists, id: Guid, ageMs: number): void {
    const { list } = served.venues
    const venue = list.get(id)
    timesOf(venue === null ? this.#absentMs : this.#shownMs, list).set(id, this.#time.trueMs)
    if (venue !== null) timesOf(this.#shownEpochs, list).set(id, Number(venue.Name))
    this.#row(instance, 'venues', id, venue === null ? null : { epoch: Number(venue.Name), sold: -1 }, ageMs)
  }

  /** An event and its venue: it never shows before its venue, nor after it. */
  both(instance: Instance, served: ServedLists, id: Guid, ageMs: number): void {
    const event = served.events.list.get(id)
    this.event(instance, served, id, ageMs)
    if (event === null || event.VenueId === EMPTY_GUID) return
    this.#wasDownMs = Math.max(this.#wasDownMs, this.#weather.downUntilMs)
    const { list } = served.venues
    const absentMs = timesOf(this.#absentMs, list).get(event.VenueId) ?? Number.NEGATIVE_INFINITY
    const venue = list.get(event.VenueId)
    this.venue(instance, served, event.VenueId, ageMs)
    if (venue !== null || served.events.isFailing || served.venues.isFailing) return
    if (this.#hidden.hides('events', id) || this.#hidden.hides('venues', event.VenueId)) return
    const points = this.#tables.events.stories.get(id)?.pointing(Number(event.Name)).at(-1)
    const story = this.#tables.venues.stories.get(event.VenueId)
    if (points === undefined || story === undefined) return
    const spans = shownSpans(story)
    const there = spans.at(-1)
    // The order holds while both lists can be read.
    if (there === undefined || points.endedSilently || this.#wasDownMs > points.to) return
    // It went, and the event had left it before: who had known it shows the event too long.
    const seenMs = timesOf(this.#shownMs, list).get(event.VenueId) ?? Number.NEGATIVE_INFINITY
    const seenEpoch = timesOf(this.#shownEpochs, list).get(event.VenueId) ?? 0
    // Deleted and created again before that was known, it is removed late rather than added late.
    const isSeen = seenMs >= points.from && (story.epochs[seenEpoch]?.from ?? 0) >= there.from
    const wentWrongly = there.to !== Number.POSITIVE_INFINITY && points.to <= there.to && isSeen
    // It was there since before the event pointed at it; had it gone before, that was known.
    const before = spans.at(-2)
    const isTold = story.epochs.every(({ endedSilently }) => !endedSilently)
    const isKnown = before === undefined || (isTold && absentMs >= before.to && absentMs <= there.from)
    const cameWrongly = there.to === Number.POSITIVE_INFINITY && there.from <= points.from && isKnown
    if (wentWrongly || cameWrongly)
      this.fault(`${id} points at ${event.VenueId}, which is not shown (${wentWrongly ? 'went' : 'came'})`)
  }

  /** Something happens that may keep reads of the CRM, or of the store, from ending well for a while. */
  excuse(): void {
    this.#excusedUntilMs = this.#time.trueMs + 6 * this.#bounds.maxAgeMs
  }

  /** What is answered is within the maximum age, or later than the request; what is older is so while reads fail. */
  age(ageMs: number, waitedMs = 0): void {
    const { maxAgeMs, staleIfErrorMs } = this.#bounds
    if (ageMs <= maxAgeMs || ageMs <= waitedMs + toleranceMs(waitedMs)) return
    const isExcused = this.#time.trueMs <= this.#excusedUntilMs
    if (!isExcused || ageMs > maxAgeMs + staleIfErrorMs) this.fault(`an answer ${Math.round(ageMs)} ms old`)
  }

  #row(instance: Instance, list: 'events' | 'venues', id: Guid, shown: Shown | null, ageMs: number): void {
    this.answers++
    const story = this.#tables[list].stories.get(id)
    if (shown === null) this.notFound++
    // Nobody is told what becomes of it.
    if (story !== undefined && (shown === null ? this.#hidden.isUnknown(list, story) : this.#hidden.hides(list, id))) {
      return
    }
    if (story === undefined) {
      if (shown !== null) this.fault(`${id} is shown and never was`)
      return
    }
    const rows = this.#last.get(instance) ?? new Map<string, Shown>()
    this.#last.set(instance, rows)
    const last = rows.get(id) ?? { epoch: 0, sold: 0 }
    const sinceMs = this.#time.trueMs - ageMs - toleranceMs(ageMs)
    const epoch = shown?.epoch ?? story.absentEpoch(sinceMs, last.epoch, (index) => reportedMs(story.epochs, index))
    // What the CRM did not tell, one leader may have found and another not.
    if (epoch < last.epoch && reportedMs(story.epochs, epoch) <= (story.epochs[last.epoch]?.from ?? 0)) {
      this.fault(`${list} ${id} went back from ${last.epoch} to ${epoch}`)
    }
    const sold = shown !== null && shown.sold >= 0 ? shown.sold : last.sold
    if (sold < last.sold && reportedMs(story.sales, sold) < sinceMs) this.fault(`${id} went back to ${sold} sold`)
    rows.set(id, { epoch: Math.max(epoch, last.epoch), sold: Math.max(sold, last.sold) })
    this.#span(list, id, story.epochs, epoch, sinceMs, shown === null ? '404 for' : 'shows')
    // The tickets of a row that went untold are not told of either.
    const detailsUntil = story.epochs[epoch]?.endedSilently === true ? reportedMs(story.epochs, epoch) : 0
    if (shown !== null && shown.sold >= 0 && detailsUntil < sinceMs) {
      this.#span(list, id, story.sales, shown.sold, sinceMs, 'sale')
    }
  }

  #span(list: string, id: Guid, spans: readonly Span[], index: number, sinceMs: number, what: string): void {
    if (spans[index] === undefined) return this.fault(`${id} ${what} ${index}, which never was`)
    const until = reportedMs(spans, index)
    if (until < sinceMs) this.fault(`${list} ${id} ${what} ${index} ${Math.round(sinceMs - until)} ms too long`)
  }

  /** Two never write: a claim is one instance's. */
  added({ token, seq }: StoredEntry, name: string): void {
    const writer = this.#writers.get(token) ?? name
    this.#writers.set(token, writer)
    if (writer !== name) this.fault(`${name} writes ${seq} in the claim of ${writer}`)
  }

  /** An instance that has taken all that the leader wrote holds what the leader holds, versions included. */
  agree(leader: Instance, follower: Instance): void {
    const [{ cluster: from }, { cluster: to }] = [leader, follower]
    if (to.member.role !== 'follower' || !isSame(from.member.position, to.member.position)) return
    if (!leader.isServedByStore || !follower.isServedByStore) return
    for (const name of ['events', 'venues'] as const) {
      // What was never read in full is not told of.
      if (!to.served[name].isLoaded) continue
      const [one, other] = [from.served[name].list, to.served[name].list]
      if (one.size !== other.size) this.fault(`${one.size} ${name} are read, ${other.size} are followed`)
      for (const row of one.rows()) {
        const { id } = row
        const isSameRow = JSON.stringify(one.get(id)) === JSON.stringify(other.get(id))
        if (!isSameRow || !Object.is(one.version(id), other.version(id)))
          this.fault(`${name} ${id} is followed as another`)
      }
    }
  }

  /** All of them hold just what the CRM shows. */
  compare(instance: Instance): void {
    const { events, venues } = instance.cluster.served
    for (const [name, served] of [
      ['events', events],
      ['venues', venues],
    ] as const) {
      // The shrink guard does not believe that so many are gone, and callers get 502 until an operator does.
      if (served.shrunk !== null && instance.admissions.ageNow(served) < 0) continue
      const { list } = served
      const shown = this.#tables[name].shown()
      if (list.served !== shown.length)
        this.fault(`${list.served} ${name} are held in the end, ${shown.length} are there`)
      for (const { id, state } of shown) {
        const record = list.get(id)
        if (Number(record?.Name) !== state?.epoch)
          this.fault(`${name} ${id} ended as ${record?.Name}, not ${state?.epoch}`)
      }
    }
  }
}

type VenueList = ServedLists['venues']['list']

function timesOf(all: Map<VenueList, Map<Guid, number>>, list: VenueList): Map<Guid, number> {
  const times = all.get(list) ?? new Map<Guid, number>()
  all.set(list, times)
  return times
}

/** The times in which a row was shown without a break. */
function shownSpans({ epochs }: Story): { from: number; to: number }[] {
  const spans: { from: number; to: number }[] = []
  for (const { from, to, shown } of epochs) {
    const open = spans.at(-1)
    if (!shown) continue
    if (open !== undefined && open.to === from) open.to = to
    else spans.push({ from, to })
  }
  return spans
}
