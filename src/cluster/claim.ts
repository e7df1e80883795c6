import { claimableAt } from './election.ts'
import { compareIds, encodeEntry, isBelow, isSame, type LogEntry, NO_BODY } from './entries.ts'
import type { Member } from './member.ts'
import { logOf } from './node-state.ts'
import type { Session } from './store.ts'

/** Returns true if this instance should claim the leadership. */
export function isDue(member: Member): boolean {
  const { instance, election, options, target, own } = member
  if (!member.mayRead) return false
  const isConfirmed = ((target ?? own?.replica)?.events.ageMs(options.time.now()) ?? null) !== null
  const holdsNothing = target === null && own === null
  const isNew = holdsNothing && !member.log.hasSeenEntries && topSeenBy(member) === '' && member.resync.foundNone
  return election.isOver({ instance, candidates: member.candidates, isConfirmed, isNew })
}

function topSeenBy({ state }: Member): string | null {
  const log = logOf(state)
  return log?.kind === 'waiting' ? log.topSeen : null
}

/** Claims the leadership if no instance has it, or notices that an earlier claim is in the log. */
export async function claimIfDue(member: Member, session: Session): Promise<void> {
  const { state, election, target } = member
  if (state.kind === 'claiming' && state.newLog) {
    // Our claim may be in the log although its answer was lost.
    const { entry } = await member.log.top(session)
    if (isSame(entry?.position ?? null, state.position)) return member.takeOver(state.position, true)
    member.unclaim()
  }
  if (!isDue(member)) return
  const { stored, entry: top } = await member.log.top(session)
  if (stored !== null && top === null) return
  const isAhead = top !== null && target !== null && compareIds(top.position, target.position) > 0
  const topSeen = stored?.id ?? ''
  if (isAhead || (target === null && topSeen !== topSeenBy(member))) {
    // A leader is writing, so there may soon be a snapshot to follow from.
    if (target === null) member.knows({ kind: 'waiting', topSeen })
    return election.heard()
  }
  await claim(member, session, top)
}

/** Sends a claim above the last entry of the log, if there is a basis for one. */
export async function claim(member: Member, session: Session, top: LogEntry | null): Promise<void> {
  const { instance, election, options, target, own } = member
  const held = own === null ? (target?.isReached === true ? target.position : null) : own.after
  // An instance without rows tries the snapshot in the store before it claims.
  if (held === null && own === null && top !== null && !member.resync.needsSnapshot) return
  const claimable = claimableAt(top?.position ?? null, held, own !== null)
  if (claimable === null) return
  const position = member.log.nextClaim(top?.position ?? null)
  const { version, signing } = options
  const head = { kind: 'claim', instance, version, ...claimable } as const
  member.claims(position, claimable.newLog)
  const appended = await session.append(encodeEntry({ position, head, body: NO_BODY }, signing), claimable.newLog)
  election.heard()
  if (appended === 'added') return member.won({ position, newLog: claimable.newLog })
  member.unclaim()
  if (appended !== 'refused') return
  const last = await session.ask((store) => store.top())
  if (last === null || isBelow(last.id, position)) member.log.isStuckAt(position, last)
}
