import type { Observe } from '../observe/observation.ts'
import type { RefreshSettings } from '../sync/served-list.ts'
import type { Time } from '../time/time.ts'
import type { Draw } from './nonces.ts'
import type { ReplicaMaker } from './own-reading.ts'
import type { Heartbeat } from './election.ts'
import type { Signing } from './entries.ts'
import type { Store } from './store.ts'

export interface ClusterOptions extends ReplicaMaker {
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
}

export type Role = 'leader' | 'follower' | 'standalone' | 'waiting'
