// The cluster: one instance reads the CRM and writes the changes to a store, and the others follow (README.md).
// In: a store (store.ts), and a replica while this instance leads. Out: the lists to serve, with their age (nonces.ts).
// No request ever waits for the store, and no two machines' clocks are compared.

import { type Time, elapsedMs } from '../time/time.ts'
import { sleep, withTimeout } from '../time/waiting.ts'
import { type LogPosition, type Signing, decodeEntry } from './entries.ts'
import { LONGEST_DEFAULT_MS } from './election.ts'
import { follow } from './follow.ts'
import type { ServedLists } from '../sync/served-list.ts'
import { Member } from './member.ts'
import { MOST_NONCES } from './nonces.ts'
import type { ClusterOptions } from './options.ts'
import { type StoreConnection, Session, StoreFailure, Traffic, commandLimitMs, isFault } from './store.ts'
import type { Leading } from './node-state.ts'
import { failsForMs } from './own-reading.ts'
import type { Leadership, Publisher } from './publisher.ts'

/** A session on which the store was used for this long resets the back-off. */
const SETTLED_MS = 1000
/** Within this many election times a candidate has claimed, which proves that the store accepts writes. */
const PROVEN_TIMEOUTS = 4
const EXAMINE_AGAIN_MS = 10_000
const LAST_WORDS_MS = 1000
const REFUSED_MS = 5000

const LEAST_HEARTBEAT_MS = 50

/** The heartbeat interval in ms: the configured one, or one that follows from the maximum age. */
export function heartbeatMsOf(configuredMs: number | null, maxAgeMs: number): number {
  return configuredMs ?? Math.min(LONGEST_DEFAULT_MS, Math.max(LEAST_HEARTBEAT_MS, maxAgeMs / 20))
}

/** One instance of a cluster. `served` is what callers get now. */
export class Cluster {
  readonly traffic: Traffic = new Traffic()
  readonly #options: ClusterOptions
  readonly member: Member
  readonly #time: Time
  readonly #ended = new AbortController()
  /** Aborts everything, even the last entries that a leader writes when it stops. */
  readonly #hurries = new AbortController()
  #running: Promise<unknown> = Promise.resolve()
  #failures = 0
  /** Whether the last attempt found a full store. */
  #wasFull = false
  #session: Session | null = null
  /**
   * The reported reason for the loss of the store; `null` while it is available. Initially blank: nothing has been
   * reported.
   */
  #toldLost: string | null = ''

  constructor(options: ClusterOptions) {
    this.#options = options
    this.#time = options.time
    this.member = new Member(options)
  }

  get served(): ServedLists {
    return this.member.cutOver.served
  }

  /** Why the store is lost; `null` while it is available. */
  get storeLost(): string | null {
    return this.#toldLost === '' ? null : this.#toldLost
  }

  start(): void {
    this.#running = Promise.all([this.#run(), this.#examine(), this.#tick()])
  }

  /** Stops. A leader first announces that it leaves. Resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.#ended.abort()
    if (this.member.publisher === null) this.#hurries.abort()
    else this.#time.after(LAST_WORDS_MS, () => this.#hurries.abort())
    await this.#running
    this.member.own?.end()
    if (this.member.isConnected) await withTimeout(this.#time, LAST_WORDS_MS, this.#takeNonceAway())
  }

  /** Deregisters this instance. Uses a separate connection, because the main one may be blocked in XREAD. */
  async #takeNonceAway(): Promise<void> {
    try {
      const session = await Session.open(this.#options.store, this.#time, LAST_WORDS_MS, new AbortController().signal)
      await session.ask((store) => store.dropFields('nonces', [this.member.instance])).finally(() => session.close())
    } catch {
      // The leader removes the nonce once it has stopped changing.
    }
  }

