const QUOTE = 0x22
const EQUALS = 0x3d
const LINE_FEED = 0x0a
const RETURN = 0x0d

/**
 * Finds texts that are guarded against Excel, which takes `01067` for a number: `="01067"` at the start of a cell. It
 * drops the equals sign, so the rest is a quoted cell.
 */
export class GuardedTexts {
  readonly #delimiter: number
  /** Whether the next byte is within quotes. Two quotes within quotes stand for one, and change nothing. */
  #isQuoted = false
  #last = LINE_FEED
  #isHeldBack = false

  constructor(delimiter: string) {
    this.#delimiter = delimiter.charCodeAt(0)
  }

  /** Returns a copy of the bytes without these signs. */
  pass(given: Buffer): Buffer {
    const bytes = this.#isHeldBack ? Buffer.concat([Buffer.of(EQUALS), given]) : given
    const parts: Buffer[] = []
    let from = 0
    for (let at = bytes.indexOf(QUOTE); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
      if (!this.#isQuoted && this.#isGuard(bytes, at - 1)) {
        parts.push(bytes.subarray(from, at - 1))
        from = at
      }
      this.#isQuoted = !this.#isQuoted
    }
    const end = bytes.length - 1
    // Its quote may be the first of the next bytes.
    this.#isHeldBack = !this.#isQuoted && this.#isGuard(bytes, end)
    parts.push(bytes.subarray(from, this.#isHeldBack ? end : bytes.length))
    this.#last = (this.#isHeldBack ? bytes[end - 1] : bytes[end]) ?? this.#last
    return Buffer.concat(parts)
  }

  /** Returns what was held back. */
  rest(): Buffer {
    return Buffer.from(this.#isHeldBack ? '=' : '')
  }

  #isGuard(bytes: Buffer, at: number): boolean {
    if (bytes[at] !== EQUALS) return false
    const before = at === 0 ? this.#last : bytes[at - 1]
    return before === this.#delimiter || before === LINE_FEED || before === RETURN
  }
}

/** Returns the text of a quoted cell, without a guard within the quotes: `"=""01067"""`. */
export function unguarded(cell: string): string {
  if (!cell.startsWith('="')) return cell
  const inner = /^="((?:[^"]|"")*)"\s*$/.exec(cell)?.[1]
  return inner === undefined ? cell : inner.replaceAll('""', '"')
}
