import { type Metric, counter, gauge } from './exposition.ts'

const ROLES = ['leader', 'follower', 'standalone', 'waiting'] as const

/** The role of this instance in the cluster, and what it knows of the others. */
export interface ClusterStatus {
  /** `standalone`: it reads the CRM alone, because the store is lost. `waiting`: it has no data yet. */
  readonly role: (typeof ROLES)[number]
  readonly connected: boolean
  /** 16 random hex digits, drawn at the start. */
  readonly instance: string
  /** The instance that reads the CRM for all; `null` if none is known. */
  readonly leader: string | null
  readonly epoch: number
  /** The last applied entry, `<epoch>-<number>`; `null` if this instance follows no log. */
  readonly position: string | null
  /** The number of instances including the leader, their versions, and the instances that read the CRM if the store is lost. From the last heartbeat. */
  readonly instances: number
  readonly versions: readonly string[]
  readonly candidates: readonly string[]
  /** Why the store cannot be used or what in it is refused; `null` if all is well. */
  readonly lastError: string | null
  /** Logs of other instances with the same `cluster.name`. Their leaders read the CRM too. */
  readonly otherLogs: readonly string[]
  /** The snapshot in the store. `ageMs` counts from when this instance learned of it. */
  readonly snapshot: { readonly rows: number; readonly bytes: number; readonly ageMs: number } | null
}

export interface ClusterCounts {
  readonly status: ClusterStatus
  /** The number of rows that were read and are not in the log yet. */
  readonly outbox: number
  /** The number of nonces in the store that are refused or not examined yet. Only the leader counts them. */
  readonly refusedNonces: number
  readonly epochs: number
  readonly resyncs: ReadonlyMap<string, number>
  /** Entries and bytes by kind and direction. */
  readonly entries: readonly { readonly kind: string; readonly direction: string; readonly count: number }[]
  readonly bytes: Readonly<Record<string, number>>
}

/** Returns the cluster's metrics; none if there is no cluster. */
export function clusterMetrics(counts: (() => ClusterCounts) | null): readonly Metric[] {
  if (counts === null) return []
  return [
    gauge(
      'marquee_cluster_role',
      '1 for what this instance is: the leader of the CRM, a follower, alone (the store is lost), or waiting for something to answer from.',
      () => ROLES.map((role) => ({ labels: { role }, value: counts().status.role === role ? 1 : 0 })),
    ),
    gauge('marquee_cluster_connected', '1 while the store answers.', () => (counts().status.connected ? 1 : 0)),
    gauge(
      'marquee_cluster_instances',
      'Instances that share what one reads, as the last heartbeat said; the leader is one.',
      () => counts().status.instances,
    ),
    gauge('marquee_cluster_outbox_rows', 'Rows that are read here and not yet in the log.', () => counts().outbox),
    gauge(
      'marquee_cluster_refused_nonces',
      'Nonces of instances in the store that are not believed, as the leader sees them; 0 elsewhere.',
      () => counts().refusedNonces,
    ),
    counter('marquee_cluster_entries_total', 'Entries of the log that were written or read here, by kind.', () =>
      counts().entries.map(({ kind, direction, count }) => ({ labels: { kind, direction }, value: count })),
    ),
    counter(
      'marquee_cluster_bytes_total',
      'Bytes of entries and snapshots that were written to the store or read from it.',
      () => Object.entries(counts().bytes).map(([direction, value]) => ({ labels: { direction }, value })),
    ),
    counter('marquee_cluster_resyncs_total', 'How often this instance began again with a snapshot, by reason.', () =>
      [...counts().resyncs].map(([reason, value]) => ({ labels: { reason }, value })),
    ),
    counter(
      'marquee_cluster_epochs_total',
      'Claims of the reading that were seen here: one where all is well, one more each time another takes over.',
      () => counts().epochs,
    ),
  ]
}
