import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import { type ItemMargin, ItemLines, itemMargin } from './item-lines.ts'
import { type BrokenSyntax, type RowParser, type TakeRow, type Taken, CarriedRow } from './row-parser.ts'

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

/** The end of a value that is not in these bytes, and of one that has a text which is not closed. */
export const UNFINISHED = -1
export const BROKEN = -2

/** Finds the end of a JSON value in bytes that come in parts. Once it has found it, it is ready for the next value. */
export class ValueEnd {
  /** The line breaks so far. */
  lines = 0
  #depth = 0
  #inText = false
  #escaped = false

  /**
   * Returns the end of the value; UNFINISHED if it continues, BROKEN if a text is not closed on its line.
   * @param from the position of its next byte
   */
  find(bytes: Buffer, from: number): number {
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
    this.lines += lines
    this.#depth = depth
    this.#inText = inText
    this.#escaped = escaped
    return end
  }
}

const NO_LIST = 'a list in [ ] is expected; if this object contains it, set rows to its path, such as rows: events'

/** Takes an item that is not JSON, if the rest of the list can be read. */
export type TakeTorn = (bytes: Buffer, from: number, to: number, line: number, fault: BrokenSyntax) => null

/** Takes the bytes after a list, which continue in `line`. */
export type TakeRest = (bytes: Buffer, line: number) => Taken

/** What becomes of torn items, and of the bytes after the list. */
interface AroundItems {
  /** Absent if a torn item makes the file unusable. */
  readonly onTorn?: TakeTorn | undefined
  /** Absent if the file ends with the list. */
  readonly onRest?: TakeRest | undefined
}

/**
 * Finds the items of a JSON array in a file's bytes without decoding them, so a file of any size is never one string.
 * Does not parse the items. If an item is torn, the rest of the list is divided by its lines, if each item begins one.
 */
export class JsonArrayParser implements RowParser {
  readonly #onItem: TakeRow
  readonly #around: AroundItems
  readonly #carried: CarriedRow
  readonly #value = new ValueEnd()
  #lines: ItemLines | null = null
  #margin: ItemMargin | null = null
  /** The blanks before the first item in its line, until the byte after its brace is known; -1 otherwise. */
  #firstIndent = -1
  #phase: Phase = 'before'
  #item = 0
  #itemLine = 1
  #line: number
  /** The blanks before the next byte in its line; -1 if there is something else before it. */
  #indent = 0
  /** The rest of an item that turned out to be torn, from the ] of the list on. */
  #again: Buffer = NOTHING

