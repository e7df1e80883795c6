import type { Registry } from 'prom-client'
import { Counter, Gauge } from 'prom-client'

type Labels = Readonly<Record<string, string>>

export interface Sample {
  readonly labels: Labels
  readonly value: number
}

interface Described {
  readonly name: string
  readonly help: string
  readonly labelNames?: readonly string[]
  /** Asked for at each scrape: nothing is kept twice, and no request pays for it. */
  readonly samples: () => Iterable<Sample>
}

export function scrapedGauge(registry: Registry, { name, help, labelNames = [], samples }: Described): void {
  const gauge = new Gauge({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      gauge.reset()
      for (const { labels, value } of samples()) gauge.set({ ...labels }, value)
    },
  })
}

/** A counter whose count is kept elsewhere and only ever rises there. */
export function scrapedCounter(registry: Registry, { name, help, labelNames = [], samples }: Described): void {
  const counter = new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      counter.reset()
      for (const { labels, value } of samples()) counter.inc({ ...labels }, value)
    },
  })
}

/** One sample without labels. */
export function single(value: number): readonly Sample[] {
  return [{ labels: {}, value }]
}
