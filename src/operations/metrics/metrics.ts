import { Registry } from 'prom-client'
import type { ReadMeter, RequestMeter } from '../../observe/meters.ts'
import type { Replica } from '../../replica/replica.ts'
import type { Time } from '../../replica/time.ts'
import { addListMetrics } from './list-metrics.ts'
import { addProcessMetrics } from './process-metrics.ts'
import { addReadMetrics } from './read-metrics.ts'
import { addRequestMetrics } from './request-metrics.ts'
import { scrapedCounter, scrapedGauge, single } from './scraped.ts'

export interface MetricsOptions {
  readonly replica: Replica
  readonly requests: RequestMeter
  readonly reads: ReadMeter
  readonly time: Time
  readonly isReady: () => boolean
  /** Requests that wait for a refresh now. */
  readonly waiting: () => number
  /** Log lines that could not be written. */
  readonly droppedLines: () => number
  readonly version: string
  readonly runtime: string
}

/** Everything that `/metrics` shows; each value is asked for when it is scraped. */
export function createMetrics(options: MetricsOptions): Registry {
  const { replica, requests, reads, time, isReady, waiting, droppedLines, version, runtime } = options
  const registry = new Registry()
  scrapedGauge(registry, {
    name: 'marquee_info',
    help: 'Which Marquee this is; always 1.',
    labelNames: ['version', 'runtime'],
    samples: () => [{ labels: { version, runtime }, value: 1 }],
  })
  scrapedGauge(registry, {
    name: 'marquee_ready',
    help: '1 while answers may be given, 0 while callers get 502 or the service stops.',
    samples: () => single(isReady() ? 1 : 0),
  })
  addRequestMetrics(registry, requests)
  scrapedGauge(registry, {
    name: 'marquee_waiting_requests',
    help: 'Requests that wait for a refresh now.',
    samples: () => single(waiting()),
  })
  addListMetrics(registry, replica, time)
  addReadMetrics(registry, reads)
  scrapedCounter(registry, {
    name: 'marquee_log_lines_dropped_total',
    help: 'Log lines that could not be written: a full disk, a reader that is gone or stands still.',
    samples: () => single(droppedLines()),
  })
  addProcessMetrics(registry, time)
  return registry
}
