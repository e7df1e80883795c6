import { type Cell, type CellObject, isList, isObject } from '../mapping/cell.ts'
import { parseShallow } from '../mapping/parse-shallow.ts'

/** The parsed body of a page. */
export interface PageBody {
  /** `null` if there is no `value`; in a read of changes that means no changes. */
  readonly rows: readonly CellObject[] | null
  /** Whether the page holds changes rather than the whole list, by its context (OData 4.0 JSON §14). */
  readonly isDelta: boolean
  readonly nextLink: string | null
  readonly deltaLink: string | null
}

/** Parses a page, or explains why it cannot be read, as the rest of a sentence. */
export function parsePageBody(text: string): PageBody | string {
  const split = splitPage(text)
  const parsed = split === null ? parseShallow(text) : ({ ok: true, cell: split } as const)
  if (!parsed.ok) {
    if (/^\s*</.test(text)) return 'is HTML or XML, not JSON: does a proxy answer in place of the CRM?'
    return parsed.reason === 'depth' ? 'is nested too deep' : 'is not JSON, or was cut short'
  }
  const body = parsed.cell
  if (!isObject(body)) return 'is not a JSON object'
  if (Object.hasOwn(body, 'error')) return 'holds an error though its status is a success'
  const { value = null } = body
  if (value !== null && !isList(value)) return 'has no list of rows as its value'
  const rows = value?.filter(isObject) ?? null
  if (rows?.length !== value?.length) return 'has a row that is not an object'
  const nextLink = linkOf(body, '@odata.nextLink')
  const deltaLink = linkOf(body, '@odata.deltaLink')
  if (nextLink === undefined || deltaLink === undefined) return 'has a link that is not a text'
  const context = body['@odata.context']
  return { rows, isDelta: typeof context === 'string' && context.endsWith('/$delta'), nextLink, deltaLink }
}

function linkOf(body: CellObject, name: string): string | null | undefined {
  const link = body[name] ?? null
  return link === null || typeof link === 'string' ? link : undefined
}

const START = '"value":['
/** Matches where a row may end. The same characters can occur inside a row's texts. */
const END = /\}(?:,\{|\])/g
const MOST_TRIES = 8

/**
 * Parses a page row by row: keeping the digits of numbers costs a fraction of what it costs for the page as a whole.
 * Returns `null` if the page is not written as Dataverse writes it, which may still be valid JSON.
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

/**
 * Parses the row that begins at `from`. The first end at which it parses is right: no JSON object is the beginning of
 * another.
 */
function rowFrom(
  text: string,
  from: number,
): { readonly cell: Cell; readonly next: number; readonly isLast: boolean } | null {
  END.lastIndex = from
  // Limited: a text with a thousand lookalikes of row ends must not be parsed a thousand times.
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const match = END.exec(text)
    if (match === null) return null
    const isLast = match[0] === '}]'
    const parsed = parseShallow(text.slice(from, match.index + 1))
    if (parsed.ok) return { cell: parsed.cell, next: match.index + (isLast ? 1 : 2), isLast }
  }
  return null
}

function withRows(rest: string, rows: readonly Cell[]): Cell | null {
  const envelope = parseShallow(rest)
  if (!envelope.ok || !isObject(envelope.cell)) return null
  const { value = null } = envelope.cell
  return isList(value) && value.length === 0 ? { ...envelope.cell, value: rows } : null
}
