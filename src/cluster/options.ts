import type { ListName } from '../domain/field.ts'
import type { Observation, Observe } from '../observe/observation.ts'
import type { RecordLists } from '../records/row-records.ts'
import type { Replica } from '../sync/replica.ts'
import type { RefreshSettings, ResumeState } from '../sync/served-list.ts'
import type { Time } from '../time/time.ts'
import type { Heartbeat } from './election.ts'
import type { Store, WritePosition } from './store.ts'

/** Returns random bytes, in hexadecimal. */
type Draw = (bytes: number) => string

export interface ClusterOptions {
  readonly store: Store
  readonly settings: () => RefreshSettings
  readonly limits: () => { readonly memoryBytes: number }
  readonly heartbeat: Heartbeat
  /** Whether this instance reads the CRM for itself while the store is lost. */
  readonly readAlone: boolean
  /** The version of Marquee. */
  readonly version: string
  readonly time: Time
  readonly draw: Draw
  readonly pause: () => Promise<void>
  readonly observe: Observe
  /** Returns true if the CRM can be read from here; called again until it does. */
  readonly examine: () => Promise<boolean>
  readonly newLists: () => RecordLists
  /** Returns what to call with a write once it is in the store. `isAll`: then all that these lists hold now is there. */
  readonly marking: (lists: RecordLists, isAll: boolean) => (at: WritePosition) => void
  /**
   * Creates a replica that reads the CRM into these lists, resumes from a known state, and reports its observations.
   */
  readonly newReplica: (
    lists: RecordLists,
    resumeState: Readonly<Record<ListName, ResumeState>> | null,
    told: (observation: Observation) => void,
  ) => Replica
}
