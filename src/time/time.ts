// The clock that is passed in, waiting with a limit, the mutex, yielding to the event loop. Every room may use it.

/** A point in time by both clocks: the monotonic one orders, the wall one notices a machine that slept. */
export interface Moment {
  readonly monotonicMs: number
  readonly wallMs: number
}

/** Time and chance, passed in: tests own both. */
export interface Time {
  now(): Moment
  /** Calls `then` once after `delayMs`, unless the returned function was called before. */
  after(delayMs: number, then: () => void): () => void
  /** A number from 0 (included) to 1 (excluded). */
  random(): number
}

/** Elapsed milliseconds, by whichever clock says more: a paused machine errs towards reading again. Never below 0. */
export function elapsedMs(from: Moment, to: Moment): number {
  return Math.max(to.monotonicMs - from.monotonicMs, to.wallMs - from.wallMs, 0)
}

export function earlierBy(moment: Moment, ms: number): Moment {
  return ms === 0 ? moment : { monotonicMs: moment.monotonicMs - ms, wallMs: moment.wallMs - ms }
}

/** The moment that a wall clock showed, as of now; one that lies ahead is now. */
export function momentAt(wallMs: number, now: Moment): Moment {
  return earlierBy(now, Math.max(0, now.wallMs - wallMs))
}

export function laterOf(left: Moment | null, right: Moment): Moment {
  return left !== null && left.monotonicMs >= right.monotonicMs ? left : right
}

const LONGEST_DELAY_MS = 24 * 3_600_000

/** Clocks that differ, and rows that show only now, such as those of another view, make times that tell of no delay. */
export function delaysOf(times: readonly number[], wallMs: number): readonly number[] {
  return times.map((at) => wallMs - at).filter((ms) => ms >= 0 && ms <= LONGEST_DELAY_MS)
}

export const systemTime: Time = {
  now: () => ({ monotonicMs: performance.now(), wallMs: Date.now() }),
  after(delayMs, then) {
    // A delay past 2³¹-1 ms would fire at once (the timers' int32).
    const timer = setTimeout(then, Math.min(delayMs, 0x7fffffff))
    return () => clearTimeout(timer)
  },
  random: Math.random,
}
