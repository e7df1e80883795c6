import { totalmem } from 'node:os'

const LEAST_READY_BYTES = 128e6
const MOST_READY_BYTES = 2e9
const READY_SHARE = 1 / 8

/** Returns the default of `limits.readyBodies`. */
export function usualReadyBytes(usableBytes: number = usableMemoryBytes()): number {
  return Math.min(MOST_READY_BYTES, Math.max(LEAST_READY_BYTES, Math.floor(usableBytes * READY_SHARE)))
}

/** Returns the limit of this process's control group, and at most the machine's memory. */
function usableMemoryBytes(): number {
  // The runtime gives 0, or more than any machine has, if there is no limit.
  return Math.min(process.constrainedMemory() || Infinity, totalmem())
}
