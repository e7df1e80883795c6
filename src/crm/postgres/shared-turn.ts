/**
 * The turn to use the one connection, first come, first served. Who holds it for long parks between two pages: a parked
 * holder is asked to give way as soon as another wants the turn.
 */
export class SharedTurn {
  #held = false
  readonly #waiting: (() => void)[] = []
  #parked: (() => Promise<void>) | null = null
  #givingWay: Promise<void> | null = null

  async take(): Promise<void> {
    if (!this.#held) {
      this.#held = true
      return
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push(resolve)
    this.#makeWay()
    await promise
  }

  leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#held = false
    else next()
  }

  /** The holder does not need the turn now; `giveWay` makes ready for another, who may take it until `resume`. */
  park(giveWay: () => Promise<void>): void {
    this.#parked = giveWay
    if (this.#waiting.length > 0) this.#makeWay()
  }

  /** Whether the turn is still held; if not it has to be taken again. */
  async resume(): Promise<boolean> {
    if (this.#parked !== null) {
      this.#parked = null
      return true
    }
    await this.#givingWay
    return false
  }

  #makeWay(): void {
    if (this.#parked === null) return
    const giveWay = this.#parked
    this.#parked = null
    this.#givingWay = giveWay().then(() => this.leave())
  }
}
