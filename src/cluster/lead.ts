import { withTimeout } from '../time/waiting.ts'
import { isBelow, type LogPosition } from './entries.ts'
import type { Member } from './member.ts'
import type { Leading } from './node-state.ts'
import type { LogStanding, Publisher } from './publisher.ts'
import { type Session, type StoredEntry, StoreFailure } from './store.ts'

/** Changes within this time are sent in one entry. */
const COALESCED_MS = 2

/**
 * The leader's work on one session, until it resigns. After a reconnection, it first checks who has written to the log.
 */
export async function lead(
  member: Member,
  { publisher }: Leading,
  session: Session,
  signal: AbortSignal,
): Promise<void> {
  const { time, heartbeat } = member.options
  const found = await standing(member, publisher, session, signal)
  if (found === 'deposed') return member.resign('another instance has claimed the leadership')
  if (found === 'new-log') {
    await publisher.claimNewLog(session, member.log.nextClaim(null))
    member.makeSnapshots(null)
  }
  await member.findSnapshot(session)
  for (let heartbeatAt = { monotonicMs: Number.NEGATIVE_INFINITY }; ;) {
    const now = time.now()
    if (signal.aborted) {
      await publisher.leave(session, 'it stops')
      return member.resign('it stops')
    }
    if (now.monotonicMs - heartbeatAt.monotonicMs >= heartbeat.ms) {
      heartbeatAt = now
      await sendHeartbeat(member, publisher, session)
      if (member.publisher !== publisher) return
    } else await publisher.sendOutbox(session)
    const leftMs = Math.max(0, heartbeatAt.monotonicMs + heartbeat.ms - time.now().monotonicMs)
    const unsent = new Promise<void>((resolve) => {
      publisher.outbox.onUnsent(() => time.after(COALESCED_MS, resolve))
    })
    await withTimeout(time, publisher.unsent > 0 ? Math.min(COALESCED_MS, leftMs) : leftMs, unsent, signal)
  }
}

/** Checks the state of the log. An unusable log is dropped once it is certain that no other instance leads it. */
async function standing(
  member: Member,
  publisher: Publisher,
  session: Session,
  signal: AbortSignal,
): Promise<LogStanding> {
  const { log, options } = member
  const { unusable } = log
  let refused = publisher.takeRefused()
  for (;;) {
    if (unusable.why === null) {
      const { stored, entry } = await log.top(session, refused !== null)
      if (stored === null || entry !== null) {
        const found = publisher.standingOf(entry?.position ?? null)
        if (refused === null || !(await isStuck(publisher, session, found, stored, refused))) {
          unusable.moved()
          return found
        }
        log.isStuckAt(refused, stored)
      }
    }
    if (signal.aborted) throw new StoreFailure('lost', 'the log cannot be used')
    await member.nonce(session)
    const fate = await unusable.look(session, options.heartbeat.ms, true, signal)
    if (fate === 'waits' || fate === 'changed') continue
    refused = null
    if (fate === 'led') continue
    await log.drop(session)
    return 'new-log'
  }
}

/** Returns true if the log refuses an entry although it shows nothing above it. */
async function isStuck(
  publisher: Publisher,
  session: Session,
  found: LogStanding,
  top: StoredEntry | null,
  refused: LogPosition,
): Promise<boolean> {
  if (found === 'deposed' || (top !== null && !isBelow(top.id, refused))) return false
  // The entry that made the log refuse ours may have been removed, or lost with the tail of the log. A claim of a new
  // log is above all entries that were seen before.
  return found === 'new-log' ? publisher.isClaiming : !(await publisher.isTakenAgain(session))
}

async function sendHeartbeat(member: Member, publisher: Publisher, session: Session): Promise<void> {
  const { time, settings } = member.options
  await member.nonce(session)
  member.beats(await publisher.heartbeat(session))
  // Both happen in one turn, so the log reports all changes after the start of a snapshot.
  if (publisher.outbox.followLoaded()) member.snapshots?.want()
  member.snapshots?.tick(session)
  const now = time.now()
  const hasOthers = publisher.nonces.fit(member.instance, 1).length > 0
  if (publisher.failsForMs(now) < settings.maxAgeMs / 2 || !member.mayRead || !hasOthers) return
  member.rest()
  await publisher.leave(session, 'it cannot read the CRM')
  member.resign('the CRM cannot be read from here')
}
