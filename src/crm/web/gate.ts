import type { Time } from '../../time/time.ts'

/** Lets few requests of one CRM through at once, and none while the CRM has asked to wait. */
export class Gate {
  readonly #time: Time
  readonly #waiting: (() => void)[] = []
  #free: number
  #closedUntilMs = Number.NEGATIVE_INFINITY

  constructor(time: Time, mostAtOnce: number) {
    this.#time = time
    this.#free = mostAtOnce
  }

  /** No request may begin for a while: whichever of two calls asks for longer counts. */
  closeFor(ms: number): void {
    this.#closedUntilMs = Math.max(this.#closedUntilMs, this.#time.now().monotonicMs + ms)
  }

  /** Milliseconds until requests may begin again, 0 where they may. */
  get closedForMs(): number {
    return Math.max(0, this.#closedUntilMs - this.#time.now().monotonicMs)
  }

  /** Resolves when it is one's turn; call what it gives to let go. Null where the signal came first. */
  async enter(signal: AbortSignal): Promise<(() => void) | null> {
    if (signal.aborted) return null
    if (this.#free > 0) this.#free--
    else if (!(await this.#wait(signal))) return null
    let left = false
    return () => {
      if (left) return
      left = true
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }

  #wait(signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const enter = (): void => {
      signal.removeEventListener('abort', giveUp)
      resolve(true)
    }
    const giveUp = (): void => {
      const index = this.#waiting.indexOf(enter)
      if (index !== -1) this.#waiting.splice(index, 1)
      resolve(false)
    }
    this.#waiting.push(enter)
    signal.addEventListener('abort', giveUp, { once: true })
    return promise
  }
}
