/** A stream of random numbers that a seed decides (mulberry32). Each actor has its own, so that none disturbs another. */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 (included) to 1 (excluded). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }

  /** A whole number below `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  /** Whether something of this probability happens. */
  happens(probability: number): boolean {
    return probability > 0 && this.next() < probability
  }

  /** A span around `mean`, exponentially distributed: short ones often, long ones now and then. */
  span(mean: number): number {
    return -Math.log(1 - this.next()) * mean
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low)
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }

  /** A stream of its own, for another actor. */
  fork(): Chance {
    return new Chance(this.below(0x1_0000_0000))
  }
}
