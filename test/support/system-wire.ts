import type { Wire } from './memory-store.ts'

function later(delayMs: number, then: () => void): void {
  setTimeout(then, delayMs)
}

/** A wire without delay, on the system's clock. */
export const systemWire: Wire = {
  delayMs: () => 0,
  losesAnswer: () => false,
  inTheWorld: later,
  here: later,
  isCut: false,
  name: 'a test',
}
