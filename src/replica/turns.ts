/** A lock that is handed over in the order it was asked for. */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** Resolves when all who asked before have let go; call what it gives to let go. */
  async take(): Promise<() => void> {
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    await before
    return resolve
  }
}
