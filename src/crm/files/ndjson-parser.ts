import { type OnCut, type RowParser, type TakeRow, type Taken, CarriedRow } from './row-parser.ts'

const LINE_FEED = 0x0a
const OPEN_OBJECT = 0x7b
const NOTHING = Buffer.alloc(0)

/** Passes on the bytes of each line that is not blank. */
export class NdjsonParser implements RowParser {
  #line = 1
  #isEmpty = true
  readonly #carried: CarriedRow

  constructor(onLine: TakeRow) {
    this.#carried = new CarriedRow((bytes, from, to, line) =>
      isBlank(bytes, from, to) ? null : onLine(bytes, from, to, line),
    )
  }

  feed(bytes: Buffer): Taken {
    this.#isEmpty &&= bytes.length === 0
    let from = 0
    for (;;) {
      const at = bytes.indexOf(LINE_FEED, from)
      if (at === -1) break
      const taken = this.#carried.end(bytes, from, at, this.#line)
      this.#line++
      from = at + 1
      if (taken !== null) return taken
    }
    this.#carried.carry(bytes.subarray(from))
    return null
  }

  finish(onCut?: OnCut): Taken {
    const isTaken = this.#carried.length > 0 || this.#isEmpty ? (onCut?.() ?? true) : true
    // A file without a complete line does not count as an empty list.
    if (this.#isEmpty || (!isTaken && this.#line === 1)) {
      return { line: 1, problem: 'the file is empty; an empty list is one blank line' }
    }
    return this.#carried.end(NOTHING, 0, 0, this.#line)
  }
}

function isBlank(bytes: Buffer, from: number, to: number): boolean {
  // A cheap test first: nearly every line begins with its bracket.
  return bytes[from] !== OPEN_OBJECT && /^[ \t\r]*$/.test(bytes.toString('latin1', from, to))
}
