import type { CrmFailure } from '../../replica/port.ts'
import { Fault } from './fault.ts'
import { KnownTable } from './known-table.ts'
import type { ListTable } from './list-table.ts'
import type { ReadSession, Transaction } from './read-session.ts'
import { Scan } from './scan.ts'
import { columnFault, shapeOf, stampFault } from './table-shape.ts'

/** What all reads of one list share: transactions, and what the table looks like on the server it was last asked on. */
export class TableReader<Item> {
  readonly #list: ListTable<Item>
  readonly #session: ReadSession
  #known: KnownTable<Item> | null = null

  constructor(list: ListTable<Item>, session: ReadSession) {
    this.#list = list
    this.#session = session
  }

  /** What the last look found, null where there was none or it is doubted. */
  get lastKnown(): KnownTable<Item> | null {
    return this.#known
  }

  begin(): Promise<Transaction | Fault> {
    return this.#session.begin()
  }

  /** A scan of all rows that reads those columns, the id's first. */
  scan(columnsOf: (known: KnownTable<Item>) => readonly string[]): Scan<KnownTable<Item>> {
    return new Scan(this.#session, this.#list.table, (transaction) => this.knownIn(transaction), columnsOf)
  }

  /** Looks at the columns once for each connection: a missing one is named before a statement stumbles over it. */
  async knownIn(transaction: Transaction): Promise<KnownTable<Item> | Fault> {
    const list = this.#list
    const { server } = transaction.snapshot
    if (this.#known?.server === server) return this.#known
    this.#known = null
    const shape = await shapeOf(transaction, list.table, list.name)
    if (shape instanceof Fault) return shape
    const reading = list.rowReading((column) => shape.columns.has(column))
    const fault =
      columnFault(shape, reading.columns, list.table, list.name) ??
      stampFault(shape, list.changedAt ?? '', list.table, list.name)
    if (fault !== null) return fault
    this.#known = new KnownTable(list, server, shape, reading)
    return this.#known
  }

  /** Whether the table and its columns are there; null where they are. */
  async look(): Promise<CrmFailure | null> {
    const transaction = await this.begin()
    if (transaction instanceof Fault) return transaction.failure
    const known = await this.knownIn(transaction)
    await transaction.end()
    return known instanceof Fault ? known.failure : null
  }

  /** What a statement stumbled over while the service ran is told by another look at the columns. */
  async explain({ failure }: Fault): Promise<CrmFailure> {
    if (failure.kind !== 'misconfigured' || this.#known === null) return failure
    this.#known = null
    return (await this.look()) ?? failure
  }
}
