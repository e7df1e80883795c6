import { type TakeRow, type Taken, CarriedRow } from './row-parser.ts'

const TAB = 0x09
const LINE_FEED = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const COMMA = 0x2c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b

/** How the items of a list stand in their lines: the indentation of the brace with which each item begins its line. */
export type ItemMargin = number & { readonly brand: 'ItemMargin' }

/**
 * Returns the margin of a list by its first item; `null` if lines do not tell its items apart: in JSON without
 * indentation, any object may begin a line.
 * @param indent the blanks before the item's brace in its line
 * @param second the byte after the brace
 */
export function itemMargin(indent: number, second: number): ItemMargin | null {
  if (indent === 0 && (second === LINE_FEED || second === RETURN)) return null
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- the one place
  return indent as ItemMargin
}

/**
 * Divides the rest of a JSON array by its lines, because one of its items is torn: brackets and quotes no longer tell
 * where the items end. A line with a brace at the margin begins the next item, a line with ] no further in than that
 * ends the list.
 */
export class ItemLines {
  readonly #margin: ItemMargin
  readonly #carried: CarriedRow
  #line: number
  #itemLine: number
  /** The blanks at the beginning of the current line so far; -1 if there was something else. */
  #indent = -1

  /** @param line the line in which the torn item begins */
  constructor(margin: ItemMargin, line: number, onItem: TakeRow) {
    this.#margin = margin
    this.#line = line
    this.#itemLine = line
    this.#carried = new CarriedRow((bytes, from, to, at) => onItem(bytes, from, itemEnd(bytes, from, to), at))
  }

  /** The line of the next byte. */
  get line(): number {
    return this.#line
  }

  /** Tells whether an item begins, or the list ends, within these bytes. */
  static dividesWithin(bytes: Buffer, margin: ItemMargin): boolean {
    return typeof new ItemLines(margin, 0, () => DIVIDED).feed(bytes) !== 'number'
  }

  /** Returns the position of the ] that ends the list, or the number of bytes if it is not among them. */
  feed(bytes: Buffer): number | NonNullable<Taken> {
    let from = 0
    let at = 0
    while (at < bytes.length) {
      if (this.#indent < 0) {
        at = bytes.indexOf(LINE_FEED, at) + 1
        if (at === 0) break
        this.#line++
        this.#indent = 0
        continue
      }
      const byte = bytes[at]
      if (byte === SPACE || byte === TAB) {
        this.#indent++
        at++
        continue
      }
      const isItem = byte === OPEN_OBJECT && this.#indent === this.#margin
      const isEnd = byte === CLOSE_LIST && this.#indent <= this.#margin
      this.#indent = -1
      if (!isItem && !isEnd) continue
      const taken = this.#carried.end(bytes, from, at, this.#itemLine)
      if (taken !== null) return taken
      if (isEnd) return at
      from = at
      this.#itemLine = this.#line
    }
    this.#carried.carry(bytes.subarray(from))
    return bytes.length
  }
}

const DIVIDED = { line: 0, problem: '' }

/** The end of an item without the blanks and the comma after it. */
function itemEnd(bytes: Buffer, from: number, to: number): number {
  let end = to
  let isAfterComma = true
  for (let byte = bytes[end - 1] ?? 0; end > from && (byte <= SPACE || (byte === COMMA && isAfterComma));) {
    if (byte === COMMA) isAfterComma = false
    byte = bytes[--end - 1] ?? 0
  }
  return end
}
