import type { Failure, PageStream } from '../../sync/port.ts'
import type { Time } from '../../time/time.ts'
import { TIMED_OUT, withTimeout } from '../../time/waiting.ts'
import { PostgresFailure } from './postgres-failure.ts'
import { KnownTable, emptyPage } from './known-table.ts'
import type { ReadSession, Transaction } from './read-session.ts'
import type { ListTable } from './list-table.ts'
import { type TableShape, missingColumns, isWallTime, unfitUpdatedAt, tableShape, zoneOf } from './table-shape.ts'

/** A transaction, and the table's shape in it. */
export interface Opened<Item> {
  readonly transaction: Transaction
  readonly known: KnownTable<Item>
}

/**
 * How often a read that waits for another one yields an empty page, in ms; otherwise it would be abandoned as hanging.
 */
const SIGN_OF_LIFE_MS = 1000

/** Shared by all reads of one list on one session: begins transactions and caches the table's shape. */
export class TableReader<Item> {
  readonly #list: ListTable<Item>
  readonly #session: ReadSession
  readonly #time: Time
  #known: KnownTable<Item> | null = null

  constructor(list: ListTable<Item>, session: ReadSession, time: Time) {
    this.#list = list
    this.#session = session
    this.#time = time
  }

  /** Begins a transaction for a read. Yields empty pages while it waits, to show that the read is alive. */
  async *open(): PageStream<Item, Opened<Item> | PostgresFailure> {
    const opening = this.openNow()
    let opened: Opened<Item> | PostgresFailure | typeof TIMED_OUT = TIMED_OUT
    try {
      for (;;) {
        opened = await withTimeout(this.#time, SIGN_OF_LIFE_MS, opening)
        if (opened !== TIMED_OUT) return opened
        yield emptyPage({ begunAt: this.#time.now(), sourceLagMs: 0 })
      }
    } finally {
      // The read was abandoned.
      if (opened === TIMED_OUT)
        void opening.then((late) => (late instanceof PostgresFailure ? null : late.transaction.end()))
    }
  }

  /** Explains a failed statement: examines the columns again, which may name the cause more exactly. */
  async explain({ failure }: PostgresFailure): Promise<Failure> {
    if (failure.kind !== 'misconfigured' || this.#known === null) return failure
    this.#known = null
    const opened = await this.openNow()
    if (opened instanceof PostgresFailure) return opened.failure
    await opened.transaction.end()
    return failure
  }

  /** Begins a transaction once the session is free. */
  async openNow(): Promise<Opened<Item> | PostgresFailure> {
    const transaction = await this.#session.begin()
    if (transaction instanceof PostgresFailure) return transaction
    let known: KnownTable<Item> | PostgresFailure | null = null
    try {
      known = await this.#knownIn(transaction)
      return known instanceof PostgresFailure ? known : { transaction, known }
    } finally {
      if (!(known instanceof KnownTable)) await transaction.end()
    }
  }

  /** Examines the columns once per connection, so a missing column is named before a statement fails. */
  async #knownIn(transaction: Transaction): Promise<KnownTable<Item> | PostgresFailure> {
    const { server } = transaction.moment
    if (this.#known?.server === server) return this.#known
    this.#known = null
    const shape = await tableShape(transaction, this.#list.table, this.#list.name)
    if (shape instanceof PostgresFailure) return shape
    const list = hasOlderName(this.#list, shape) ? this.#list.withUpdatedAt(OLDER_NAME) : this.#list
    const reading = list.rowReading(shape)
    const failed = missingColumns(shape, reading, list) ?? unfitUpdatedAt(shape, list)
    if (failed !== null) return failed
    const zone = isWallTime(shape, list) ? (list.updatedAtIn ?? (await zoneOf(transaction))) : null
    if (zone instanceof PostgresFailure) return zone
    this.#known = new KnownTable(list, server, shape, zone, reading)
    return this.#known
  }
}

/** A common older name of the updatedAt column, used if `updated_at` does not exist. */
const OLDER_NAME = 'changed_at'

function hasOlderName({ updatedAt }: ListTable<unknown>, { columns }: TableShape): boolean {
  return updatedAt === 'updated_at' && !columns.has(updatedAt) && columns.has(OLDER_NAME)
}
