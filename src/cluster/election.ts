import type { Moment, Time } from '../time/time.ts'
import { type LogPosition, compareIds, isSame } from './entries.ts'

/**
 * The interval at which instances write nonces, and the leader the age of its data. A reload of the maximum age may
 * change it.
 */
export interface Heartbeat {
  readonly ms: number
}

export interface ElectionSettings {
  readonly maxAgeMs: number
  readonly refreshEveryMs: number
}

/** Within this many heartbeats, a leader whose store was emptied has written again. */
const NEW_HEARTBEATS = 2

/** The longest default of `cluster.heartbeat`: assumed for the leader until it is known. */
export const LONGEST_DEFAULT_MS = 500

/** How long the log may be silent before another instance reads the CRM: at least four heartbeats. */
export function electionTimeoutMs({ maxAgeMs, refreshEveryMs }: ElectionSettings, heartbeatMs: number): number {
  return Math.max(4 * heartbeatMs, Math.min(refreshEveryMs / 2, maxAgeMs / 4))
}

/**
 * Decides whether and when this instance claims the leadership if no leader is heard: candidates first, in their order,
 * then the others at random.
 */
export class ElectionTimer {
  readonly #time: Time
  readonly #settings: ElectionSettings
  readonly #heartbeat: Heartbeat
  /** The leader's heartbeat: the longer of this and our own counts. */
  #leadersHeartbeatMs = LONGEST_DEFAULT_MS
  #heard: Moment
  #part: number
  /** The leader has announced that it leaves. */
  #isVacant = false

  constructor(time: Time, settings: ElectionSettings, heartbeat: Heartbeat) {
    this.#time = time
    this.#settings = settings
    this.#heartbeat = heartbeat
    this.#heard = time.now()
    this.#part = time.random()
  }

  /** Restarts the wait: the log moved, or a session began. */
  heard(): void {
    this.#heard = this.#time.now()
    this.#part = this.#time.random()
    this.#isVacant = false
  }

  /** Sets the leader's heartbeat; `null` if its release does not report it. */
  heartbeats(heartbeatMs: number | null): void {
    this.#leadersHeartbeatMs = heartbeatMs ?? LONGEST_DEFAULT_MS
  }

  /** Notes that the leader leaves: only the order of the candidates remains to be waited for. */
  vacant(): void {
    this.heard()
    this.#isVacant = true
  }

  get lengthMs(): number {
    return electionTimeoutMs(this.#settings, this.#longerHeartbeatMs)
  }

  get #longerHeartbeatMs(): number {
    return Math.max(this.#heartbeat.ms, this.#leadersHeartbeatMs)
  }

  /**
   * Whether it is this instance's turn to claim. An instance that was never confirmed comes last. `isNew`: no log and
   * no snapshot was ever seen here. A live leader then writes one with its next heartbeat, and claims of others have
   * higher epochs.
   */
  isOver(instance: string, candidates: readonly string[], isConfirmed: boolean, isNew = false): boolean {
    if (isNew) return this.elapsedMs >= (NEW_HEARTBEATS + this.#part) * this.#heartbeat.ms
    const place = candidates.indexOf(instance)
    const turns = place === -1 ? candidates.length + (isConfirmed ? 0 : 4) : place
    const randomMs = place === -1 ? this.#part * this.lengthMs : 0
    const waitsMs = (this.#isVacant ? 0 : this.lengthMs) + turns * this.#longerHeartbeatMs + randomMs
    return this.elapsedMs >= waitsMs
  }

  /**
   * By the monotonic clock, because a wall clock that is set or a machine that slept does not mean that the leader is
   * silent.
   */
  get elapsedMs(): number {
    const { monotonicMs } = this.#time.now()
    return monotonicMs - this.#heard.monotonicMs
  }
}

/** What an instance may claim. */
export type Claimable =
  | { readonly newLog: boolean; readonly after: LogPosition | null }
  /** Nothing: there are entries to read first, or there is no basis for a claim. */
  | null

/**
 * Decides what an instance at position `held` may claim in a log that ends with `top`: continue the log, or start a new
 * one with its own rows if the log went back or is gone. `isAlone`: the instance has rows of its own that the log
 * lacks.
 */
export function claimableAt(top: LogPosition | null, held: LogPosition | null, isAlone: boolean): Claimable {
  if (top === null || isAlone) return { newLog: true, after: held }
  if (held === null) return { newLog: true, after: null }
  if (isSame(top, held)) return { newLog: false, after: null }
  return compareIds(top, held) <= 0 ? { newLog: true, after: held } : null
}
