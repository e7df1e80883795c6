import type { Buffer } from 'node:buffer'
import type { ListName } from '../domain/field.ts'
import { Effects } from '../replica/effects.ts'
import { FrameWriter, readFrames } from '../replica/frames.ts'
import type { Replica } from '../replica/replica.ts'
import type { Moment, Time } from '../replica/time.ts'
import { elapsedMs } from '../replica/time.ts'
import type { LogEntry, Head, LogPosition } from './entries.ts'
import { decodeEntry, encodeEntry, idOf, isSame, NO_BODY } from './entries.ts'
import type { SeenMarks } from './marks.ts'
import { agesOf, LISTS, stateOf } from './list-states.ts'
import type { Session } from './session.ts'
import type { Signing } from './signing.ts'
import type { Appended } from './store.ts'
import { StoreFailure } from './store.ts'

const ENTRY_ROWS = 1000
const ENTRY_BYTES = 1024 * 1024

/** How the log stands to whoever last wrote to it. */
export type LogStanding = 'goes-on' | 'deposed' | 'anew' | 'unreadable'

export interface PublisherOptions {
  readonly instance: string
  readonly replica: Replica
  /** The claim that was accepted. */
  readonly position: LogPosition
  readonly effects: Partial<Record<ListName, Effects>>
  readonly marks: SeenMarks
  readonly time: Time
  readonly signing: Signing
  readonly refreshEveryMs: () => number
  readonly readersWhenLost: number
  /** Where the log may be cut to make room; null where nowhere. */
  readonly trimsBefore: () => LogPosition | null
}

/** Writes to the log what reads of the CRM changed, told by what they changed, in an order in which nobody shows an event without its venue. */
export class Publisher {
  readonly replica: Replica
  readonly marks: SeenMarks
  /** The last entry that is known to be in the log. */
  position: LogPosition
  sentBytes = 0
  readonly #options: PublisherOptions
  readonly #effects: Partial<Record<ListName, Effects>>
  readonly #readsEnded = new Set<ListName>(LISTS)
  readonly #writer = new FrameWriter()
  readonly #begun: Moment
  /** Sent, and not known to be in the log. */
  #pending: LogEntry | null = null
  #wake: () => void = () => {}
  #drained = Promise.withResolvers<LogPosition>()

  constructor(options: PublisherOptions) {
    this.#options = options
    this.replica = options.replica
    this.marks = options.marks
    this.position = options.position
    this.#effects = options.effects
    this.#begun = options.time.now()
    this.followLoaded()
  }

