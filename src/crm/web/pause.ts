import type { Time } from '../../replica/time.ts'

/** Resolves after `ms`, or at once where the signal says so. */
export function pause(ms: number, time: Time, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = time.after(ms, resolve)
  const stop = (): void => {
    cancel()
    resolve()
  }
  signal.addEventListener('abort', stop, { once: true })
  return promise.finally(() => signal.removeEventListener('abort', stop))
}
