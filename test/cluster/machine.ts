import type { Moment } from '../../src/time/time.ts'
import type { Chance } from '../model/chance.ts'
import type { ModelTime, VirtualTime } from '../model/virtual-time.ts'

/**
 * A machine in the world: its clocks begin anywhere and go a little fast or slow, somebody sets the wall clock, it
 * sleeps, and its process is stopped or killed. What it asked of others happens all the same.
 */
export class Machine implements ModelTime {
  readonly #world: VirtualTime
  readonly #chance: Chance
  readonly #rate: number
  readonly #offsetMs: number
  #wallOffsetMs: number
  #sleptMs = 0
  isDead = false
  /** Until when it slept, and when its wall clock was last set back: what one clock does not show the other has to. */
  sleptUntilMs: number = Number.NEGATIVE_INFINITY
  setBackAtMs: number = Number.NEGATIVE_INFINITY
  #runsAgainMs = 0
  /** What came while it did not run. */
  #held: (() => void)[] = []

  constructor(world: VirtualTime, chance: Chance) {
    this.#world = world
    this.#chance = chance
    this.#rate = 1 + chance.between(-200e-6, 200e-6)
    this.#offsetMs = chance.between(0, 1e6)
    this.#wallOffsetMs = 1_700_000_000_000 + chance.between(-1e6, 1e6)
  }

  get trueMs(): number {
    return this.#world.trueMs
  }

  get isRunning(): boolean {
    return !this.isDead && this.trueMs >= this.#runsAgainMs
  }

  now(): Moment {
    this.#world.now()
    return this.peek()
  }

  peek(): Moment {
    const passedMs = this.#world.trueMs * this.#rate
    return { monotonicMs: passedMs - this.#sleptMs + this.#offsetMs, wallMs: passedMs + this.#wallOffsetMs }
  }

  after(delayMs: number, then: () => void): () => void {
    const call = { run: then }
    this.#world.after(delayMs / this.#rate, () => this.#run(() => call.run()))
    return () => {
      call.run = () => {}
    }
  }

  #run(then: () => void): void {
    if (this.isDead) return
    if (this.trueMs < this.#runsAgainMs) this.#held.push(then)
    else then()
  }

  random(): number {
    return this.#chance.next()
  }

  inTheWorld(delayMs: number, then: () => void): void {
    this.#world.inTheWorld(delayMs, then)
  }

  /** SIGSTOP: its clocks go on. */
  stop(ms: number): void {
    this.#runsAgainMs = Math.max(this.#runsAgainMs, this.trueMs + ms)
    this.#world.after(this.#runsAgainMs - this.trueMs, () => this.#release())
  }

  wake(): void {
    this.#runsAgainMs = this.trueMs
    this.#release()
  }

  #release(): void {
    if (this.trueMs < this.#runsAgainMs) return
    for (const then of this.#held.splice(0)) this.#world.after(0, () => this.#run(then))
  }

  /** The machine sleeps, and its monotonic clock with it; one that sleeps already goes on for so long. */
  sleep(ms: number): void {
    const fromMs = Math.max(this.trueMs, this.sleptUntilMs)
    this.sleptUntilMs = Math.max(fromMs, this.trueMs + ms)
    this.#sleptMs += (this.sleptUntilMs - fromMs) * this.#rate
    this.stop(ms)
  }

  setWallClock(byMs: number): void {
    this.#wallOffsetMs += byMs
    if (byMs < 0) this.setBackAtMs = this.trueMs
  }

  kill(): void {
    this.isDead = true
  }
}
