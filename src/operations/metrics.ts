import { WHOLE_ROW } from '../domain/field.ts'
import type { Buckets, Telemetry } from '../observe/telemetry.ts'
import { OUTCOMES } from '../observe/observation.ts'
import type { EitherList, ServedLists } from '../sync/served-list.ts'
import type { Time } from '../time/time.ts'
import { type ClusterCounts, type ReadyBodiesCount, type SnapshotStanding, ROLES } from './status.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import { countWithheld, faultCounts } from '../faults/fault-words.ts'
import { readdirSync } from 'node:fs'

type Labels = Readonly<Record<string, string>>

interface Sample {
  /** What follows the metric's name, in a histogram. */
  readonly suffix?: string
  readonly labels?: Labels
  readonly value: number
}

/** The samples of a metric, or its only value if it has no labels. */
type Values = () => number | Iterable<Sample>

/** A metric. Its values are read at each scrape, so requests do not pay for it. */
interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter' | 'histogram'
  readonly samples: Values
}

function metric(type: Metric['type']): (name: string, help: string, samples: Values) => Metric {
  return (name, help, samples) => ({ name, help, type, samples })
}

const [gauge, counter, histogram] = [metric('gauge'), metric('counter'), metric('histogram')]

/** Formats metrics as Prometheus' text format 0.0.4. */
export function expose(metrics: readonly Metric[]): string {
  let text = ''
  for (const { name, help, type, samples } of metrics) {
    text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
    const values = samples()
    for (const { suffix = '', labels = {}, value } of typeof values === 'number' ? [{ value: values }] : values)
      text += line(`${name}${suffix}`, labels, value)
    text += '\n'
  }
  return text
}

