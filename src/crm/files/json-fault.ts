/** Where a text ceases to be JSON, and what would have been. */
export interface JsonFault {
  readonly offset: number
  readonly expected: string
}

/** Finds the fault of a text that JSON.parse has refused without saying where; no length and no depth is too much for it. */
export function findJsonFault(text: string): JsonFault {
  const walk = new Walk(text)
  // The brackets that are open; a bit each would do, but this is no hot path.
  const open: ('{' | '[')[] = []
  for (;;) {
    walk.skipSpace()
    const start = text[walk.offset]
    let fault: string | null = null
    if (start === '{' || start === '[') {
      walk.offset++
      walk.skipSpace()
      if (text[walk.offset] === closing(start)) walk.offset++
      else {
        open.push(start)
        fault = start === '{' ? walk.key() : null
        if (fault === null) continue
      }
    } else fault = start === '"' ? walk.text() : walk.scalar()
    while (fault === null) {
      walk.skipSpace()
      const inside = open.at(-1)
      if (inside === undefined) fault = 'nothing more'
      else if (text[walk.offset] === ',') {
        walk.offset++
        fault = inside === '{' ? walk.key() : null
        break
      } else if (text[walk.offset] !== closing(inside)) fault = `a comma or ${closing(inside)}`
      else {
        walk.offset++
        open.pop()
      }
    }
    if (fault !== null) return { offset: walk.offset, expected: fault }
  }
}

function closing(bracket: '{' | '['): '}' | ']' {
  return bracket === '{' ? '}' : ']'
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/
/** Longer numbers are taken as they are: an expression that backtracks has a limit of its own. */
const LONGEST_NUMBER = 400

/** Moves over one token after the other; each gives what was expected where it fails. */
class Walk {
  offset = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  skipSpace(): void {
    while (isSpace(this.#text.charCodeAt(this.offset))) this.offset++
  }

  key(): string | null {
    this.skipSpace()
    if (this.#text[this.offset] !== '"') return 'a name in double quotes'
    const fault = this.text()
    if (fault !== null) return fault
    this.skipSpace()
    if (this.#text[this.offset] !== ':') return 'a colon after the name'
    this.offset++
    return null
  }

  text(): string | null {
    for (this.offset++; this.offset < this.#text.length; this.offset++) {
      const code = this.#text.charCodeAt(this.offset)
      if (code === 0x22) {
        this.offset++
        return null
      }
      if (code < 0x20) return 'the end of the text, or an escape such as \\n,'
      if (code !== 0x5c) continue
      const escape = this.#text.slice(this.offset + 1, this.offset + 6)
      if (!/^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.test(escape)) return 'an escape that JSON has, or \\\\ for a backslash,'
      this.offset++
    }
    return 'a quote that closes the text'
  }

  scalar(): string | null {
    const start = this.offset
    let end = start
    while (isWordPart(this.#text.charCodeAt(end))) end++
    const word = this.#text.slice(start, Math.min(end, start + LONGEST_NUMBER))
    if (word !== 'true' && word !== 'false' && word !== 'null' && !NUMBER.test(word)) return 'a value'
    this.offset = end
    return null
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/** Letters, digits, `+`, `-` and `.`. */
function isWordPart(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x2d ||
    code === 0x2e ||
    code === 0x2b ||
    (code >= 0x41 && code <= 0x5a)
  )
}
