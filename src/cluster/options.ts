import type { ListName } from '../domain/field.ts'
import type { RefreshSettings } from '../sync/list-replica.ts'
import type { Time } from '../time/time.ts'
import type { Draw } from './nonces.ts'
import type { ReplicaMaker } from './own-reading.ts'
import type { Heartbeat } from './election.ts'
import type { Signing } from './signing.ts'
import type { Store } from './store.ts'

/** What the cluster reports to the operator, once per change. */
export type ClusterNews =
  | { readonly kind: 'became-leader'; readonly epoch: number; readonly newLog: boolean }
  | { readonly kind: 'lost-leadership'; readonly why: string }
  | { readonly kind: 'store-lost'; readonly why: string }
  | { readonly kind: 'store-found' }
  | { readonly kind: 'resynced'; readonly why: string }
  | { readonly kind: 'reads-alone' }
  | { readonly kind: 'snapshot-written'; readonly rows: number; readonly bytes: number }
  | { readonly kind: 'snapshot-failed'; readonly why: string }
  | { readonly kind: 'snapshot-ignored'; readonly why: string }
  | { readonly kind: 'entry-refused'; readonly why: string }
  | { readonly kind: 'nonces-refused'; readonly why: string }
  /** The log cannot be read, verified or written. */
  | { readonly kind: 'log-unusable'; readonly why: string }
  /** This instance dropped a log that no instance led. */
  | { readonly kind: 'log-replaced'; readonly why: string }
  | { readonly kind: 'max-age-too-short'; readonly why: string }
  | { readonly kind: 'accepted'; readonly lists: readonly ListName[] }
  /** The delays, in ms, from changes in the CRM until this follower serves them. */
  | { readonly kind: 'published'; readonly delaysMs: readonly number[] }

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
  readonly tell: (news: ClusterNews) => void
  /** Whether the CRM can be read from here; asked again until it can. */
  readonly examine: () => Promise<boolean>
}

export type Role = 'leader' | 'follower' | 'standalone' | 'waiting'
