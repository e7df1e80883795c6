import type { Registry } from 'prom-client'
import type { RequestMeter } from '../../observe/meters.ts'
import { FilledHistogram } from './filled-histogram.ts'
import type { Sample } from './scraped.ts'
import { scrapedCounter } from './scraped.ts'

export function addRequestMetrics(registry: Registry, requests: RequestMeter): void {
  scrapedCounter(registry, {
    name: 'marquee_http_requests_total',
    help: 'Public requests by route template, status and media type of the answer (none: no body).',
    labelNames: ['route', 'status', 'type'],
    samples: () => samplesOf(requests),
  })
  registry.registerMetric(
    new FilledHistogram({
      name: 'marquee_http_request_duration_seconds',
      help: 'How long the service took to answer a public request, waiting for a refresh included, sending not.',
      labelNames: [],
      series: () => [{ labels: {}, buckets: requests.durations }],
    }),
  )
}

function* samplesOf(requests: RequestMeter): Generator<Sample, void> {
  for (const { route, status, type, count } of requests.counts()) {
    yield { labels: { route, status: String(status), type }, value: count }
  }
}
