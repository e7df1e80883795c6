import type { ListName } from '../domain/field.ts'
import type { Observation, Observe } from '../observe/observation.ts'
import { type ClusterStatus, mayAnswer } from '../operations/status.ts'
import type { RefreshSettings, ServedLists } from '../sync/served-list.ts'
import { type Moment, type Time, elapsedMs } from '../time/time.ts'

const LISTS = ['events', 'venues'] as const

/** The interval between two looks at the lists' ages. The end of a read is looked at immediately. */
const LOOK_EVERY_MS = 1000

/** The state of a running service at one look. */
export interface Watched {
  readonly lists: ServedLists
  readonly settings: RefreshSettings
  /** How long a request waits for a read, ms. */
  readonly waitForMs: number
  /** Returns this instance as a member of a cluster; `null` without one. */
  readonly cluster: () => Pick<ClusterStatus, 'role' | 'connected' | 'lastError'> | null
}

/** Reports, for each list, when callers begin to get 502 and when that ends. */
export class OutageWatch {
  readonly #watched: () => Watched | null
  readonly #observe: Observe
  readonly #time: Time
  #cancel: () => void = () => {}
  #startedAt: Moment | null = null
  /** The lists of which a read has ended in this process. */
  readonly #tried = new Set<string>()
  readonly #since: Partial<Record<ListName, Moment>> = {}

  /** @param watched returns the state; `null` once the service is stopping, after which nothing is reported */
  constructor(watched: () => Watched | null, observe: Observe, time: Time) {
    this.#watched = watched
    this.#observe = observe
    this.#time = time
  }

  start(): null {
    this.#startedAt ??= this.#time.now()
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
    if (seen.kind !== 'read-ended') return
    // A file that may be half-written is read again, and callers wait for that.
    if (seen.read.outcome !== 'waiting') this.#tried.add(seen.read.list)
    this.#look()
  }

  #look(): void {
    const watched = this.#watched()
    if (watched === null) return
    const now = this.#time.now()
    for (const list of LISTS) {
      const since = this.#since[list]
      if (since === undefined && this.#isRefused(list, watched, now)) {
        this.#since[list] = now
        const ageMs = watched.lists[list].freshness.confirmedAgeMs(now)
        const why = whyRefused(list, watched)
        this.#observe({ kind: 'answers-stopped', list, why, ageMs: ageMs === null ? null : Math.round(ageMs) })
      } else if (since !== undefined && mayAnswer(watched.lists[list], watched.settings, now)) {
        delete this.#since[list]
        this.#observe({ kind: 'answers-resumed', list, lastedMs: Math.round(elapsedMs(since, now)) })
      }
    }
  }

  /** Returns true if a request gets 502 now. During a read it may still be answered, unless the read takes too long. */
  #isRefused(name: ListName, { lists, settings, waitForMs }: Watched, now: Moment): boolean {
    const list = lists[name]
    if (mayAnswer(list, settings, now)) return false
    const ageMs = list.ageMs(now)
    // The failure of a previous process comes with its snapshot. Callers wait for the first read of this one.
    const isFirstRead = ageMs === null && !this.#tried.has(name)
    if (list.isFailing && !(isFirstRead && this.#startedAt !== null && elapsedMs(this.#startedAt, now) <= waitForMs)) {
      return true
    }
    return ageMs !== null && settings.refreshEveryMs <= settings.maxAgeMs && ageMs > settings.maxAgeMs + waitForMs
  }
}

function whyRefused(list: ListName, { lists, cluster }: Watched): string {
  const failure = lists[list].lastFailure?.message ?? null
  const member = cluster()
  const trouble = member?.lastError ?? null
  // Without the store, an instance that does not read for itself knows only the failure that its leader reported before.
  const isCutOff = member !== null && !member.connected && member.role !== 'standalone'
  return (isCutOff ? (trouble ?? failure) : (failure ?? trouble)) ?? 'the current read has not finished'
}
