import type { Time } from '../../replica/time.ts'

const AGAIN_AFTER_MS = 900_000
const MOST_REFUSALS = 3

/** Whether a table's change tracking works: by what it answers, for it may be switched on at any time. */
export class Tracking {
  /** Reads of changes are worth a try. */
  works = true
  readonly #time: Time
  readonly #onOff: () => void
  #offSinceMs = Number.NEGATIVE_INFINITY
  #refusals = 0
  #told = false

  constructor(time: Time, onOff: () => void) {
    this.#time = time
    this.#onOff = onOff
  }

  /** Whether a full read asks for it: seldom where it was found to be off. */
  get isAsked(): boolean {
    return this.works || this.#time.now().monotonicMs - this.#offSinceMs >= AGAIN_AFTER_MS
  }

  /** A full read gave a link to go on from. */
  began(): void {
    if (this.works) return
    this.works = true
    this.#told = false
    this.#refusals = 0
  }

  /** A link was followed. */
  followed(): void {
    this.#refusals = 0
  }

  /** A link was refused. Once is usual: links grow old, and change with a table's definition. */
  refused(): void {
    if (++this.#refusals >= MOST_REFUSALS) this.isOff()
  }

  isOff(): void {
    this.works = false
    this.#offSinceMs = this.#time.now().monotonicMs
    if (!this.#told) this.#onOff()
    this.#told = true
  }
}
