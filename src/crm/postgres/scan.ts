import type { Answer } from './connection.ts'
import { Fault } from './fault.ts'
import type { ReadSession, Snapshot, Transaction } from './read-session.ts'
import { quote } from './table-name.ts'
import type { TableName } from './table-name.ts'

/** The port's limit of a page. */
const MOST_ROWS = 1000
const FIRST_ROWS = 200
const PAGE_CHARACTERS = 1_000_000

interface ScanPage<Known> {
  readonly answer: Answer
  /** What it was read in; for further statements that must see the same state, until `park`. */
  readonly transaction: Transaction
  readonly known: Known
}

/**
 * Reads some columns of all rows by a server-side cursor in the order of the id, the first of the columns. Between two
 * pages it gives way to shorter reads: then it goes on behind the last id in a transaction of its own, so that every row
 * that is there throughout is seen once.
 */
export class Scan<Known> {
  readonly #session: ReadSession
  readonly #learn: (transaction: Transaction) => Promise<Known | Fault>
  readonly #columnsOf: (known: Known) => readonly string[]
  readonly #table: TableName
  #id = ''
  #select = ''
  #transaction: Transaction | null = null
  #known: Known | null = null
  #server: string | null = null
  #last: string | null = null
  #rows = FIRST_ROWS
  #phase: 'from the start' | 'behind an id' | 'without id' | 'ended' = 'from the start'

  /** `learn` runs first in each transaction; what it gives says which columns to read, the id first. */
  constructor(
    session: ReadSession,
    table: TableName,
    learn: (transaction: Transaction) => Promise<Known | Fault>,
    columnsOf: (known: Known) => readonly string[],
  ) {
    this.#session = session
    this.#table = table
    this.#learn = learn
    this.#columnsOf = columnsOf
  }

  /** What the transaction knows that was last read in, though it may have had no row. */
  get snapshot(): Snapshot | null {
    return this.#transaction?.snapshot ?? null
  }

  /** The next page and what it was read in; null behind the last one. */
  async next(): Promise<ScanPage<Known> | Fault | null> {
    while (this.#phase !== 'ended') {
      const current = await this.#current()
      if (current instanceof Fault) return current
      const { transaction, known } = current
      const asked = this.#rows
      const answer = await transaction.query(`FETCH FORWARD ${asked} FROM marquee_scan`)
      if (answer instanceof Fault) return answer
      if (answer.rows.length < asked) {
        const after = await this.#nextPhase(transaction)
        if (after !== null) return after
      }
      if (answer.rows.length === 0) continue
      this.#last = answer.rows.at(-1)?.[0] ?? this.#last
      this.#rows = rowsOfNextPage(answer)
      return { answer, transaction, known }
    }
    return null
  }

  /** Nothing is read until `next`; others may have the connection meanwhile. */
  park(): void {
    this.#transaction?.park()
  }

  async finish(): Promise<void> {
    const transaction = this.#transaction
    this.#transaction = null
    if (transaction !== null && (await transaction.resume())) await transaction.end()
  }

  async #current(): Promise<{ readonly transaction: Transaction; readonly known: Known } | Fault> {
    const parked = this.#transaction
    if (parked !== null && this.#known !== null && (await parked.resume()))
      return { transaction: parked, known: this.#known }
    this.#transaction = null
    const transaction = await this.#session.begin()
    if (transaction instanceof Fault) return transaction
    this.#transaction = transaction
    const { server } = transaction.snapshot
    if (this.#server !== null && this.#server !== server) {
      return new Fault(
        'unreachable',
        `${transaction.where}: the connection was lost in the middle of a read`,
        null,
        true,
      )
    }
    this.#server = server
    const known = await this.#learn(transaction)
    if (known instanceof Fault) return known
    this.#known = known
    const columns = this.#columnsOf(known)
    this.#id = quote(columns[0] ?? '')
    this.#select = `SELECT ${columns.map(quote).join(', ')} FROM ${this.#table.quoted}`
    const declared = await this.#declare(transaction)
    return declared instanceof Fault ? declared : { transaction, known }
  }

  /** Rows without an id come last in order, but behind no id: after an interruption they are read on their own. */
  async #nextPhase(transaction: Transaction): Promise<Fault | null> {
    if (this.#phase !== 'behind an id') {
      this.#phase = 'ended'
      return null
    }
    this.#phase = 'without id'
    const closed = await transaction.query('CLOSE marquee_scan')
    if (closed instanceof Fault) return closed
    const declared = await this.#declare(transaction)
    return declared instanceof Fault ? declared : null
  }

  #declare(transaction: Transaction): Promise<Answer | Fault> {
    const declare = `DECLARE marquee_scan NO SCROLL CURSOR FOR ${this.#select}`
    if (this.#phase === 'without id') return transaction.query(`${declare} WHERE ${this.#id} IS NULL`)
    if (this.#last === null) return transaction.query(`${declare} ORDER BY ${this.#id}`)
    this.#phase = 'behind an id'
    return transaction.query(`${declare} WHERE ${this.#id} > $1 ORDER BY ${this.#id}`, [this.#last])
  }
}

/** Wide rows come in smaller pages, for parsing one holds up requests. */
function rowsOfNextPage({ rows }: Answer): number {
  let characters = 0
  for (const row of rows) for (const text of row) characters += text?.length ?? 0
  return Math.max(1, Math.min(MOST_ROWS, Math.floor((PAGE_CHARACTERS * rows.length) / (characters + 1))))
}
