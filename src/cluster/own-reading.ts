// The reading of the CRM by one instance: its replica, and what the store does not have of it yet.
import type { Buffer } from 'node:buffer'
import { type ListName, LISTS } from '../domain/field.ts'
import type { Guid } from '../domain/guid.ts'
import type { Observation } from '../observe/observation.ts'
import { DirtyRows, type RecordLists, type RowRecord, allRowRecords, rowRecordOf } from '../records/row-records.ts'
import type { Replica } from '../sync/replica.ts'
import type { Moment, Time } from '../time/time.ts'
import { type ReportedState, encodeNotes } from './beat.ts'
import type { FollowedLists } from './followed-lists.ts'
import type { ClusterOptions } from './options.ts'
import { encodeRow } from './row-bytes.ts'

/** Reads the CRM here, as leader or alone, from the lists that were followed. */
export class OwnReading {
  readonly replica: Replica
  #note: (observation: Observation) => void = () => {}

  /** Nothing is read before `start`. */
  constructor({ newLists, newReplica }: Pick<ClusterOptions, 'newLists' | 'newReplica'>, from: FollowedLists | null) {
    const resumeState = from === null ? null : { events: from.events.resumeState, venues: from.venues.resumeState }
    this.replica = newReplica(from?.lists ?? newLists(), resumeState, (observation) => this.#note(observation))
  }

  /** Passes further observations on, to the leader. */
  reportTo(note: (observation: Observation) => void): void {
    this.#note = note
  }

  start(): void {
    this.replica.start()
  }

  /** Starts no further reads. */
  end(): void {
    this.#note = () => {}
    void this.replica.stop()
  }
}

const ENTRY_ROWS = 1000
const ENTRY_BYTES = 1024 * 1024
/** The most times of change that are kept until they can be written. */
const MOST_TIMES = 10 * ENTRY_ROWS

/** Rows that were taken to be written, and what is said of them. */
export interface UnsentRows {
  readonly rows: readonly Buffer[]
  readonly notes: string
  readonly ids: readonly { readonly list: ListName; readonly id: Guid }[]
}

/** The changes that the store does not have, in the order in which no event is shown without its venue. */
export class Outbox {
  readonly #replica: Replica
  readonly #time: Time
  readonly #dirty: Partial<Record<ListName, DirtyRows>> = {}
  /** The CRM's times of change of the rows to be written. */
  #updatedAtMs: number[] = []
  #wake: () => void = () => {}

  constructor(replica: Replica, time: Time) {
    this.#replica = replica
    this.#time = time
    this.collectLoaded()
  }

