import type { Wire } from './memory-store.ts'

function later(delayMs: number, then: () => void): void {
  setTimeout(then, delayMs)
}

/** A store in memory that answers at once, by the clock of the system. */
export const systemWire: Wire = {
  delayMs: () => 0,
  losesAnswer: () => false,
  inTheWorld: later,
  here: later,
  isCut: false,
  name: 'a test',
}
