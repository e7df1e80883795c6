import type { LogPosition } from './entries.ts'
import type { FollowedLists } from './followed-lists.ts'
import type { OwnReading } from './own-reading.ts'
import type { Publisher } from './publisher.ts'
import type { SnapshotMaker } from './snapshot-maker.ts'

/** The instance follows no log, and looks for a snapshot to follow it from. */
interface Waiting {
  readonly kind: 'waiting'
  readonly lists: null
}

/** The instance follows the log, whether or not its lists are served yet. */
interface Following {
  readonly kind: 'following'
  readonly lists: FollowedLists
}

/** The instance reads the CRM for itself. It follows the log meanwhile, and serves it again once its data is later. */
interface Standalone {
  readonly kind: 'standalone'
  readonly own: OwnReading
  /** The lists that follow the log; `null` while the instance looks for a snapshot. */
  readonly lists: FollowedLists | null
}

type Unclaimed = Waiting | Following | Standalone

/**
 * The instance has sent a claim. It may be in the log although its answer was lost. If the claim continues the log,
 * this instance applies all entries before it, and only then leads.
 */
interface Claiming {
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
  readonly snapshots: SnapshotMaker
}

/** The state of one instance of a cluster. */
export type NodeState = Unclaimed | Claiming | Leading

export const WAITING: Waiting = { kind: 'waiting', lists: null }

/** Returns the lists that follow the log; `null` if none do. */
export function listsOf(state: NodeState): FollowedLists | null {
  const unclaimed = withoutClaim(state)
  return unclaimed.kind === 'leading' ? null : unclaimed.lists
}

/** Returns the reading of the CRM here; `null` if another instance reads it. */
export function ownOf(state: NodeState): OwnReading | null {
  const unclaimed = withoutClaim(state)
  return unclaimed.kind === 'standalone' || unclaimed.kind === 'leading' ? unclaimed.own : null
}

/** Returns the state of an instance that does not lead with other lists, or none, that follow the log. */
export function withLists(state: NodeState, lists: FollowedLists | null): NodeState {
  if (state.kind === 'leading') return state
  return changed(state, (before) => (before.kind === 'standalone' ? { ...before, lists } : followed(lists)))
}

/** Returns the state of an instance that no longer reads the CRM for itself. */
export function withoutOwn(state: Exclude<NodeState, Leading>): NodeState {
  return changed(state, ({ lists }) => followed(lists))
}

function followed(lists: FollowedLists | null): Waiting | Following {
  return lists === null ? WAITING : { kind: 'following', lists }
}

function changed(state: Exclude<NodeState, Leading>, change: (before: Unclaimed) => Unclaimed): NodeState {
  return state.kind === 'claiming' ? { ...state, before: change(state.before) } : change(state)
}

/** Returns the state without the claim that was sent. */
export function withoutClaim(state: NodeState): Exclude<NodeState, Claiming> {
  return state.kind === 'claiming' ? state.before : state
}
