import type { Buffer } from 'node:buffer'
import { type ListName, LISTS } from '../domain/field.ts'
import { howMany } from '../domain/printable.ts'
import type { Observation } from '../observe/observation.ts'
import type { Replica } from '../sync/replica.ts'
import type { Moment } from '../time/time.ts'
import type { HeartbeatEntry, LogEntry, Head, LogPosition } from './entries.ts'
import { compareIds, encodeEntry, idOf, isSame, NO_BODY } from './entries.ts'
import { MOST_NONCES, SeenNonces } from './nonces.ts'
import { type OwnReading, Outbox, UNKNOWN_AGES, agesOf } from './own-reading.ts'
import type { ClusterOptions } from './options.ts'
import { type Session, StoreFailure, isFault } from './store.ts'
import type { LogReader } from './log-reader.ts'

/** Whether the last writer of a log still leads: `new-log` if nobody does, because the store lost its entries. */
export type Leadership = 'goes-on' | 'deposed' | 'new-log'

interface PublisherParts {
  readonly instance: string
  readonly log: LogReader
  readonly own: OwnReading
  /** The position of the accepted claim. */
  readonly position: LogPosition
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
  /** Why nonces were refused at the last heartbeat; `null` if none were. */
  refusedNonces: string | null = null
  readonly #options: ClusterOptions
  readonly #parts: PublisherParts
  readonly begunAt: Moment
  /** The entries that first reported the current loss of each shrunk list. */
  #shrunkToldAt: Partial<Record<ListName, LogPosition>> = {}
  /** The entry that was sent and is not known to be in the log. */
  #pending: LogEntry | null = null
  #drained = Promise.withResolvers<LogPosition>()
  /** Why the next heartbeat drops all nonces: they could not be read in time. */
  #noncesLate: string | null = null

  constructor(options: ClusterOptions, parts: PublisherParts) {
    const { time, signing, heartbeat } = options
    const { own, position } = parts
    this.#options = options
    this.#parts = parts
    this.replica = own.replica
    this.nonces = new SeenNonces(signing, time, heartbeat)
    this.position = position
    this.outbox = new Outbox(own.replica, own.dirtyRows, time)
    this.begunAt = time.now()
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

  /** Claims a new log that continues nothing in the store. */
  async claimNewLog(session: Session, position: LogPosition): Promise<void> {
    if (this.#pending !== null) this.outbox.again(this.#pending)
    for (const name of LISTS) this.outbox.tell(name)
    this.#shrunkToldAt = {}
    const { version } = this.#options
    const { instance } = this.#parts
    const head = { kind: 'claim', instance, version, newLog: true, after: this.position } as const
    await this.#send(session, { position, head, body: NO_BODY }, true)
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
      if (this.#pending === null && this.#parts.isLogFull()) return this.outbox.count === 0
      const next = this.#pending ?? this.#nextUnsent()
      if (next === null) {
        this.#drained.resolve(this.position)
        this.#drained = Promise.withResolvers()
        return true
      }
      await this.#send(session, next)
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
    const dropped = await this.#takeNonces(session)
    const ages = agesOf(this.replica, this.#options.time.now())
    const { readersWhenLost, settings, heartbeat } = this.#options
    const { instance } = this.#parts
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
   * Takes in the nonces. If they are unusable, all are dropped: live instances write new ones within a heartbeat. Returns
   * the instances whose nonces should be dropped.
   */
  async #takeNonces(session: Session): Promise<readonly string[]> {
    const wasRefused = this.refusedNonces !== null
    const nonces = await this.#readNonces(session)
    const dropped = typeof nonces === 'string' ? [] : this.nonces.take(nonces)
    const strange = `${howMany(this.nonces.strange, 'nonce')} of instances: those that do not change are dropped`
    const others = this.nonces.strange === 0 ? null : strange
    this.refusedNonces = typeof nonces === 'string' ? `${nonces}; all are dropped` : others
    if (this.refusedNonces !== null && !wasRefused) {
      this.#options.observe({ kind: 'cluster-changed', what: 'nonces-refused', detail: this.refusedNonces })
    }
    if (typeof nonces === 'string') await session.ask((store) => store.drop(['nonces']))
    return dropped
  }

  /** Returns a text if the nonces are unusable. Those that could not be read in time are too large. */
  async #readNonces(session: Session): Promise<ReadonlyMap<string, string> | string> {
    const late = this.#noncesLate
    this.#noncesLate = null
    if (late !== null) return late
    try {
      const nonces = await session.ask((store) => store.readFields('nonces', MOST_NONCES))
      return nonces ?? `there are more than ${MOST_NONCES} nonces of instances`
    } catch (cause) {
      if (isFault(cause, 'foreign')) return cause.message
      if (isFault(cause, 'late')) this.#noncesLate = `the nonces of instances could not be read: ${cause.message}`
      throw cause
    }
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
    await this.#send(session, this.#entryOf(head, body))
  }

  #entryOf(head: Head, body: Buffer): LogEntry {
    const { epoch, number, claimId } = this.position
    return { position: { epoch, number: number + 1, claimId }, head, body }
  }

  async #send(session: Session, entry: LogEntry, mayCreate = false): Promise<void> {
    this.#pending = entry
    // The next session finds out which instance wrote instead.
    if (!(await this.sendPending(session, mayCreate)))
      throw new StoreFailure('lost', 'another process has written to the log, or the log is gone')
  }

  /** Sends the entry that is not known to be in the log, if there is one. Returns false if the log does not take it. */
  async sendPending(session: Session, mayCreate = false): Promise<boolean> {
    const entry = this.#pending
    if (entry === null) return true
    const { log, makeRoom } = this.#parts
    const stored = encodeEntry(entry, this.#options.signing)
    if ((await log.append(session, stored, mayCreate, makeRoom)) !== 'added') return false
    this.sentBytes += stored.h.length + (stored.b?.length ?? 0)
    this.#arrived(entry)
    return true
  }

  #arrived({ position }: LogEntry): void {
    this.position = position
    this.#pending = null
  }
}
