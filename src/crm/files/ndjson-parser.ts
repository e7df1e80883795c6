import type { RowParser, SyntaxFault, TakeRow, Taken } from './row-parser.ts'
import { CarriedBytes, LONGEST_ROW_BYTES } from './row-parser.ts'

const LINE_FEED = 0x0a
const OPEN_OBJECT = 0x7b
const NOTHING = Buffer.alloc(0)

/** Hands on the bytes of each line that is not blank. */
export class NdjsonParser implements RowParser {
  #line = 1
  #isEmpty = true
  readonly #onLine: TakeRow
  readonly #carried = new CarriedBytes()

  constructor(onLine: TakeRow) {
    this.#onLine = onLine
  }

  feed(bytes: Buffer): Taken {
    this.#isEmpty &&= bytes.length === 0
    return this.#feedFrom(bytes, 0)
  }

  #feedFrom(bytes: Buffer, first: number): Taken {
    let from = first
    for (;;) {
      const at = bytes.indexOf(LINE_FEED, from)
      if (this.#carried.length + (at === -1 ? bytes.length : at) - from > LONGEST_ROW_BYTES) return this.#tooLong()
      if (at === -1) break
      const taken = this.#take(bytes, from, at)
      this.#line++
      from = at + 1
      if (taken instanceof Promise) return taken.then((fault) => fault ?? this.#feedFrom(bytes, at + 1))
      if (taken !== null) return taken
    }
    this.#carried.add(bytes.subarray(from))
    return null
  }

  finish(): Taken {
    if (this.#isEmpty) return { line: 1, problem: 'the file holds nothing; an empty list is one blank line' }
    return this.#take(NOTHING, 0, 0)
  }

  #take(bytes: Buffer, from: number, to: number): Taken {
    if (this.#carried.length > 0) {
      const whole = this.#carried.take(bytes.subarray(from, to))
      return this.#take(whole, 0, whole.length)
    }
    return isBlank(bytes, from, to) ? null : this.#onLine(bytes, from, to, this.#line)
  }

  #tooLong(): SyntaxFault {
    return { line: this.#line, problem: 'the line is longer than 16 MB' }
  }
}

function isBlank(bytes: Buffer, from: number, to: number): boolean {
  // Nearly every line begins with its bracket.
  return bytes[from] !== OPEN_OBJECT && /^[ \t\r]*$/.test(bytes.toString('latin1', from, to))
}
