import type { Duplex } from 'node:stream'
import type { Connection as Wire, Submittable } from 'pg'
import { OBJECT_BYTES } from './message-limits.ts'

/** All values are texts as PostgreSQL writes them, null where they are NULL. */
export type TextRow = (string | null)[]

/** Some rows of an answer, in their order. */
export interface RowBatch {
  readonly rows: TextRow[]
  /** The type of each column. */
  readonly oids: readonly number[]
  readonly bytes: number
  readonly isLast: boolean
}

/** A page of rows that grew wide all of a sudden is cut here; it is more than a page of rows of one size has. */
const MOST_BYTES = 4_000_000

/**
 * The rows of one statement in portions of a few megabytes: behind each the socket stands still until the next is asked
 * for, then the server waits and memory does not fill, however many and wide they are.
 */
export class Portions implements Submittable {
  readonly #text: string
  #stream: Duplex | null = null
  #rows: TextRow[] = []
  #bytes = 0
  #oids: readonly number[] = []
  /** Whether nothing more is to come from the server. */
  isOver = false
  #fault: unknown = null
  #waiting: PromiseWithResolvers<RowBatch> | null = null

  constructor(text: string) {
    this.#text = text
  }

  /** The next portion; only one may be waited for. */
  next(): Promise<RowBatch> {
    this.#waiting = Promise.withResolvers<RowBatch>()
    const { promise } = this.#waiting
    if (this.isOver) this.#give()
    else this.#stream?.resume()
    return promise
  }

  #give(): void {
    const waiting = this.#waiting
    if (waiting === null) return
    this.#waiting = null
    if (this.#fault !== null) return waiting.reject(this.#fault)
    const [rows, bytes] = [this.#rows, this.#bytes]
    ;[this.#rows, this.#bytes] = [[], 0]
    waiting.resolve({ rows, oids: this.#oids, bytes, isLast: this.isOver })
  }

  #end(): void {
    this.isOver = true
    // Whatever is asked next must be heard.
    this.#stream?.resume()
    this.#give()
  }

  // What `pg` calls (node-postgres documentation, Client, `client.query(submittable)`).

  submit = (wire: Wire): void => {
    this.#stream = wire.stream
    wire.query(this.#text)
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly dataTypeID: number }[] }): void {
    this.#oids = fields.map((field) => field.dataTypeID)
  }

  handleDataRow({ fields, length }: { readonly fields: TextRow; readonly length: number }): void {
    this.#rows.push(fields)
    this.#bytes += length
    if (this.#bytes + this.#rows.length * OBJECT_BYTES < MOST_BYTES) return
    this.#stream?.pause()
    this.#give()
  }

  handleCommandComplete(): void {}

  handleEmptyQuery(): void {}

  handleReadyForQuery(): void {
    this.#end()
  }

  handleError(cause: unknown): void {
    this.#fault = cause
    this.#end()
  }
}
