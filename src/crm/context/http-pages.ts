import { canBeInner, unfitWithin } from '../../domain/inner-value.ts'
import { isJsonObject, mapTexts, mapTextsIn, valueAt } from '../../domain/json-value.ts'
import { pagingFault } from '../../domain/paging.ts'
import { isDeepStrictEqual } from 'node:util'
import type { Batch, Cells, PagesOptions, Value } from '../connector/marquee-connector.d.ts'
import { type FetchFault, type JsonAnswer, type JsonRequest, broken, misconfigured } from './json-answer.ts'

type Ask = (url: string, request: JsonRequest) => Promise<JsonAnswer>

interface Page {
  readonly rows: readonly Cells[]
  readonly batch: PageBatch
  readonly answer: JsonAnswer
}

/** What a page tells beyond a batch of a connector. */
interface PageBatch extends Batch<Cells> {
  /** The answer has as many rows as were requested. */
  readonly full: boolean
}

type Read = (fill: Fill, link?: string) => Promise<Page>
type Pages = AsyncGenerator<PageBatch, void>

/** Reads all pages of a list. Ends at an empty page or if there is no next page, never at a short page. */
export async function* readPages(url: string, options: PagesOptions, ask: Ask): Pages {
  const { size, by } = options
  if (!Object.hasOwn(WAYS, by)) throw misconfigured(`by must be one of ${Object.keys(WAYS).join(', ')}`)
  const fault = pagingFault(options, [url, options.query, options.body])
  if (fault !== null) throw misconfigured(`paging ${fault}`)
  const { stable = by === 'key' || by === 'none' } = options
  async function read(fill: Fill, link?: string): Promise<Page> {
    // The link already contains the query.
    const requestOptions = link === undefined ? options : { ...options, query: {} }
    const target = filledIn(link ?? url, requestOptions, size === undefined ? fill : { ...fill, size })
    const answer = await ask(link ?? target.url, target.request)
    const { rows, ...total } = rowsIn(answer, options)
    const full = size !== undefined && rows.length >= size
    const batch = { rows, ...total, lagMs: answer.lagMs, full, ...(stable ? IN_ORDER : {}) }
    return { rows, answer, batch }
  }
  yield* WAYS[by](options, read, url)
}

const IN_ORDER = { stable: 'order' } as const

async function* onePage(_: PagesOptions, read: Read): Pages {
  yield (await read({})).batch
}

async function* byNumber({ first = 1, size = 0 }: PagesOptions, read: Read): Pages {
  let before: readonly Cells[] | null = null
  for (let page = first; ; page++) {
    const { rows, batch } = await read({ page })
    if (rows.length === 0) {
      yield withoutRows(batch)
      return
    }
    if (before !== null && before.length < size) {
      // Some servers give their last page for every number after it.
      if (isDeepStrictEqual(rows, before))
        throw broken(`page ${page} has only rows of earlier pages; is paging.by right?`)
      // If a server gives fewer rows than requested, its page numbers may count either size, so rows may be skipped.
      const sentence = `asked for ${size} rows a page, got ${before.length}: set paging.size to ${before.length}`
      throw misconfigured(sentence)
    }
    before = rows
    yield batch
  }
}

const MOST_STEPS_BACK = 50

/**
 * Each request begins at the last row of the previous page. If a page shares no row with the previous page, rows have
 * moved, and the read goes back until it finds a shared row.
 */
async function* byOffset({ key = 'id' }: PagesOptions, read: Read): Pages {
  let offset = 0
  let known: readonly string[] = []
  let steps = 0
  for (let isFirst = true; ; isFirst = false) {
    const { rows, batch } = await read({ offset })
    const ids = rows.map((row) => keyOf(row, key))
    if (isFirst) {
      yield batch
      if (rows.length === 0) return
      known = ids
      // A single row may be the whole list, or the most that the server gives at once.
      offset = rows.length === 1 ? 1 : rows.length - 1
      if (rows.length > 1) continue
      const next = await read({ offset })
      yield withoutRows(next.batch)
      if (next.rows.length === 0) return
      throw broken('the CRM returns one row a page; by offset needs at least two, because pages overlap by a row')
    }
    const before = new Set(known)
    const isOverlapping = ids.some((id) => before.has(id))
    const isNew = ids.some((id) => !before.has(id))
    if (isOverlapping && isNew) {
      yield batch
      known = ids
      offset += rows.length - 1
      continue
    }
    if (isOverlapping && rows.length === 1) {
      yield withoutRows(batch)
      return
    }
    if (isOverlapping && ids.length === known.length && ids.every((id, at) => id === known[at])) {
      throw broken('a page has only rows of the previous page; does the API know {offset}?')
    }
    steps++
    if (steps > MOST_STEPS_BACK)
      throw broken('rows move between the pages: sort them by something that does not change')
    offset = isOverlapping ? offset + rows.length - 1 : Math.max(0, offset - Math.max(1, known.length - 1))
  }
}

/** The answer that shows the end of the list. Nothing can have moved into it. */
function withoutRows(batch: PageBatch): PageBatch {
  return { ...batch, rows: [], ...IN_ORDER }
}

function keyOf(row: Cells, key: string): string {
  const own = valueAt(row, key)
  if (own === null || typeof own === 'object')
    throw misconfigured(`a row has no ${key}: name the path of its id as key`)
  return String(own)
}

