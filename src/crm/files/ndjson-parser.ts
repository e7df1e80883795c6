import { CarriedBytes } from './carried-bytes.ts'
import type { RowParser, SyntaxFault } from './row-parser.ts'
import { LONGEST_ROW_BYTES } from './row-parser.ts'

const LINE_FEED = 0x0a
const NOTHING = Buffer.alloc(0)

/** Hands on each line that is not blank. */
export class NdjsonParser implements RowParser {
  #line = 1
  #isEmpty = true
  readonly #onLine: (text: string, line: number) => SyntaxFault | null
  readonly #carried = new CarriedBytes()

  constructor(onLine: (text: string, line: number) => SyntaxFault | null) {
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
    const text = this.#carried.take(bytes)
    return isBlank(text) ? null : this.#onLine(text, this.#line)
  }

  #tooLong(): SyntaxFault {
    return { line: this.#line, problem: 'the line is longer than 16 MB' }
  }
}

function isBlank(text: string): boolean {
  // Nearly every line begins with its bracket.
  return text.charCodeAt(0) !== 0x7b && /^[ \t\r]*$/.test(text)
}
