import { setImmediate } from 'node:timers/promises'

/** Work between two pauses, in ms. A request that arrives meanwhile waits this long at most. */
const SLICE_MS = 10

/** Returns a pause in which requests are answered, or null if the slice is not over yet. */
export type Rest = () => Promise<unknown> | null

/** Divides long work into slices; the first one begins now. */
export function inSlices(): Rest {
  let begunMs = performance.now()
  const rest = async (): Promise<void> => {
    await setImmediate()
    begunMs = performance.now()
  }
  return () => (performance.now() - begunMs < SLICE_MS ? null : rest())
}
