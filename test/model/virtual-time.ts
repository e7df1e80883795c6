import type { Moment, Time } from '../../src/time/time.ts'
import { Agenda } from './agenda.ts'
import { Chance } from './chance.ts'

/** One look at the clock takes this long, so that no two moments are equal. A power of two keeps the sums exact. */
const TICK_MS = 1 / 4096

/** The clock of one machine of the model, and the world's. */
export interface ModelTime extends Time {
  readonly trueMs: number
  peek(): Moment
  inTheWorld(delayMs: number, then: () => void): void
}

/**
 * Time that passes only from entry to entry of an agenda. `trueMs` is what really passed; the monotonic clock stands while
 * the machine is suspended, and somebody may set the wall clock.
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

  /** The moment, without the time a look at the clock takes. */
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

  /** Something that happens outside, whatever this machine does. */
  inTheWorld(delayMs: number, then: () => void): void {
    this.#agenda.add(this.trueMs + delayMs, 'world', then)
  }

  setWallClock(byMs: number): void {
    this.#wallOffsetMs += byMs
  }

  /** The machine sleeps: its timers and its monotonic clock stand still, the wall clock and the world do not. */
  suspend(ms: number): void {
    this.#suspendedMs += ms
    this.#resumesAtMs = Math.max(this.trueMs, this.#resumesAtMs) + ms
    this.#agenda.delay(ms)
  }

  /** Lets the next thing happen, and all that follows from it at once; false where nothing is left to happen. */
  async step(): Promise<boolean> {
    const entry = this.#agenda.next()
    if (entry === null) return false
    this.trueMs = Math.max(this.trueMs, entry.at)
    entry.run?.()
    if (entry.whose === 'machine') await settled()
    return true
  }

  /** Lets everything happen that is due within `ms`. */
  async pass(ms: number): Promise<void> {
    const done = { reached: false }
    this.#agenda.add(this.trueMs + ms, 'machine', () => (done.reached = true))
    await settled()
    while (!done.reached) await this.step()
  }
}

/** Resolves when every chain of promises has come to rest: the runtime empties its queue of them before an immediate. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}
