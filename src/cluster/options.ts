import type { ListName } from '../domain/field.ts'
import type { Observation, Observe } from '../observe/observation.ts'
import type { RecordLists } from '../records/row-records.ts'
import type { Replica } from '../sync/replica.ts'
import type { RefreshSettings, ResumeState } from '../sync/served-list.ts'
import type { Time } from '../time/time.ts'
import type { Draw } from './nonces.ts'
import type { Heartbeat } from './election.ts'
import type { Signing } from './entries.ts'
import type { Store } from './store.ts'

export interface ClusterOptions {
  readonly store: Store
  readonly signing: Signing
  readonly settings: RefreshSettings
  readonly limits: { readonly memoryBytes: number }
  readonly heartbeat: Heartbeat
  /** Includes the leader; infinite means all. */
  readonly readersWhenLost: number
  /** The version of Marquee. */
  readonly version: string
  readonly time: Time
  readonly draw: Draw
  readonly pause: () => Promise<void>
  readonly observe: Observe
  /** Returns true if the CRM can be read from here; called again until it does. */
  readonly examine: () => Promise<boolean>
  readonly newLists: () => RecordLists
  /**
   * Creates a replica that reads the CRM into these lists, resumes from a known state, and reports its observations.
   */
  readonly newReplica: (
    lists: RecordLists,
    resumeState: Readonly<Record<ListName, ResumeState>> | null,
    told: (observation: Observation) => void,
  ) => Replica
}
