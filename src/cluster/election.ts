import type { Moment, Time } from '../time/time.ts'
import type { WritePosition } from './store.ts'

/**
 * The interval at which instances write ticks, and the leader the age of its data. A reload of the maximum age may change
 * it.
 */
export interface Heartbeat {
  readonly ms: number
}

export interface ElectionSettings {
  readonly maxAgeMs: number
  readonly refreshEveryMs: number
}

/** A leader whose store was emptied writes again within this many heartbeats. */
const NEW_HEARTBEATS = 2

/** Within this many election times somebody has claimed, if the store accepts writes. */
export const CLAIMED_TIMEOUTS = 4

/** The longest default of `cluster.heartbeat`: assumed for the leader until it is known. */
export const LONGEST_DEFAULT_MS = 500

/** How long the leader may be silent before another instance reads the CRM: at least four heartbeats. */
export function electionTimeoutMs({ maxAgeMs, refreshEveryMs }: ElectionSettings, heartbeatMs: number): number {
  return Math.max(4 * heartbeatMs, Math.min(refreshEveryMs / 2, maxAgeMs / 4))
}

/** The observations from which an instance decides whether it is its turn to claim the leadership. */
export interface ElectionView {
  /** How long nothing was written. */
  readonly silentMs: number
  /** Whether the leader has announced that it leaves. */
  readonly isVacant: boolean
  /** How long nothing may be written while an instance leads. */
  readonly timeoutMs: number
  readonly ownHeartbeatMs: number
  /** The longer of the leader's heartbeat and our own. */
  readonly heartbeatMs: number
  /** The instances that the leader named to follow it, in their order. */
  readonly candidates: readonly string[]
  readonly instance: string
  /** Whether the store is empty, and this instance has never seen anything in it. */
  readonly isNew: boolean
  /** From 0 to 1, drawn again for each silence. */
  readonly chance: number
}

/**
 * Returns true if it is this instance's turn to claim: the candidates come first, in their order and a heartbeat apart,
 * then the others at random. An instance that has seen nothing waits a few heartbeats: in that time a live leader fills
 * the store again.
 */
export function isTurn(view: ElectionView): boolean {
  const { silentMs, isVacant, timeoutMs, heartbeatMs, candidates, chance } = view
  if (view.isNew) return silentMs >= (NEW_HEARTBEATS + chance) * view.ownHeartbeatMs
  const place = candidates.indexOf(view.instance)
  const turns = place === -1 ? candidates.length : place
  const randomMs = place === -1 ? chance * timeoutMs : 0
  return silentMs >= (isVacant ? 0 : timeoutMs) + turns * heartbeatMs + randomMs
}

/** Measures the silence of the leader, for `isTurn`. */
export class ElectionTimer {
  readonly #time: Time
  readonly #settings: () => ElectionSettings
  readonly #heartbeat: Heartbeat
  /** The leader's heartbeat: the longer of this and our own counts. */
  #leadersHeartbeatMs = LONGEST_DEFAULT_MS
  #heard: Moment
  #part: number
  /** The leader has announced that it leaves. */
  #isVacant = false
  /** Where the store stood at the last look. */
  #stood: WritePosition | null = null

  constructor(time: Time, settings: () => ElectionSettings, heartbeat: Heartbeat) {
    this.#time = time
    this.#settings = settings
    this.#heartbeat = heartbeat
    this.#heard = time.now()
    this.#part = time.random()
  }

  /** Notes where the store stands. Returns true if it has moved since the last look: somebody leads. */
  stands({ token, seq }: WritePosition): boolean {
    const hasMoved = token !== this.#stood?.token || seq !== this.#stood.seq
    if (hasMoved) this.heard()
    this.#stood = { token, seq }
    return hasMoved
  }

  /** Restarts the wait: something was written, or a session began. */
  heard(): void {
    this.#heard = this.#time.now()
    this.#part = this.#time.random()
    this.#isVacant = false
  }

  /** Sets the leader's heartbeat. */
  heartbeats(heartbeatMs: number): void {
    this.#leadersHeartbeatMs = heartbeatMs
  }

  /** Notes that the leader leaves. After that, only the order of the candidates decides how long to wait. */
  vacant(): void {
    this.heard()
    this.#isVacant = true
  }

  get lengthMs(): number {
    return electionTimeoutMs(this.#settings(), this.#longerHeartbeatMs)
  }

  /** Whether nothing was written for an election time. */
  get isSilent(): boolean {
    return this.#silentMs >= this.lengthMs
  }

  get #longerHeartbeatMs(): number {
    return Math.max(this.#heartbeat.ms, this.#leadersHeartbeatMs)
  }

  /** Returns true if it is this instance's turn to claim. */
  isOver(seen: Pick<ElectionView, 'instance' | 'candidates' | 'isNew'>): boolean {
    return isTurn({
      ...seen,
      silentMs: this.#silentMs,
      isVacant: this.#isVacant,
      timeoutMs: this.lengthMs,
      ownHeartbeatMs: this.#heartbeat.ms,
      heartbeatMs: this.#longerHeartbeatMs,
      chance: this.#part,
    })
  }

  /**
   * The length of the silence by the monotonic clock: a wall clock that is set, or a machine that slept, does not mean
   * that the leader is silent.
   */
  get #silentMs(): number {
    const { monotonicMs } = this.#time.now()
    return monotonicMs - this.#heard.monotonicMs
  }
}
