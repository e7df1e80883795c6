import type { Cell } from '../mapping/cell.ts'
import { isList, isObject } from '../mapping/cell.ts'
import { parseCell } from '../mapping/parse-cell.ts'

const START = '"value":['
/** Where a row may end; within one of its texts this may stand as well. */
const END = /\}(?:,\{|\])/g
const MOST_TRIES = 8

/**
 * A page as one object, read row by row: a row's numbers keep their digits at a fraction of what that costs for a page as
 * a whole. Null where the page is not written as Dataverse writes it; it may be well-formed all the same.
 */
export function splitPage(text: string): Cell | null {
  const at = text.indexOf(START)
  if (at === -1) return null
  const rows: Cell[] = []
  let from = at + START.length
  if (text.charCodeAt(from) !== OPEN_OBJECT) return null
  for (;;) {
    const row = rowFrom(text, from)
    if (row === null) return null
    rows.push(row.cell)
    if (row.isLast) return withRows(text.slice(0, at + START.length) + text.slice(row.next), rows)
    from = row.next
  }
}

const OPEN_OBJECT = 0x7b

/** An object that parses ends there: no JSON object is the beginning of another. */
function rowFrom(
  text: string,
  from: number,
): { readonly cell: Cell; readonly next: number; readonly isLast: boolean } | null {
  END.lastIndex = from
  // A few: a text that holds what looks like the ends of a thousand rows must not be read a thousand times.
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const match = END.exec(text)
    if (match === null) return null
    const isLast = match[0] === '}]'
    const parsed = parseCell(text.slice(from, match.index + 1))
    if (parsed.ok) return { cell: parsed.cell, next: match.index + (isLast ? 1 : 2), isLast }
  }
  return null
}

function withRows(rest: string, rows: readonly Cell[]): Cell | null {
  const envelope = parseCell(rest)
  if (!envelope.ok || !isObject(envelope.cell)) return null
  const { value = null } = envelope.cell
  return isList(value) && value.length === 0 ? { ...envelope.cell, value: rows } : null
}
