import { type ParsedCell, parseCell } from './parse-cell.ts'

/** No CRM answer is nested this deeply. */
const DEEPEST = 64
/** In texts up to this length, deep nesting costs too little to matter. */
const SHORT = 65_536

/**
 * Parses JSON from an untrusted source, of any length. Deep nesting is refused first, as parsing it would take seconds.
 */
export function parseShallow(text: string): ParsedCell {
  return text.length > SHORT && isDeep(text) ? { ok: false, reason: 'depth' } : parseCell(text)
}

function isDeep(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfText(text, at)
    else if (code === OPEN_OBJECT || code === OPEN_LIST) depth++
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth--
    if (depth > DEEPEST) return true
  }
  return false
}

/** The position of the quote that closes a text; the text's length if it is not closed. */
function endOfText(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at++
  }
  return text.length
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const CLOSE_OBJECT = 0x7d
const OPEN_OBJECT = 0x7b
