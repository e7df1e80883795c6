import { unreachable } from '../domain/unreachable.ts'
import type { LogPosition } from './entries.ts'
import type { FollowedLists } from './followed-lists.ts'
import type { OwnReading } from './own-reading.ts'
import type { Publisher } from './publisher.ts'
import type { SnapshotMaker } from './snapshot-maker.ts'

/** No log is followed: a snapshot to follow it from is looked for. */
export interface Waiting {
  readonly kind: 'waiting'
  /** The id of the log's last entry when it was last looked at. */
  readonly topSeen: string
}

/** The log is followed, whether or not its lists are served yet. */
interface Following {
  readonly kind: 'following'
  readonly lists: FollowedLists
}

/** What an instance knows of the log, unless it leads. */
export type LogState = Waiting | Following

/** The CRM is read here, for this instance alone. The log is followed beside it, and served again once it is later. */
interface Standalone {
  readonly kind: 'standalone'
  readonly own: OwnReading
  readonly log: LogState
}

type Unclaimed = LogState | Standalone

/**
 * A claim was sent. It may be in the log although its answer was lost. A claim that continues the log is followed up
 * before this instance leads: all entries before it are applied.
 */
export interface Claiming {
  readonly kind: 'claiming'
  readonly position: LogPosition
  readonly newLog: boolean
  readonly before: Unclaimed
}

/** The CRM is read here for all instances, and its changes are written to the log. */
export interface Leading {
  readonly kind: 'leading'
  readonly own: OwnReading
  readonly publisher: Publisher
  /** `null` until the snapshot in the store was looked for. */
  readonly snapshots: SnapshotMaker | null
}

/** What one instance of a cluster is. */
export type NodeState = Unclaimed | Claiming | Leading

export const NOTHING_FOLLOWED: Waiting = { kind: 'waiting', topSeen: '' }

/** Returns what is known of the log; `null` for its leader. */
export function logOf(state: NodeState): LogState | null {
  switch (state.kind) {
    case 'waiting':
    case 'following':
      return state
    case 'standalone':
      return state.log
    case 'claiming':
      return logOf(state.before)
    case 'leading':
      return null
    default:
      return unreachable(state)
  }
}

/** Returns the reading of the CRM here; `null` if another instance reads it. */
export function ownOf(state: NodeState): OwnReading | null {
  if (state.kind === 'claiming') return ownOf(state.before)
  return state.kind === 'standalone' || state.kind === 'leading' ? state.own : null
}

/** Returns the state after something new is known of the log. A leader's does not change. */
export function withLog(state: NodeState, log: LogState): NodeState {
  const placed = (before: Unclaimed): Unclaimed => (before.kind === 'standalone' ? { ...before, log } : log)
  if (state.kind === 'leading') return state
  return state.kind === 'claiming' ? { ...state, before: placed(state.before) } : placed(state)
}

/** Returns the state without the claim that was sent. */
export function withoutClaim(state: NodeState): Exclude<NodeState, Claiming> {
  return state.kind === 'claiming' ? state.before : state
}
