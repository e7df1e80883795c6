import { delaysOf } from '../time/time.ts'
import { sleep } from '../time/waiting.ts'
import { claim, claimIfDue, isDue } from './claim.ts'
import { idOf, isSame, type LogEntry } from './entries.ts'
import type { FollowedLists } from './followed-lists.ts'
import type { Member } from './member.ts'
import { logOf } from './node-state.ts'
import type { Session, StoredEntry } from './store.ts'

/**
 * The work of an instance that does not lead, during one heartbeat: writes its nonce, applies new entries or looks for
 * a snapshot to begin with, and claims the leadership if no instance has it.
 */
export async function follow(member: Member, session: Session, signal: AbortSignal): Promise<void> {
  await member.nonce(session)
  if (member.log.unusable.why !== null) return lookAgain(member, session, signal)
  const log = logOf(member.state)
  const goesOn =
    log?.kind === 'following' ? await apply(member, session, log.lists) : await begin(member, session, signal)
  if (!goesOn) return
  member.offer()
  if (member.state.kind !== 'leading') await claimIfDue(member, session)
}

/** Applies the next entries of the log. Returns true if more may follow them. */
async function apply(member: Member, session: Session, lists: FollowedLists): Promise<boolean> {
  const entries = await member.log.readAfter(session, idOf(lists.position))
  let isTaken = true
  for (const stored of entries) isTaken &&= await take(member, session, lists, stored)
  lists.help()
  return isTaken
}

/**
 * Loads the snapshot in the store and follows from it. Without a usable snapshot, reads the last entry of the log: if
 * it has changed since the last look, an instance leads.
 */
async function begin(member: Member, session: Session, signal: AbortSignal): Promise<boolean> {
  const lists = await member.resync.load(session, () => member.nonce(session))
  if (lists !== null) {
    member.knows({ kind: 'following', lists })
    return false
  }
  const { stored, entry } = await member.log.top(session)
  const topSeen = stored?.id ?? ''
  const log = logOf(member.state)
  if (log?.kind === 'waiting' && topSeen !== log.topSeen) {
    member.knows({ kind: 'waiting', topSeen })
    if (entry !== null) member.heard(entry)
  }
  await sleep(member.options.heartbeat.ms, member.options.time, signal)
  return true
}

/**
 * Handles an unusable log. New entries show that an instance leads it; a log that no instance leads is replaced.
 */
async function lookAgain(member: Member, session: Session, signal: AbortSignal): Promise<void> {
  const { election, options } = member
  const { unusable } = member.log
  const why = unusable.why ?? ''
  const fate = await unusable.look(session, options.heartbeat.ms, isDue(member), signal)
  member.offer()
  if (fate === 'led' || fate === 'changed') {
    // The last entry can be read, so an earlier one cannot: this instance needs a snapshot.
    unusable.clear()
    election.heard()
    const { target } = member
    const isUnreadAgain = member.log.isUnreadAgain(target?.position ?? null)
    if (target !== null && isUnreadAgain) member.lose(target, why)
  }
  if (fate !== 'abandoned') return
  await member.log.drop(session)
  await claim(member, session, null)
}

/** Applies an entry. Returns true if the next one may be applied. */
async function take(member: Member, session: Session, lists: FollowedLists, stored: StoredEntry): Promise<boolean> {
  if (member.target !== lists) return false
  const entry = member.log.decode(stored)
  if (entry === null) {
    member.lose(lists, 'an entry of the log cannot be verified')
    return false
  }
  const { state } = member
  const isOurs = state.kind === 'claiming' && isSame(entry.position, state.position)
  if (isOurs && state.newLog) {
    // This is our own claim, whose answer was lost.
    member.takeOver(entry.position, true)
    return false
  }
  const isTaken = await lists.take(entry, (position) => member.log.has(session, position))
  if (member.target !== lists) return false
  member.heard(entry)
  if (!isTaken) {
    member.lose(lists, lists.gap)
    return false
  }
  tell(member, lists, entry)
  if (entry.head.kind === 'heartbeat') {
    member.beats(entry.head, lists)
    if (!session.isProven && member.wroteSince(session.openedAtMs, entry)) session.prove()
  }
  if (!isOurs) return true
  // Everything before our own claim has been applied.
  member.takeOver(entry.position, false)
  return false
}

/** Reports an applied entry to the operator. */
function tell({ options, cutOver, heartbeat }: Member, lists: FollowedLists, { head }: LogEntry): void {
  if (head.kind === 'rows' && cutOver.served === lists) {
    const delaysMs = delaysOf(head.updatedAtMs, options.time.now().wallMs)
    if (delaysMs.length > 0) options.observe({ kind: 'changes-published', delaysMs })
  }
  if (head.kind !== 'heartbeat' || head.refreshEveryMs === heartbeat?.refreshEveryMs) return
  const { maxAgeMs } = options.settings
  if (maxAgeMs >= 2 * head.refreshEveryMs) return
  const why = `it is ${maxAgeMs / 1000} s, but must be at least twice the interval at which the leader reads (${head.refreshEveryMs / 1000} s)`
  options.observe({ kind: 'cluster-changed', what: 'max-age-too-short', detail: why })
}
