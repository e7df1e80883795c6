// The reading of the CRM by one instance: its replica, and what the log must have of it.
import { type ListName, LISTS } from '../domain/field.ts'
import type { Observation } from '../observe/observation.ts'
import { DirtyRows, RowRecordWriter, readRowRecords } from '../records/row-records.ts'
import type { Replica } from '../sync/replica.ts'
import { type Ages, type Head, type LogEntry, type LogPosition, type ReportedState, NO_BODY } from './entries.ts'
import type { ClusterOptions } from './options.ts'
import type { FollowedLists } from './followed-lists.ts'
import type { Buffer } from 'node:buffer'
import type { Moment, Time } from '../time/time.ts'

/**
 * Reads the CRM here, as leader or standalone, starting from the lists that were followed. Collects the changes for the
 * log.
 */
export class OwnReading {
  readonly replica: Replica
  /** The rows changed since `after`, of the lists that were read in full by then. */
  readonly dirtyRows: Partial<Record<ListName, DirtyRows>> = {}
  /** The last entry of a log that these rows include. */
  after: LogPosition | null
  #note: (observation: Observation) => void = () => {}

  constructor({ newLists, newReplica }: Pick<ClusterOptions, 'newLists' | 'newReplica'>, from: FollowedLists | null) {
    this.after = from?.position ?? null
    const resumeState = from === null ? null : { events: from.events.resumeState, venues: from.venues.resumeState }
    const lists = from?.lists ?? newLists()
    this.replica = newReplica(lists, resumeState, (observation) => this.#note(observation))
    this.#start()
  }

  #start(): void {
    for (const { list, reader } of [this.replica.venues, this.replica.events]) {
      if (reader.isLoaded) this.dirtyRows[list.kind.name] = new DirtyRows(list)
    }
    this.replica.start()
  }

  /** Passes further observations on, to the writer of the log. */
  reportTo(note: (observation: Observation) => void): void {
    this.#note = note
  }

  /** Starts no further reads. Changes of a running read are no longer reported. */
  end(): void {
    for (const dirtyRows of Object.values(this.dirtyRows)) dirtyRows.end()
    void this.replica.stop()
  }

  /** Reads on after an end. No log has exactly these rows, because changes were not reported in the meantime. */
  goOn(): void {
    this.after = null
    this.#note = () => {}
    this.#start()
  }
}

const ENTRY_ROWS = 1000
const ENTRY_BYTES = 1024 * 1024
/** The most times of change that are kept until they can be sent. */
const MOST_TIMES = 10 * ENTRY_ROWS

/**
 * Changes from reads of the CRM that the log does not have yet, ordered so that no event is shown without its venue.
 */
export class Outbox {
  readonly #replica: Replica
  readonly #dirtyRows: Partial<Record<ListName, DirtyRows>>
  readonly #time: Time
  readonly #states = new Set<ListName>(LISTS)
  /**
   * Lists of which a read has ended: their states wait for the next heartbeat, because rows that change all the time
   * would otherwise double the entries. An old cursor is harmless: reads continue from it.
   */
  readonly #withHeartbeat = new Set<ListName>()
  readonly #writer = new RowRecordWriter()
  /** The CRM's times of change of the rows to be sent. */
  #updatedAtMs: number[] = []
  #wake: () => void = () => {}

  constructor(replica: Replica, dirtyRows: Partial<Record<ListName, DirtyRows>>, time: Time) {
    this.#replica = replica
    this.#dirtyRows = dirtyRows
    this.#time = time
    this.followLoaded()
  }

