import type { Failure, PageStream } from '../../sync/port.ts'
import type { Time } from '../../time/time.ts'
import { TIMED_OUT, withTimeout } from '../../time/waiting.ts'
import { Fault } from './fault.ts'
import { KnownTable, emptyPage } from './known-table.ts'
import type { ReadSession, Transaction } from './read-session.ts'
import type { ListTable } from './list-table.ts'
import { type TableShape, columnFault, isWallTime, stampFault, tableShape, zoneOf } from './table-shape.ts'

/** A transaction, and the table as it finds it. */
export interface Opened<Item> {
  readonly transaction: Transaction
  readonly known: KnownTable<Item>
}

/** Who waits for another read to end says so this often, or it would be taken for one that hangs. */
const SIGN_OF_LIFE_MS = 1000

/** What all reads of one list on one lane share: transactions, and what the table looks like to the server. */
export class TableReader<Item> {
  readonly #list: ListTable<Item>
  readonly #lane: ReadSession
  readonly #time: Time
  #known: KnownTable<Item> | null = null

  constructor(list: ListTable<Item>, lane: ReadSession, time: Time) {
    this.#list = list
    this.#lane = lane
    this.#time = time
  }

  /** The same for a read: pages without rows say meanwhile that it is alive. */
  async *open(): PageStream<Item, Opened<Item> | Fault> {
    const opening = this.openNow()
    let opened: Opened<Item> | Fault | typeof TIMED_OUT = TIMED_OUT
    try {
      for (;;) {
        opened = await withTimeout(this.#time, SIGN_OF_LIFE_MS, opening)
        if (opened !== TIMED_OUT) return opened
        yield emptyPage({ begunAt: this.#time.now(), sourceLagMs: 0 })
      }
    } finally {
      // Nobody wants the read any more.
      if (opened === TIMED_OUT) void opening.then((late) => (late instanceof Fault ? null : late.transaction.end()))
    }
  }

  /** What a statement stumbled over while the service ran is told by another look at the columns. */
  async explain({ failure }: Fault): Promise<Failure> {
    if (failure.kind !== 'misconfigured' || this.#known === null) return failure
    this.#known = null
    const opened = await this.openNow()
    if (opened instanceof Fault) return opened.failure
    await opened.transaction.end()
    return failure
  }

  /** Begins a transaction when the lane is free. */
  async openNow(): Promise<Opened<Item> | Fault> {
    const transaction = await this.#lane.begin()
    if (transaction instanceof Fault) return transaction
    const known = await this.#knownIn(transaction)
    if (!(known instanceof Fault)) return { transaction, known }
    await transaction.end()
    return known
  }

  /** Looks at the columns once for each connection: a missing one is named before a statement stumbles over it. */
  async #knownIn(transaction: Transaction): Promise<KnownTable<Item> | Fault> {
    const { server } = transaction.snapshot
    if (this.#known?.server === server) return this.#known
    this.#known = null
    const shape = await tableShape(transaction, this.#list.table, this.#list.name)
    if (shape instanceof Fault) return shape
    const list = hasOlderName(this.#list, shape) ? this.#list.withUpdatedAt(OLDER_NAME) : this.#list
    const reading = list.rowReading(shape)
    const fault = columnFault(shape, reading, list) ?? stampFault(shape, list)
    if (fault !== null) return fault
    const zone = isWallTime(shape, list) ? (list.updatedAtIn ?? (await zoneOf(transaction))) : null
    if (zone instanceof Fault) return zone
    this.#known = new KnownTable(list, server, shape, zone, reading)
    return this.#known
  }
}

/** What many tables call the column that is `updated_at` elsewhere; taken if only that is there. */
const OLDER_NAME = 'changed_at'

function hasOlderName({ updatedAt }: ListTable<unknown>, { columns }: TableShape): boolean {
  return updatedAt === 'updated_at' && !columns.has(updatedAt) && columns.has(OLDER_NAME)
}
