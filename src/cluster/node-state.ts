import { unreachable } from '../domain/unreachable.ts'
import type { LogPosition } from './entries.ts'
import type { FollowedLists } from './followed-lists.ts'
import type { OwnReading } from './own-reading.ts'
import type { Publisher } from './publisher.ts'
import type { SnapshotMaker } from './snapshot-maker.ts'

/** The instance follows no log, and looks for a snapshot to follow it from. */
export interface Waiting {
  readonly kind: 'waiting'
  /** The id of the log's last entry when it was last looked at. */
  readonly topSeen: string
}

/** The instance follows the log, whether or not its lists are served yet. */
interface Following {
  readonly kind: 'following'
  readonly lists: FollowedLists
}

/** The state of the log as an instance that does not lead sees it. */
export type LogState = Waiting | Following

/** The instance reads the CRM for itself. It follows the log meanwhile, and serves it again once its data is later. */
interface Standalone {
  readonly kind: 'standalone'
  readonly own: OwnReading
  readonly log: LogState
}

type Unclaimed = LogState | Standalone

/**
 * The instance has sent a claim. It may be in the log although its answer was lost. If the claim continues the log,
 * this instance applies all entries before it, and only then leads.
 */
export interface Claiming {
  readonly kind: 'claiming'
  readonly position: LogPosition
  readonly newLog: boolean
  readonly before: Unclaimed
}

/** The instance reads the CRM for all instances, and writes its changes to the log. */
export interface Leading {
  readonly kind: 'leading'
  readonly own: OwnReading
  readonly publisher: Publisher
  /** `null` until this instance has looked for the snapshot in the store. */
  readonly snapshots: SnapshotMaker | null
}

/** The state of one instance of a cluster. */
export type NodeState = Unclaimed | Claiming | Leading

export const NOTHING_FOLLOWED: Waiting = { kind: 'waiting', topSeen: '' }

/** Returns the state of the log; `null` for its leader. */
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

/** Returns the state with a new state of the log. The state of a leader does not change. */
export function withLog(state: NodeState, log: LogState): NodeState {
  const placed = (before: Unclaimed): Unclaimed => (before.kind === 'standalone' ? { ...before, log } : log)
  if (state.kind === 'leading') return state
  return state.kind === 'claiming' ? { ...state, before: placed(state.before) } : placed(state)
}

/** Returns the state without the claim that was sent. */
export function withoutClaim(state: NodeState): Exclude<NodeState, Claiming> {
  return state.kind === 'claiming' ? state.before : state
}
