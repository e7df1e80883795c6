import type { ReadMeter, RequestMeter } from '../observe/meters.ts'
import { OUTCOMES } from '../observe/observation.ts'
import { WHOLE_ROW } from '../replica/drift.ts'
import type { ToldLists } from '../replica/held-lists.ts'
import { withheldIn } from '../replica/held-lists.ts'
import type { Time } from '../replica/time.ts'
import type { Metric, Sample } from './exposition.ts'
import { processMetrics } from './process-metrics.ts'
import type { ShareCounts } from './share-status.ts'
import { shareMetrics } from './share-status.ts'
import type { BaseStanding } from './status.ts'
import { countWithheld, faultCounts } from './withheld.ts'

export interface MetricsOptions {
  readonly lists: ToldLists
  readonly requests: RequestMeter
  readonly reads: ReadMeter
  readonly time: Time
  readonly isReady: () => boolean
  /** Requests that wait for a refresh now. */
  readonly waiting: () => number
  /** What a restart goes on from; null where there is none. */
  readonly base: () => BaseStanding | null
  /** Null where this instance stands alone. */
  readonly share: (() => ShareCounts) | null
  /** Log lines that could not be written. */
  readonly droppedLines: () => number
  readonly version: string
  readonly runtime: string
}

/** Everything that `/metrics` shows. */
export function metricsOf(options: MetricsOptions): readonly Metric[] {
  const { isReady, waiting, droppedLines, version, runtime } = options
  return [
    {
      name: 'marquee_info',
      help: 'Which Marquee this is; always 1.',
      type: 'gauge',
      samples: () => [{ labels: { version, runtime }, value: 1 }],
    },
    {
      name: 'marquee_ready',
      help: '1 while answers may be given, 0 while callers get 502 or the service stops.',
      type: 'gauge',
      samples: () => [{ value: isReady() ? 1 : 0 }],
    },
    ...requestMetrics(options),
    {
      name: 'marquee_waiting_requests',
      help: 'Requests that wait for a refresh now.',
      type: 'gauge',
      samples: () => [{ value: waiting() }],
    },
    ...listMetrics(options),
    ...readMetrics(options),
    ...baseMetrics(options),
    ...shareMetrics(options.share),
    {
      name: 'marquee_log_lines_dropped_total',
      help: 'Log lines that could not be written: a full disk, a reader that is gone or stands still.',
      type: 'counter',
      samples: () => [{ value: droppedLines() }],
    },
    ...processMetrics(options.time),
  ]
}

/** Without samples where there is no base. */
function baseMetrics({ base }: MetricsOptions): readonly Metric[] {
  const of = (value: (standing: BaseStanding) => number) => (): Sample[] => {
    const standing = base()
    return standing === null ? [] : [{ value: value(standing) }]
  }
  return [
    {
      name: 'marquee_base_bytes',
      help: 'The size of the base that a restart goes on from; absent where there is none.',
      type: 'gauge',
      samples: of(({ bytes }) => bytes),
    },
    {
      name: 'marquee_base_age_seconds',
      help: 'How long ago that base was written, by the wall clock.',
      type: 'gauge',
      samples: of(({ ageMs }) => ageMs / 1000),
    },
  ]
}

function requestMetrics({ requests }: MetricsOptions): readonly Metric[] {
  return [
    {
      name: 'marquee_http_requests_total',
      help: 'Public requests by route template, status and media type of the answer (none: no body).',
      type: 'counter',
      samples: () =>
        requests
          .counts()
          .map(({ route, status, type, count }) => ({ labels: { route, status: String(status), type }, value: count })),
    },
    {
      name: 'marquee_http_request_duration_seconds',
      help: 'How long the service took to answer a public request, waiting for a refresh included, sending not.',
      type: 'histogram',
      series: () => [{ buckets: requests.durations }],
    },
  ]
}

