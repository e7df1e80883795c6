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
      '1 for what this instance is: the leader of the CRM, a follower, alone (the store is lost), or waiting for something to answer from.',
      of(({ status }) => ROLES.map((role) => ({ labels: { role }, value: status.role === role ? 1 : 0 }))),
    ),
    gauge(
      'marquee_cluster_connected',
      '1 while the store answers.',
      of(({ status }) => (status.connected ? 1 : 0)),
    ),
    gauge(
      'marquee_cluster_instances',
      'Instances that share what one reads, as the last heartbeat said; the leader is one.',
      of(({ status }) => status.instances),
    ),
    gauge(
      'marquee_cluster_outbox_rows',
      'Rows that are read here and not yet in the log.',
      of(({ outbox }) => outbox),
    ),
    gauge(
      'marquee_cluster_refused_nonces',
      'Nonces of instances in the store that are not believed, as the leader sees them; 0 elsewhere.',
      of(({ refusedNonces }) => refusedNonces),
    ),
    counter(
      'marquee_cluster_entries_total',
      'Entries of the log that were written or read here, by kind.',
      of(({ entries }) => entries.map(({ kind, direction, count }) => ({ labels: { kind, direction }, value: count }))),
    ),
    counter(
      'marquee_cluster_bytes_total',
      'Bytes of entries and snapshots that were written to the store or read from it.',
      of(({ bytes }) => Object.entries(bytes).map(([direction, value]) => ({ labels: { direction }, value }))),
    ),
    counter(
      'marquee_cluster_resyncs_total',
      'How often this instance began again with a snapshot, by reason.',
      of(({ resyncs }) => [...resyncs].map(([reason, value]) => ({ labels: { reason }, value }))),
    ),
    counter(
      'marquee_cluster_epochs_total',
      'Claims of the reading that were seen here: one where all is well, one more each time another takes over.',
      of(({ epochs }) => epochs),
    ),
  ]
}
