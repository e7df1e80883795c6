import { valueAt } from '../../domain/json-value.ts'
import { isDeepStrictEqual } from 'node:util'
import type { Batch, PagesOptions, Row, Value } from '../connector/marquee-connector.d.ts'
import { FetchFault } from './fetch-fault.ts'
import type { JsonAnswer, JsonRequest } from './json-answer.ts'
import { type Fill, checkOptions, filledIn, nextLinkIn, rowsIn } from './page-request.ts'

type Ask = (url: string, request: JsonRequest) => Promise<JsonAnswer>

interface Page {
  readonly rows: readonly Row[]
  readonly batch: Exclude<Batch, readonly Row[]>
  readonly answer: JsonAnswer
}

type Read = (fill: Fill, link?: string) => Promise<Page>
type Pages = AsyncGenerator<Batch, void, void>

/** Reads all pages of a list. Ends at an empty page or if there is no next page, never at a short page. */
export async function* readPages(url: string, options: PagesOptions, ask: Ask): Pages {
  checkOptions(url, options)
  const { size, by, stable = by === 'key' || by === 'none' } = options
  async function read(fill: Fill, link?: string): Promise<Page> {
    // The link already contains the query.
    const asked = link === undefined ? options : { ...options, query: {} }
    const target = filledIn(link ?? url, asked, size === undefined ? fill : { ...fill, size })
    const answer = await ask(link ?? target.url, target.request)
    const { rows, ...total } = rowsIn(answer, options)
    const full = size !== undefined && rows.length >= size
    return { rows, answer, batch: { rows, ...total, lagMs: answer.lagMs, full, stable } }
  }
  switch (by) {
    case 'none':
      return yield* onePage(read)
    case 'page':
      return yield* byNumber(options, read)
    case 'offset':
      return yield* byOffset(options, read)
    case 'key':
      return yield* byKey(options, read)
    case 'cursor':
      return yield* byCursor(options, read)
    case 'next':
    case 'link':
      return yield* byLink(url, options, read)
    default:
      throw new FetchFault('misconfigured', 'by must be none, page, offset, key, next, link or cursor')
  }
}

async function* onePage(read: Read): Pages {
  yield (await read({})).batch
}

async function* byNumber({ first = 1, size = 0 }: PagesOptions, read: Read): Pages {
  let before: readonly Row[] | null = null
  for (let page = first; ; page++) {
    const { rows, batch } = await read({ page })
    // Nothing can have moved into the page after the last one.
    if (rows.length === 0) return yield { ...batch, stable: true }
    if (before !== null && before.length < size) {
      // Some servers give their last page for every number after it.
      if (isDeepStrictEqual(rows, before))
        throw new FetchFault('broken', `page ${page} has only rows of earlier pages; is paging.by right?`)
      // If a server gives fewer rows than requested, its page numbers may count either size, so rows may be skipped.
      const sentence = `asked for ${size} rows a page, got ${before.length}: set paging.size to ${before.length}`
      throw new FetchFault('misconfigured', sentence)
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
      if (rows.length === 1 && (await read({ offset })).rows.length > 0)
        throw new FetchFault(
          'broken',
          'the CRM returns one row a page; by offset needs at least two, because pages overlap by a row',
        )
      if (rows.length === 1) return
      continue
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
    if (isOverlapping && rows.length === 1) return
    if (isOverlapping && ids.length === known.length && ids.every((id, at) => id === known[at])) {
      throw new FetchFault('broken', 'a page has only rows of the previous page; does the API know {offset}?')
    }
    if (++steps > MOST_STEPS_BACK)
      throw new FetchFault('broken', 'rows move between the pages: sort them by something that does not change')
    offset = isOverlapping ? offset + rows.length - 1 : Math.max(0, offset - Math.max(1, known.length - 1))
  }
}

function keyOf(row: Row, key: string): string {
  const own = valueAt(row, key)
  if (own === null || typeof own === 'object')
    throw new FetchFault('misconfigured', `a row has no ${key}: name the path of its id as key`)
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
      if (!rises) throw new FetchFault('broken', `the rows are not in the order of ${key}: sort them by it`)
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
    if (isNothing(cursor))
      throw new FetchFault('broken', `${more} says that there are more pages, but there is no cursor at ${at}`)
    if (seen.has(cursor)) throw new FetchFault('broken', 'the same cursor came twice: the pages run in a circle')
    seen.add(cursor)
  }
}

/** Whether there are more pages. Where a flag is omitted although there is a cursor, most likely its path is wrong. */
function flagAt(answer: Value, path: string, cursor: Value): boolean {
  const flag = valueAt(answer, path)
  const word = JSON.stringify(flag).toLowerCase().replaceAll('"', '')
  if (word === 'true' || word === '1') return true
  if (word === 'false' || word === '0' || isNothing(cursor)) return false
  throw new FetchFault(
    'misconfigured',
    `the answer has a cursor, but neither true nor false at ${path}; is more right?`,
  )
}

async function* byLink(url: string, { by, at = '', hostOfLinks }: PagesOptions, read: Read): Pages {
  let next: string | undefined
  const seen = new Set<string>([url])
  for (;;) {
    const { rows, batch, answer }: Page = await read({}, next)
    yield batch
    const link: Value = by === 'next' ? valueAt(answer.value, at) : nextLinkIn(answer.headers['link'] ?? '')
    if (rows.length === 0 || isNothing(link)) return
    const target: URL | null = typeof link === 'string' ? URL.parse(link, next ?? url) : null
    if (target === null) throw new FetchFault('broken', 'the link to the next page is not a URL')
    const { origin } = new URL(url)
    if (target.origin !== origin && hostOfLinks !== 'ignored')
      throw new FetchFault('broken', `the next page is on another host (${target.origin}), which gets no requests`)
    const isWhole = typeof link === 'string' && link.startsWith(`${origin}/`)
    next = isWhole ? link : `${origin}${target.pathname}${target.search}`
    if (seen.has(next)) throw new FetchFault('broken', 'the same page came twice: its links run in a circle')
    seen.add(next)
  }
}

function isNothing(value: Value): boolean {
  return value === null || value === '' || value === false
}
