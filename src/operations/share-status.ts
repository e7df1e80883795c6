import { type Metric, counter, gauge } from './exposition.ts'

const ROLES = ['reader', 'follower', 'alone', 'waiting'] as const

/** What this instance is to the others that share what one of them reads, and what it was told of them. */
export interface ShareStatus {
  /** `alone`: it reads for itself, since the store is lost; `waiting`: it has nothing to answer from yet. */
  readonly role: (typeof ROLES)[number]
  readonly connected: boolean
  /** 16 hex digits, drawn at start. */
  readonly instance: string
  /** Who reads the CRM for all; null where nobody is known to. */
  readonly reader: string | null
  readonly term: number
  /** `<term>-<number>` of the last entry that is held here; null where nothing is followed. */
  readonly position: string | null
  /** The reader among them; with their versions and who reads where the store is lost, as the last beat said. */
  readonly instances: number
  readonly versions: readonly string[]
  readonly standsIn: readonly string[]
  /** Why the store cannot be used, or what in it is not believed; null where that is over. */
  readonly lastError: string | null
  /** Logs under the same name that other instances lead: those read the CRM too. */
  readonly otherLogs: readonly string[]
  /** The one in the store, and how long it has been known here. */
  readonly base: { readonly rows: number; readonly bytes: number; readonly ageMs: number } | null
}

export interface ShareCounts {
  readonly status: ShareStatus
  /** Rows that are read and not yet in the log. */
  readonly owed: number
  /** Marks in the store that are not believed, or not looked at yet; seen by the reader alone. */
  readonly refusedMarks: number
  readonly terms: number
  readonly rebases: ReadonlyMap<string, number>
  /** By kind and direction. */
  readonly entries: readonly { readonly kind: string; readonly direction: string; readonly count: number }[]
  readonly bytes: Readonly<Record<string, number>>
}

/** None where nothing is shared. */
export function shareMetrics(counts: (() => ShareCounts) | null): readonly Metric[] {
  if (counts === null) return []
  return [
    gauge(
      'marquee_share_role',
      '1 for what this instance is: the reader of the CRM, a follower, alone (the store is lost), or waiting for something to answer from.',
      () => ROLES.map((role) => ({ labels: { role }, value: counts().status.role === role ? 1 : 0 })),
    ),
    gauge('marquee_share_connected', '1 while the store answers.', () => (counts().status.connected ? 1 : 0)),
    gauge(
      'marquee_share_instances',
      'Instances that share what one reads, as the last beat said; the reader is one.',
      () => counts().status.instances,
    ),
    gauge('marquee_share_owed_rows', 'Rows that are read here and not yet in the log.', () => counts().owed),
    gauge(
      'marquee_share_refused_marks',
      'Marks of instances in the store that are not believed, as the reader sees them; 0 elsewhere.',
      () => counts().refusedMarks,
    ),
    counter('marquee_share_entries_total', 'Entries of the log that were written or read here, by kind.', () =>
      counts().entries.map(({ kind, direction, count }) => ({ labels: { kind, direction }, value: count })),
    ),
    counter(
      'marquee_share_bytes_total',
      'Bytes of entries and bases that were written to the store or read from it.',
      () => Object.entries(counts().bytes).map(([direction, value]) => ({ labels: { direction }, value })),
    ),
    counter('marquee_share_rebases_total', 'How often this instance began again with a base, by reason.', () =>
      [...counts().rebases].map(([reason, value]) => ({ labels: { reason }, value })),
    ),
    counter(
      'marquee_share_terms_total',
      'Claims of the reading that were seen here: one where all is well, one more each time another takes over.',
      () => counts().terms,
    ),
  ]
}
