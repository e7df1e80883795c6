/** How often values fell under each of some bounds: what a histogram is made of, without its cost. */
export class Buckets {
  /** Ascending, in base units; one more bucket takes what is above the last. */
  readonly bounds: readonly number[]
  readonly counts: Float64Array
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  add(value: number): void {
    const { bounds, counts } = this
    let at = 0
    // From the lowest up: most answers take microseconds.
    while (at < bounds.length && value > (bounds[at] ?? 0)) at++
    counts[at] = (counts[at] ?? 0) + 1
    this.sum += value
  }
}
