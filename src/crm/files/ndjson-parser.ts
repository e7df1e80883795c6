import { CarriedBytes } from './carried-bytes.ts'
import type { RowParser, SyntaxFault, TakeRow } from './row-parser.ts'
import { LONGEST_ROW_BYTES } from './row-parser.ts'

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

  feed(bytes: Buffer): SyntaxFault | null {
    this.#isEmpty &&= bytes.length === 0
    let from = 0
    for (;;) {
      const at = bytes.indexOf(LINE_FEED, from)
      if (this.#carried.length + (at === -1 ? bytes.length : at) - from > LONGEST_ROW_BYTES) return this.#tooLong()
      if (at === -1) break
      const fault = this.#take(bytes, from, at)
      if (fault !== null) return fault
      this.#line++
      from = at + 1
    }
    this.#carried.add(bytes.subarray(from))
    return null
  }

  finish(): SyntaxFault | null {
    if (this.#isEmpty) return { line: 1, problem: 'the file holds nothing; an empty list is one blank line' }
    return this.#take(NOTHING, 0, 0)
  }

  #take(bytes: Buffer, from: number, to: number): SyntaxFault | null {
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
