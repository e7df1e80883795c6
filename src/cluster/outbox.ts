import type { Buffer } from 'node:buffer'
import { type ListName, LISTS } from '../domain/field.ts'
import type { Observation } from '../observe/observation.ts'
import { DirtyRows } from '../records/dirty-rows.ts'
import { RowRecordWriter, readRowRecords } from '../records/row-records.ts'
import type { Replica } from '../sync/replica.ts'
import type { Time } from '../time/time.ts'
import { type Head, type LogEntry, NO_BODY } from './entries.ts'
import { stateOf } from './list-states.ts'

const ENTRY_ROWS = 1000
const ENTRY_BYTES = 1024 * 1024
/** Of changes that cannot be told for long, so many times are kept. */
const MOST_TIMES = 10 * ENTRY_ROWS

/** What reads of the CRM changed and the log does not tell yet, in an order in which nobody shows an event without its venue. */
export class Outbox {
  readonly #replica: Replica
  readonly #dirtyRows: Partial<Record<ListName, DirtyRows>>
  readonly #time: Time
  readonly #states = new Set<ListName>(LISTS)
  /** Lists of which only a cursor or a count is new: told with the next heartbeat. */
  readonly #withHeartbeat = new Set<ListName>()
  /** What was last told of a list that somebody acts on. */
  readonly #told = new Map<ListName, string>()
  readonly #writer = new RowRecordWriter()
  /** When the CRM says that it changed what is owed. */
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

  /** From when a list was read in full, what changes is told; what it had by then is for a snapshot. True where that is new. */
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

  /** Calls back when something is owed. */
  onOwed(wake: () => void): void {
    this.#wake = wake
  }

  note(observation: Observation): void {
    if (observation.kind === 'read-ended' && observation.read.kind !== 'addition') {
      for (const list of LISTS) if (list === observation.read.list) this.#ended(list)
    } else if (observation.kind === 'changes-published') {
      const { wallMs } = this.#time.now()
      const times = observation.delaysMs.slice(0, MOST_TIMES - this.#updatedAtMs.length)
      for (const delayMs of times) this.#updatedAtMs.push(wallMs - delayMs)
    }
  }

  /** Where rows change all the time, telling each cursor at once would double the entries; one that is behind is only read on from. */
  #ended(list: ListName): void {
    const { isNews, text } = this.#newsOf(list)
    if (isNews || text !== this.#told.get(list)) this.tell(list)
    else this.#withHeartbeat.add(list)
  }

  /** What waited for the heartbeat is owed before it. */
  tellWaiting(): void {
    for (const list of this.#withHeartbeat) this.#states.add(list)
  }

  /** What is known of a list beside its rows is owed. */
  tell(list: ListName): void {
    this.#states.add(list)
    this.#wake()
  }

  /** What was sent is not in the log that there is now. */
  again({ head, body }: LogEntry): void {
    if (head.kind === 'rows') for (const { list, id } of readRowRecords(body)) this.#dirtyRows[list]?.putBack(id)
  }

  /** Takes what is to be told next; null where nothing is owed. */
  next(): Pick<LogEntry, 'head' | 'body'> | null {
    const body = this.#rows()
    if (body !== null) return { head: { kind: 'rows', updatedAtMs: this.#updatedAtMs.splice(0, ENTRY_ROWS) }, body }
    // Of rows that changed several times, and were told once.
    this.#updatedAtMs = []
    // A cursor follows the rows that it covers.
    for (const list of this.#states) {
      this.#states.delete(list)
      this.#withHeartbeat.delete(list)
      this.#told.set(list, this.#newsOf(list).text)
      const head: Head = { kind: 'read', list, ...stateOf(this.#replica, list, this.#time.now()) }
      return { head, body: NO_BODY }
    }
    return null
  }

  /** What followers and their callers act on; a read that fails again is news too, since the next try is another. */
  #newsOf(list: ListName): { readonly isNews: boolean; readonly text: string } {
    const { whole, shrunk, accepting, lastError } = stateOf(this.#replica, list, this.#time.now())
    return { isNews: lastError !== null, text: JSON.stringify([whole, shrunk !== null, accepting, lastError]) }
  }

  /** Venues that are there, events, venues that are gone: the later ones only where nothing before them is left. */
  #rows(): Buffer | null {
    const { venues, events } = this.#dirtyRows
    const writer = this.#writer
    writer.clear()
    const isDone = fill(writer, venues, 'shown') && fill(writer, events, 'all') && fill(writer, venues, 'gone')
    return isDone && writer.count === 0 ? null : writer.bytes
  }
}

/** Adds what is owed; false where the entry is full. */
function fill(writer: RowRecordWriter, dirtyRows: DirtyRows | undefined, which: 'shown' | 'gone' | 'all'): boolean {
  for (const frame of dirtyRows?.take(ENTRY_ROWS, which) ?? []) {
    writer.add(frame)
    if (writer.count >= ENTRY_ROWS || writer.sizeBytes >= ENTRY_BYTES) return false
  }
  return true
}
