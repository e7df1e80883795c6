import type { Time } from '../../time/time.ts'

/** Limits how many requests to one CRM run at once, and holds all of them back while the CRM asks for a pause. */
export class Gate {
  readonly #time: Time
  readonly #waiting: (() => void)[] = []
  #free: number
  #closedUntilMs = Number.NEGATIVE_INFINITY

  constructor(time: Time, mostAtOnce: number) {
    this.#time = time
    this.#free = mostAtOnce
  }

  /** Holds new requests back for a while. If an earlier pause lasts longer, it stays. */
  closeFor(ms: number): void {
    this.#closedUntilMs = Math.max(this.#closedUntilMs, this.#time.now().monotonicMs + ms)
  }

  /** Milliseconds until the CRM accepts requests again; 0 if it does now. */
  get closedForMs(): number {
    return Math.max(0, this.#closedUntilMs - this.#time.now().monotonicMs)
  }

  /** Waits for a free place and returns the function that frees it; `null` if the signal aborted first. */
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