/** Returns the samples of a histogram. Its last bucket counts values above all bounds. */
export function distribution({ bounds, counts, sum }: Buckets, labels: Labels = {}): readonly Sample[] {
  let cumulative = 0
  const buckets = Array.from(counts, (count, index) => {
    cumulative += count
    return { suffix: '_bucket', labels: { ...labels, le: String(bounds[index] ?? '+Inf') }, value: cumulative }
  })
  return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: cumulative }]
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text.replace(/[\\"\n]/g, escaped)}"`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`
}

export interface MetricsOptions {
  readonly served: () => ServedLists
  readonly requests: Telemetry['requests']
  readonly reads: Telemetry['reads']
  readonly time: Time
  readonly isReady: () => boolean
  /** Returns the number of requests that wait for a refresh. */
  readonly waiting: () => number
  readonly readyBodies: () => ReadyBodiesCount
  /** Returns the current snapshot; `null` if there is none. */
  readonly snapshot: () => SnapshotStanding | null
  readonly snapshotError: () => string | null
  readonly allOverSinceMs: () => number | null
  /** `null` without `feeds.changes`. */
  readonly webhooks: Pick<Webhooks, 'calls' | 'status'> | null
  /** Returns the cluster's counts; `null` without a cluster. */
  readonly cluster: () => ClusterCounts | null
  /** Returns the number of log lines that could not be written. */
  readonly droppedLines: () => number
  readonly version: string
  readonly runtime: string
}

export function metricsOf(options: MetricsOptions): readonly Metric[] {
  const { isReady, waiting, droppedLines, version, runtime } = options
  return [
    gauge('marquee_info', 'Always 1; the labels name the version and the runtime.', () => [
      { labels: { version, runtime }, value: 1 },
    ]),
    gauge(
      'marquee_ready',
      '1 while the instance may answer; 0 while callers get 502, and from the stop signal on.',
      () => (isReady() ? 1 : 0),
    ),
    ...requestMetrics(options),
    gauge('marquee_waiting_requests', 'Requests that are waiting for a refresh.', waiting),
    ...listMetrics(options),
    ...readMetrics(options),
    ...readyBodiesMetrics(options),
    ...snapshotMetrics(options),
    ...clusterMetrics(options.cluster),
    ...webhookMetrics(options),
    counter(
      'marquee_log_lines_dropped_total',
      'Log lines that could not be written because the disk is full, or the reader of the log is gone or stalled.',
      droppedLines,
    ),
    ...processMetrics(options.time),
  ]
}

function readyBodiesMetrics({ readyBodies }: MetricsOptions): readonly Metric[] {
  return [
    gauge(
      'marquee_ready_bodies_bytes',
      'Memory allocated for bodies of records that are kept ready to send.',
      () => readyBodies().bytes,
    ),
    gauge(
      'marquee_ready_bodies_limit_bytes',
      'Limit of the memory for ready bodies (limits.readyBodies).',
      () => readyBodies().limitBytes,
    ),
    counter(
      'marquee_ready_bodies_hits_total',
      'Bodies of records that were ready when an answer needed them.',
      () => readyBodies().hits,
    ),
    counter(
      'marquee_ready_bodies_misses_total',
      'Bodies of records that were made because none was ready.',
      () => readyBodies().misses,
    ),
  ]
}

/** Returns the samples of something that may be absent: none while it is. */
function ifThere<Subject>(find: () => Subject | null) {
  return (value: (subject: Subject) => number | Sample[]): Values =>
    () => {
      const subject = find()
      return subject === null ? [] : value(subject)
    }
}

/** Returns the snapshot's metrics, without samples if there is no snapshot. */
function snapshotMetrics({ snapshot, snapshotError }: MetricsOptions): readonly Metric[] {
  const of = ifThere(snapshot)
  return [
    gauge(
      'marquee_snapshot_bytes',
      'Size of the snapshot that a restart continues from; absent if there is none.',
      of(({ bytes }) => bytes),
    ),
    gauge(
      'marquee_snapshot_age_seconds',
      'Time since the snapshot was written, by the wall clock.',
      of(({ ageMs }) => ageMs / 1000),
    ),
    gauge('marquee_snapshot_failing', '1 while the snapshot file cannot be written.', () =>
      snapshotError() === null ? 0 : 1,
    ),
  ]
}

function requestMetrics({ requests }: MetricsOptions): readonly Metric[] {
  return [
    counter(
      'marquee_http_requests_total',
      'Public requests by route, status and media type of the answer (none: no body).',
      () =>
        requests
          .counts()
          .map(({ route, status, type, count }) => ({ labels: { route, status: String(status), type }, value: count })),
    ),
    histogram(
      'marquee_http_request_duration_seconds',
      'Time to answer a public request, including a wait for a refresh, but not sending the answer.',
      () => distribution(requests.durations),
    ),
  ]
}

/** Returns the size and the age of each list. */
function listMetrics({ served, time, allOverSinceMs }: MetricsOptions): readonly Metric[] {
  const both = (): readonly EitherList[] => {
    const { events, venues } = served()
    return [events, venues]
  }
  return [
    gauge(
      'marquee_data_age_seconds',
      'Age of a list: since it was last confirmed, and since its last full read; absent before the first read.',
      () => both().flatMap((list) => agesOf(list, time)),
    ),
    gauge(
      'marquee_list_failing',
      '1 while the last read of the list has failed, or a read waits because the CRM or the budget asks for a pause.',
      () => both().map((list) => sampleOf(list, list.isFailing ? 1 : 0)),
    ),
    gauge('marquee_records', 'Records that are served, and rows of the CRM that are withheld.', () =>
      both().flatMap((list) => [
        sampleOf(list, list.list.served, { state: 'served' }),
        sampleOf(list, list.list.withheldInAll, { state: 'withheld' }),
      ]),
    ),
    gauge('marquee_events_all_over', '1 while events are served and all of them are over.', () =>
      allOverSinceMs() === null ? 0 : 1,
    ),
    gauge('marquee_withheld_records', 'Rows of the CRM that are not served, by reason.', () =>
      both().flatMap((list) =>
        Object.entries(countWithheld(list.list)).map(([reason, count]) => sampleOf(list, count, { reason })),
      ),
    ),
    gauge(
      'marquee_withheld_columns',
      'Rows of the CRM that are not served, by column and reason; a row with several faults counts in each. (row) stands for the whole row.',
      () =>
        both().flatMap((list) =>
          faultCounts(list.list).map(({ column, fault, count }) =>
            sampleOf(list, count, { column: column ?? WHOLE_ROW, reason: fault }),
          ),
        ),
    ),
    gauge(
      'marquee_shrink_guard_engaged',
      '1 while a list that lost more than half of its records is not believed, until `./marquee accept`.',
      () => both().map((list) => sampleOf(list, list.shrunk === null ? 0 : 1)),
    ),
    counter('marquee_drift_records_total', 'Changed records that the CRM had not reported and a full read found.', () =>
      both().map((list) => sampleOf(list, list.drift.records)),
    ),
    counter(
      'marquee_drift_columns_total',
      'Changes that the CRM had not reported and a full read found, by column. (row): a whole row appeared, disappeared, or changed between served and withheld.',
      () =>
        both().flatMap((list) => [...list.drift.byColumn].map(([column, count]) => sampleOf(list, count, { column }))),
    ),
  ]
}

function sampleOf({ list }: EitherList, value: number, labels: Sample['labels'] = {}): Sample {
  return { labels: { list: list.kind.name, ...labels }, value }
}

function agesOf(list: EitherList, time: Time): Sample[] {
  const now = time.now()
  const ages = { confirmed: list.freshness.confirmedAgeMs(now), audited: list.freshness.auditedAgeMs(now) }
  return Object.entries(ages).flatMap(([age, ageMs]) => (ageMs === null ? [] : [sampleOf(list, ageMs / 1000, { age })]))
}

function readMetrics({ reads }: MetricsOptions): readonly Metric[] {
  return [
    counter('marquee_refreshes_total', 'Reads of a list of the CRM, by outcome.', () =>
      [...reads.lists].flatMap(([list, { byOutcome }]) =>
        OUTCOMES.map((outcome) => ({ labels: { list, outcome }, value: byOutcome.get(outcome) ?? 0 })),
      ),
    ),
    histogram('marquee_refresh_duration_seconds', 'Duration of the reads of a list.', () =>
      [...reads.lists].flatMap(([list, { durations }]) => distribution(durations, { list })),
    ),
    counter('marquee_crm_requests_total', 'Reads of the CRM, by outcome.', () =>
      OUTCOMES.map((outcome) => ({ labels: { outcome }, value: reads.crmRequests.get(outcome) ?? 0 })),
    ),
    histogram(
      'marquee_publish_delay_seconds',
      'Time from a change in the CRM until it is served, if the CRM says when the change was made.',
      () => distribution(reads.publishDelay),
    ),
  ]
}

/** Returns the metric of webhooks; none without `feeds.changes`. */
function webhookMetrics({ webhooks }: MetricsOptions): readonly Metric[] {
  if (webhooks === null) return []
  return [
    counter('marquee_webhook_calls_total', 'Calls of the receivers of webhooks, by outcome.', () =>
      webhooks.calls().map(({ webhook, outcome, count }) => ({ labels: { webhook, outcome }, value: count })),
    ),
  ]
}

/** Returns the process metrics under Prometheus' standard names, as far as both runtimes provide them. */
function processMetrics(time: Time): readonly Metric[] {
  const startedAtS = time.now().wallMs / 1000 - process.uptime()
  return [
    gauge('process_start_time_seconds', 'Start of the process, in seconds since 1970.', () => startedAtS),
    counter('process_cpu_seconds_total', 'Processor time of all threads of the process.', () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1e6
    }),
    gauge('process_resident_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss()),
    gauge('process_open_fds', 'Open file descriptors; only on Linux.', openFiles),
  ]
}

function openFiles(): number | readonly Sample[] {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return []
  }
}

