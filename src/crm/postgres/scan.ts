import type { Answer, Connection } from './connection.ts'
import { Fault } from './fault.ts'

/** The port's limit of a page. */
const MOST_ROWS = 1000
/** How wide the rows are is not known yet. */
const FIRST_ROWS = 125
/** Parsing a page holds up requests, so wide rows come in smaller ones. */
const PAGE_BYTES = 1_000_000
/** Rows that take the server long, too: a page may take this part of what a statement may. */
const PAGE_TIME = 0.25

/** The rows of a cursor that the server holds until its transaction ends, in pages of limited length and size. */
export class Scan {
  readonly #connection: Connection
  readonly #cursor: string
  #rows = FIRST_ROWS
  /** Of the rows that were asked for at once, those that are still to come. */
  #toCome = 0
  #hasEnded = false

  constructor(connection: Connection, cursor: string) {
    this.#connection = connection
    this.#cursor = cursor
  }

  /** The next page, of one row at the least; null behind the last one. */
  async next(): Promise<Answer | Fault | null> {
    while (!this.#hasEnded || this.#connection.isBusy) {
      const begunAt = this.#connection.time.now().monotonicMs
      const portion = this.#connection.isBusy ? await this.#connection.nextPortion() : await this.#fetch()
      if (portion instanceof Fault) return portion
      const { rows, bytes } = portion
      const tookMs = this.#connection.time.now().monotonicMs - begunAt
      this.#toCome -= rows.length
      if (portion.isLast && this.#toCome > 0) this.#hasEnded = true
      if (rows.length === 0) continue
      const part = Math.max(bytes / PAGE_BYTES, tookMs / (this.#connection.limitMs * PAGE_TIME))
      this.#rows = rowsWhere(part / rows.length)
      return portion
    }
    return null
  }

  /** Forgets the cursor, so that its name may be used again in the same transaction. */
  async close(): Promise<Fault | null> {
    const closed = await this.#connection.query(`CLOSE ${this.#cursor}`)
    return closed instanceof Fault ? closed : null
  }

  #fetch(): ReturnType<Connection['portion']> {
    this.#toCome = this.#rows
    return this.#connection.portion(`FETCH FORWARD ${this.#rows} FROM ${this.#cursor}`)
  }
}

/** How many rows make a page of which each is that part; of a few numbers, for a server may keep statistics of each statement's text. */
function rowsWhere(part: number): number {
  let rows = MOST_ROWS
  while (rows > 1 && rows * part > 1) rows = Math.floor(rows / 2)
  return rows
}
