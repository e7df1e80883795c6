import { delaysOf } from '../time/time.ts'
import { sleep } from '../time/waiting.ts'
import type { LogEntry, LogPosition } from './entries.ts'
import { compareIds, decodeEntry, encodeEntry, idOf, isBelow, isSame, NO_BODY } from './entries.ts'
import type { FollowedLists } from './followed-lists.ts'
import { type Member, MOST_ENTRIES } from './member.ts'
import { claimableAt } from './election.ts'
import type { Session } from './session.ts'
import type { StoredEntry } from './store.ts'

/**
 * A follower's work during one heartbeat: writes its nonce, applies new entries, and claims the leadership if no
 * instance has it.
 */
export async function follow(member: Member, session: Session, signal: AbortSignal): Promise<void> {
  const { time, heartbeat } = member.options
  await member.nonce(session)
  if (member.unusable.why !== null) return lookAgain(member, session, signal)
  const { target } = member
  if (target !== null) {
    const entries = await readAfter(member, session, idOf(target.position))
    let isTaken = true
    for (const stored of entries) isTaken &&= await take(member, session, target, stored)
    target.help()
    if (!isTaken) return
  } else {
    member.target = await member.resync.load(session, () => member.nonce(session))
    if (member.target !== null) return
    await watch(member, session)
    await sleep(heartbeat.ms, time, signal)
  }
  member.offer()
  if (member.publisher === null) await claimIfDue(member, session)
}

/** Reads the next entries of the log. After a slow read, it requests fewer at once. */
async function readAfter(member: Member, session: Session, id: string): Promise<readonly StoredEntry[]> {
  const { time, heartbeat } = member.options
  const count = member.entriesAtOnce
  const begunMs = time.now().monotonicMs
  // If a read times out, only an entry that was requested alone is known to be too large.
  member.entriesAtOnce = 1
  const waitMs = heartbeat.ms
  const asked = session.readAfter(id, waitMs, count)
  const entries = await (count === 1 ? member.reading(asked) : asked)
  const isSlow = time.now().monotonicMs - begunMs > waitMs + session.limitMs / 4
  member.entriesAtOnce = isSlow ? Math.max(1, count >> 1) : Math.min(MOST_ENTRIES, count + 1)
  return entries
}

/**
 * Handles an unusable log. New entries show that an instance leads it; a log that no instance leads is replaced.
 */
async function lookAgain(member: Member, session: Session, signal: AbortSignal): Promise<void> {
  const { unusable, election, target, options } = member
  const why = unusable.why ?? ''
  const fate = await unusable.look(session, options.heartbeat.ms, isDue(member), signal)
  member.offer()
  if (fate === 'led') {
    election.heard()
    const at = target === null ? null : idOf(target.position)
    if (target !== null && at === member.unreadAt) member.lose(target, why)
    member.unreadAt = at
  }
  if (fate !== 'abandoned') return
  await member.dropLog(session)
  await claim(member, session, null)
}

/** Applies an entry. Returns true if the next one may be applied. */
async function take(member: Member, session: Session, target: FollowedLists, stored: StoredEntry): Promise<boolean> {
  if (member.target !== target) return false
  const entry = member.decode(stored)
  if (entry === null) {
    member.lose(target, 'an entry of the log is not believed')
    return false
  }
  const { claimed } = member
  const isOurs = claimed !== null && isSame(entry.position, claimed.position)
  if (isOurs && claimed.newLog) {
    // Our own claim, whose answer was lost.
    member.takeOver(entry.position, true)
    return false
  }
  const isTaken = await target.take(entry, (position) => isInLog(member, session, position))
  if (member.target !== target) return false
  member.heard(entry)
  if (!isTaken) {
    member.lose(target, target.gap)
    return false
  }
  tell(member, target, entry)
  member.follow(target, entry)
  if (!session.isProven && entry.head.kind === 'heartbeat')
    session.isProven = member.wroteSince(session.openedAtMs, entry)
  if (!isOurs) return true
  // Everything before our own claim has been applied.
  member.takeOver(entry.position, false)
  return false
}