async function* byKey({ key = 'id', from = 0 }: PagesOptions, read: Read): Pages {
  let after: Value = from
  const seen = new Set<Value>()
  for (;;) {
    const { rows, batch } = await read({ after })
    yield batch
    if (rows.length === 0) return
    for (const row of rows) {
      keyOf(row, key)
      const own = valueAt(row, key)
      const rises = typeof own === 'number' && typeof after === 'number' ? own > after : !seen.has(own)
      if (!rises) throw broken(`the rows are not in the order of ${key}: sort them by it`)
      seen.add(own)
      after = own
    }
  }
}

async function* byCursor({ at = '', more }: PagesOptions, read: Read): Pages {
  let cursor: Value = null
  const seen = new Set<Value>()
  for (;;) {
    const { rows, batch, answer } = await read({ cursor })
    yield batch
    cursor = valueAt(answer.value, at)
    if (more === undefined ? rows.length === 0 || isNothing(cursor) : !flagAt(answer.value, more, cursor)) return
    if (isNothing(cursor)) throw broken(`${more} says that there are more pages, but there is no cursor at ${at}`)
    if (seen.has(cursor)) throw broken('the same cursor came twice: the pages run in a circle')
    seen.add(cursor)
  }
}

/** Returns true if there are more pages. If there is a cursor but no flag, the flag's path is most likely wrong. */
function flagAt(answer: Value, path: string, cursor: Value): boolean {
  const flag = valueAt(answer, path)
  const word = JSON.stringify(flag).toLowerCase().replaceAll('"', '')
  if (word === 'true' || word === '1') return true
  if (word === 'false' || word === '0' || isNothing(cursor)) return false
  throw misconfigured(`the answer has a cursor, but neither true nor false at ${path}; is more right?`)
}

async function* byLink({ by, at = '', hostOfLinks }: PagesOptions, read: Read, url: string): Pages {
  let next: string | undefined
  const seen = new Set<string>([url])
  for (;;) {
    const { rows, batch, answer }: Page = await read({}, next)
    yield batch
    const link: Value = by === 'next' ? valueAt(answer.value, at) : nextLinkIn(answer.headers['link'] ?? '')
    if (rows.length === 0 || isNothing(link)) return
    const target: URL | null = typeof link === 'string' ? URL.parse(link, next ?? url) : null
    if (target === null) throw broken('the link to the next page is not a URL')
    const { origin } = new URL(url)
    if (target.origin !== origin && hostOfLinks !== 'ignored')
      throw broken(`the next page is on another host (${target.origin}), which gets no requests`)
    const isWhole = typeof link === 'string' && link.startsWith(`${origin}/`)
    next = isWhole ? link : `${origin}${target.pathname}${target.search}`
    if (seen.has(next)) throw broken('the same page came twice: its links run in a circle')
    seen.add(next)
  }
}

const WAYS: Readonly<Record<PagesOptions['by'], (options: PagesOptions, read: Read, url: string) => Pages>> = {
  none: onePage,
  page: byNumber,
  offset: byOffset,
  key: byKey,
  cursor: byCursor,
  next: byLink,
  link: byLink,
}

function isNothing(value: Value): boolean {
  return value === null || value === '' || value === false
}

type Fill = { readonly [name: string]: Value }

const LONGEST = 2000

function filledIn(url: string, options: PagesOptions, values: Fill): { url: string; request: JsonRequest } {
  const fill = scalarsIn(values)
  const { query = {}, body } = options
  // In the first request there is no cursor: omit the whole text around its placeholder.
  const isLeftOut = (text: string): boolean => text.includes('{cursor}') && fill['cursor'] === null
  const request = {
    ...options,
    query: mapTextsIn(query, (text) => (isLeftOut(text) ? undefined : inText(text, fill))),
    ...(body === undefined ? {} : { body: mapTexts(body, (text) => inText(text, fill)) }),
  }
  return { url: inUrl(url, fill), request }
}

type Scalars = { readonly [name: string]: string | number | null }

function scalarsIn(fill: Fill): Scalars {
  const scalars: Record<string, Scalars[string]> = {}
  for (const [name, value] of Object.entries(fill)) {
    if (typeof value === 'object' && value !== null)
      throw broken('the cursor or key of the next page is neither a text nor a number')
    if (String(value).length > LONGEST)
      throw broken('the cursor or key of the next page is longer than 2,000 characters')
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
  return broken(unfitWithin(name))
}

function rowsIn(
  { value, headers }: JsonAnswer,
  { rows: path, total }: PagesOptions,
): { readonly rows: readonly Cells[]; readonly total?: number } {
  const found = path === undefined ? value : valueAt(value, path)
  if (!Array.isArray(found)) throw broken(`the answer has no list of rows${path === undefined ? '' : ` at ${path}`}`)
  const rows: Cells[] = []
  for (const row of found) {
    if (!isJsonObject(row)) throw broken('the answer has a row that is not an object')
    rows.push(row)
  }
  if (total === undefined) return { rows }
  const figure = typeof total === 'string' ? valueAt(value, total) : (headers[total.header.toLowerCase()] ?? null)
  const count = typeof figure === 'string' && /^\d{1,12}$/.test(figure) ? Number(figure) : figure
  if (typeof count !== 'number' || count < 0) {
    const where = typeof total === 'string' ? total : `the header ${total.header}`
    throw broken(`the answer has no number of rows at ${where} (total)`)
  }
  return { rows, total: count }
}

/** Returns the target of `rel="next"` in a Link header (RFC 8288 §3); null if there is none. */
function nextLinkIn(header: string): string | null {
  for (const [, target = '', parameters = ''] of header.matchAll(/<([^>]*)>([^<]*)/g)) {
    if (/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next(?=[\s;,]|$))/i.test(parameters)) return target
  }
  return null
}
