import type { Buffer } from 'node:buffer'
import type { ListName } from '../domain/field.ts'
import type { Observation } from '../observe/observation.ts'
import type { Effects } from '../replica/effects.ts'
import type { Replica } from '../replica/replica.ts'
import { elapsedMs, type Moment } from '../replica/time.ts'
import type { Beat, LogEntry, Head, LogPosition } from './entries.ts'
import { compareIds, encodeEntry, idOf, isSame, NO_BODY } from './entries.ts'
import { MOST_MARKS, type SeenMarks } from './marks.ts'
import { agesOf, failsForMs, LISTS, UNKNOWN_AGES } from './list-states.ts'
import type { ShareOptions } from './options.ts'
import { Owed } from './owed.ts'
import type { Session } from './session.ts'
import { StoreFailure } from './store.ts'

/** How the log stands to whoever last wrote to it. */
export type LogStanding = 'goes-on' | 'deposed' | 'anew'

export interface PublisherOptions extends Pick<
  ShareOptions,
  'time' | 'signing' | 'settings' | 'readersWhenLost' | 'version' | 'heartbeat' | 'tell'
> {
  readonly instance: string
  readonly replica: Replica
  /** The claim that was accepted. */
  readonly position: LogPosition
  readonly effects: Partial<Record<ListName, Effects>>
  readonly marks: SeenMarks
  /** Where the log may be cut to make room; null where nowhere. */
  readonly trimsBefore: () => LogPosition | null
  /** The log is as long as it may get: rows wait for the base. */
  readonly isLogFull: () => boolean
}

/** So many marks are dropped by one command. */
const DROPPED_AT_ONCE = 2000

/** Writes to the log what reads of the CRM changed, and says how old all is that is in it. */
export class Publisher {
  readonly replica: Replica
  readonly marks: SeenMarks
  readonly owed: Owed
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
  /** Why the marks are to be dropped at the next beat. */
  #marksLate: string | null = null
  #marksDropped: string | null = null
  /** That marks are not believed was said. */
  #hasToldRefused = false

  constructor(options: PublisherOptions) {
    this.#options = options
    this.replica = options.replica
    this.marks = options.marks
    this.position = options.position
    this.owed = new Owed(options.replica, options.effects, options.time)
    this.#begun = options.time.now()
  }

  /** How much is not known to be in the log. */
  get owes(): number {
    return this.owed.count + (this.#pending === null ? 0 : 1)
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
    const isOurs = top.reign === this.position.reign || top.reign === sent?.position.reign
    return top.term > this.position.term || (top.term === this.position.term && !isOurs) ? 'deposed' : 'anew'
  }

  /** Begins another reign, which goes on from nothing that is in the log. */
  async claimAnew(session: Session, position: LogPosition): Promise<void> {
    if (this.#pending !== null) this.owed.again(this.#pending)
    for (const name of LISTS) this.owed.tell(name)
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
  async sendOwed(session: Session): Promise<boolean> {
    for (;;) {
      if (this.#pending === null && this.#options.isLogFull()) return this.owed.count === 0
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
    const next = this.owed.next()
    if (next === null) return null
    const entry = this.#entryOf(next.head, next.body)
    if (entry.head.kind === 'read' && entry.head.shrunk !== null) this.#shrunkToldAt[entry.head.list] ??= entry.position
    return entry
  }

  /** Says how old all is that is in the log by then, to whom a mark tells when they wrote it. */
  async beat(session: Session): Promise<Beat> {
    const marks = await this.#readMarks(session)
    const dropped = marks === null ? [] : this.marks.take(marks)
    this.#tellRefused()
    const ages = agesOf(this.replica, this.#options.time.now())
    const { instance, readersWhenLost, settings, heartbeat } = this.#options
    const pairs = this.marks.pairs()
    const accepted = this.#accept()
    this.owed.tellWaiting()
    // A beat follows what it vouches for.
    const isAllTold = await this.sendOwed(session)
    const head: Beat = {
      kind: 'beat',
      instance,
      ages: isAllTold ? ages : UNKNOWN_AGES,
      instances: this.marks.size,
      standIns: this.marks.fit(instance, readersWhenLost - 1),
      versions: this.marks.versions,
      refreshEveryMs: settings.refreshEveryMs,
      beatMs: heartbeat.ms,
      accepted,
    }
    await this.#append(session, head, pairs)
    for (let at = 0; at < dropped.length; at += DROPPED_AT_ONCE) {
      await session.ask((store) => store.dropMarks(dropped.slice(at, at + DROPPED_AT_ONCE)))
    }
    return head
  }

  /** Null if they were of no use, and all are dropped: those that live write others within a beat. */
  async #readMarks(session: Session): Promise<ReadonlyMap<string, string> | null> {
    const why = this.#marksLate
    this.#marksLate = null
    const read = (): Promise<ReadonlyMap<string, string> | null> => session.ask((store) => store.readMarks(MOST_MARKS))
    const marks =
      why !== null
        ? why
        : await read().catch((cause: unknown) => {
            if (!(cause instanceof StoreFailure)) throw cause
            if (cause.fault === 'foreign') return cause.message
            if (cause.fault === 'late') this.#marksLate = `the marks of instances could not be read: ${cause.message}`
            throw cause
          })
    const isOfUse = marks !== null && typeof marks !== 'string'
    this.#marksDropped = isOfUse
      ? null
      : `${marks ?? `there are more than ${MOST_MARKS} marks of instances`}; all are dropped`
    if (isOfUse) return marks
    await session.ask((store) => store.drop('marks'))
    return null
  }

  /** Which marks are not believed; null where all are. */
  get refusedMarks(): string | null {
    if (this.#marksDropped !== null) return this.#marksDropped
    const { strange } = this.marks
    if (strange === 0) return null
    return `${strange} ${strange === 1 ? 'mark' : 'marks'} of instances: those that stand still are dropped`
  }

  #tellRefused(): void {
    const why = this.refusedMarks
    if (why !== null && !this.#hasToldRefused) this.#options.tell({ kind: 'marks-refused', why })
    this.#hasToldRefused = why !== null
  }

  note(observation: Observation): void {
    // Another loss is not the one that was told of.
    for (const list of LISTS) if (this.replica[list].shrunk === null) delete this.#shrunkToldAt[list]
    this.owed.note(observation)
  }

  /** Accepts the losses that a mark names, if they are the ones that are not believed; returns the entries that told of them. */
  #accept(): readonly string[] {
    return this.marks.accepts.flatMap((toldAt) => {
      const held = LISTS.filter((list) => {
        const since = this.#shrunkToldAt[list]
        return since !== undefined && since.reign === toldAt.reign && compareIds(since, toldAt) <= 0
      })
      const accepted = held.filter((list) => !this.replica[list].reader.guard.acceptsShorter)
      for (const list of accepted) {
        this.replica[list].acceptShorter()
        this.owed.tell(list)
      }
      if (accepted.length > 0) this.#options.tell({ kind: 'accepted', lists: accepted })
      return held.length > 0 ? [idOf(toldAt)] : []
    })
  }

  /** The last words: another may go on from here. */
  async leave(session: Session, why: string): Promise<void> {
    this.owed.tellWaiting()
    await this.sendOwed(session)
    await this.#append(session, { kind: 'leave', why })
  }

  async #append(session: Session, head: Head, body: Buffer = NO_BODY): Promise<void> {
    this.#pending = this.#entryOf(head, body)
    await this.#send(session, this.#pending)
  }

  #entryOf(head: Head, body: Buffer): LogEntry {
    const { term, number, reign } = this.position
    return { position: { term, number: number + 1, reign }, head, body }
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
