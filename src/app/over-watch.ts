import type { EventRecord } from '../domain/event.ts'
import type { Observation, Observe } from '../observe/observation.ts'
import type { RecordList } from '../records/record-list.ts'
import type { ServedLists } from '../sync/served-list.ts'
import type { Time } from '../time/time.ts'

/** The interval between two looks. The end of a read is looked at immediately. */
const LOOK_EVERY_MS = 1000
/** After a search, none begins for this many times its duration: in a large list a search may take a second. */
const REST = 20
/** The longest slice of a search, and the number of rows between two looks at the clock. */
const TURN_MS = 5
const ROWS_A_LOOK = 32

/** What the last search found in a list. */
interface Found {
  readonly list: RecordList<EventRecord>
  /** The changes of the list before the search. */
  readonly changes: number
  /** The end of the last event if all were over; else of one that was not. */
  readonly endMs: number
  readonly wereOver: boolean
}

/**
 * Notices that all events are over: the list is last year's, is not exported any more, or the clock is wrong. It looks
 * for one event that is not over, and looks again only if the list has changed, or if that event has ended.
 */
export class OverWatch {
  /** When the last event ended, wall ms, while all events are over; else `null`. */
  overSinceMs: number | null = null
  readonly #lists: () => ServedLists
  readonly #observe: Observe
  readonly #time: Time
  readonly #pause: () => Promise<void>
  #cancel: () => void = () => {}
  #found: Found | null = null
  #isSearching = false
  #restsMs = 0
  #searchedAt = -Infinity

  constructor(lists: () => ServedLists, observe: Observe, time: Time, pause: () => Promise<void>) {
    this.#lists = lists
    this.#observe = observe
    this.#time = time
    this.#pause = pause
  }

  start(): null {
    this.#cancel = this.#time.after(LOOK_EVERY_MS, () => {
      this.#look()
      this.start()
    })
    return null
  }

  stop(): void {
    this.#cancel()
  }

  note(seen: Observation): void {
    if (seen.kind === 'read-ended') this.#look()
  }

  #look(): void {
    const { list, isLoaded } = this.#lists().events
    const { wallMs, monotonicMs } = this.#time.now()
    const found = this.#found
    if (!isLoaded || list.served === 0) this.#tell(null, list)
    else if (found?.list === list && found.changes === list.changes && (found.wereOver || found.endMs >= wallMs))
      this.#tell(found.endMs < wallMs ? found.endMs : null, list)
    else if (!this.#isSearching && monotonicMs - this.#searchedAt >= this.#restsMs) void this.#search(list)
  }

  async #search(list: RecordList<EventRecord>): Promise<void> {
    const { changes } = list
    const begun = this.#time.now()
    this.#isSearching = true
    let endMs = -Infinity
    let looked = 0
    let turnEndsAt = performance.now() + TURN_MS
    for (const row of list.rows()) {
      looked++
      if (looked % ROWS_A_LOOK === 0 && performance.now() > turnEndsAt) {
        await this.#pause()
        turnEndsAt = performance.now() + TURN_MS
      }
      endMs = Math.max(endMs, row.key?.end.ms ?? -Infinity)
      if (endMs >= begun.wallMs) break
    }
    const wereOver = endMs < begun.wallMs
    const now = this.#time.now()
    this.#found = { list, changes, endMs, wereOver }
    this.#searchedAt = now.monotonicMs
    this.#restsMs = REST * (now.monotonicMs - begun.monotonicMs)
    this.#isSearching = false
    this.#tell(wereOver && list.served > 0 ? endMs : null, list)
  }

  #tell(overSinceMs: number | null, { served }: RecordList<EventRecord>): void {
    const isNews = overSinceMs !== null && this.overSinceMs === null
    this.overSinceMs = overSinceMs
    if (isNews) this.#observe({ kind: 'all-over', count: served, since: new Date(overSinceMs).toISOString() })
  }
}
