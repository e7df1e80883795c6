import type { Time } from '../../replica/time.ts'

export const TOO_LATE: unique symbol = Symbol('too late')

/** The promise's value, or `TOO_LATE` where it has none after `limitMs`; what becomes of it later is ignored. */
export async function within<Value>(
  time: Time,
  limitMs: number,
  promise: Promise<Value>,
): Promise<Value | typeof TOO_LATE> {
  const { promise: late, resolve } = Promise.withResolvers<typeof TOO_LATE>()
  const cancel = time.after(limitMs, () => resolve(TOO_LATE))
  promise.catch(() => {})
  try {
    return await Promise.race([promise, late])
  } finally {
    cancel()
  }
}
