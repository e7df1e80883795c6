/** Turns the bytes of one file into rows, which it hands on as it finds them. All bytes are whole UTF-8. */
export interface RowParser {
  feed(bytes: Buffer): Taken
  /** Hands on what is left; calls `onCut` before a row whose line has no end. */
  finish(onCut?: OnCut): Taken
  /** Rows of blank cells alone, which are skipped. */
  readonly blankRows?: number
}

/** Takes the line in which a quote was opened that is still open; tells whether the row is to be read as if it had ended here. */
export type OnCut = (openSince?: number) => boolean

/** Null where all went well; a promise where it takes longer than requests should wait. */
export type Taken = SyntaxFault | null | Promise<SyntaxFault | null>

/**
 * Takes the bytes of one row, which lie in `bytes` from `from` and until before `to`, and the line it begins in. Their memory is
 * used again; they come without a view of their own, which would cost as much as to tell that a row did not change.
 */
export type TakeRow = (bytes: Buffer, from: number, to: number, line: number) => Taken

/** What keeps a file from being read. `problem` is the rest of a sentence that begins with file and line. */
export interface SyntaxFault {
  readonly line: number
  readonly problem: string
  /** Said instead where the file is whole, and lacks a column that the configuration names. */
  readonly lacking?: string
}

/** No row is larger; beyond it a quote or a bracket was left open. */
export const LONGEST_ROW_BYTES: number = 16 * 1024 * 1024

/** Hands on rows, the last of which may go on in the next chunks. */
export class CarriedRow {
  /** The bytes so far of the row that goes on. */
  length = 0
  #parts: Buffer[] = []
  readonly #onRow: TakeRow

  constructor(onRow: TakeRow) {
    this.#onRow = onRow
  }

  /** Keeps a copy: the chunk's memory is used again. */
  carry(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#parts.push(Buffer.from(bytes))
    this.length += bytes.length
  }

  /** Hands on the row that ends with these bytes, and began in `line`. */
  end(bytes: Buffer, from: number, to: number, line: number): Taken {
    if (this.length === 0) return this.#onRow(bytes, from, to, line)
    const whole = Buffer.concat([...this.#parts, bytes.subarray(from, to)])
    this.#parts = []
    this.length = 0
    return this.#onRow(whole, 0, whole.length, line)
  }
}
