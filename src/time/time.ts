// The clock that is passed in, waits with a limit, the mutex, and yielding to the event loop. Every room may use these.

/**
 * A point in time on both clocks. The monotonic clock orders events; the wall clock reveals that the machine was
 * asleep.
 */
export interface Moment {
  readonly monotonicMs: number
  readonly wallMs: number
}

/** Time and randomness, passed in so tests can control both. */
export interface Time {
  now(): Moment
  /** Calls `then` once after `delayMs`. The returned function cancels it. */
  after(delayMs: number, then: () => void): () => void
  /** A number from 0 (included) to 1 (excluded). */
  random(): number
}

/** Returns the elapsed milliseconds by the clock that shows more, at least 0. A machine that slept then reads again. */
export function elapsedMs(from: Moment, to: Moment): number {
  return Math.max(to.monotonicMs - from.monotonicMs, to.wallMs - from.wallMs, 0)
}

export function earlierBy(moment: Moment, ms: number): Moment {
  return ms === 0 ? moment : { monotonicMs: moment.monotonicMs - ms, wallMs: moment.wallMs - ms }
}

/** Converts a wall-clock time into a moment; a time in the future becomes `now`. */
export function momentAt(wallMs: number, now: Moment): Moment {
  return earlierBy(now, Math.max(0, now.wallMs - wallMs))
}

export function laterOf(left: Moment | null, right: Moment): Moment {
  return left !== null && left.monotonicMs >= right.monotonicMs ? left : right
}

export function earlierOf(left: Moment, right: Moment): Moment {
  return left.monotonicMs <= right.monotonicMs ? left : right
}

/** Returns the wall clock in whole seconds since 1970. */
export function secondOf({ wallMs }: Pick<Moment, 'wallMs'>): number {
  return Math.max(0, Math.floor(wallMs / 1000))
}

/** @example timeText(Date.now()) // 2026-11-28 19:31:05 UTC */
export function timeText(wallMs: number): string {
  return `${new Date(Math.ceil(wallMs / 1000) * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

const LONGEST_DELAY_MS = 24 * 3_600_000

/**
 * Returns the delays in ms of change times, without the implausible ones: times in the future (clocks differ) and
 * delays over a day (rows that an older view reveals only now).
 */
export function delaysOf(times: readonly number[], wallMs: number): readonly number[] {
  return times.map((at) => wallMs - at).filter((ms) => ms >= 0 && ms <= LONGEST_DELAY_MS)
}

export const systemTime: Time = {
  now: () => ({ monotonicMs: performance.now(), wallMs: Date.now() }),
  after(delayMs, then) {
    // Timers are int32: a delay beyond 2³¹-1 ms would fire at once.
    const timer = setTimeout(then, Math.min(delayMs, 0x7fffffff))
    return () => clearTimeout(timer)
  },
  random: Math.random,
}
