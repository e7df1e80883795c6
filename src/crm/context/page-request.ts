import { canBeInner, unfitWithin } from '../../domain/inner-value.ts'
import { valueAt } from '../../domain/json-value.ts'
import type { PagesOptions, Row, Value } from '../connector/marquee-connector.d.ts'
import { FetchFault } from './fetch-fault.ts'
import type { JsonAnswer, JsonRequest } from './json-answer.ts'

/** The values of the placeholders in the next request. */
export type Fill = { readonly [name: string]: Value }

/** The placeholder that each way of paging needs. Without it, every request would return the same page. */
const NEEDED: Partial<Record<PagesOptions['by'], string>> = {
  page: 'page',
  offset: 'offset',
  key: 'after',
  cursor: 'cursor',
}

/** Throws if paging cannot work with the options. */
export function checkOptions(url: string, { by, at, query, body, total, whole, size }: PagesOptions): void {
  const needed = NEEDED[by]
  const written = JSON.stringify([url, query ?? null, body ?? null])
  if (needed !== undefined && !written.includes(`{${needed}}`))
    throw wrong(`paging by ${by} needs {${needed}} in its URL, query or body`)
  if ((by === 'next' || by === 'cursor') && at === undefined)
    throw wrong(`paging by ${by} needs at, the path of the ${by === 'next' ? 'next page' : 'cursor'}`)
  if (by === 'none' && total === undefined && whole !== true)
    throw wrong(
      'paging by none needs total or whole: true; otherwise Marquee cannot know whether the answer has all rows',
    )
  if (by === 'offset' && size !== undefined && size < 2)
    throw wrong('paging by offset needs a size of at least 2, since pages overlap by a row')
}

function wrong(sentence: string): FetchFault {
  return new FetchFault('misconfigured', sentence)
}

const LONGEST = 2000

/** Replaces the placeholders in a request. */
export function filledIn(url: string, options: PagesOptions, given: Fill): { url: string; request: JsonRequest } {
  const fill = scalarsIn(given)
  const { bearer, headers, query = {}, body, errorAt, refusedAs, misconfiguredAs } = options
  const filled: Record<string, NonNullable<JsonRequest['query']>[string]> = {}
  for (const [name, value] of Object.entries(query)) {
    filled[name] = isItems(value)
      ? value.map((item) => inQuery(item, fill)).filter((item) => item !== null)
      : inQuery(value, fill)
  }
  const request = {
    query: filled,
    ...(bearer === undefined ? {} : { bearer }),
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body: inValue(body, fill) }),
    ...(errorAt === undefined ? {} : { errorAt }),
    ...(refusedAs === undefined ? {} : { refusedAs }),
    ...(misconfiguredAs === undefined ? {} : { misconfiguredAs }),
  }
  return { url: inUrl(url, fill), request }
}

type Scalars = { readonly [name: string]: string | number | null }

function scalarsIn(fill: Fill): Scalars {
  const scalars: Record<string, Scalars[string]> = {}
  for (const [name, value] of Object.entries(fill)) {
    if (typeof value === 'object' && value !== null)
      throw new FetchFault('broken', 'the cursor or key of the next page is neither a text nor a number')
    if (String(value).length > LONGEST)
      throw new FetchFault('broken', 'the cursor or key of the next page is longer than 2,000 characters')
    scalars[name] = typeof value === 'boolean' ? String(value) : value
  }
  return scalars
}

const PLACEHOLDER = /\{(page|size|offset|after|cursor)\}/g

/** Replaces the placeholders in a text. If a placeholder is the whole text, its value keeps its type. */
function inText(text: string, fill: Scalars): Scalars[string] {
  const alone = /^\{(page|size|offset|after|cursor)\}$/.exec(text)?.[1]
  if (alone !== undefined) return fill[alone] ?? null
  return text.replaceAll(PLACEHOLDER, (_, name: string) => fitting(String(fill[name] ?? ''), name))
}

function isItems(value: unknown): value is readonly (string | number)[] {
  return Array.isArray(value)
}

function inQuery<Plain>(value: string | Plain, fill: Scalars): Scalars[string] | Plain {
  if (typeof value !== 'string') return value
  // In the first request there is no cursor: omit the whole text around its placeholder.
  return value.includes('{cursor}') && fill['cursor'] === null ? null : inText(value, fill)
}

/** Replaces the placeholders in a URL. As a whole step of the path or a whole value, any text is encoded. */
function inUrl(url: string, fill: Scalars): string {
  return url.replaceAll(PLACEHOLDER, (found: string, name: string, at: number) => {
    const text = String(fill[name] ?? '')
    const isWhole = /[/=]$/.test(url.slice(0, at)) && /^(?:[/?&#]|$)/.test(url.slice(at + found.length))
    // These steps of a path lead to another one.
    if (text === '.' || text === '..') throw unfit(name)
    return encodeURIComponent(isWhole ? text : fitting(text, name))
  })
}

function fitting(text: string, name: string): string {
  if (!canBeInner(text)) throw unfit(name)
  return text
}

function unfit(name: string): FetchFault {
  return new FetchFault('broken', unfitWithin(name))
}

function inValue(value: Value, fill: Scalars): Value {
  if (typeof value === 'string') return inText(value, fill)
  if (Array.isArray(value)) return value.map((inner: Value) => inValue(inner, fill))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, inValue(inner, fill)]))
}

/** Returns the rows of a page, and the total of the list. */
export function rowsIn(
  { value, headers }: JsonAnswer,
  { rows: path, total }: PagesOptions,
): { readonly rows: readonly Row[]; readonly total?: number } {
  const found = path === undefined ? value : valueAt(value, path)
  if (!Array.isArray(found))
    throw new FetchFault('broken', `the answer has no list of rows${path === undefined ? '' : ` at ${path}`}`)
  const rows: Row[] = []
  for (const row of found) {
    if (!isRow(row)) throw new FetchFault('broken', 'the answer has a row that is not an object')
    rows.push(row)
  }
  if (total === undefined) return { rows }
  const told = typeof total === 'string' ? valueAt(value, total) : (headers[total.header.toLowerCase()] ?? null)
  const count = typeof told === 'string' && /^\d{1,12}$/.test(told) ? Number(told) : told
  if (typeof count !== 'number' || count < 0) {
    const where = typeof total === 'string' ? total : `the header ${total.header}`
    throw new FetchFault('broken', `the answer has no number of rows at ${where} (total)`)
  }
  return { rows, total: count }
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the target of `rel="next"` in a Link header (RFC 8288 §3); null if there is none. */
export function nextLinkIn(header: string): string | null {
  for (const [, target = '', parameters = ''] of header.matchAll(/<([^>]*)>([^<]*)/g)) {
    if (/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next(?=[\s;,]|$))/i.test(parameters)) return target
  }
  return null
}
