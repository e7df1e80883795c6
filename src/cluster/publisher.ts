import type { Buffer } from 'node:buffer'
import { type ListName, LISTS } from '../domain/field.ts'
import type { Observation } from '../observe/observation.ts'
import type { DirtyRows } from '../records/dirty-rows.ts'
import type { Replica } from '../sync/replica.ts'
import { elapsedMs, type Moment } from '../time/time.ts'
import type { HeartbeatEntry, LogEntry, Head, LogPosition } from './entries.ts'
import { compareIds, encodeEntry, idOf, isSame, NO_BODY } from './entries.ts'
import { MOST_MARKS, type SeenNonces } from './nonces.ts'
import { agesOf, failsForMs, UNKNOWN_AGES } from './list-states.ts'
import type { ClusterOptions } from './options.ts'
import { Outbox } from './outbox.ts'
import type { Session } from './session.ts'
import { StoreFailure } from './store.ts'

/** How the log stands to whoever last wrote to it. */
export type LogStanding = 'goes-on' | 'deposed' | 'anew'

export interface PublisherOptions extends Pick<
  ClusterOptions,
  'time' | 'signing' | 'settings' | 'readersWhenLost' | 'version' | 'heartbeat' | 'tell'
> {
  readonly instance: string
  readonly replica: Replica
  /** The claim that was accepted. */
  readonly position: LogPosition
  readonly dirtyRows: Partial<Record<ListName, DirtyRows>>
  readonly nonces: SeenNonces
  /** Where the log may be cut to make room; null where nowhere. */
  readonly trimsBefore: () => LogPosition | null
  /** The log is as long as it may get: rows wait for the snapshot. */
  readonly isLogFull: () => boolean
}

/** So many nonces are dropped by one command. */
const DROPPED_AT_ONCE = 2000

/** Writes to the log what reads of the CRM changed, and says how old all is that is in it. */
export class Publisher {
  readonly replica: Replica
  readonly nonces: SeenNonces
  readonly outbox: Outbox
  /** The last entry that is known to be in the log. */
  position: LogPosition
  sentBytes = 0
  /** What the log refused; null once it is known why. */
  refused: LogPosition | null = null
  readonly #options: PublisherOptions
  readonly #begun: Moment
  /** The entry that first told of what the shrink guard does not believe of a list now. */
  #shrunkToldAt: Partial<Record<ListName, LogPosition>> = {}
  /** Sent, and not known to be in the log. */
  #pending: LogEntry | null = null
  #drained = Promise.withResolvers<LogPosition>()
  /** Why the nonces are to be dropped at the next heartbeat. */
  #marksLate: string | null = null
  #marksDropped: string | null = null
  /** That nonces are not believed was said. */
  #hasToldRefused = false

  constructor(options: PublisherOptions) {
    this.#options = options
    this.replica = options.replica
    this.nonces = options.nonces
    this.position = options.position
    this.outbox = new Outbox(options.replica, options.dirtyRows, options.time)
    this.#begun = options.time.now()
  }