  get count(): number {
    return LISTS.reduce((sum, name) => sum + (this.#dirtyRows[name]?.size ?? 0), this.#states.size)
  }

  /**
   * Starts to collect changes of a list once it was read in full; earlier rows go into a snapshot. Returns whether a
   * list is new.
   */
  followLoaded(): boolean {
    let isNew = false
    for (const name of LISTS) {
      const { reader, list } = this.#replica[name]
      if (!reader.isLoaded) continue
      if (this.#dirtyRows[name] === undefined) isNew = true
      const dirtyRows = (this.#dirtyRows[name] ??= new DirtyRows(list))
      dirtyRows.onDirty = () => this.#wake()
    }
    return isNew
  }

  /** Calls back once when there is something to send. */
  onUnsent(wake: () => void): void {
    this.#wake = wake
  }

  note(observation: Observation): void {
    if (observation.kind === 'read-ended' && observation.read.kind !== 'addition') {
      for (const list of LISTS) if (list === observation.read.list) this.#withHeartbeat.add(list)
    } else if (observation.kind === 'changes-published') {
      const { wallMs } = this.#time.now()
      const times = observation.delaysMs.slice(0, MOST_TIMES - this.#updatedAtMs.length)
      for (const delayMs of times) this.#updatedAtMs.push(wallMs - delayMs)
    }
  }

  /** Queues the states that waited for the heartbeat, to be sent before it. */
  tellWaiting(): void {
    for (const list of this.#withHeartbeat) this.#states.add(list)
  }

  /** Queues the state of a list. */
  tell(list: ListName): void {
    this.#states.add(list)
    this.#wake()
  }

  /** Queues the rows of an entry that the current log lacks. */
  again({ head, body }: LogEntry): void {
    if (head.kind === 'rows') for (const { list, id } of readRowRecords(body)) this.#dirtyRows[list]?.putBack(id)
  }

  /** Takes what is to be sent next; `null` if nothing is left. */
  next(): Pick<LogEntry, 'head' | 'body'> | null {
    const body = this.#rows()
    if (body !== null) return { head: { kind: 'rows', updatedAtMs: this.#updatedAtMs.splice(0, ENTRY_ROWS) }, body }
    // More times than rows: a row that changed several times is sent once.
    this.#updatedAtMs = []
    // A cursor is sent after the rows that it covers.
    for (const list of this.#states) {
      this.#states.delete(list)
      this.#withHeartbeat.delete(list)
      const head: Head = { kind: 'read', list, ...stateOf(this.#replica, list, this.#time.now()) }
      return { head, body: NO_BODY }
    }
    return null
  }

  /**
   * Takes rows in this order: venues that exist, events, venues that are gone. The next group only follows when the
   * previous one is empty.
   */
  #rows(): Buffer | null {
    const { venues, events } = this.#dirtyRows
    const writer = this.#writer
    writer.clear()
    const isDone = fill(writer, venues, 'shown') && fill(writer, events, 'all') && fill(writer, venues, 'gone')
    return isDone && writer.count === 0 ? null : writer.bytes
  }
}

/** Adds dirty rows to the entry. Returns false if the entry is full. */
function fill(writer: RowRecordWriter, dirtyRows: DirtyRows | undefined, which: 'shown' | 'gone' | 'all'): boolean {
  for (const rowRecord of dirtyRows?.take(ENTRY_ROWS, which) ?? []) {
    writer.add(rowRecord)
    if (writer.count >= ENTRY_ROWS || writer.sizeBytes >= ENTRY_BYTES) return false
  }
  return true
}

/** Returns the state of a list that the leader reports besides its rows, as of now. */
export function stateOf(replica: Replica, name: ListName, now: Moment): ReportedState {
  const { reader, refresh, lastFailure, nextTryInMs, askedMs } = replica[name]
  return {
    ...reader.stateAt(now),
    whole: reader.isLoaded,
    accepting: reader.guard.acceptsShorter,
    lastError: lastFailure?.message ?? null,
    waiting: lastFailure?.kind === 'waiting',
    failures: refresh.failuresInAll,
    nextTryMs: nextTryInMs,
    askedMs,
  }
}

const UNKNOWN: Ages = { details: null, availability: null, audited: null }
export const UNKNOWN_AGES: Readonly<Record<ListName, Ages>> = { events: UNKNOWN, venues: UNKNOWN }

export function agesOf(replica: Replica, now: Moment): Readonly<Record<ListName, Ages>> {
  const ages = ({ reader }: Replica[ListName]): Ages => {
    const { freshness, isLoaded } = reader
    if (!isLoaded) return UNKNOWN
    return {
      details: freshness.confirmedAgeMs(now),
      availability: freshness.confirmedAgeMs(now),
      audited: freshness.auditedAgeMs(now),
    }
  }
  return { events: ages(replica.events), venues: ages(replica.venues) }
}

/**
 * Returns how long reads of the CRM have failed, for the worse of both lists; 0 if none fails. A shrunk list does not
 * count, because another leader would not believe it either.
 */
export function failsForMs(replica: Replica, sinceMs: number, now: Moment): number {
  const failing = LISTS.map((name) => replica[name]).filter(
    ({ refresh, shrunk }) => refresh.failures > 0 && shrunk === null,
  )
  return Math.max(0, ...failing.map((list) => Math.min(list.ageMs(now) ?? sinceMs, sinceMs)))
}
