import type { ListName } from '../domain/field.ts'
import type { Observe } from '../observe/observation.ts'
import { mayAnswer } from '../operations/status.ts'
import type { ToldLists } from '../sync/held-lists.ts'
import type { RefreshSettings } from '../sync/list-replica.ts'
import { type Moment, type Time, elapsedMs } from '../time/time.ts'

const LISTS = ['events', 'venues'] as const

/** How often the age of the lists is looked at; a read that ends is looked at at once. */
const LOOK_EVERY_MS = 1000

/** What is known of a running service when it is looked at. */
export interface Watched {
  readonly lists: ToldLists
  readonly settings: RefreshSettings
  /** How long a request waits for a read that hangs. */
  readonly waitForMs: number
}

/** Reports once a list when callers begin to get 502, and once when that is over. */
export class OutageWatch {
  readonly #watched: () => Watched | null
  readonly #observe: Observe
  readonly #time: Time
  readonly #since: Partial<Record<ListName, Moment>> = {}

  /** @param watched null: the service stops, and nothing is reported any more */
  constructor(watched: () => Watched | null, observe: Observe, time: Time) {
    this.#watched = watched
    this.#observe = observe
    this.#time = time
  }

  /** Looks from now on; returns what ends it. */
  start(): () => void {
    let isOver = false
    const lookLater = (): void => {
      this.#time.after(LOOK_EVERY_MS, () => {
        if (isOver) return
        this.look()
        lookLater()
      })
    }
    lookLater()
    return () => (isOver = true)
  }

  look(): void {
    const watched = this.#watched()
    if (watched === null) return
    const now = this.#time.now()
    for (const list of LISTS) {
      const since = this.#since[list]
      if (since === undefined && isRefused(list, watched, now)) {
        this.#since[list] = now
        const { freshness, lastFailure } = watched.lists[list]
        const why = lastFailure?.message ?? 'the read that is under way does not end'
        this.#observe({ kind: 'answers-stopped', list, why, ageMs: freshness.confirmedAgeMs(now) })
      } else if (since !== undefined && mayAnswer(watched.lists[list], watched.settings, now)) {
        delete this.#since[list]
        this.#observe({ kind: 'answers-resumed', list, lastedMs: elapsedMs(since, now) })
      }
    }
  }
}

/** Whether a request of now gets 502: while a read is under way it may still be answered, unless it waits in vain. */
function isRefused(name: ListName, { lists, settings, waitForMs }: Watched, now: Moment): boolean {
  const list = lists[name]
  if (mayAnswer(list, settings, now)) return false
  if (list.isFailing) return true
  const ageMs = list.ageMs(now)
  return ageMs !== null && settings.refreshEveryMs <= settings.maxAgeMs && ageMs > settings.maxAgeMs + waitForMs
}