  async #examine(): Promise<void> {
    const { signal } = this.#ended
    while (!signal.aborted && !(await this.#options.examine().catch(() => false))) {
      await sleep(EXAMINE_AGAIN_MS, this.#time, signal)
    }
    this.member.isFit = true
  }

  /** Performs, at each heartbeat, the work that does not wait for the store. */
  async #tick(): Promise<void> {
    const { signal } = this.#ended
    while (!signal.aborted) {
      await sleep(this.#options.heartbeat.ms, this.#time, signal)
      this.member.goAloneIfDue()
      this.member.offer()
      this.#tellFound()
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#ended
    while (!signal.aborted) {
      let isRefused = false
      try {
        await this.#hold()
      } catch (cause) {
        this.#lost(cause)
        isRefused = isFault(cause, 'refused')
      }
      if (!signal.aborted) await sleep(this.#backOffMs(isRefused), this.#time, signal)
    }
  }

  /** Opens a session with the store, and follows or leads on it until the session fails. */
  async #hold(): Promise<void> {
    const { store, settings } = this.#options
    const { signal } = this.#ended
    const member = this.member
    const wasFull = this.#wasFull
    this.#wasFull = false
    const session = await Session.open(store, this.#time, commandLimitMs(settings), this.#hurries.signal, this.traffic)
    try {
      await member.nonce(session, true).catch(async (cause: unknown) => {
        // For a follower, a full store is the same as a lost one. But a store without a leader needs one to make room.
        if (isFault(cause, 'full')) await this.#followFull(session, wasFull)
        throw cause
      })
      this.#session = session
      this.member.connected(true)
      member.election.heard()
      // A leader that stops still writes its last entry.
      while (!signal.aborted || member.publisher !== null) {
        const { state } = member
        await (state.kind === 'leading' ? lead(member, state, session, signal) : follow(member, session, signal))
      }
    } finally {
      // Before the failure is reported: the first attempt after a session is made at once.
      if (this.#isProven(session) && this.#heldMs(session) > SETTLED_MS) this.#failures = 0
      this.#session = null
      session.close()
    }
  }

  /**
   * Follows a full store until nothing new arrives. The silence before a claim begins with the first of these sessions.
   */
  async #followFull(session: Session, wasFull: boolean): Promise<void> {
    const { member } = this
    if (!wasFull) member.election.heard()
    member.isStoreFull = true
    try {
      for (let position: LogPosition | null | undefined; position !== member.position;) {
        position = member.position
        await follow(member, session, this.#ended.signal)
        if (member.publisher !== null || this.#heldMs(session) > member.election.lengthMs) break
      }
      this.#wasFull = true
    } finally {
      member.isStoreFull = false
    }
  }

  /**
   * Whether a heartbeat was written, or carried a nonce of this session. A store that only accepts connections or nonces
   * is not usable yet.
   */
  #isProven({ openedAtMs }: Session): boolean {
    return (this.member.echoedAt?.monotonicMs ?? Number.NEGATIVE_INFINITY) >= openedAtMs
  }

  #heldMs({ openedAtMs }: Session): number {
    return this.#time.now().monotonicMs - openedAtMs
  }

  /** Reports that the store is available, once per outage. */
  #tellFound(): void {
    const session = this.#session
    if (session === null || this.#toldLost === null) return
    if (!this.#isProven(session) && this.#heldMs(session) < PROVEN_TIMEOUTS * this.member.election.lengthMs) return
    this.#toldLost = null
    this.#options.observe({ kind: 'cluster-changed', what: 'store-found', detail: null })
  }

  #lost(cause: unknown): void {
    if (this.#ended.signal.aborted) return
    const why = cause instanceof Error ? cause.message : 'the connection failed'
    if (this.member.isConnected && this.#failures === 0) return
    this.member.connected(false)
    if (why === this.#toldLost) return
    this.#toldLost = why
    this.#options.observe({ kind: 'cluster-changed', what: 'store-lost', detail: why })
  }

  /**
   * The pause before the next connection. The first attempt is immediate. Then, unlike reads of the CRM, attempts are
   * cheap: a leader, and an instance without data, try within a heartbeat, the others within an election time. If an
   * operator has to act, the pause is longer.
   */
  #backOffMs(isRefused: boolean): number {
    const { settings, heartbeat } = this.#options
    const { publisher, election, cutOver } = this.member
    const soonMs = publisher !== null || cutOver.isNew ? heartbeat.ms : election.lengthMs
    const ceilingMs = isRefused ? Math.max(soonMs, Math.min(REFUSED_MS, settings.maxAgeMs / 4)) : soonMs
    const failures = this.#failures++
    return failures === 0 ? 0 : this.#time.random() * Math.min(2 ** Math.min(failures - 1, 20) * 1000, ceilingMs)
  }
}

/** Changes within this time are sent in one entry. */
const COALESCED_MS = 2

/**
 * The leader's work on one session, until it resigns. After a reconnection, it first checks who has written to the log.
 */
async function lead(member: Member, { publisher }: Leading, session: Session, signal: AbortSignal): Promise<void> {
  const { time, heartbeat } = member.options
  const found = await leadership(member, publisher, session, signal)
  if (found === 'deposed') return member.resign('another instance has claimed the leadership')
  if (found === 'new-log') {
    await publisher.claimNewLog(session, member.log.nextClaim(null))
    member.startsLog()
  }
  await member.snapshots?.find(session)
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
async function leadership(
  member: Member,
  publisher: Publisher,
  session: Session,
  signal: AbortSignal,
): Promise<Leadership> {
  const { log, options } = member
  const { unusable } = log
  for (let hasLooked = false; ; hasLooked = true) {
    const top = unusable.why === null ? await log.top(session) : null
    const found = unusable.why === null ? publisher.leadershipAt(top?.position ?? null) : null
    // A log that can be read again may still refuse entries.
    if (found === 'goes-on' && hasLooked) await publisher.sendPending(session)
    if (found !== null && unusable.why === null) return found
    if (signal.aborted) throw new StoreFailure('lost', 'the log cannot be used')
    await member.nonce(session)
    if ((await unusable.look(session, options.heartbeat.ms, true, signal)) !== 'abandoned') continue
    await log.drop(session)
    return 'new-log'
  }
}

async function sendHeartbeat(member: Member, publisher: Publisher, session: Session): Promise<void> {
  const { time, settings } = member.options
  await member.nonce(session)
  member.noteHeartbeat(await publisher.heartbeat(session))
  // Both happen in one turn, so the log reports all changes after the start of a snapshot.
  if (publisher.outbox.followLoaded()) member.snapshots?.want()
  member.snapshots?.tick(session)
  const now = time.now()
  const hasOthers = publisher.nonces.fit(member.instance, 1).length > 0
  if (
    failsForMs(publisher.replica, elapsedMs(publisher.begunAt, now), now) < settings.maxAgeMs / 2 ||
    !member.mayRead ||
    !hasOthers
  )
    return
  member.rest()
  await publisher.leave(session, 'it cannot read the CRM')
  member.resign('the CRM cannot be read from here')
}

export const SEE_WHO_WRITES =
  'The instances replace a log that has no leader; check which other program writes to the store'

/** Returns why instances could not use the log or its nonces; `null` if they can. */
export async function logTrouble(
  connection: Pick<StoreConnection, 'top' | 'readFields'>,
  signing: Signing,
  usedMs: number,
): Promise<string | null> {
  const look = async () => {
    const [top, nonces] = [await connection.top(), await connection.readFields('nonces', MOST_NONCES)]
    return { top, nonces, moved: JSON.stringify([...(nonces ?? [])]) }
  }
  const before = await look()
  if (before.nonces === null)
    return `there are more than ${MOST_NONCES} nonces of instances; the leader drops them. ${SEE_WHO_WRITES}`
  const entry = before.top === null ? null : decodeEntry(before.top, signing)
  if (entry !== null && 'refused' in entry) return `${entry.refused}. ${SEE_WHO_WRITES}`
  if (before.nonces.size === 0) return null
  await new Promise((resolve) => setTimeout(resolve, 2 * usedMs))
  const after = await look()
  if (before.top?.id !== after.top?.id || before.moved === after.moved) return null
  const end = before.top === null ? 'there is no log' : `the log ends with ${before.top.id} and does not move`
  return `there are instances, but none leads: ${end}. /status of each instance says why; the log is replaced unless an election finds a leader`
}
