import type { Time } from '../../replica/time.ts'

/** A storm of notifications becomes twenty reads a second at most. */
const EVERY_MS = 50

/** Passes a hint on at once, and those that follow closely as one when that time is over. */
export class Hints {
  readonly #time: Time
  readonly #callbacks: (() => void)[] = []
  #cancel: (() => void) | null = null
  #again = false

  constructor(time: Time) {
    this.#time = time
  }

  add(callback: () => void): void {
    this.#callbacks.push(callback)
  }

  hint(): void {
    if (this.#cancel !== null) {
      this.#again = true
      return
    }
    this.#cancel = this.#time.after(EVERY_MS, () => {
      this.#cancel = null
      if (!this.#again) return
      this.#again = false
      this.hint()
    })
    for (const callback of this.#callbacks) callback()
  }

  close(): void {
    this.#callbacks.length = 0
    this.#cancel?.()
    this.#cancel = null
    this.#again = false
  }
}
