import type { Registry } from 'prom-client'
import { OUTCOMES } from '../../observe/observation.ts'
import type { ReadMeter } from '../../observe/meters.ts'
import { FilledHistogram } from './filled-histogram.ts'
import type { Sample } from './scraped.ts'
import { scrapedCounter } from './scraped.ts'

export function addReadMetrics(registry: Registry, reads: ReadMeter): void {
  scrapedCounter(registry, {
    name: 'marquee_refreshes_total',
    help: 'Reads of a list of the CRM, by how they ended.',
    labelNames: ['list', 'outcome'],
    samples: () => refreshes(reads),
  })
  registry.registerMetric(
    new FilledHistogram({
      name: 'marquee_refresh_duration_seconds',
      help: 'How long reads of a list took.',
      labelNames: ['list'],
      series: () => [...reads.lists].map(([list, { durations }]) => ({ labels: { list }, buckets: durations })),
    }),
  )
  scrapedCounter(registry, {
    name: 'marquee_crm_requests_total',
    help: 'Exchanges with the CRM (a page asked for, a statement, a file looked at), by how they ended.',
    labelNames: ['outcome'],
    samples: () => OUTCOMES.map((outcome) => ({ labels: { outcome }, value: reads.crmRequests.get(outcome) ?? 0 })),
  })
  registry.registerMetric(
    new FilledHistogram({
      name: 'marquee_publish_delay_seconds',
      help: 'From a change in the CRM to its being served, where the CRM says when it was made.',
      labelNames: [],
      series: () => [{ labels: {}, buckets: reads.publishDelay }],
    }),
  )
}

function* refreshes({ lists }: ReadMeter): Generator<Sample, void> {
  for (const [list, { byOutcome }] of lists) {
    for (const outcome of OUTCOMES) yield { labels: { list, outcome }, value: byOutcome.get(outcome) ?? 0 }
  }
}
