import { show } from './figure.ts'

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (lower + upper) / 2
}

/** The median with the range of the values: `1.62 (1.58–1.71)`. */
export function spread(values: readonly number[]): string {
  return `${show(median(values))} (${show(Math.min(...values))}–${show(Math.max(...values))})`
}

/** The ratios of values of the same round: a machine that slows down affects both. */
export function ratios(values: readonly number[], against: readonly number[]): number[] {
  return values.flatMap((value, round) => {
    const other = against[round]
    return other === undefined ? [] : [value / other]
  })
}

/** The nearest-rank percentile of sorted values; always one of them. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
