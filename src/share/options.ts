import type { ListName } from '../domain/field.ts'
import type { RefreshSettings } from '../replica/list-replica.ts'
import type { Time } from '../replica/time.ts'
import type { Draw } from './marks.ts'
import type { ReplicaMaker } from './own-reading.ts'
import type { Heartbeat } from './reign.ts'
import type { Signing } from './signing.ts'
import type { Store } from './store.ts'

/** What an operator is told, once a change. */
export type ShareNews =
  | { readonly kind: 'took-reading'; readonly term: number; readonly anew: boolean }
  | { readonly kind: 'lost-reading'; readonly why: string }
  | { readonly kind: 'store-lost'; readonly why: string }
  | { readonly kind: 'store-found' }
  | { readonly kind: 're-based'; readonly why: string }
  | { readonly kind: 'reads-alone' }
  | { readonly kind: 'base-written'; readonly rows: number; readonly bytes: number }
  | { readonly kind: 'snapshot-failed'; readonly why: string }
  | { readonly kind: 'base-ignored'; readonly why: string }
  | { readonly kind: 'entry-refused'; readonly why: string }
  | { readonly kind: 'marks-refused'; readonly why: string }
  /** The log cannot be read, verified or written. */
  | { readonly kind: 'log-unusable'; readonly why: string }
  /** Nobody led it, and it was dropped here. */
  | { readonly kind: 'log-replaced'; readonly why: string }
  | { readonly kind: 'bound-too-short'; readonly why: string }
  | { readonly kind: 'accepted'; readonly lists: readonly ListName[] }
  /** What follows the log shows these changes, each so long after the CRM says that it was made. */
  | { readonly kind: 'published'; readonly delaysMs: readonly number[] }

export interface ShareOptions extends ReplicaMaker {
  readonly store: Store
  readonly signing: Signing
  readonly settings: RefreshSettings
  readonly limits: { readonly memoryBytes: number }
  readonly heartbeat: Heartbeat
  /** The reader counts; infinite: all. */
  readonly readersWhenLost: number
  /** Of Marquee. */
  readonly version: string
  readonly time: Time
  readonly draw: Draw
  readonly pause: () => Promise<void>
  readonly tell: (news: ShareNews) => void
  /** Whether the CRM can be read from here; asked again until it can. */
  readonly examine: () => Promise<boolean>
}

export type Role = 'reader' | 'follower' | 'alone' | 'waiting'
