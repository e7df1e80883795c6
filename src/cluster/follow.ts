import { delaysOf } from '../time/time.ts'
import { sleep } from '../time/waiting.ts'
import { decodeNotes } from './beat.ts'
import { type FollowedLists, isSame } from './followed-lists.ts'
import { load } from './load.ts'
import type { Member } from './member.ts'
import type { WritePosition, Session, StoredEntry, StoreState } from './store.ts'

/** The number of entries read at once: one may have more than 1 MB. */
const MOST_ENTRIES = 16

/**
 * The work of an instance that does not lead, during one heartbeat: writes its tick, applies what the leader wrote or
 * loads it, and claims the leadership if nobody has it.
 */
export async function follow(member: Member, session: Session, signal: AbortSignal): Promise<void> {
  const { target } = member
  if (target === null) await begin(member, session, signal)
  else await apply(member, session, target, signal)
  member.offer()
}

/** Loads what the store has, and follows from there. */
async function begin(member: Member, session: Session, signal: AbortSignal): Promise<void> {
  const { time, heartbeat } = member.options
  await member.tick(session)
  const state = await session.ask((store) => store.state())
  const isLed = member.election.stands(state)
  member.saw(state)
  if (state.isReady && state.token !== member.lacks) {
    const lists = await load(member, session, state)
    if (lists !== null && member.target === null) member.follows(lists)
    if (lists !== null) return
  } else if (!isLed && (await claimIfDue(member, session, state, null))) return
  await sleep(heartbeat.ms, time, signal)
}

/** Applies the next entries. If nothing was written, finds out why. */
async function apply(member: Member, session: Session, lists: FollowedLists, signal: AbortSignal): Promise<void> {
  const heartbeatMs = member.options.heartbeat.ms
  const { seq } = lists.position
  // The tick is sent in front, because the read holds the connection.
  const [, entries] = await Promise.all([
    member.tick(session),
    session.ask((store) => store.readAfter(seq, heartbeatMs, MOST_ENTRIES), heartbeatMs),
  ])
  const [first] = entries
  if (first !== undefined && lists.follows(first)) return applyAll(member, lists, entries)
  const state = await session.ask((store) => store.state())
  // These lists may be read into by now.
  if (member.target !== lists) return
  const hasMoved = member.election.stands(state)
  member.saw(state)
  const { position, epoch } = lists
  if (isSame(state, position)) {
    // What is there was written by a stranger. The leader removes it, if there is one.
    if (first !== undefined) await sleep(heartbeatMs, member.options.time, signal)
    return void (await claimIfDue(member, session, state, lists))
  }
  const isBack = state.epoch < epoch || (state.token === position.token && state.seq < position.seq)
  if (!isBack) {
    const missed = await session.ask((store) => store.readAfter(seq, 0, MOST_ENTRIES))
    const [next] = missed
    return next !== undefined && lists.follows(next) ? applyAll(member, lists, missed) : member.lose(lists)
  }
  // The store went back or is empty: its leader begins again, from the position that is held here.
  if (!hasMoved) return void (await claimIfDue(member, session, state, lists))
  lists.isBack ??= member.options.time.now()
  // Another instance leads, and does not know the rows that are held here.
  const backMs = member.options.time.now().monotonicMs - lists.isBack.monotonicMs
  if (backMs > member.election.lengthMs) member.lose(lists)
}

/** Applies entries, each in one turn. */
async function applyAll(member: Member, lists: FollowedLists, entries: readonly StoredEntry[]): Promise<void> {
  const { options, election, traffic, cutOver } = member
  for (const entry of entries) {
    // Each await lets this instance begin to read the CRM, into these very lists.
    if (member.target !== lists) return
    const before = lists.beat
    if (!lists.take(entry)) {
      if (lists.gap !== 'entries are missing') member.lose(lists)
      break
    }
    options.marking(lists.lists, true)(lists.position)
    traffic.count('read', (entry.rows?.length ?? 0) + entry.notes.length + (entry.beat?.length ?? 0))
    election.stands(entry)
    member.saw({ epoch: lists.epoch, seq: entry.seq })
    lists.isBack = null
    const { beat } = lists
    if (beat !== null && beat !== before) {
      member.noteBeat(beat, lists)
      if (beat.leaves) election.vacant()
    }
    if (entry.rows !== null && cutOver.served === lists) tell(member, entry)
    if (entry.rows !== null) await options.pause()
  }
  lists.help()
}

/** Reports how long the changes of an applied entry took to be served here. */
function tell({ options }: Member, { notes }: StoredEntry): void {
  const delaysMs = delaysOf(decodeNotes(notes).times, options.time.now().wallMs)
  if (delaysMs.length > 0) options.observe({ kind: 'changes-published', delaysMs })
}

/** Claims the leadership if nobody has it and it is this instance's turn. Returns true if it leads. */
async function claimIfDue(
  member: Member,
  session: Session,
  state: StoreState,
  lists: FollowedLists | null,
): Promise<boolean> {
  const { instance, election, candidates, options, highest } = member
  const isNew = lists === null && member.own === null && state.token === '' && highest.epoch === 0
  if (!member.mayRead || !election.isOver({ instance, candidates, isNew })) return false
  const claim = claimFrom(member, state, lists)
  const token = options.draw(8)
  election.heard()
  const claimed = await session.ask((store) => store.claim({ ...claim, token, seen: state, highest, who: instance }))
  // While the claim was sent, this instance may have begun to read the CRM: others hold nothing of that.
  if (claimed === null || (lists !== null && member.target !== lists)) return false
  member.leads({ token, ...claimed, isNew: claim.isNew }, claim.after === null ? null : lists)
  return true
}

/** Decides what a claim begins with: what the store holds, or the rows of this instance. */
function claimFrom(
  member: Member,
  state: StoreState,
  lists: FollowedLists | null,
): { readonly after: WritePosition | null; readonly isNew: boolean } {
  if (lists === null || member.own !== null || !lists.isWhole) return { after: null, isNew: true }
  return { after: lists.position, isNew: !(isSame(state, lists.position) && state.isReady) }
}
