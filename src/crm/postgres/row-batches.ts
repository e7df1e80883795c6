import type { Duplex } from 'node:stream'
import type { Connection as Wire, Submittable } from 'pg'

/** A row's values as PostgreSQL writes them; `null` for NULL. */
export type TextRow = (string | null)[]

export interface RowBatch {
  readonly rows: TextRow[]
  readonly oids: readonly number[]
  readonly bytes: number
  readonly isLast: boolean
}

/** A batch ends at this size even within a page, because rows may suddenly be wider than the previous ones. */
const MOST_BYTES = 4_000_000
/** The estimated memory of the JavaScript object of one row, however short. */
const OBJECT_BYTES = 200

/**
 * Reads the rows of one statement in batches of a few megabytes. The socket pauses after each batch, so the server
 * waits and memory stays bounded, however many rows there are.
 */
export class RowBatches implements Submittable {
  readonly #text: string
  #stream: Duplex | null = null
  #rows: TextRow[] = []
  #bytes = 0
  #oids: readonly number[] = []
  isOver = false
  #failed: unknown = null
  #waiting: PromiseWithResolvers<RowBatch> | null = null

  constructor(text: string) {
    this.#text = text
  }

  /** Returns the next batch. Only one call may be pending. */
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
    if (this.#failed !== null) return waiting.reject(this.#failed)
    const [rows, bytes] = [this.#rows, this.#bytes]
    this.#rows = []
    this.#bytes = 0
    waiting.resolve({ rows, oids: this.#oids, bytes, isLast: this.isOver })
  }

  #end(): void {
    this.isOver = true
    // Resume reading, so the answer to the next statement is received.
    this.#stream?.resume()
    this.#give()
  }

  // Called by `pg` (node-postgres documentation, Client, `client.query(submittable)`).

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
    this.#failed = cause
    this.#end()
  }
}
