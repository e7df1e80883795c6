import { delaysOf } from '../time/time.ts'
import { sleep } from '../time/waiting.ts'
import { type LogEntry, NO_BODY, compareIds, encodeEntry, idOf, isHighest, isSame } from './entries.ts'
import type { FollowedLists } from './followed-lists.ts'
import type { Member } from './member.ts'
import type { Session, StoredEntry } from './store.ts'
import { makeRoom } from './store-snapshot.ts'
import { claimableAt } from './election.ts'

/**
 * The work of an instance that does not lead, during one heartbeat: writes its nonce, applies new entries or looks for
 * a snapshot to begin with, and claims the leadership if no instance has it.
 */
export async function follow(member: Member, session: Session, signal: AbortSignal): Promise<void> {
  await member.nonce(session)
  if (member.log.unusable.why !== null) return lookAgain(member, session, signal)
  const { target } = member
  const goesOn = target === null ? await begin(member, session, signal) : await apply(member, session, target)
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
    member.follows(lists)
    return false
  }
  const { log } = member
  const top = await log.top(session)
  if (log.unusable.why !== null) return false
  if (log.isNews(top) && top !== null) member.heard(top)
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
    member.compareMaxAge(entry.head)
    member.noteHeartbeat(entry.head, lists)
  }
  if (!isOurs) return true
  // Everything before our own claim has been applied.
  member.takeOver(entry.position, false)
  return false
}

/** Reports how long the changes of an applied entry took to be served here. */
function tell({ options, cutOver }: Member, lists: FollowedLists, { head }: LogEntry): void {
  if (head.kind !== 'rows' || cutOver.served !== lists) return
  const delaysMs = delaysOf(head.updatedAtMs, options.time.now().wallMs)
  if (delaysMs.length > 0) options.observe({ kind: 'changes-published', delaysMs })
}

/** Returns true if this instance should claim the leadership. */
function isDue(member: Member): boolean {
  const { instance, election, options, target, own, log } = member
  if (!member.mayRead) return false
  const isConfirmed = ((target ?? own?.replica)?.events.ageMs(options.time.now()) ?? null) !== null
  const holdsNothing = target === null && own === null
  const isNew = holdsNothing && !log.hasSeenEntries && log.unusable.why === null && member.resync.foundNone
  return election.isOver({ instance, candidates: member.candidates, isConfirmed, isNew })
}

/** Claims the leadership if no instance has it, or notices that an earlier claim is in the log. */
async function claimIfDue(member: Member, session: Session): Promise<void> {
  const { state, election, target, log } = member
  if (state.kind === 'claiming' && state.newLog) {
    // Our claim may be in the log although its answer was lost.
    const top = await log.top(session)
    if (isSame(top?.position ?? null, state.position)) return member.takeOver(state.position, true)
    member.unclaim()
  }
  if (!isDue(member)) return
  const top = await log.top(session)
  if (log.unusable.why !== null) return
  // A leader is writing. An instance without lists may soon find a snapshot to follow from.
  const isAhead = target === null ? log.isNews(top) : top !== null && compareIds(top.position, target.position) > 0
  if (isAhead) return election.heard()
  await claim(member, session, top)
}

const EXHAUSTED = 'the log begins again, because no higher epoch was left'

/** Sends a claim above the last entry of the log, if there is a basis for one. */
async function claim(member: Member, session: Session, top: LogEntry | null): Promise<void> {
  const { instance, election, options, target, own } = member
  if (top !== null && isHighest(top.position)) return member.log.isExhausted(top.position)
  // The log that replaced an exhausted one begins below it.
  if (top !== null && target !== null && isHighest(target.position)) return member.lose(target, EXHAUSTED)
  const held = own === null ? (target?.isReached === true ? target.position : null) : own.after
  // An instance without rows tries the snapshot in the store before it claims.
  if (held === null && own === null && top !== null && !member.resync.needsSnapshot) return
  const claimable = claimableAt(top?.position ?? null, held, own !== null)
  // A full store has no room for a new log: an instance that continues the present one makes room in it.
  if (claimable === null || (claimable.newLog && member.isStoreFull)) return
  const position = member.log.nextClaim(top?.position ?? null)
  const { version, signing } = options
  const head = { kind: 'claim', instance, version, ...claimable } as const
  member.claims(position, claimable.newLog)
  const entry = encodeEntry({ position, head, body: NO_BODY }, signing)
  const appended = await member.log.append(session, entry, claimable.newLog, (full) =>
    makeRoom(full, top?.position ?? null, signing),
  )
  election.heard()
  if (appended === 'added') member.won({ position, newLog: claimable.newLog })
  else member.unclaim()
}
