import type { Failure } from '../../src/sync/port.ts'
import type { Chance } from './chance.ts'
import type { ModelTime } from './virtual-time.ts'

export type Reply<Result> =
  | { readonly ok: true; readonly result: Result }
  | { readonly ok: false; readonly failure: Failure }

/** The condition of the CRM, shared by its lists. */
export class Weather {
  downUntilMs = 0
  throttledUntilMs = 0
  trouble: number

  constructor(trouble: number) {
    this.trouble = trouble
  }

  /** Ends all trouble. */
  calm(): void {
    this.downUntilMs = this.throttledUntilMs = this.trouble = 0
  }
}

/** The network and the CRM's limits: the fate of a request. The CRM looks up the result at some time on the way. */
export class Exchange {
  faults = 0
  requests = 0
  /** Requests are swallowed, and so are answers that are on their way. */
  isCut = false
  readonly #time: ModelTime
  readonly #chance: Chance
  readonly #weather: Weather
  readonly #latencyMs: number

  constructor(time: ModelTime, chance: Chance, weather: Weather, latencyMs: number) {
    this.#time = time
    this.#chance = chance
    this.#weather = weather
    this.#latencyMs = latencyMs
  }

  /** Sends a request to the CRM. `find` is called at the time when the CRM looks. */
  ask<Result>(find: (trueMs: number) => Result): Promise<Reply<Result>> {
    const chance = this.#chance
    const { trouble } = this.#weather
    const latencyMs = this.#latencyMs
    this.requests++
    const slowness = chance.happens(0.02 * trouble) ? 20 : 1
    const thereMs = chance.span(latencyMs / 2) * slowness
    const backMs = chance.span(latencyMs / 2) * slowness
    const failure = this.#failure()
    if (failure !== null) {
      this.faults++
      return this.#later(thereMs, () => ({ ok: false, failure }))
    }
    if (chance.happens(0.004 * trouble)) {
      this.faults++
      // The answer comes much too late, long after the request was given up.
      return this.#arrive(thereMs, 90_000 + chance.span(60_000), find)
    }
    if (chance.happens(0.002 * trouble)) {
      this.faults++
      return Promise.reject(new Error('a bug of the connector'))
    }
    if (slowness > 1) this.faults++
    return this.#arrive(thereMs, backMs, find)
  }

  #failure(): Failure | null {
    const chance = this.#chance
    const { trueMs } = this.#time
    const { downUntilMs, throttledUntilMs, trouble } = this.#weather
    if (trueMs < downUntilMs) return { kind: 'unreachable', message: 'down', retryAfterMs: null }
    if (trueMs < throttledUntilMs) {
      return { kind: 'throttled', message: 'slow down', retryAfterMs: throttledUntilMs - trueMs }
    }
    if (!chance.happens(0.01 * trouble)) return null
    return { kind: chance.pick(['unreachable', 'broken', 'refused']), message: 'bad luck', retryAfterMs: null }
  }

  #arrive<Result>(thereMs: number, backMs: number, find: (trueMs: number) => Result): Promise<Reply<Result>> {
    return new Promise((resolve, reject) => {
      this.#time.inTheWorld(thereMs, () => {
        if (this.isCut) return
        try {
          const result = find(this.#time.trueMs)
          this.#time.after(backMs, () => {
            if (!this.isCut) resolve({ ok: true, result })
          })
        } catch (cause) {
          reject(new Error('the model of the CRM is at fault', { cause }))
        }
      })
    })
  }

  #later<Result>(delayMs: number, reply: () => Reply<Result>): Promise<Reply<Result>> {
    return new Promise((resolve) => {
      this.#time.after(delayMs, () => resolve(reply()))
    })
  }
}
