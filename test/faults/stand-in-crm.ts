import type { EventRecord } from '../../src/domain/event.ts'
import type { VenueRecord } from '../../src/domain/venue.ts'
import type { Crm, Page, ReadOutcome, ReadRequest, ListSource } from '../../src/sync/port.ts'
import { eventOf, guidOf } from '../model/records.ts'

export const STAND_IN_EVENT: string = guidOf(1)

/**
 * How a CRM behaves. `slow` answers after 5.5 s; `drips` sends page after page, each in time, and does not come to an
 * end.
 */
export type Mood = 'answers' | 'hangs' | 'slow' | 'drips' | 'cuts' | 'garbage' | 'busy'

const SLOW_MS = 5500
const DRIP_MS = 50
const BUSY_MS = 3000

/** A CRM of one event and no venues, in whatever mood it is told to be. */
export class StandInCrm implements Crm {
  mood: Mood = 'answers'
  /** The name of the event. */
  name = 'first'
  /** Reads that were begun, of both lists. */
  reads = 0
  readsAtOnce = 0
  mostReadsAtOnce = 0
  readonly events: ListSource<EventRecord>
  readonly venues: ListSource<VenueRecord>
  readonly #patienceMs: number
  #release = Promise.withResolvers<void>()

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
    this.events = this.#source(() => [eventOf(guidOf(1), { Name: this.name })])
    this.venues = this.#source(() => [])
  }

  /** Lets reads that hang go on: they bring what there is now. */
  release(): void {
    this.#release.resolve()
    this.#release = Promise.withResolvers<void>()
  }

  async close(): Promise<void> {}

  #source<Item extends { readonly Id: ReturnType<typeof guidOf> }>(rows: () => readonly Item[]): ListSource<Item> {
    const read = (request: ReadRequest): AsyncGenerator<Page<Item>, ReadOutcome, void> => this.#read(rows, request)
    return {
      reportsChanges: false,
      repeatedId: 'serves-first',
      patienceMs: this.#patienceMs,
      read,
    }
  }

  async *#read<Item extends { readonly Id: ReturnType<typeof guidOf> }>(
    rows: () => readonly Item[],
    { signal }: ReadRequest,
  ): AsyncGenerator<Page<Item>, ReadOutcome, void> {
    this.reads++
    this.mostReadsAtOnce = Math.max(this.mostReadsAtOnce, ++this.readsAtOnce)
    const page = (): Page<Item> => ({
      sourceLagMs: 0,
      changes: rows().map((record) => ({ kind: 'record', id: record.Id, record, version: Number.NaN })),
      whereIs: (index) => `row ${index}`,
    })
    try {
      // What is asked of a CRM takes a moment.
      await sleep(1)
      switch (this.mood) {
        case 'answers':
          break
        case 'hangs':
          // Not even told that it was given up.
          await this.#release.promise
          break
        case 'slow':
          await sleep(SLOW_MS)
          break
        case 'drips':
          while (!signal.aborted && this.mood === 'drips') {
            await sleep(DRIP_MS)
            yield { ...page(), changes: [] }
          }
          break
        case 'cuts':
          throw new Error('the connection was cut')
        case 'garbage':
          return { ok: false, failure: { kind: 'broken', message: 'that is HTML', retryAfterMs: null } }
        case 'busy':
          return { ok: false, failure: { kind: 'throttled', message: 'too much', retryAfterMs: BUSY_MS } }
      }
      yield page()
      return { ok: true, cursor: null, complete: true, oneMoment: true, unchanged: false, asOf: null, confirms: true }
    } finally {
      this.readsAtOnce--
    }
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
