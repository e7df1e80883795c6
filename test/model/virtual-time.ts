import type { Moment, Time } from '../../src/time/time.ts'
import { Agenda } from './agenda.ts'
import { Chance } from './chance.ts'

/** Each look at the clock takes this long, so no two moments are equal. A power of two keeps the sums exact. */
const TICK_MS = 1 / 4096

/** The clock of one machine of the model, and of the world. */
export interface ModelTime extends Time {
  readonly trueMs: number
  peek(): Moment
  inTheWorld(delayMs: number, then: () => void): void
}

/**
 * Time that passes only from entry to entry of an agenda. `trueMs` is the real time. The monotonic clock stops while
 * the machine is suspended, and the wall clock may be set.
 */
export class VirtualTime implements ModelTime {
  trueMs = 0
  readonly chance: Chance
  readonly #agenda = new Agenda()
  #suspendedMs = 0
  #resumesAtMs = 0
  #wallOffsetMs = 1_700_000_000_000

  constructor(seed: number) {
    this.chance = new Chance(seed)
  }

  now(): Moment {
    this.trueMs += TICK_MS
    return this.peek()
  }

  /** Returns the present moment without the time of a look at the clock. */
  peek(): Moment {
    const nowMs = Math.max(this.trueMs, this.#resumesAtMs)
    return { monotonicMs: nowMs - this.#suspendedMs, wallMs: nowMs + this.#wallOffsetMs }
  }

  after(delayMs: number, then: () => void): () => void {
    const entry = this.#agenda.add(Math.max(this.trueMs, this.#resumesAtMs) + Math.max(0, delayMs), 'machine', then)
    return () => {
      entry.run = null
    }
  }

  random(): number {
    return this.chance.next()
  }

  /** Schedules an event outside the machine. */
  inTheWorld(delayMs: number, then: () => void): void {
    this.#agenda.add(this.trueMs + delayMs, 'world', then)
  }

  setWallClock(byMs: number): void {
    this.#wallOffsetMs += byMs
  }

  /** Suspends the machine: its timers and its monotonic clock stop, the wall clock and the world do not. */
  suspend(ms: number): void {
    this.#suspendedMs += ms
    this.#resumesAtMs = Math.max(this.trueMs, this.#resumesAtMs) + ms
    this.#agenda.delay(ms)
  }

  /** Runs the next event and its immediate consequences. Returns false if there is none. */
  async step(): Promise<boolean> {
    const entry = this.#agenda.next()
    if (entry === null) return false
    this.trueMs = Math.max(this.trueMs, entry.at)
    entry.run?.()
    if (entry.whose === 'machine') await settled()
    return true
  }

  /** Runs all events that are due within `ms`. */
  async pass(ms: number): Promise<void> {
    const done = { reached: false }
    this.#agenda.add(this.trueMs + ms, 'machine', () => (done.reached = true))
    await settled()
    while (!done.reached) await this.step()
  }
}

/** Resolves when all chains of promises have settled: the runtime empties its microtask queue before an immediate. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}
