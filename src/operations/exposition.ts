type Labels = Readonly<Record<string, string>>

export interface Sample {
  readonly labels?: Labels
  readonly value: number
}

interface Series {
  readonly labels?: Labels
  readonly buckets: {
    /** Ascending. One more bucket counts values above the last. */
    readonly bounds: readonly number[]
    readonly counts: Float64Array
    readonly sum: number
  }
}

/** The samples of a metric, or its only value if it has no labels. */
type Values = () => number | Iterable<Sample>

/** A metric whose values are read at each scrape, so that requests do not pay for it. */
export type Metric = { readonly name: string; readonly help: string } & (
  | { readonly type: 'gauge' | 'counter'; readonly samples: Values }
  | { readonly type: 'histogram'; readonly series: () => Iterable<Series> }
)

export function gauge(name: string, help: string, samples: Values): Metric {
  return { name, help, type: 'gauge', samples }
}

export function counter(name: string, help: string, samples: Values): Metric {
  return { name, help, type: 'counter', samples }
}

export function histogram(name: string, help: string, series: () => Iterable<Series>): Metric {
  return { name, help, type: 'histogram', series }
}

/** Formats metrics as Prometheus' text format 0.0.4. */
export function expose(metrics: readonly Metric[]): string {
  let text = ''
  for (const metric of metrics) {
    const { name, help, type } = metric
    text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
    if (metric.type === 'histogram') for (const series of metric.series()) text += histogramLines(name, series)
    else for (const { labels = {}, value } of samplesOf(metric.samples())) text += line(name, labels, value)
    text += '\n'
  }
  return text
}

function samplesOf(values: ReturnType<Values>): Iterable<Sample> {
  return typeof values === 'number' ? [{ value: values }] : values
}

function histogramLines(name: string, { labels = {}, buckets: { bounds, counts, sum } }: Series): string {
  let lines = ''
  let cumulative = 0
  for (const [index, count] of counts.entries()) {
    cumulative += count
    lines += line(`${name}_bucket`, { ...labels, le: String(bounds[index] ?? '+Inf') }, cumulative)
  }
  return `${lines}${line(`${name}_sum`, labels, sum)}${line(`${name}_count`, labels, cumulative)}`
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text.replace(/[\\"\n]/g, escaped)}"`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`
}