/** Reports an applied entry to the operator. */
function tell({ options, cutOver, heartbeat }: Member, target: FollowedLists, { head }: LogEntry): void {
  if (head.kind === 'rows' && cutOver.served === target) {
    const delaysMs = delaysOf(head.updatedAtMs, options.time.now().wallMs)
    if (delaysMs.length > 0) options.observe({ kind: 'changes-published', delaysMs })
  }
  if (head.kind !== 'heartbeat' || head.refreshEveryMs === heartbeat?.refreshEveryMs) return
  const { maxAgeMs } = options.settings
  if (maxAgeMs >= 2 * head.refreshEveryMs) return
  const why = `it is ${maxAgeMs / 1000} s, and the leader reads every ${head.refreshEveryMs / 1000} s: twice that is the least`
  options.observe({ kind: 'cluster-changed', what: 'max-age-too-short', detail: why })
}

async function isInLog(member: Member, session: Session, position: LogPosition): Promise<boolean> {
  const [stored] = await member.reading(session.ask((store) => store.readFrom(idOf(position), 1)))
  const entry = stored === undefined ? null : decodeEntry(stored, member.options.signing)
  return entry !== null && 'position' in entry && isSame(entry.position, position)
}

/** While there is no snapshot to follow from, notices a leader by a change of the last entry. */
async function watch(member: Member, session: Session): Promise<void> {
  const { stored, entry } = await member.top(session)
  const seen = stored?.id ?? ''
  if (seen === member.topSeen) return
  member.topSeen = seen
  if (entry !== null) member.heard(entry)
}

/** Whether this instance should claim the leadership. */
function isDue(member: Member): boolean {
  const { instance, election, options, target, own } = member
  const now = options.time.now()
  if (!member.isFit || now.monotonicMs < member.restsUntilMs) return false
  const isConfirmed = ((target ?? own?.replica)?.events.ageMs(now) ?? null) !== null
  const holdsNothing = target === null && own === null
  const isNew = holdsNothing && !member.hasSeenLog && member.topSeen === '' && member.resync.foundNone
  return election.isOver(instance, member.candidates, isConfirmed, isNew)
}

async function claimIfDue(member: Member, session: Session): Promise<void> {
  const { election, target, claimed } = member
  if (claimed !== null && claimed.newLog) {
    // Our claim may be in the log although its answer was lost.
    const { entry } = await member.top(session)
    if (isSame(entry?.position ?? null, claimed.position)) return member.takeOver(claimed.position, true)
    member.claimed = null
  }
  if (!isDue(member)) return
  const { stored, entry: top } = await member.top(session)
  if (stored !== null && top === null) return
  const isAhead = top !== null && target !== null && compareIds(top.position, target.position) > 0
  if (isAhead || (target === null && (stored?.id ?? '') !== member.topSeen)) {
    // A leader writes, so a snapshot to follow may come.
    member.topSeen = stored?.id ?? ''
    return election.heard()
  }
  await claim(member, session, top)
}

async function claim(member: Member, session: Session, top: LogEntry | null): Promise<void> {
  const { instance, election, options, target, own } = member
  const held = own === null ? (target?.isReached === true ? target.position : null) : own.after
  // Do not claim without rows before the snapshot in the store was tried.
  if (held === null && own === null && top !== null && !member.resync.needsSnapshot) return
  const claimable = claimableAt(top?.position ?? null, held, own !== null)
  if (claimable === null) return
  const position = member.nextClaim(top?.position ?? null)
  const { version, signing } = options
  const head = { kind: 'claim', instance, version, ...claimable } as const
  member.claimed = { position, newLog: claimable.newLog }
  const appended = await session.append(encodeEntry({ position, head, body: NO_BODY }, signing), claimable.newLog)
  election.heard()
  if (appended === 'added') return member.won({ position, newLog: claimable.newLog })
  member.claimed = null
  if (appended !== 'refused') return
  const last = await session.ask((store) => store.top())
  if (last !== null && isBelow(last.id, position)) member.isStuckAt(position, last.id)
}
