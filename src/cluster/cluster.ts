// The cluster: one instance reads the CRM and writes the changes to a store, and the others follow (README.md).
// In: a store (store.ts), and a replica while this instance leads. Out: the lists to serve, with their age (ticks.ts).
// No request ever waits for the store, and no two machines' clocks are compared.

import type { ServedLists } from '../sync/served-list.ts'
import type { Time } from '../time/time.ts'
import { sleep, withTimeout } from '../time/waiting.ts'
import { CLAIMED_TIMEOUTS, LONGEST_DEFAULT_MS } from './election.ts'
import { follow } from './follow.ts'
import { Member } from './member.ts'
import type { ClusterOptions } from './options.ts'
import { Session, StoreFailure, commandLimitMs } from './store.ts'

/** A session on which the store was used for this long resets the back-off. */
const SETTLED_MS = 1000
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
  readonly #options: ClusterOptions
  readonly member: Member
  readonly #time: Time
  readonly #ended = new AbortController()
  /** Aborts everything, even the last beat of a leader that stops. */
  readonly #hurries = new AbortController()
  #running: Promise<unknown> = Promise.resolve()
  #failures = 0
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
    if (this.member.leader === null) this.#hurries.abort()
    else this.#time.after(LAST_WORDS_MS, () => this.#hurries.abort())
    await this.#running
    this.member.own?.end()
    if (this.member.isConnected) await withTimeout(this.#time, LAST_WORDS_MS, this.#sayGoodbye())
  }

  /** Deregisters this instance. Uses a separate connection, because the main one may be blocked in XREAD. */
  async #sayGoodbye(): Promise<void> {
    try {
      const session = await Session.open(this.#options.store, this.#time, LAST_WORDS_MS, new AbortController().signal)
      await session.ask((store) => store.dropMembers([this.member.instance])).finally(() => session.close())
    } catch {
      // The leader drops a member that says nothing new.
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
        isRefused = cause instanceof StoreFailure && cause.fault === 'refused'
      }
      if (!signal.aborted) await sleep(this.#backOffMs(isRefused), this.#time, signal)
    }
  }

  /** Opens a session with the store, and follows or leads on it until the session fails. */
  async #hold(): Promise<void> {
    const { store, settings, time } = this.#options
    const { signal } = this.#ended
    const { member } = this
    const session = await Session.open(store, time, commandLimitMs(settings()), this.#hurries.signal)
    try {
      await member.tick(session, true)
      this.#session = session
      member.connected(true)
      member.election.heard()
      // A leader that stops still writes its last beat.
      while (!signal.aborted || member.leader !== null) {
        const { leader } = member
        if (leader === null) await follow(member, session, signal)
        else {
          const ended = await leader.lead(session, signal)
          if (ended === 'the CRM cannot be read from here') member.rest()
          member.resign(ended === 'deposed' ? 'another instance has claimed the leadership' : ended)
        }
      }
    } finally {
      // Before the failure is reported: the first attempt after a session is made at once.
      if (this.#isProven(session) && this.#heldMs(session) > SETTLED_MS) this.#failures = 0
      this.#session = null
      session.close()
    }
  }

  /**
   * Whether a beat was written, or carried a tick of this session. A store that only accepts connections or ticks is not
   * usable yet.
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
    if (!this.#isProven(session) && this.#heldMs(session) < CLAIMED_TIMEOUTS * this.member.election.lengthMs) return
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
    const { leader, election, cutOver } = this.member
    const soonMs = leader !== null || cutOver.isNew ? heartbeat.ms : election.lengthMs
    const ceilingMs = isRefused ? Math.max(soonMs, Math.min(REFUSED_MS, settings().maxAgeMs / 4)) : soonMs
    const failures = this.#failures++
    return failures === 0 ? 0 : this.#time.random() * Math.min(2 ** Math.min(failures - 1, 20) * 1000, ceilingMs)
  }
}
