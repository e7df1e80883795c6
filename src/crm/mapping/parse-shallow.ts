import { type ParsedCell, parseCell } from './parse-cell.ts'

/** No answer of a CRM is nested so deep. */
const DEEPEST = 64
/** What nesting costs in so short a text does not matter. */
const SHORT = 65_536

/** Reads JSON that somebody else wrote and that may be long: brackets in brackets alone would take seconds. */
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

/** Where the text that begins at a quote ends; the end of all where it does not. */
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
