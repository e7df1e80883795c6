import { type Metric, type Sample, counter, gauge } from './exposition.ts'
import { type ClusterCounts, ROLES } from './status.ts'

/** Returns the cluster's metrics; none if there is no cluster. */
export function clusterMetrics(counts: () => ClusterCounts | null): readonly Metric[] {
  if (counts() === null) return []
  const of = (value: (now: ClusterCounts) => number | Sample[]) => (): number | Sample[] => {
    const now = counts()
    return now === null ? [] : value(now)
  }
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
      'Rows that this instance has read and not yet written to the log.',
      of(({ outbox }) => outbox),
    ),
    gauge(
      'marquee_cluster_refused_nonces',
      'Nonces in the store that the leader does not accept; 0 on followers.',
      of(({ refusedNonces }) => refusedNonces),
    ),
    counter(
      'marquee_cluster_entries_total',
      'Log entries that this instance has written or read, by kind.',
      of(({ entries }) => entries.map(({ kind, direction, count }) => ({ labels: { kind, direction }, value: count }))),
    ),
    counter(
      'marquee_cluster_bytes_total',
      'Bytes of log entries and snapshots that this instance has written to the store or read from it.',
      of(({ bytes }) => Object.entries(bytes).map(([direction, value]) => ({ labels: { direction }, value }))),
    ),
    counter(
      'marquee_cluster_resyncs_total',
      'How often this instance started again from a snapshot, by reason.',
      of(({ resyncs }) => [...resyncs].map(([reason, value]) => ({ labels: { reason }, value }))),
    ),
    counter(
      'marquee_cluster_epochs_total',
      'Claims to lead that this instance has seen: each change of leader adds one.',
      of(({ epochs }) => epochs),
    ),
  ]
}
