import type { Buffer } from 'node:buffer'
import { type ListName, LISTS } from '../domain/field.ts'
import type { Observation } from '../observe/observation.ts'
import type { DirtyRows } from '../records/row-records.ts'
import type { Replica } from '../sync/replica.ts'
import { elapsedMs, type Moment } from '../time/time.ts'
import type { HeartbeatEntry, LogEntry, Head, LogPosition } from './entries.ts'
import { compareIds, encodeEntry, idOf, isSame, NO_BODY } from './entries.ts'
import { MOST_NONCES, type SeenNonces } from './nonces.ts'
import { Outbox, UNKNOWN_AGES, agesOf, failsForMs } from './own-reading.ts'
import type { ClusterOptions } from './options.ts'
import { type Session, StoreFailure } from './store.ts'

/** Whether the last writer of a log still leads: `new-log` if nobody does, because the store lost its entries. */
export type Leadership = 'goes-on' | 'deposed' | 'new-log'

export interface PublisherOptions extends Pick<
  ClusterOptions,
  'time' | 'signing' | 'settings' | 'readersWhenLost' | 'version' | 'heartbeat' | 'observe'
> {
  readonly instance: string
  readonly replica: Replica
  /** The position of the accepted claim. */
  readonly position: LogPosition
  readonly dirtyRows: Partial<Record<ListName, DirtyRows>>
  readonly nonces: SeenNonces
  /** Removes what no instance needs from a full store. */
  readonly makeRoom: (session: Session) => Promise<void>
  /** Returns true if the log has its maximum length, so that rows wait for the snapshot. */
  readonly isLogFull: () => boolean
}

/** The leader's writer: appends changes to the log, and heartbeats with the age of everything in it. */
export class Publisher {
  readonly replica: Replica
  readonly nonces: SeenNonces
  readonly outbox: Outbox
  /** The last entry that is known to be in the log. */
  position: LogPosition
  sentBytes = 0
  readonly #options: PublisherOptions
  readonly #begun: Moment
  /** The entries that first reported the current loss of each shrunk list. */
  #shrunkToldAt: Partial<Record<ListName, LogPosition>> = {}
  /** The entry that was sent and is not known to be in the log. */
  #pending: LogEntry | null = null
  #drained = Promise.withResolvers<LogPosition>()
  /** The position that the log refused; `null` once the reason is known. */
  #refused: LogPosition | null = null
  /** Why the next heartbeat drops all nonces: they could not be read in time. */
  #noncesLate: string | null = null
  /** Why the last heartbeat dropped all nonces; `null` if it used them. */
  #noncesDropped: string | null = null
  #hasToldRefused = false

  constructor(options: PublisherOptions) {
    this.#options = options
    this.replica = options.replica
    this.nonces = options.nonces
    this.position = options.position
    this.outbox = new Outbox(options.replica, options.dirtyRows, options.time)
    this.#begun = options.time.now()
  }

