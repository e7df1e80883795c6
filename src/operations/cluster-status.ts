import { type Metric, counter, gauge } from './exposition.ts'

const ROLES = ['leader', 'follower', 'standalone', 'waiting'] as const

/** What this instance is to the others that share what one of them reads, and what it was told of them. */
export interface ClusterStatus {
  /** `standalone`: it reads for itself, since the store is lost; `waiting`: it has nothing to answer from yet. */
  readonly role: (typeof ROLES)[number]
  readonly connected: boolean
  /** 16 hex digits, drawn at start. */
  readonly instance: string
  /** Who reads the CRM for all; null where nobody is known to. */
  readonly leader: string | null
  readonly epoch: number
  /** `<epoch>-<number>` of the last entry that is held here; null where nothing is followed. */
  readonly position: string | null
  /** The leader among them; with their versions and who reads where the store is lost, as the last heartbeat said. */
  readonly instances: number
  readonly versions: readonly string[]
  readonly candidates: readonly string[]
  /** Why the store cannot be used, or what in it is not believed; null where that is over. */
  readonly lastError: string | null
  /** Logs under the same name that other instances lead: those read the CRM too. */
  readonly otherLogs: readonly string[]
  /** The one in the store, and how long it has been known here. */
  readonly snapshot: { readonly rows: number; readonly bytes: number; readonly ageMs: number } | null
}

export interface ClusterCounts {
  readonly status: ClusterStatus
  /** Rows that are read and not yet in the log. */
  readonly outbox: number
  /** Nonces in the store that are not believed, or not looked at yet; seen by the leader alone. */
  readonly refusedNonces: number
  readonly epochs: number
  readonly resyncs: ReadonlyMap<string, number>
  /** By kind and direction. */
  readonly entries: readonly { readonly kind: string; readonly direction: string; readonly count: number }[]
  readonly bytes: Readonly<Record<string, number>>
}

/** None where nothing is shared. */
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
