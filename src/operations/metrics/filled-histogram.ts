import type { MetricObjectWithValues, MetricValueWithName } from 'prom-client'
import { Histogram } from 'prom-client'
import type { Buckets } from '../../observe/meters.ts'

interface Series {
  readonly labels: Readonly<Record<string, string>>
  readonly buckets: Buckets
}

interface FilledHistogramOptions {
  readonly name: string
  readonly help: string
  readonly labelNames: string[]
  /** Asked for at each scrape. */
  readonly series: () => readonly Series[]
}

/** A histogram whose buckets were counted elsewhere: prom-client has no way to be given them. */
export class FilledHistogram extends Histogram {
  readonly #options: FilledHistogramOptions
  /** Knows how a histogram is described. */
  readonly #empty: Histogram

  constructor(options: FilledHistogramOptions) {
    const { name, help, labelNames } = options
    super({ name, help, labelNames, registers: [] })
    this.#empty = new Histogram({ name, help, labelNames, registers: [] })
    this.#options = options
  }

  /** What the registry asks for in place of `get` where it writes text. */
  getForPromString(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    return this.get()
  }

  override async get(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    const { name, series } = this.#options
    return { ...(await this.#empty.get()), values: series().flatMap((one) => valuesOf(name, one)) }
  }
}

function valuesOf(name: string, { labels, buckets }: Series): MetricValueWithName<string>[] {
  const { bounds, counts, sum } = buckets
  const values: MetricValueWithName<string>[] = []
  let cumulative = 0
  for (const [index, count] of counts.entries()) {
    cumulative += count
    const le = bounds[index] === undefined ? '+Inf' : String(bounds[index])
    values.push({ metricName: `${name}_bucket`, labels: { ...labels, le }, value: cumulative })
  }
  values.push({ metricName: `${name}_sum`, labels, value: sum })
  values.push({ metricName: `${name}_count`, labels, value: cumulative })
  return values
}
