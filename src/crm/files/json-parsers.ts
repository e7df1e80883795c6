import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import { type BrokenSyntax, type OnCut, type RowParser, type TakeRow, type Taken, CarriedRow } from './row-parser.ts'

type Phase = 'before' | 'first' | 'item' | 'after-item' | 'next' | 'after'

const TAB = 0x09
const LINE_FEED = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** The end of an item that is not in these bytes, and of one that has a text which is not closed. */
const UNFINISHED = -1
const BROKEN = -2

/**
 * Finds the items of a JSON array in a file's bytes without decoding them, so a file of any size is never one string.
 * Does not parse the items.
 */
export class JsonArrayParser implements RowParser {
  #line = 1
  readonly #carried: CarriedRow
  #phase: Phase = 'before'
  #item = 0
  #itemLine = 1
  /** The state within the item; as at its beginning once it has ended. */
  #depth = 0
  #inText = false
  #escaped = false

  constructor(onItem: TakeRow) {
    this.#carried = new CarriedRow(onItem)
  }

  feed(bytes: Buffer): Taken {
    let index = 0
    while (index < bytes.length) {
      if (this.#phase !== 'item') {
        const next = this.#between(bytes, index)
        if (typeof next !== 'number') return next
        index = next
        continue
      }
      const end = this.#itemEnd(bytes, index)
      if (end === BROKEN) return this.#fault('a text is not closed by a quote on its line')
      if (end === UNFINISHED) {
        this.#carried.carry(bytes.subarray(index))
        return null
      }
      this.#phase = 'after-item'
      const taken = this.#carried.end(bytes, index, end, this.#itemLine)
      if (taken !== null) return taken
      index = end
    }
    return null
  }

  finish(): Taken {
    if (this.#phase === 'after') return null
    if (this.#phase === 'before') return this.#fault('a list in [ ] is expected, but the file is empty')
    const cutShort = this.#fault('the file ends before the list does: ] is expected')
    if (this.#phase !== 'item') return cutShort
    if (this.#carried.length > LARGEST_ROW_BYTES) {
      const problem = `item ${this.#item}, which begins here, does not end; most likely a bracket or a quote is not closed`
      return { line: this.#itemLine, problem }
    }
    // A number or word may end with the file; anything else is cut off and has its own fault.
    return this.#carried.end(NOTHING, 0, 0, this.#itemLine) ?? cutShort
  }

  /** Handles a byte between two items. Does not consume the first byte of an item. */
  #between(bytes: Buffer, index: number): number | BrokenSyntax {
    const byte = bytes[index]
    if (byte === LINE_FEED) this.#line++
    if (byte === undefined || isSpace(byte)) return index + 1
    if (this.#phase === 'before') {
      if (byte !== OPEN_LIST) return this.#fault('a list in [ ] is expected')
      this.#phase = 'first'
      return index + 1
    }
    if (this.#phase === 'after') return this.#fault('the file continues after the end of the list')
    if (this.#phase === 'after-item') {
      if (byte !== COMMA && byte !== CLOSE_LIST) {
        return this.#fault(`a comma or ] is expected after item ${this.#item}`)
      }
      this.#phase = byte === COMMA ? 'next' : 'after'
      return index + 1
    }
    if (byte === COMMA || byte === CLOSE_OBJECT) {
      return this.#fault(`expected an item, found ${String.fromCharCode(byte)}`)
    }
    if (byte !== CLOSE_LIST) {
      this.#phase = 'item'
      this.#item++
      this.#itemLine = this.#line
      return index
    }
    if (this.#phase === 'next') return this.#fault('expected an item after the comma, found ]')
    this.#phase = 'after'
    return index + 1
  }

  /**
   * Returns the end of the item; UNFINISHED if the item continues, BROKEN if a text is not closed on its line.
   * @param from the position of its next byte
   */
  #itemEnd(bytes: Buffer, from: number): number {
    let depth = this.#depth
    let inText = this.#inText
    let escaped = this.#escaped
    let lines = 0
    let end = UNFINISHED
    for (let index = from; index < bytes.length && end === UNFINISHED; index++) {
      const byte = bytes[index]
      if (inText) {
        if (byte === LINE_FEED) end = BROKEN
        else if (escaped) escaped = false
        else if (byte === BACKSLASH) escaped = true
        else if (byte === QUOTE) {
          inText = false
          if (depth === 0) end = index + 1
        }
      } else if (byte === QUOTE) inText = true
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++
      else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        // The end of the list also ends a number.
        if (depth === 0) end = index
        else if (--depth === 0) end = index + 1
      } else if (depth === 0 && (byte === COMMA || (byte !== undefined && isSpace(byte)))) end = index
      else if (byte === LINE_FEED) lines++
    }
    this.#line += lines
    this.#depth = depth
    this.#inText = inText
    this.#escaped = escaped
    return end
  }

  #fault(problem: string): BrokenSyntax {
    return { line: this.#line, problem }
  }
}

const NOTHING = Buffer.alloc(0)

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === LINE_FEED || byte === RETURN || byte === TAB
}

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
