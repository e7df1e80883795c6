// Waits, which always have a limit, and a mutex.
import type { Time } from './time.ts'

export const TIMED_OUT: unique symbol = Symbol('timed out')

/**
 * Resolves with the promise's value, or with `TIMED_OUT` after `limitMs` or when the signal aborts. A later result or
 * rejection is ignored.
 */
export async function withTimeout<Value>(
  time: Time,
  limitMs: number,
  promise: Promise<Value>,
  signal?: AbortSignal,
): Promise<Value | typeof TIMED_OUT> {
  const { promise: late, resolve } = Promise.withResolvers<typeof TIMED_OUT>()
  const giveUp = (): void => resolve(TIMED_OUT)
  const cancel = time.after(limitMs, giveUp)
  signal?.addEventListener('abort', giveUp, { once: true })
  if (signal?.aborted === true) giveUp()
  promise.catch(() => {})
  try {
    return await Promise.race([promise, late])
  } finally {
    cancel()
    signal?.removeEventListener('abort', giveUp)
  }
}

/** Resolves after `ms`, or when the signal aborts. */
export async function sleep(ms: number, time: Time, signal: AbortSignal): Promise<void> {
  await withTimeout(time, ms, new Promise(() => {}), signal)
}

/** Lets pending requests run before the caller continues. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** A lock that is granted in the order of requests. */
export class Mutex {
  #last: Promise<void> = Promise.resolve()

  /** Resolves when the lock is granted. The caller unlocks by calling the returned function. */
  async lock(): Promise<() => void> {
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    await before
    return resolve
  }

  /** Runs `work` while holding the lock. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const unlock = await this.lock()
    try {
      return await work()
    } finally {
      unlock()
    }
  }
}

const SLICE_MS = 10

/** Returns a pause in which requests are answered, or null if the slice is not over yet. */
export type Rest = () => Promise<unknown> | null

/**
 * Divides long work into slices; the first one begins now.
 * @param sliceMs the work between two pauses: a request that arrives meanwhile waits this long at most
 */
export function inSlices(sliceMs: number = SLICE_MS): Rest {
  let begunMs = performance.now()
  const rest = async (): Promise<void> => {
    await yieldToEventLoop()
    begunMs = performance.now()
  }
  return () => (performance.now() - begunMs < sliceMs ? null : rest())
}