  /** @param line the line in which the list begins */
  constructor(onItem: TakeRow, around: AroundItems = {}, line = 1) {
    this.#around = around
    this.#line = line
    this.#onItem = onItem
    this.#carried = new CarriedRow((bytes, from, to, at) => {
      const fault = onItem(bytes, from, to, at)
      if (fault === null || !this.#canDivide(bytes, from, to)) return this.#torn(bytes, from, to, at, fault)
      return this.#divide(bytes.subarray(from, to), at)
    })
  }

  feed(bytes: Buffer): Taken {
    let index = 0
    while (index < bytes.length) {
      const next = this.#next(bytes, index)
      if (typeof next !== 'number') return next
      index = next
      const fault = this.#feedAgain()
      if (fault !== null) return fault
    }
    return null
  }

  #feedAgain(): Taken {
    const again = this.#again
    this.#again = NOTHING
    return again.length === 0 ? null : this.feed(again)
  }

  #next(bytes: Buffer, index: number): number | BrokenSyntax {
    if (this.#lines !== null) {
      const end = this.#nextLines(this.#lines, index === 0 ? bytes : bytes.subarray(index))
      return typeof end === 'number' ? index + end : end
    }
    if (this.#phase === 'item') return this.#nextInItem(bytes, index)
    if (this.#phase === 'after' && this.#around.onRest !== undefined) {
      return this.#around.onRest(bytes.subarray(index), this.#line) ?? bytes.length
    }
    return this.#between(bytes, index)
  }

  #nextInItem(bytes: Buffer, index: number): number | BrokenSyntax {
    const second = bytes[index + 1 - this.#carried.length]
    if (this.#firstIndent !== -1 && second !== undefined) {
      this.#margin = itemMargin(this.#firstIndent, second)
      this.#firstIndent = -1
    }
    const lines = this.#value.lines
    const end = this.#value.find(bytes, index)
    this.#line += this.#value.lines - lines
    if (end === BROKEN) {
      if (this.#margin === null) return this.#fault('a text is not closed by a quote on its line')
      return this.#divide(this.#carried.take(bytes.subarray(index)), this.#itemLine) ?? bytes.length
    }
    if (end !== UNFINISHED) {
      this.#phase = 'after-item'
      return this.#carried.end(bytes, index, end, this.#itemLine) ?? end
    }
    const rest = bytes.subarray(index)
    const isFull = this.#carried.length <= LARGEST_ROW_BYTES && this.#carried.length + rest.length > LARGEST_ROW_BYTES
    return (isFull ? this.#divideCarried(rest) : this.#carried.carry(rest)) ?? bytes.length
  }

  #nextLines(lines: ItemLines, bytes: Buffer): number | BrokenSyntax {
    const end = lines.feed(bytes)
    this.#line = lines.line
    if (typeof end === 'number' && end < bytes.length) [this.#lines, this.#phase] = [null, 'after-item']
    return end
  }

  #canDivide(bytes: Buffer, from: number, to: number): boolean {
    return this.#margin !== null && ItemLines.dividesWithin(bytes.subarray(from, to), this.#margin)
  }

  /** Carries the bytes over, unless the item that they go on with is torn. */
  #divideCarried(bytes: Buffer): Taken {
    const whole = this.#carried.take(bytes)
    if (this.#canDivide(whole, 0, whole.length)) return this.#divide(whole, this.#itemLine)
    this.#carried.carry(whole)
    return null
  }

  /** Divides the rest of the list by its lines. @param bytes the torn item, and what has come after it */
  #divide(bytes: Buffer, line: number): Taken {
    if (this.#margin === null) throw new Error('only a list with a margin can be divided')
    this.#lines = new ItemLines(this.#margin, line, (item, from, to, at) =>
      this.#torn(item, from, to, at, this.#onItem(item, from, to, at)),
    )
    const end = this.#nextLines(this.#lines, bytes)
    if (typeof end !== 'number') return end
    this.#again = bytes.subarray(end)
    return null
  }

  /** Takes a torn item; returns the fault if that makes the file unusable. */
  #torn(bytes: Buffer, from: number, to: number, line: number, fault: Taken): Taken {
    const { onTorn } = this.#around
    return fault === null || onTorn === undefined ? fault : onTorn(bytes, from, to, line, fault)
  }

  finish(): Taken {
    if (this.#phase === 'item' && this.#lines === null && this.#carried.length <= LARGEST_ROW_BYTES) {
      const fault = this.#divideCarried(NOTHING) ?? this.#feedAgain()
      if (fault !== null) return fault
    }
    if (this.#phase === 'after') return null
    if (this.#phase === 'before') return this.#fault('a list in [ ] is expected, but the file is empty')
    const cutShort = this.#fault('the file ends before the list does: ] is expected')
    if (this.#phase !== 'item' || this.#lines !== null) return cutShort
    if (this.#carried.length > LARGEST_ROW_BYTES) {
      const problem = `item ${this.#item}, which begins here, does not end; most likely a bracket or a quote is not closed`
      return { line: this.#itemLine, problem }
    }
    // A number or word may end with the file; anything else is cut off and has its own fault.
    return this.#onCutItem() ?? cutShort
  }

  #onCutItem(): Taken {
    const whole = this.#carried.take(NOTHING)
    return this.#onItem(whole, 0, whole.length, this.#itemLine)
  }

  /** Handles a byte between two items. Does not consume the first byte of an item. */
  #between(bytes: Buffer, index: number): number | BrokenSyntax {
    const byte = bytes[index]
    if (byte === LINE_FEED) [this.#line, this.#indent] = [this.#line + 1, 0]
    else if (this.#indent !== -1 && (byte === SPACE || byte === TAB)) this.#indent++
    if (byte === undefined || isSpace(byte)) return index + 1
    const indent = this.#indent
    this.#indent = -1
    if (this.#phase === 'before') {
      if (byte !== OPEN_LIST) return this.#fault(byte === OPEN_OBJECT ? NO_LIST : 'a list in [ ] is expected')
      this.#phase = 'first'
      return index + 1
    }
    if (this.#phase === 'after') return this.#fault('the file continues after the end of the list')
    if (this.#phase === 'after-item') {
      if (byte === COMMA || byte === CLOSE_LIST) {
        this.#phase = byte === COMMA ? 'next' : 'after'
        return index + 1
      }
      if (this.#margin === null) return this.#fault(`a comma or ] is expected after item ${this.#item}`)
      return this.#divide(bytes.subarray(index), this.#line) ?? bytes.length
    }
    if (byte === CLOSE_LIST && this.#phase === 'first') {
      this.#phase = 'after'
      return index + 1
    }
    if (byte === COMMA || byte === CLOSE_LIST) {
      const after = byte === COMMA ? 'expected an item, found ,' : 'expected an item after the comma, found ]'
      this.#phase = byte === COMMA ? 'next' : 'after'
      return this.#torn(bytes, index, index, this.#line, this.#fault(after)) ?? index + 1
    }
    if (byte === CLOSE_OBJECT) {
      if (this.#margin === null) return this.#fault('expected an item, found }')
      return this.#divide(bytes.subarray(index), this.#line) ?? bytes.length
    }
    if (this.#item++ === 0 && byte === OPEN_OBJECT && this.#around.onTorn !== undefined) this.#firstIndent = indent
    this.#phase = 'item'
    this.#itemLine = this.#line
    return index
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

  /** @param onTorn absent if a torn line makes the file unusable */
  constructor(onLine: TakeRow, onTorn?: TakeTorn) {
    this.#carried = new CarriedRow((bytes, from, to, line) => {
      const fault = isBlank(bytes, from, to) ? null : onLine(bytes, from, to, line)
      return fault === null || onTorn === undefined ? fault : onTorn(bytes, from, to, line, fault)
    })
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

  finish(): Taken {
    if (this.#isEmpty) {
      return { line: 1, problem: 'the file is empty; an empty list is one blank line' }
    }
    return this.#carried.end(NOTHING, 0, 0, this.#line)
  }
}

function isBlank(bytes: Buffer, from: number, to: number): boolean {
  // A cheap test first: nearly every line begins with its bracket.
  return bytes[from] !== OPEN_OBJECT && /^[ \t\r]*$/.test(bytes.toString('latin1', from, to))
}
