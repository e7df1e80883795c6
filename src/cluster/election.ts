import type { Moment, Time } from '../time/time.ts'
import { type LogPosition, compareIds, isSame } from './entries.ts'

/** How often an instance says that it is there, and the leader how old its data is. A reload of the maximum age may change it. */
export interface Heartbeat {
  readonly ms: number
}

export interface SilenceSettings {
  readonly maxAgeMs: number
  readonly refreshEveryMs: number
}

/** A leader whose store was emptied under it has written again by then. */
const NEW_BEATS = 2

/** What `cluster.heartbeat` is by default, at most: the leader's may be as long before any was heard. */
export const LONGEST_DEFAULT_MS = 500

/** How long nothing new may come before somebody else reads the CRM; at least four heartbeats. */
export function silenceMs({ maxAgeMs, refreshEveryMs }: SilenceSettings, heartbeatMs: number): number {
  return Math.max(4 * heartbeatMs, Math.min(refreshEveryMs / 2, maxAgeMs / 4))
}

/** Whether, and how soon, this instance is to read the CRM where nobody does: the candidates in their order, then the others at random. */
export class Silence {
  readonly #time: Time
  readonly #settings: SilenceSettings
  readonly #heartbeat: Heartbeat
  /** That of the leader: its silence is no longer than the longer of both. */
  #leadersHeartbeatMs = LONGEST_DEFAULT_MS
  #heard: Moment
  #part: number
  /** The leader has said that it goes. */
  #isVacant = false

  constructor(time: Time, settings: SilenceSettings, heartbeat: Heartbeat) {
    this.#time = time
    this.#settings = settings
    this.#heartbeat = heartbeat
    this.#heard = time.now()
    this.#part = time.random()
  }

  /** Something new came, or a session began: what came before that is not known. */
  heard(): void {
    this.#heard = this.#time.now()
    this.#part = this.#time.random()
    this.#isVacant = false
  }

  /** How often the leader writes, null where it does not say. */
  heartbeats(heartbeatMs: number | null): void {
    this.#leadersHeartbeatMs = heartbeatMs ?? LONGEST_DEFAULT_MS
  }

  /** The leader goes: nothing is to be waited for but who is first. */
  vacant(): void {
    this.heard()
    this.#isVacant = true
  }

  get lengthMs(): number {
    return silenceMs(this.#settings, this.#longerHeartbeatMs)
  }

  get #longerHeartbeatMs(): number {
    return Math.max(this.#heartbeat.ms, this.#leadersHeartbeatMs)
  }

  /**
   * Whether it is this instance's turn. One that was never confirmed comes after all that were. `isNew`: nothing was ever seen
   * here, neither a log nor a snapshot. A leader that lives writes one with its next heartbeat, and what others hold is of a higher epoch.
   */
  isOver(instance: string, candidates: readonly string[], isConfirmed: boolean, isNew = false): boolean {
    if (isNew) return this.elapsedMs >= (NEW_BEATS + this.#part) * this.#heartbeat.ms
    const place = candidates.indexOf(instance)
    const turns = place === -1 ? candidates.length + (isConfirmed ? 0 : 4) : place
    const randomMs = place === -1 ? this.#part * this.lengthMs : 0
    const waitsMs = (this.#isVacant ? 0 : this.lengthMs) + turns * this.#longerHeartbeatMs + randomMs
    return this.elapsedMs >= waitsMs
  }

  /** By the monotonic clock: a wall clock that is set, or a machine that slept, is no silence of the leader. */
  get elapsedMs(): number {
    const { monotonicMs } = this.#time.now()
    return monotonicMs - this.#heard.monotonicMs
  }
}

/** What may be claimed. */
export type Claimable =
  | { readonly anew: boolean; readonly after: LogPosition | null }
  /** Something to read first, or nothing to claim with. */
  | null

/**
 * What whoever stands at `held` may claim of a log that ends with `top`: to go on from it, or to begin anew where it went back or
 * is gone, and with it what only they hold. `isAlone`: they hold more than the log did at that point.
 */
export function claimableAt(top: LogPosition | null, held: LogPosition | null, isAlone: boolean): Claimable {
  if (top === null || isAlone) return { anew: true, after: held }
  if (held === null) return { anew: true, after: null }
  if (isSame(top, held)) return { anew: false, after: null }
  return compareIds(top, held) <= 0 ? { anew: true, after: held } : null
}