/** Returns the cluster's metrics; none if there is no cluster. */
function clusterMetrics(counts: () => ClusterCounts | null): readonly Metric[] {
  if (counts() === null) return []
  const of = ifThere(counts)
  return [
    gauge(
      'marquee_cluster_role',
      "1 for this instance's role: leader (reads the CRM for all), follower, standalone (reads the CRM on its own, because the store is lost), or waiting (has no data yet).",
      of(({ status }) => ROLES.map((role) => ({ labels: { role }, value: status.role === role ? 1 : 0 }))),
    ),
    gauge(
      'marquee_cluster_connected',
      '1 while the store answers.',
      of(({ status }) => (status.connected ? 1 : 0)),
    ),
    gauge(
      'marquee_cluster_instances',
      'Instances in the cluster according to the last heartbeat, including the leader.',
      of(({ status }) => status.instances),
    ),
    gauge(
      'marquee_cluster_outbox_rows',
      'Rows that this instance has read and not yet written to the store.',
      of(({ outbox }) => outbox),
    ),
    counter(
      'marquee_cluster_entries_total',
      'Entries of the stream that this instance has written or read.',
      of(({ entries }) => Object.entries(entries).map(([direction, value]) => ({ labels: { direction }, value }))),
    ),
    counter(
      'marquee_cluster_bytes_total',
      'Bytes of rows and heartbeats that this instance has written to the store or read from it.',
      of(({ bytes }) => Object.entries(bytes).map(([direction, value]) => ({ labels: { direction }, value }))),
    ),
    counter(
      'marquee_cluster_loads_total',
      'How often this instance had to load the rows in the store again, by reason.',
      of(({ loads }) => [...loads].map(([reason, value]) => ({ labels: { reason }, value }))),
    ),
    counter(
      'marquee_cluster_claims_total',
      'Claims to lead that this instance has seen: each change of leader adds one.',
      of(({ claims }) => claims),
    ),
  ]
}
