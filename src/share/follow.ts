import { delaysOf } from '../replica/time.ts'
import { pause } from '../replica/waiting.ts'
import type { LogEntry, LogPosition } from './entries.ts'
import { compareIds, decodeEntry, encodeEntry, idOf, isSame, NO_BODY } from './entries.ts'
import type { Following } from './follower.ts'
import type { Member } from './member.ts'
import { claimableAt } from './reign.ts'
import type { Session } from './session.ts'
import type { StoredEntry } from './store.ts'

/** A follower's work for a beat: says that it is there, takes what is new, and claims the reading where nobody has it. */
export async function follow(member: Member, session: Session, signal: AbortSignal): Promise<void> {
  const { time, beatMs } = member.options
  await member.mark(session)
  const { target } = member
  if (target !== null) {
    const { position } = target
    const entries = await session.readAfter(idOf(position), beatMs)
    let isTaken = true
    for (const stored of entries) isTaken &&= await take(member, session, target, stored)
    target.help()
    if (!isTaken) return
  } else {
    member.target = await member.rebase.load(session, () => member.mark(session))
    if (member.target !== null) return
    await watch(member, session)
    await pause(beatMs, time, signal)
  }
  member.offer()
  if (member.publisher === null) await claimIfDue(member, session)
}

/** Whether to go on with the next one. */
async function take(member: Member, session: Session, target: Following, stored: StoredEntry): Promise<boolean> {
  if (member.target !== target) return false
  const entry = member.decode(stored)
  if (entry === null) {
    member.lose(target, 'an entry of the log is not believed')
    return false
  }
  const { claimed } = member
  const isOurs = claimed !== null && isSame(entry.position, claimed.position)
  if (isOurs && claimed.anew) {
    // It was sent, and nothing heard of it.
    member.takeOver(entry.position, true)
    return false
  }
  const isTaken = await target.take(entry, (position) => isInLog(member, session, position))
  if (member.target !== target) return false
  if (entry.head.kind === 'leave') member.silence.vacant()
  else member.silence.heard()
  if (!isTaken) {
    member.lose(target, 'entries of the log are missing')
    return false
  }
  tell(member, target, entry)
  member.follow(target, entry)
  if (!session.isProven && entry.head.kind === 'beat') session.isProven = member.wroteSince(session.openedAtMs, entry)
  if (!isOurs) return true
  // All before our own claim is held now.
  member.takeOver(entry.position, false)
  return false
}

/** What operators are told of an entry that was taken. */
function tell({ options, swap, beat }: Member, target: Following, { head }: LogEntry): void {
  if (head.kind === 'rows' && swap.served === target) {
    const delaysMs = delaysOf(head.changedAtMs, options.time.now().wallMs)
    if (delaysMs.length > 0) options.tell({ kind: 'published', delaysMs })
  }
  if (head.kind !== 'beat' || head.refreshEveryMs === beat?.refreshEveryMs) return
  const { boundMs } = options.settings
  if (boundMs >= 2 * head.refreshEveryMs) return
  const why = `it is ${boundMs / 1000} s, and the reader reads every ${head.refreshEveryMs / 1000} s: twice that is the least`
  options.tell({ kind: 'bound-too-short', why })
}

async function isInLog({ options }: Member, session: Session, position: LogPosition): Promise<boolean> {
  const [stored] = await session.ask((store) => store.readFrom(idOf(position), 1))
  const entry = stored === undefined ? null : decodeEntry(stored, options.signing)
  return entry !== null && 'position' in entry && isSame(entry.position, position)
}

/** Nothing can be followed: whether anybody writes is seen by the top alone. */
async function watch(member: Member, session: Session): Promise<void> {
  const stored = await session.ask((store) => store.top())
  const entry = stored === null ? null : member.decode(stored)
  const seen = stored?.id ?? ''
  if (seen === member.topSeen) return
  member.topSeen = seen
  if (entry?.head.kind === 'leave') member.silence.vacant()
  else if (entry !== null) member.silence.heard()
}

async function claimIfDue(member: Member, session: Session): Promise<void> {
  const { instance, silence, options, target, own } = member
  const now = options.time.now()
  const { claimed } = member
  if (claimed !== null && claimed.anew) {
    // It was sent, and nothing heard of it.
    const stored = await session.ask((store) => store.top())
    const top = stored === null ? null : member.decode(stored)
    if (isSame(top?.position ?? null, claimed.position)) return member.takeOver(claimed.position, true)
    member.claimed = null
  }
  if (!member.isFit || now.monotonicMs < member.restsUntilMs) return
  const isConfirmed = ((target ?? own?.replica)?.events.ageMs(now) ?? null) !== null
  const holdsNothing = target === null && own === null
  const isNew = holdsNothing && !member.hasSeenLog && member.topSeen === '' && member.rebase.foundNone
  if (!silence.isOver(instance, member.standIns, isConfirmed, isNew)) return
  const stored = await session.ask((store) => store.top())
  const top = stored === null ? null : member.decode(stored)
  const isAhead = top !== null && target !== null && compareIds(top.position, target.position) > 0
  if (isAhead || (target === null && (stored?.id ?? '') !== member.topSeen)) {
    // Somebody writes, and what there is to follow may come yet.
    member.topSeen = stored?.id ?? ''
    return silence.heard()
  }
  if (stored !== null && top === null) {
    silence.heard()
    // Nobody could read it for the length of a silence.
    await session.ask((store) => store.dropLog())
  }
  const held = own === null ? (target?.isReached === true ? target.position : null) : own.after
  // With a base to begin with there is more to go on from than nothing.
  if (held === null && own === null && top !== null && !member.rebase.needsBase) return
  const claim = claimableAt(top?.position ?? null, held, own !== null)
  if (claim === null) return
  const position = member.nextReign(top?.position ?? null)
  const { version, signing } = options
  const head = { kind: 'claim', instance, version, ...claim } as const
  member.claimed = { position, anew: claim.anew }
  const appended = await session.append(encodeEntry({ position, head, body: NO_BODY }, signing), claim.anew)
  silence.heard()
  if (appended !== 'added') member.claimed = null
  else member.won({ position, anew: claim.anew })
}
