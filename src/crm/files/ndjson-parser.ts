import { CarriedBytes } from './carried-bytes.ts'
import type { RowParser, SyntaxFault } from './row-parser.ts'
import { LONGEST_ROW_BYTES } from './row-parser.ts'

const LINE_FEED = 0x0a
const NOTHING = Buffer.alloc(0)

/** Hands on the bytes of each line that is not blank; their memory is used again. */
export class NdjsonParser implements RowParser {
  #line = 1
  #isEmpty = true
  readonly #onLine: (bytes: Buffer, line: number) => SyntaxFault | null
  readonly #carried = new CarriedBytes()

  constructor(onLine: (bytes: Buffer, line: number) => SyntaxFault | null) {
    this.#onLine = onLine
  }

  feed(bytes: Buffer): SyntaxFault | null {
    this.#isEmpty &&= bytes.length === 0
    let from = 0
    for (;;) {
      const at = bytes.indexOf(LINE_FEED, from)
      if (this.#carried.length + (at === -1 ? bytes.length : at) - from > LONGEST_ROW_BYTES) return this.#tooLong()
      if (at === -1) break
      const fault = this.#take(bytes.subarray(from, at))
      if (fault !== null) return fault
      this.#line++
      from = at + 1
    }
    this.#carried.add(bytes.subarray(from))
    return null
  }

  finish(): SyntaxFault | null {
    if (this.#isEmpty) return { line: 1, problem: 'the file holds nothing; an empty list is one blank line' }
    return this.#take(NOTHING)
  }

  #take(bytes: Buffer): SyntaxFault | null {
    const line = this.#carried.take(bytes)
    return isBlank(line) ? null : this.#onLine(line, this.#line)
  }

  #tooLong(): SyntaxFault {
    return { line: this.#line, problem: 'the line is longer than 16 MB' }
  }
}

function isBlank(line: Buffer): boolean {
  // Nearly every line begins with its bracket.
  return line[0] !== 0x7b && /^[ \t\r]*$/.test(line.toString('latin1'))
}
