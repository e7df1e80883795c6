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

/** In place of the end of a value: these bytes end before it, or a text is not closed on its line. */
export const UNFINISHED = -1
export const BROKEN = -2

/** Finds the end of a JSON value in bytes that come in parts. */
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
      } else if (
        depth === 0 &&
        (byte === COMMA || byte === SPACE || byte === LINE_FEED || byte === RETURN || byte === TAB)
      )
        end = index
      else if (byte === LINE_FEED) lines++
    }
    this.lines += lines
    this.#depth = depth
    this.#inText = inText
    this.#escaped = escaped
    return end
  }
}

/**
 * Returns the margin of a list: the blanks before the brace with which each item begins its line. `null` if lines do not
 * tell the items apart: without indentation, any object may begin a line.
 * @param indent the blanks before the first item's brace in its line; -1 if there is something else before it
 * @param second the byte after the brace
 */
export function marginOf(indent: number, second: number | undefined): number | null {
  return indent === -1 || (indent === 0 && (second === LINE_FEED || second === RETURN)) ? null : indent
}

/** Returns where a line within these bytes begins an item, or ends the list; -1 if none does. */
export function nextItem(bytes: Buffer, from: number, to: number, margin: number): number {
  for (let feed = bytes.indexOf(LINE_FEED, from); feed !== -1 && feed < to; feed = bytes.indexOf(LINE_FEED, feed + 1)) {
    let at = feed + 1
    while (bytes[at] === SPACE || bytes[at] === TAB) at++
    const indent = at - feed - 1
    if (at >= to) return -1
    if (bytes[at] === OPEN_OBJECT && indent === margin) return at
    if (bytes[at] === CLOSE_LIST && indent <= margin) return at
  }
  return -1
}

/** The end of an item without the blanks and the comma after it. */
export function itemEnd(bytes: Buffer, from: number, to: number): number {
  const rest = /[ \t\r\n]*,?[ \t\r\n]*$/.exec(bytes.toString('latin1', Math.max(from, to - LONGEST_GAP), to))?.[0] ?? ''
  return to - rest.length
}

const LONGEST_GAP = 1000

export function breaksIn(bytes: Buffer, from: number, to: number): number {
  let count = 0
  for (let at = bytes.indexOf(LINE_FEED, from); at !== -1 && at < to; at = bytes.indexOf(LINE_FEED, at + 1)) count++
  return count
}