/** What is held of each list, and how old it is. */
function listMetrics({ lists, time }: MetricsOptions): readonly Metric[] {
  const both = (): readonly [ToldLists['events'], ToldLists['venues']] => [lists.events, lists.venues]
  return [
    {
      name: 'marquee_data_age_seconds',
      help: 'How old a list is: since it was confirmed, and since it was last read in full; absent before the first read.',
      type: 'gauge',
      samples: () => both().flatMap((told) => agesOf(told, time)),
    },
    {
      name: 'marquee_records',
      help: 'Records that are served, and rows of the CRM that are withheld.',
      type: 'gauge',
      samples: () =>
        both().flatMap((told) => [
          { labels: { list: told.list.kind.name, state: 'served' }, value: told.list.served },
          { labels: { list: told.list.kind.name, state: 'withheld' }, value: withheldIn(told) },
        ]),
    },
    {
      name: 'marquee_withheld_records',
      help: 'Rows of the CRM that are not served, by reason.',
      type: 'gauge',
      samples: () => [
        ...withheldBy('events', countWithheld(lists.events.list)),
        ...withheldBy('venues', countWithheld(lists.venues.list)),
      ],
    },
    {
      name: 'marquee_withheld_columns',
      help: 'The same by column; a row with several faults counts under each. (row) where the whole row is meant.',
      type: 'gauge',
      samples: () =>
        both().flatMap(({ list }) =>
          faultCounts(list).map(({ column, fault, count }) => ({
            labels: { list: list.kind.name, column: column ?? WHOLE_ROW, reason: fault },
            value: count,
          })),
        ),
    },
    {
      name: 'marquee_brake_engaged',
      help: '1 while a list that got much shorter is not believed until `./marquee accept`.',
      type: 'gauge',
      samples: () => both().map(({ list, braked }) => ({ labels: { list: list.kind.name }, value: braked ? 1 : 0 })),
    },
    {
      name: 'marquee_drift_records_total',
      help: 'Records that had changed without the CRM reporting it; found by full reads.',
      type: 'counter',
      samples: () => both().map(({ list, drift }) => ({ labels: { list: list.kind.name }, value: drift.records })),
    },
    {
      name: 'marquee_drift_columns_total',
      help: 'The same by column; (row) where the whole row came, went, or changed between served and withheld.',
      type: 'counter',
      samples: () =>
        both().flatMap(({ list, drift }) =>
          [...drift.byColumn].map(([column, value]) => ({ labels: { list: list.kind.name, column }, value })),
        ),
    },
  ]
}

function agesOf({ list, freshness }: ToldLists['events'] | ToldLists['venues'], time: Time): Sample[] {
  const now = time.now()
  const ages = { confirmed: freshness.confirmedAgeMs(now), audited: freshness.auditedAgeMs(now) }
  return Object.entries(ages).flatMap(([age, ageMs]) =>
    ageMs === null ? [] : [{ labels: { list: list.kind.name, age }, value: ageMs / 1000 }],
  )
}

function withheldBy(list: string, counts: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(counts).map(([reason, value]) => ({ labels: { list, reason }, value }))
}

function readMetrics({ reads }: MetricsOptions): readonly Metric[] {
  return [
    {
      name: 'marquee_refreshes_total',
      help: 'Reads of a list of the CRM, by how they ended.',
      type: 'counter',
      samples: () =>
        [...reads.lists].flatMap(([list, { byOutcome }]) =>
          OUTCOMES.map((outcome) => ({ labels: { list, outcome }, value: byOutcome.get(outcome) ?? 0 })),
        ),
    },
    {
      name: 'marquee_refresh_duration_seconds',
      help: 'How long reads of a list took.',
      type: 'histogram',
      series: () => [...reads.lists].map(([list, { durations }]) => ({ labels: { list }, buckets: durations })),
    },
    {
      name: 'marquee_crm_requests_total',
      help: 'Exchanges with the CRM (a page asked for, a statement, a file looked at), by how they ended.',
      type: 'counter',
      samples: () => OUTCOMES.map((outcome) => ({ labels: { outcome }, value: reads.crmRequests.get(outcome) ?? 0 })),
    },
    {
      name: 'marquee_publish_delay_seconds',
      help: 'From a change in the CRM to its being served, where the CRM says when it was made.',
      type: 'histogram',
      series: () => [{ buckets: reads.publishDelay }],
    },
  ]
}
