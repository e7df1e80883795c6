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
    ;[this.#rows, this.#bytes] = [[], 0]
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

/** The error of a connection that was closed because a message was too large. Its message is the end of a sentence. */
export class TooMuch extends Error {
  readonly kind: 'broken' | 'too-large'

  constructor(message: string, kind: TooMuch['kind']) {
    super(message)
    this.kind = kind
  }
}

/** The most bytes before the server is ready for queries. About 1 KB is usual. */
const MOST_BEFORE_READY = 256 * 1024
/** The largest answer that `pg` may hold in memory: column names, a plan, a thousand ids. */
const MOST_KEPT = 16_000_000
/** The largest row that is read in batches; no event or venue is larger. */
const WIDEST_ROW = 64_000_000
/** The largest message other than a row. The description of a table of 1,600 columns takes 130 KB. */
const LONGEST_MESSAGE = 1_000_000
/** The estimated memory of a JavaScript object for one message, however short. */
const OBJECT_BYTES = 200
const HEADER_BYTES = 5
/** A message's length includes its own four bytes. */
const LEAST_LENGTH = 4

/**
 * Messages that `pg` does not keep: notifications, notices and parameter changes (PostgreSQL documentation, "Message
 * Formats").
 */
const PASSING: ReadonlySet<number> = new Set(Array.from('ANS', (type) => type.charCodeAt(0)))
const ROW = 0x44
const READY = 0x5a

/**
 * Checks the length of each message that a server sends. `pg` holds a message until it is complete, and an answer until
 * it has ended, so a connection ends as soon as a header announces too much.
 */
export class MessageLimits {
  /** Whether rows are consumed in batches rather than held until the last one. */
  byBatches = false
  readonly #header = Buffer.alloc(HEADER_BYTES)
  #headerBytes = 0
  #toCome = 0
  #kept = 0
  #isReady = false

  watch(stream: Duplex): void {
    stream.on('data', (chunk: Buffer) => {
      const problem = this.look(chunk)
      if (problem !== null) stream.destroy(problem)
    })
  }

  /** Returns why the connection must end, as soon as the data shows it; `null` if it need not. */
  look(chunk: Buffer): TooMuch | null {
    for (let at = 0; at < chunk.length;) {
      if (this.#toCome > 0) {
        const skipped = Math.min(this.#toCome, chunk.length - at)
        this.#toCome -= skipped
        at += skipped
        continue
      }
      const copied = chunk.copy(this.#header, this.#headerBytes, at, at + HEADER_BYTES - this.#headerBytes)
      this.#headerBytes += copied
      at += copied
      if (this.#headerBytes < HEADER_BYTES) break
      this.#headerBytes = 0
      const length = this.#header.readUInt32BE(1)
      const problem = this.#problemOf(this.#header.readUInt8(0), length)
      if (problem !== null) return problem
      this.#toCome = length - LEAST_LENGTH
    }
    return null
  }

  #problemOf(type: number, length: number): TooMuch | null {
    if (length < LEAST_LENGTH) return NO_POSTGRES
    const kept = this.#kept
    this.#kept += length + OBJECT_BYTES
    if (!this.#isReady && this.#kept > MOST_BEFORE_READY) return NO_POSTGRES
    if (type !== ROW && length > LONGEST_MESSAGE) return TOO_LONG
    if (this.byBatches && length > WIDEST_ROW) return TOO_WIDE
    if (this.#isReady && (this.byBatches || PASSING.has(type))) this.#kept = kept
    if (type === READY) {
      this.#isReady = true
      this.#kept = 0
    }
    return this.#kept > MOST_KEPT ? TOO_LARGE : null
  }
}

const NO_POSTGRES: TooMuch = new TooMuch('the server does not speak the PostgreSQL protocol', 'broken')
const TOO_LONG: TooMuch = new TooMuch('the server sent a message larger than 1 MB that is not a row', 'too-large')
const TOO_WIDE: TooMuch = new TooMuch('a row is larger than 64 MB', 'too-large')
const TOO_LARGE: TooMuch = new TooMuch('an answer that should be short is larger than 16 MB', 'too-large')