  /** What is not known to be in the log. */
  get owed(): number {
    const owed = LISTS.reduce((sum, name) => sum + (this.#effects[name]?.owed ?? 0), 0)
    return owed + this.#readsEnded.size + (this.#pending === null ? 0 : 1)
  }

  /** From when a list was read in full, what changes is told; what it had by then is for a base. True where that is new. */
  followLoaded(): boolean {
    let isNew = false
    for (const name of LISTS) {
      const { reader, list } = this.replica[name]
      if (!reader.isLoaded) continue
      if (this.#effects[name] === undefined) isNew = true
      const effects = (this.#effects[name] ??= new Effects(list))
      effects.onOwed = () => this.#wake()
    }
    return isNew
  }

  readEnded(list: ListName): void {
    this.#readsEnded.add(list)
    this.#wake()
  }

  /** Calls back when something is owed. */
  onOwed(wake: () => void): void {
    this.#wake = wake
  }

  /** No longer tells of anything. */
  end(): void {
    for (const name of LISTS) this.#effects[name]?.end()
  }

  /** Looks at the top of the log, which another may have written: what we sent and heard nothing of may be there too. */
  async look(session: Session): Promise<LogStanding> {
    const stored = await session.ask((store) => store.top())
    if (stored === null) return 'anew'
    const top = decodeEntry(stored, this.#options.signing)
    if ('refused' in top) return 'unreadable'
    return this.#standingOf(top.position)
  }

  #standingOf(top: LogPosition): LogStanding {
    const sent = this.#pending
    if (sent !== null && isSame(top, sent.position)) {
      this.#arrived(sent)
      return 'goes-on'
    }
    if (isSame(top, this.position)) return 'goes-on'
    const isOthers = top.term > this.position.term || (top.term === this.position.term && !this.isOurs(top))
    return isOthers ? 'deposed' : 'anew'
  }

  isOurs({ reign }: LogPosition): boolean {
    return reign === this.position.reign || reign === this.#pending?.position.reign
  }

  /** Begins another reign, which goes on from nothing that is in the log. */
  async claimAnew(session: Session, position: LogPosition, version: string): Promise<void> {
    this.#oweAgain()
    for (const name of LISTS) this.#readsEnded.add(name)
    const { instance } = this.#options
    const head = { kind: 'claim', instance, version, anew: true, after: this.position } as const
    await this.#send(session, (this.#pending = { position, head, body: NO_BODY }), true)
  }

  /** What was sent, and is not in the log that there is now. */
  #oweAgain(): void {
    const { head, body } = this.#pending ?? { head: null, body: NO_BODY }
    this.#pending = null
    if (head?.kind === 'rows') for (const { list, id } of readFrames(body)) this.#effects[list]?.owe(id)
  }

  /** Resolves when nothing is owed, with the entry that is the last one then. */
  drained(): Promise<LogPosition> {
    return this.#drained.promise
  }

  /** Sends all that is owed. One append is in flight at a time; what is written meanwhile is owed again. */
  async sendOwed(session: Session): Promise<void> {
    for (;;) {
      this.#pending ??= this.#nextOwed()
      if (this.#pending === null) {
        this.#drained.resolve(this.position)
        this.#drained = Promise.withResolvers()
        return
      }
      await this.#send(session, this.#pending)
    }
  }

  /** Says how old all is that is in the log by then, to whom a mark tells when they wrote it. */
  async beat(session: Session): Promise<void> {
    const still = this.marks.take(await session.ask((store) => store.readMarks()))
    const ages = agesOf(this.replica, this.#options.time.now())
    const { instance, readersWhenLost, refreshEveryMs } = this.#options
    const pairs = this.marks.pairs()
    // A beat follows what it vouches for.
    await this.sendOwed(session)
    const head = {
      kind: 'beat',
      instance,
      ages,
      instances: this.marks.size,
      standIns: this.marks.fit(instance, readersWhenLost - 1),
      versions: this.marks.versions,
      refreshEveryMs: refreshEveryMs(),
    } as const
    await this.#append(session, head, pairs)
    if (still.length > 0) await session.ask((store) => store.dropMarks(still))
  }

  /** The last words: another may go on from here. */
  async leave(session: Session, why: string): Promise<void> {
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
    const append = (): Promise<Appended> => session.ask((store) => store.append(stored, mayCreate))
    const appended = await append().catch(async (cause: unknown) => {
      const cut = this.#options.trimsBefore()
      if (!(cause instanceof StoreFailure) || cause.fault !== 'full' || cut === null) throw cause
      await session.ask((store) => store.trimBefore(idOf(cut)))
      return append()
    })
    // Who wrote instead is looked at on another connection.
    if (appended !== 'added') throw new StoreFailure('lost', 'another has written to the log, or it is gone')
    this.sentBytes += stored.h.length + (stored.b?.length ?? 0)
    this.#arrived(entry)
  }

  #arrived({ position }: LogEntry): void {
    this.position = position
    this.#pending = null
  }

  #nextOwed(): LogEntry | null {
    const rows = this.#rowsOwed()
    if (rows !== null) return this.#entryOf({ kind: 'rows' }, rows)
    // A cursor follows the rows that it covers.
    for (const list of this.#readsEnded) {
      this.#readsEnded.delete(list)
      return this.#entryOf({ kind: 'read', list, ...stateOf(this.replica, list) }, NO_BODY)
    }
    return null
  }

  /** Venues that are there, events, venues that are gone: the later ones only where nothing before them is left. */
  #rowsOwed(): Buffer | null {
    const { venues, events } = this.#effects
    const writer = this.#writer
    writer.clear()
    const isDone = fill(writer, venues, 'shown') && fill(writer, events, 'all') && fill(writer, venues, 'gone')
    return isDone && writer.count === 0 ? null : writer.bytes
  }

  /** How long reads of the CRM have failed, of the list that is worse off; 0 while they do not. A brake is no failure that another could avoid. */
  failsForMs(now: Moment): number {
    const sinceClaim = elapsedMs(this.#begun, now)
    const ages = LISTS.map((name) => this.replica[name]).map((list) =>
      list.refresh.failures > 0 && !list.reader.braked ? Math.min(list.ageMs(now) ?? sinceClaim, sinceClaim) : 0,
    )
    return Math.max(...ages)
  }
}

/** Adds what is owed; false where the entry is full. */
function fill(writer: FrameWriter, effects: Effects | undefined, which: 'shown' | 'gone' | 'all'): boolean {
  for (const frame of effects?.take(ENTRY_ROWS, which) ?? []) {
    writer.add(frame)
    if (writer.count >= ENTRY_ROWS || writer.sizeBytes >= ENTRY_BYTES) return false
  }
  return true
}
