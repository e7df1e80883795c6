/**
 * A stream of random numbers determined by a seed (mulberry32). Each actor has its own stream, independent of the
 * others.
 */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Returns a number from 0 (included) to 1 (excluded). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }

  /** Returns a whole number below `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  /** Returns true with this probability. */
  happens(probability: number): boolean {
    return probability > 0 && this.next() < probability
  }

  /** Returns an exponentially distributed span with this mean: mostly short, sometimes long. */
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

  /** Returns an independent stream for another actor. */
  fork(): Chance {
    return new Chance(this.below(0x1_0000_0000))
  }
}
