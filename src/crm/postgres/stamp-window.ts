/**
 * A read of changes goes back this far behind the newest stamp, for transactions that commit later than others that began
 * after them, and for stamps of whole seconds. What is later still is found by the sweep.
 */
const OVERLAP_MICROS = 5_000_000
/** The clocks of those who write may be this much ahead of the server's. What is stamped later than that is the sweep's. */
const AHEAD_MICROS = 5_000_000
/** Reading that many rows again with each refresh costs nothing worth avoiding. */
const FEW_ROWS = 200

/** The stamps that one read of changes looks at, and what it came across: where the next one has to begin. */
export class StampWindow {
  /** Stamps behind this one, and up to and with `last`, in microseconds. */
  readonly after: number
  readonly last: number
  /** What the server's clock shows to whoever stamps a row. */
  readonly now: number
  /** The newest stamps, of each row one, and which were too many to be kept. */
  #newest: number[] = []
  #floor = -Infinity

  constructor(after: number, now: number) {
    // The clock was put back, or shows an hour for the second time: what is stamped now is behind what is known.
    this.after = after <= now ? after : now - OVERLAP_MICROS
    this.last = now + AHEAD_MICROS
    this.now = now
  }

  /** A row with that stamp was read. One from the future tells nothing of what has been committed by now. */
  add(stamp: number): void {
    if (!(stamp > this.#floor && stamp <= this.now)) return
    this.#newest.push(stamp)
    if (this.#newest.length > FEW_ROWS * 2) this.#trim()
  }

  /**
   * Behind which stamp the next read begins: some seconds back, but of so many rows as an import or one large change gives
   * the same few seconds, or one and the same stamp, none is read again.
   */
  get next(): number {
    this.#trim()
    const [newest] = this.#newest
    if (newest === undefined) return this.after
    const tooMany = this.#newest[FEW_ROWS] ?? -Infinity
    return Math.max(this.after, newest - OVERLAP_MICROS - 1, tooMany)
  }

  #trim(): void {
    this.#newest = this.#newest.toSorted((left, right) => right - left).slice(0, FEW_ROWS + 1)
    this.#floor = this.#newest[FEW_ROWS] ?? -Infinity
  }
}