  /** The number of changes that are not known to be in the log. */
  get unsent(): number {
    return this.outbox.count + (this.#pending === null ? 0 : 1)
  }

  /** Compares the log's last entry with what was written here. An entry whose answer was lost may be in the log. */
  leadershipAt(top: LogPosition | null): Leadership {
    if (top === null) return 'new-log'
    const sent = this.#pending
    if (sent !== null && isSame(top, sent.position)) {
      this.#arrived(sent)
      return 'goes-on'
    }
    if (isSame(top, this.position)) return 'goes-on'
    const isOurs = top.claimId === this.position.claimId || top.claimId === sent?.position.claimId
    return top.epoch > this.position.epoch || (top.epoch === this.position.epoch && !isOurs) ? 'deposed' : 'new-log'
  }

  /** Returns the position that the log refused since the last call; `null` if it refused none. */
  takeRefused(): LogPosition | null {
    const refused = this.#refused
    this.#refused = null
    return refused
  }

  /** Whether the entry that is not known to be in the log is a claim of a new log. */
  get isClaiming(): boolean {
    return this.#pending?.head.kind === 'claim'
  }

  /** Sends the refused entry once more. Returns whether the log takes it now. */
  async isTakenAgain(session: Session): Promise<boolean> {
    const sent = this.#pending
    if (sent === null) return true
    if ((await session.append(encodeEntry(sent, this.#options.signing), false)) !== 'added') return false
    this.#arrived(sent)
    return true
  }

  /** Claims a new log that continues nothing in the store. */
  async claimNewLog(session: Session, position: LogPosition): Promise<void> {
    if (this.#pending !== null) this.outbox.again(this.#pending)
    for (const name of LISTS) this.outbox.tell(name)
    this.#shrunkToldAt = {}
    const { instance, version } = this.#options
    const head = { kind: 'claim', instance, version, newLog: true, after: this.position } as const
    await this.#send(session, (this.#pending = { position, head, body: NO_BODY }), true)
  }

  /** Resolves when everything has been sent, with the last entry. */
  drained(): Promise<LogPosition> {
    return this.#drained.promise
  }

  /**
   * Sends the outbox. Returns whether it is empty. One append is in flight at a time; rows written meanwhile are queued
   * again.
   */
  async sendOutbox(session: Session): Promise<boolean> {
    for (;;) {
      if (this.#pending === null && this.#options.isLogFull()) return this.outbox.count === 0
      this.#pending ??= this.#nextUnsent()
      if (this.#pending === null) {
        this.#drained.resolve(this.position)
        this.#drained = Promise.withResolvers()
        return true
      }
      await this.#send(session, this.#pending)
    }
  }

  #nextUnsent(): LogEntry | null {
    const next = this.outbox.next()
    if (next === null) return null
    const entry = this.#entryOf(next.head, next.body)
    if (entry.head.kind === 'read' && entry.head.shrunk !== null) this.#shrunkToldAt[entry.head.list] ??= entry.position
    return entry
  }

  /** Writes the age of the data in the log. Each instance counts this age from the time of its own nonce. */
  async heartbeat(session: Session): Promise<HeartbeatEntry> {
    const nonces = await this.#readNonces(session)
    const dropped = nonces === null ? [] : this.nonces.take(nonces)
    this.#tellRefused()
    const ages = agesOf(this.replica, this.#options.time.now())
    const { instance, readersWhenLost, settings, heartbeat } = this.#options
    const pairs = this.nonces.pairs()
    const accepted = this.#accept()
    this.outbox.tellWaiting()
    // Rows come before the heartbeat that covers them.
    const isAllTold = await this.sendOutbox(session)
    const head: HeartbeatEntry = {
      kind: 'heartbeat',
      instance,
      ages: isAllTold ? ages : UNKNOWN_AGES,
      instances: this.nonces.size,
      candidates: this.nonces.fit(instance, readersWhenLost - 1),
      versions: this.nonces.versions,
      refreshEveryMs: settings.refreshEveryMs,
      heartbeatMs: heartbeat.ms,
      accepted,
    }
    await this.#append(session, head, pairs)
    if (dropped.length > 0) await session.ask((store) => store.dropFields('nonces', dropped))
    return head
  }

  /**
   * Reads the nonces; `null` if they are unusable and were all dropped. Live instances write new ones within a
   * heartbeat.
   */
  async #readNonces(session: Session): Promise<ReadonlyMap<string, string> | null> {
    const why = this.#noncesLate
    this.#noncesLate = null
    const read = (): Promise<ReadonlyMap<string, string> | null> =>
      session.ask((store) => store.readFields('nonces', MOST_NONCES))
    const nonces =
      why ??
      (await read().catch((cause: unknown) => {
        if (!(cause instanceof StoreFailure)) throw cause
        if (cause.fault === 'foreign') return cause.message
        if (cause.fault === 'late') this.#noncesLate = `the nonces of instances could not be read: ${cause.message}`
        throw cause
      }))
    const isUsable = nonces !== null && typeof nonces !== 'string'
    this.#noncesDropped = isUsable
      ? null
      : `${nonces ?? `there are more than ${MOST_NONCES} nonces of instances`}; all are dropped`
    if (isUsable) return nonces
    await session.ask((store) => store.drop(['nonces']))
    return null
  }

  /** Describes the refused nonces; `null` if there are none. */
  get refusedNonces(): string | null {
    if (this.#noncesDropped !== null) return this.#noncesDropped
    const { strange } = this.nonces
    if (strange === 0) return null
    return `${strange} ${strange === 1 ? 'nonce' : 'nonces'} of instances: those that do not change are dropped`
  }

  #tellRefused(): void {
    const why = this.refusedNonces
    if (why !== null && !this.#hasToldRefused)
      this.#options.observe({ kind: 'cluster-changed', what: 'nonces-refused', detail: why })
    this.#hasToldRefused = why !== null
  }

  note(observation: Observation): void {
    // If a list that is believed again shrinks once more, that is reported too.
    for (const list of LISTS) if (this.replica[list].shrunk === null) delete this.#shrunkToldAt[list]
    this.outbox.note(observation)
  }

  /**
   * Accepts the shrunk lists that a nonce names, if they are the present ones. Returns the entries that reported them.
   */
  #accept(): readonly string[] {
    return this.nonces.accepts.flatMap((toldAt) => {
      const held = LISTS.filter((list) => {
        const since = this.#shrunkToldAt[list]
        return since !== undefined && since.claimId === toldAt.claimId && compareIds(since, toldAt) <= 0
      })
      const accepted = held.filter((list) => !this.replica[list].reader.guard.acceptsShorter)
      for (const list of accepted) {
        this.replica[list].acceptShorter()
        this.outbox.tell(list)
      }
      if (accepted.length > 0) this.#options.observe({ kind: 'shorter-accepted', lists: accepted })
      return held.length > 0 ? [idOf(toldAt)] : []
    })
  }

  /** Announces that the leader leaves, so that another can continue. */
  async leave(session: Session, why: string): Promise<void> {
    this.outbox.tellWaiting()
    await this.sendOutbox(session)
    await this.#append(session, { kind: 'leave', why })
  }

  async #append(session: Session, head: Head, body: Buffer = NO_BODY): Promise<void> {
    this.#pending = this.#entryOf(head, body)
    await this.#send(session, this.#pending)
  }

  #entryOf(head: Head, body: Buffer): LogEntry {
    const { epoch, number, claimId } = this.position
    return { position: { epoch, number: number + 1, claimId }, head, body }
  }

  async #send(session: Session, entry: LogEntry, mayCreate = false): Promise<void> {
    const stored = encodeEntry(entry, this.#options.signing)
    const appended = await session.append(stored, mayCreate).catch(async (cause: unknown) => {
      if (!(cause instanceof StoreFailure) || cause.fault !== 'full') throw cause
      await this.#options.makeRoom(session)
      return session.append(stored, mayCreate)
    })
    if (appended === 'refused') this.#refused = entry.position
    // The next session finds out which instance wrote instead.
    if (appended !== 'added')
      throw new StoreFailure('lost', 'another process has written to the log, or the log is gone')
    this.sentBytes += stored.h.length + (stored.b?.length ?? 0)
    this.#arrived(entry)
  }

  #arrived({ position }: LogEntry): void {
    this.position = position
    this.#pending = null
  }

  /** How long reads of the CRM have failed here, in ms. */
  failsForMs(now: Moment): number {
    return failsForMs(this.replica, elapsedMs(this.#begun, now), now)
  }
}