  /** How much is not known to be in the log. */
  get owes(): number {
    return this.outbox.count + (this.#pending === null ? 0 : 1)
  }

  /** How a log with this last entry stands, which another may have written: what we sent and heard nothing of may be there too. */
  standingOf(top: LogPosition | null): LogStanding {
    if (top === null) return 'anew'
    const sent = this.#pending
    if (sent !== null && isSame(top, sent.position)) {
      this.#arrived(sent)
      return 'goes-on'
    }
    if (isSame(top, this.position)) return 'goes-on'
    const isOurs = top.claimId === this.position.claimId || top.claimId === sent?.position.claimId
    return top.epoch > this.position.epoch || (top.epoch === this.position.epoch && !isOurs) ? 'deposed' : 'anew'
  }

  /** Begins another claimId, which goes on from nothing that is in the log. */
  async claimAnew(session: Session, position: LogPosition): Promise<void> {
    if (this.#pending !== null) this.outbox.again(this.#pending)
    for (const name of LISTS) this.outbox.tell(name)
    this.#shrunkToldAt = {}
    const { instance, version } = this.#options
    const head = { kind: 'claim', instance, version, anew: true, after: this.position } as const
    await this.#send(session, (this.#pending = { position, head, body: NO_BODY }), true)
  }

  /** Resolves when nothing is owed, with the entry that is the last one then. */
  drained(): Promise<LogPosition> {
    return this.#drained.promise
  }

  /** Sends all that is owed, and says whether that is done. One append is in flight at a time; what is written meanwhile is owed again. */
  async sendOutbox(session: Session): Promise<boolean> {
    for (;;) {
      if (this.#pending === null && this.#options.isLogFull()) return this.outbox.count === 0
      this.#pending ??= this.#nextOwed()
      if (this.#pending === null) {
        this.#drained.resolve(this.position)
        this.#drained = Promise.withResolvers()
        return true
      }
      await this.#send(session, this.#pending)
    }
  }

  #nextOwed(): LogEntry | null {
    const next = this.outbox.next()
    if (next === null) return null
    const entry = this.#entryOf(next.head, next.body)
    if (entry.head.kind === 'read' && entry.head.shrunk !== null) this.#shrunkToldAt[entry.head.list] ??= entry.position
    return entry
  }

  /** Says how old all is that is in the log by then, to whom a nonce tells when they wrote it. */
  async heartbeat(session: Session): Promise<HeartbeatEntry> {
    const nonces = await this.#readNonces(session)
    const dropped = nonces === null ? [] : this.nonces.take(nonces)
    this.#tellRefused()
    const ages = agesOf(this.replica, this.#options.time.now())
    const { instance, readersWhenLost, settings, heartbeat } = this.#options
    const pairs = this.nonces.pairs()
    const accepted = this.#accept()
    this.outbox.tellWaiting()
    // A heartbeat follows what it vouches for.
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
    for (let at = 0; at < dropped.length; at += DROPPED_AT_ONCE) {
      await session.ask((store) => store.dropNonces(dropped.slice(at, at + DROPPED_AT_ONCE)))
    }
    return head
  }

  /** Null if they were of no use, and all are dropped: those that live write others within a heartbeat. */
  async #readNonces(session: Session): Promise<ReadonlyMap<string, string> | null> {
    const why = this.#marksLate
    this.#marksLate = null
    const read = (): Promise<ReadonlyMap<string, string> | null> => session.ask((store) => store.readNonces(MOST_MARKS))
    const nonces =
      why !== null
        ? why
        : await read().catch((cause: unknown) => {
            if (!(cause instanceof StoreFailure)) throw cause
            if (cause.fault === 'foreign') return cause.message
            if (cause.fault === 'late') this.#marksLate = `the nonces of instances could not be read: ${cause.message}`
            throw cause
          })
    const isOfUse = nonces !== null && typeof nonces !== 'string'
    this.#marksDropped = isOfUse
      ? null
      : `${nonces ?? `there are more than ${MOST_MARKS} nonces of instances`}; all are dropped`
    if (isOfUse) return nonces
    await session.ask((store) => store.drop('nonces'))
    return null
  }

  /** Which nonces are not believed; null where all are. */
  get refusedNonces(): string | null {
    if (this.#marksDropped !== null) return this.#marksDropped
    const { strange } = this.nonces
    if (strange === 0) return null
    return `${strange} ${strange === 1 ? 'nonce' : 'nonces'} of instances: those that stand still are dropped`
  }

  #tellRefused(): void {
    const why = this.refusedNonces
    if (why !== null && !this.#hasToldRefused) this.#options.tell({ kind: 'nonces-refused', why })
    this.#hasToldRefused = why !== null
  }

  note(observation: Observation): void {
    // Another loss is not the one that was told of.
    for (const list of LISTS) if (this.replica[list].shrunk === null) delete this.#shrunkToldAt[list]
    this.outbox.note(observation)
  }

  /** Accepts the losses that a nonce names, if they are the ones that are not believed; returns the entries that told of them. */
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
      if (accepted.length > 0) this.#options.tell({ kind: 'accepted', lists: accepted })
      return held.length > 0 ? [idOf(toldAt)] : []
    })
  }

  /** The last words: another may go on from here. */
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
      const cut = this.#options.trimsBefore()
      if (!(cause instanceof StoreFailure) || cause.fault !== 'full' || cut === null) throw cause
      await session.ask((store) => store.trimBefore(idOf(cut)))
      return session.append(stored, mayCreate)
    })
    if (appended === 'refused') this.refused = entry.position
    // Who wrote instead is looked at on another connection.
    if (appended !== 'added') throw new StoreFailure('lost', 'another has written to the log, or it is gone')
    this.sentBytes += stored.h.length + (stored.b?.length ?? 0)
    this.#arrived(entry)
  }

  #arrived({ position }: LogEntry): void {
    this.position = position
    this.#pending = null
  }

  /** How long reads of the CRM have failed here. */
  failsForMs(now: Moment): number {
    return failsForMs(this.replica, elapsedMs(this.#begun, now), now)
  }
}