  get count(): number {
    return LISTS.reduce((sum, name) => sum + (this.#dirty[name]?.size ?? 0), 0)
  }

  /** The lists whose changes are collected. */
  get lists(): readonly ListName[] {
    return LISTS.filter((name) => this.#dirty[name] !== undefined)
  }

  /** Starts to collect the changes of lists that were read in full by now. Returns whether any is new. */
  collectLoaded(): boolean {
    const loaded = LISTS.filter((name) => this.#replica[name].isLoaded && this.#dirty[name] === undefined)
    for (const name of loaded) {
      const dirty = (this.#dirty[name] = new DirtyRows(this.#replica[name].list))
      dirty.onDirty = () => this.#wake()
    }
    return loaded.length > 0
  }

  end(): void {
    for (const dirty of Object.values(this.#dirty)) dirty.end()
  }

  /** Calls back once when there is something to write. */
  onUnsent(wake: () => void): void {
    this.#wake = wake
  }

  wake(): void {
    this.#wake()
  }

  note(observation: Observation): void {
    if (observation.kind !== 'changes-published') return
    const { wallMs } = this.#time.now()
    const times = observation.delaysMs.slice(0, MOST_TIMES - this.#updatedAtMs.length)
    for (const delayMs of times) this.#updatedAtMs.push(wallMs - delayMs)
  }

  /** Takes the next rows in this order: venues that exist, events, venues that are gone. `null` if nothing is left. */
  next(): UnsentRows | null {
    const rows: Buffer[] = []
    const ids: { list: ListName; id: Guid }[] = []
    let sizeBytes = 0
    const isFull = (): boolean => rows.length >= ENTRY_ROWS || sizeBytes >= ENTRY_BYTES
    for (const [list, which] of [
      ['venues', 'shown'],
      ['events', 'all'],
      ['venues', 'gone'],
    ] as const) {
      if (isFull()) break
      for (const record of this.#dirty[list]?.take(ENTRY_ROWS - rows.length, which) ?? []) {
        const row = encodeRow(this.#wholeOf(record))
        rows.push(row)
        ids.push({ list, id: record.id })
        sizeBytes += row.length
        if (isFull()) break
      }
    }
    const times = this.#updatedAtMs.splice(0, rows.length === 0 ? Infinity : ENTRY_ROWS)
    if (rows.length === 0) return null
    const leftBehind = LISTS.filter((list) => this.#replica[list].isLeftBehind)
    return { rows, ids, notes: encodeNotes({ times, leftBehind }) }
  }

  /** The store knows whole rows alone: one whose version alone changed is written as it is. */
  #wholeOf(record: RowRecord): RowRecord {
    if (record.says !== 'version') return record
    const { list } = this.#replica[record.list]
    const row = list.find(record.id)
    return row === null ? { ...record, says: 'removed' } : rowRecordOf(list, row)
  }

  /** Returns rows that did not arrive. */
  again({ ids }: UnsentRows): void {
    for (const { list, id } of ids) this.#dirty[list]?.putBack(id)
  }
}

/** Yields all rows of these lists in parts for the hashes, with their present contents. Rows may change between two parts. */
export function* fillingParts(lists: RecordLists, names: readonly ListName[]): Generator<readonly Buffer[], void> {
  let part: Buffer[] = []
  let sizeBytes = 0
  for (const record of allRowRecords(lists, names)) {
    const bytes = encodeRow(record)
    part.push(bytes)
    sizeBytes += bytes.length
    if (part.length < ENTRY_ROWS && sizeBytes < ENTRY_BYTES) continue
    yield part
    part = []
    sizeBytes = 0
  }
  if (part.length > 0) yield part
}

/** Returns the state of a list that the leader reports besides its rows, as of now. */
export function stateOf(replica: Replica, name: ListName, now: Moment, loss: string | null): ReportedState {
  const { list, reader, refresh, lastFailure, nextTryInMs, askedMs, freshness } = replica[name]
  return {
    ...reader.stateAt(now),
    whole: reader.isLoaded,
    accepting: reader.guard.acceptsShorter,
    lastError: lastFailure?.message ?? null,
    waiting: lastFailure?.kind === 'waiting',
    failures: refresh.failuresInAll,
    nextTryMs: nextTryInMs,
    askedMs,
    isLeftBehind: replica[name].isLeftBehind,
    lastRemoval: list.lastRemoval,
    loss,
    ageMs: reader.isLoaded ? freshness.confirmedAgeMs(now) : null,
    auditedMs: freshness.auditedAgeMs(now),
  }
}

/**
 * Returns how long reads of the CRM have failed, for the worse of both lists; 0 if none fails. A read that hangs for
 * so long counts as failed: until its time limits expire, the data may be past the maximum age. A shrunk list does not
 * count, because another leader would not believe it either.
 */
export function failsForMs(replica: Replica, sinceMs: number, maxWaitMs: number, now: Moment): number {
  const failing = LISTS.map((name) => replica[name]).filter(
    ({ refresh, reader, shrunk }) =>
      (refresh.failures > 0 || reader.wait.hangsForMs(now.monotonicMs) >= maxWaitMs) && shrunk === null,
  )
  return Math.max(0, ...failing.map((list) => Math.min(list.ageMs(now) ?? sinceMs, sinceMs)))
}
