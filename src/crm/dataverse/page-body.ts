import { type Cell, type CellObject, isList, isObject } from '../cells/cell.ts'
import { parseCell, parseShallowInSlices } from '../cells/parse-cell.ts'
import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import { type Rest, inSlices } from '../../time/waiting.ts'

export interface PageBody {
  /** `null` if there is no `value`; in a read of changes that means no changes. */
  readonly rows: readonly CellObject[] | null
  /** Whether the page holds changes rather than the whole list, by its context (OData 4.0 JSON §14). */
  readonly isDelta: boolean
  readonly nextLink: string | null
  readonly deltaLink: string | null
}

/**
 * Parses a page in slices between which requests are answered, or explains why it cannot be read, as the rest of a
 * sentence.
 */
export async function parsePageBody(text: string, rest: Rest = inSlices()): Promise<PageBody | string> {
  const split = await splitPage(text, rest)
  const parsed = split === null ? await parseShallowInSlices(text, rest) : ({ ok: true, cell: split.envelope } as const)
  if (!parsed.ok) {
    if (/^\s*</.test(text)) return 'is HTML or XML, not JSON: does a proxy answer in place of the CRM?'
    return parsed.reason === 'depth' ? TOO_DEEP : 'is not JSON, or was cut short'
  }
  const body = parsed.cell
  if (!isObject(body)) return 'is not a JSON object'
  if (Object.hasOwn(body, 'error')) return 'contains an error although its status means success'
  const value = split?.rows ?? body['value'] ?? null
  if (value !== null && !isList(value)) return 'has no list of rows as its value'
  if (value !== null && value.length > MOST_ROWS) return `has more than ${MOST_ROWS} rows`
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

/** Marquee asks for 1,000 rows a page, for 5,000 with three columns; Dataverse sends 5,000 at most. */
const MOST_ROWS = 100_000
const TOO_DEEP = 'is nested deeper, or has larger objects, longer lists or longer texts, than any answer of Dataverse'
const START = '"value":['
/** What stands between two rows, since each begins with an annotation. A quote within a text would have a backslash. */
const BETWEEN = '},{"@odata.'
/** Characters of rows between two looks at the clock. */
const STEP = 16_384

/** A page in two parts, because its rows are parsed one by one. */
interface SplitPage {
  /** The page, with an empty list as its `value`. */
  readonly envelope: CellObject
  readonly rows: readonly Cell[]
}

/**
 * Parses a page row by row: keeping the digits of numbers then costs a fraction.
 * Returns `null` if the page is not written as Dataverse writes it, which may still be valid JSON.
 */
export async function splitPage(text: string, rest: Rest = inSlices()): Promise<SplitPage | null> {
  const at = text.indexOf(START)
  if (at === -1) return null
  const rows: Cell[] = []
  let from = at + START.length
  let looked = from
  for (let isLast = false; !isLast;) {
    const between = text.indexOf(BETWEEN, from)
    isLast = between === -1
    const end = (isLast ? endOfRows(text, from) : between) + 1
    // Rows that are withheld as too large are parsed in slices with the whole page, which may be slow.
    const parsed = end === 0 || end - from > LARGEST_ROW_BYTES ? null : parseCell(text.slice(from, end))
    if (parsed?.ok !== true) return null
    rows.push(parsed.cell)
    from = isLast ? end : end + 1
    if (from - looked < STEP) continue
    looked = from
    await rest()
  }
  const envelope = await parseShallowInSlices(text.slice(0, at + START.length) + text.slice(from), rest)
  if (!envelope.ok || !isObject(envelope.cell)) return null
  const { value = null } = envelope.cell
  return isList(value) && value.length === 0 ? { envelope: envelope.cell, rows } : null
}

/** Returns the position of the brace that closes the last row; -1 if there is none. */
function endOfRows(text: string, from: number): number {
  const whole = text.trimEnd()
  return whole.endsWith('}]}') ? whole.length - 3 : text.indexOf('}],"@odata.', from)
}
