// How the service waits: never without a limit, and in turn where two must not work at once.
import type { Time } from './time.ts'

export const TIMED_OUT: unique symbol = Symbol('timed out')

/** The promise's value; `TIMED_OUT` where it has none after `limitMs`, or where the signal comes first. What becomes of it later is ignored. */
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

/** Resolves after `ms`, or as soon as the signal says so. */
export async function sleep(ms: number, time: Time, signal: AbortSignal): Promise<void> {
  await withTimeout(time, ms, new Promise(() => {}), signal)
}

/** Lets requests pass. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** A lock that is handed over in the order it was asked for. */
export class Mutex {
  #last: Promise<void> = Promise.resolve()

  /** Resolves when all who asked before have let go; call what it gives to let go. */
  async lock(): Promise<() => void> {
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    await before
    return resolve
  }

  /** Runs `work` in its turn. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const unlock = await this.lock()
    try {
      return await work()
    } finally {
      unlock()
    }
  }
}
