import { afterEach, beforeEach, describe, expect, it } from 'bun:test'
import { HttpRequests } from '../../src/crm/context/http-context.ts'
import type { Cells, Http, PagesOptions } from '../../src/crm/connector/marquee-connector.d.ts'
import { openHttpClient } from '../../src/runtime/outgoing.ts'
import { type Time, systemTime } from '../../src/time/time.ts'
import { eventually } from '../support/eventually.ts'
import { type Answer, type Asked, JsonServer } from './json-server.ts'

let server: JsonServer
let http: Http
let waits: string[] = []
let table: { readonly id: number; readonly name: string }[] = []

beforeEach(async () => {
  server = await JsonServer.open()
  table = Array.from({ length: 25 }, (_, index) => ({ id: index + 1, name: `row ${index + 1}` }))
  waits = []
  http = open({ most: 1000, perMs: 60_000 })
})

afterEach(() => server.close())

function open(
  budget: { most: number; perMs: number },
  reading = new AbortController(),
  limits = {},
  time: Time = systemTime,
): Http {
  return new HttpRequests({
    web: openHttpClient({ ca: [], proxyOf: () => null }),
    time,
    limits: () => ({ requestTimeoutMs: 30_000, ...limits }),
    origins: new Set([server.url]),
    allowInsecure: false,
    atOnce: 3,
    budget,
    onWait: (forMs, why) => waits.push(`${Math.round(forMs / 100) / 10} s: ${why}`),
  }).bind(reading.signal)
}

const numberIn = (query: URLSearchParams, name: string, usual: number): number => Number(query.get(name) ?? usual)

/** Reads all pages; returns the ids, in the order they came. */
async function idsOf(options: Omit<PagesOptions, 'query'> & Pick<PagesOptions, 'query'>): Promise<readonly unknown[]> {
  const rows: Cells[] = []
  for await (const batch of http.pages(`${server.url}/events`, options))
    rows.push(...('rows' in batch ? batch.rows : batch))
  return rows.map(({ id }) => id)
}

/** What ends a read, as its kind and its sentence. */
async function faultOf(reading: Promise<unknown>): Promise<unknown> {
  return reading.then(
    () => 'no fault',
    (cause: unknown) => (cause instanceof Error && 'kind' in cause ? `${String(cause.kind)}: ${cause.message}` : cause),
  )
}

/** As `faultOf`, with the time that a pause has left, in tens of seconds, for the time at which it ends. */
async function pauseOf(reading: Promise<unknown>): Promise<string> {
  return String(await faultOf(reading)).replace(/until (\S+) (\S+) UTC$/, (_, day: string, time: string) => {
    const leftMs = Date.parse(`${day}T${time}Z`) - Date.now()
    return `for ${Math.round(leftMs / 10_000) * 10} s`
  })
}

const all = Array.from({ length: 25 }, (_, index) => index + 1)
const asPages = ({ query }: Asked): Answer => {
  const size = numberIn(query, 'per', 10)
  const page = numberIn(query, 'page', 1)
  return { json: table.slice((page - 1) * size, page * size) }
}
const asOffsets = ({ query }: Asked): Answer => {
  const offset = numberIn(query, 'offset', 0)
  return { json: table.slice(offset, offset + numberIn(query, 'limit', 10)) }
}
const byPage: PagesOptions = { by: 'page', size: 10, query: { page: '{page}', per: '{size}' } }
const byOffset: PagesOptions = { by: 'offset', size: 10, query: { offset: '{offset}', limit: '{size}' } }
const byKey: PagesOptions = { by: 'key', size: 10, query: { after: '{after}', limit: '{size}' } }

describe('paging', () => {
  it('by none needs one answer, and a total or the word that it is whole', async () => {
    server.answer = () => ({ json: { data: table, count: 25 } })
    expect(await idsOf({ by: 'none', rows: 'data', total: 'count' })).toEqual(all)
    expect(await idsOf({ by: 'none', rows: 'data', whole: true })).toEqual(all)
    expect(await faultOf(idsOf({ by: 'none', rows: 'data' }))).toContain('misconfigured: paging by none needs total')
    expect(server.asked).toHaveLength(2)
  })

  it('by number ends at the first empty page, never at a short one', async () => {
    server.answer = asPages
    expect(await idsOf(byPage)).toEqual(all)
    expect(server.asked.map(({ query }) => query.get('page'))).toEqual(['1', '2', '3', '4'])
  })

  it('by number takes the number from the path, and begins at first', async () => {
    server.answer = ({ path }) => ({ json: table.slice(Number(path.slice(1)) * 10, Number(path.slice(1)) * 10 + 10) })
    const rows: unknown[] = []
    for await (const batch of http.pages(`${server.url}/{page}`, { by: 'page', first: 0 })) rows.push(batch)
    expect(server.asked.map(({ path }) => path)).toEqual(['/0', '/1', '/2', '/3'])
  })

  it('by number fails if the server gives fewer rows than asked, and says what to set', async () => {
    server.answer = ({ query }) => {
      const page = numberIn(query, 'page', 1)
      return { json: table.slice((page - 1) * 10, (page - 1) * 10 + 4) }
    }
    expect(await faultOf(idsOf(byPage))).toBe('misconfigured: asked for 10 rows a page, got 4: set paging.size to 4')
  })

  it('by offset overlaps by a row', async () => {
    server.answer = asOffsets
    const ids = await idsOf(byOffset)
    expect([...new Set(ids)]).toEqual(all)
    expect(server.asked.map(({ query }) => query.get('offset'))).toEqual(['0', '9', '18', '24'])
  })

  it('by offset grows by the rows that came, whatever was asked', async () => {
    server.answer = ({ query }) => ({
      json: table.slice(numberIn(query, 'offset', 0), numberIn(query, 'offset', 0) + 4),
    })
    expect([...new Set(await idsOf(byOffset))]).toEqual(all)
  })

  it('by offset goes back if rows have gone before it, and misses none', async () => {
    let requests = 0
    server.answer = (asked) => {
      if (++requests === 2) table = table.filter(({ id }) => id > 3)
      return asOffsets(asked)
    }
    expect([...new Set(await idsOf(byOffset))]).toEqual(all)
  })

  it('by offset misses none where rows come in before it', async () => {
    let requests = 0
    server.answer = (asked) => {
      if (++requests === 2) table = [...Array.from({ length: 12 }, (_, at) => ({ id: -at, name: 'new' })), ...table]
      return asOffsets(asked)
    }
    const ids = new Set(await idsOf(byOffset))
    expect(all.filter((id) => !ids.has(id))).toEqual([])
  })

  it('by offset fails if the API does not know the parameter, or gives single rows', async () => {
    server.answer = () => ({ json: table.slice(0, 10) })
    expect(await faultOf(idsOf(byOffset))).toBe(
      'broken: a page has only rows of the previous page; does the API know {offset}?',
    )
    server.answer = ({ query }) => ({
      json: table.slice(numberIn(query, 'offset', 0), numberIn(query, 'offset', 0) + 1),
    })
    expect(await faultOf(idsOf(byOffset))).toContain('broken: the CRM returns one row a page')
  })

  it('by offset reads a list of one row, and an empty one', async () => {
    server.answer = asOffsets
    table = table.slice(0, 1)
    expect(await idsOf(byOffset)).toEqual([1])
    table = []
    expect(await idsOf(byOffset)).toEqual([])
  })

  it('by key asks for what comes after the last row, and keeps its type in a body', async () => {
    server.answer = ({ query }) => ({ json: table.filter(({ id }) => id > numberIn(query, 'after', 0)).slice(0, 10) })
    expect(await idsOf(byKey)).toEqual(all)
    expect(server.asked.map(({ query }) => query.get('after'))).toEqual(['0', '10', '20', '25'])
    server.asked.length = 0
    server.answer = () => ({ json: [] })
    await idsOf({ by: 'key', body: { where: { id: { gt: '{after}' } }, limit: '{size}' }, size: 5 })
    expect(server.asked).toMatchObject([{ method: 'POST', body: { where: { id: { gt: 0 } }, limit: 5 } }])
  })

  it('by key fails where the rows are not in its order', async () => {
    server.answer = ({ query }) => ({ json: table.filter(({ id }) => id > numberIn(query, 'after', 0)).toReversed() })
    expect(await faultOf(idsOf(byKey))).toBe('broken: the rows are not in the order of id: sort them by it')
    server.answer = () => ({ json: [{ id: 'a' }, { id: 'b' }] })
    expect(await faultOf(idsOf({ ...byKey, from: '' }))).toContain('not in the order of id')
    expect(await faultOf(idsOf({ ...byKey, key: 'Id' }))).toContain('misconfigured: a row has no Id')
  })

  it('by link follows rel=next of the Link header (RFC 8288 §3)', async () => {
    server.answer = (asked) => {
      const page = numberIn(asked.query, 'page', 1)
      const next = `<${server.url}/events?page=${page + 1}&per=10>; title="rel=prev"; rel="next last"`
      return { ...asPages(asked), headers: page < 3 ? { link: `<${server.url}/>; rel=first, ${next}` } : {} }
    }
    expect(await idsOf({ by: 'link', size: 10, query: { per: '{size}' } })).toEqual(all)
    expect(server.asked).toHaveLength(3)
  })

  it('by next follows a path in the body, but to no other host', async () => {
    const pageOf = (asked: Asked, base: string): Answer => {
      const page = numberIn(asked.query, 'page', 1)
      return { json: { data: asPages(asked).json, next: page < 3 ? `${base}/events?page=${page + 1}` : null } }
    }
    server.answer = (asked) => pageOf(asked, '')
    const options = { by: 'next', at: 'next', rows: 'data' } as const
    expect(await idsOf(options)).toEqual(all)
    server.answer = (asked) => pageOf(asked, 'http://elsewhere.example')
    expect(await faultOf(idsOf(options))).toBe(
      'broken: the next page is on another host (http://elsewhere.example), which gets no requests',
    )
    expect(await idsOf({ ...options, hostOfLinks: 'ignored' })).toEqual(all)
  })

  it('by next sends an absolute link byte by byte, as OData gives it: its path has a point in its name', async () => {
    const next = `${server.url}/events?$skiptoken=%3Ccookie%20page=%22d'%253a%22%2f%3E&$select=a,b`
    server.answer = ({ query }) =>
      query.has('$skiptoken')
        ? { json: { '@odata.count': 25, value: table.slice(10) } }
        : { json: { '@odata.count': 25, value: table.slice(0, 10), '@odata.nextLink': next } }
    expect(await idsOf({ by: 'next', at: '@odata.nextLink', rows: 'value', total: '@odata.count' })).toEqual(all)
    expect(server.asked.map(({ target }) => `${server.url}${target}`)).toEqual([`${server.url}/events`, next])
  })

  it('by cursor sends none first, and ends where there is none or where more is false', async () => {
    server.answer = ({ query }) => {
      const from = numberIn(query, 'c', 0)
      return { json: { data: table.slice(from, from + 10), c: from + 10 < 25 ? String(from + 10) : null } }
    }
    const options = { by: 'cursor', at: 'c', rows: 'data', query: { c: '{cursor}', q: 'after:{cursor}' } } as const
    expect(await idsOf(options)).toEqual(all)
    expect(server.asked.map(({ query }) => query.toString())).toEqual(['', 'c=10&q=after%3A10', 'c=20&q=after%3A20'])
    server.answer = ({ body }) => {
      const from = Number(typeof body === 'object' && body !== null && 'c' in body ? body.c : 0)
      return { json: { data: table.slice(from, from + 10), c: from + 10, more: from < 20 } }
    }
    expect(await idsOf({ by: 'cursor', at: 'c', more: 'more', rows: 'data', body: { c: '{cursor}' } })).toEqual(all)
  })

  it('leaves out what is undefined in the query, as null', async () => {
    const query = { b: null, c: undefined as unknown as null, d: 1 }
    await idsOf({ by: 'none', whole: true, query })
    expect(server.asked.map(({ target }) => target)).toEqual(['/events?d=1'])
  })

  it('by cursor leaves a key within an object of the query out of the first request, and no other', async () => {
    server.answer = ({ query }) => ({
      json: { data: table.slice(query.get('page')?.includes('cursor') === true ? 10 : 0), c: 'next' },
    })
    const query = { page: { cursor: '{cursor}', size: '{size}', none: null } }
    const pages = http.pages(`${server.url}/events`, { by: 'cursor', at: 'c', rows: 'data', size: 10, query })
    await pages[Symbol.asyncIterator]().next()
    expect(server.asked.map((asked) => asked.query.get('page'))).toEqual(['{"size":10,"none":null}'])
  })

  it('says that rows cannot move where it is by key, unless the connector says that they can', async () => {
    const stableOf = async (options: PagesOptions): Promise<unknown> => {
      for await (const batch of http.pages(`${server.url}/events`, options)) return 'stable' in batch && batch.stable
      return 'no page'
    }
    server.answer = () => ({ json: table })
    expect(await stableOf(byKey)).toBe('order')
    expect(await stableOf({ ...byKey, stable: false })).toBe(false)
    expect(await stableOf(byPage)).toBe(false)
  })

  it('fills placeholders within the items of a list in the query', async () => {
    server.answer = ({ query }) => {
      const [after] = query.getAll('a[]')
      return { json: table.filter(({ id }) => id > Number(after)).slice(0, 10) }
    }
    expect(await idsOf({ by: 'key', size: 10, query: { 'a[]': ['{after}', 'x', 7], b: ['{size}', 'y'] } })).toEqual(all)
    const [first] = server.asked.map(({ query }) => query.toString())
    expect(first).toBe('a%5B%5D=0&a%5B%5D=x&a%5B%5D=7&b=10%2Cy')
    server.answer = ({ query }) => ({ json: { data: query.has('c[]') ? [] : table, c: 'next' } })
    expect(await idsOf({ by: 'cursor', at: 'c', rows: 'data', query: { 'c[]': ['{cursor}', 'to {cursor}'] } })).toEqual(
      all,
    )
  })

  it.each([
    ['', { query: { q: 'id > {after}' } }],
    ['', { query: { q: ['id > {after}'] } }],
    ['', { body: { q: "id > '{after}'" } }],
    ["(after='{after}')", {}],
    ['?q=id>{after}', {}],
  ] as const)('puts no value of the CRM into a longer text (%j, %j) that it could end', async (path, options) => {
    const read = async (key: string): Promise<unknown> => {
      server.asked.length = 0
      server.answer = () => ({ json: server.asked.length > 1 ? [] : [{ id: key }] })
      const pages = http.pages(`${server.url}/events${path}`, { by: 'key', from: '', ...options })
      return faultOf(Array.fromAsync(pages))
    }
    for (const key of ['a-1_2.3:4+5', 'AB']) expect(await read(key)).toBe('no fault')
    for (const key of ["1' OR '1'='1", '1/../2', 'a=b', 'a b', '1;2'])
      expect(await read(key)).toBe(
        'broken: {after} stands within a longer text, and a value has characters other than letters, digits, _ . : + and -: let {after} be the whole value',
      )
  })

  it('encodes a value that is a whole step of a path, but for steps that lead to another path', async () => {
    const read = async (key: string): Promise<unknown> => {
      server.asked.length = 0
      server.answer = () => ({ json: server.asked.length > 1 ? [] : [{ id: key }] })
      const fault = await faultOf(
        Array.fromAsync(http.pages(`${server.url}/after/{after}/x`, { by: 'key', from: '0' })),
      )
      return fault === 'no fault' ? server.asked.at(-1)?.target : fault
    }
    expect(await read('a/b ?#')).toBe('/after/a%2Fb%20%3F%23/x')
    expect(await read('..')).toStartWith('broken: {after} stands within')
  })

  it('by cursor takes a flag that is a text or a number, and fails if there is a cursor and no flag', async () => {
    const options = { by: 'cursor', at: 'c', more: 'more', rows: 'data', query: { c: '{cursor}' } } as const
    for (const [yes, no] of [
      ['true', 'false'],
      [1, 0],
      [true, null],
    ]) {
      server.answer = ({ query }) => {
        const from = numberIn(query, 'c', 0)
        const hasMore = from < 20
        return { json: { data: table.slice(from, from + 10), c: hasMore ? from + 10 : null, more: hasMore ? yes : no } }
      }
      expect(await idsOf(options)).toEqual(all)
    }
    expect(await faultOf(idsOf({ ...options, more: 'meta.more' }))).toBe(
      'misconfigured: the answer has a cursor, but neither true nor false at meta.more; is more right?',
    )
  })

  it('by cursor ends at an empty page though it has a cursor, and fails where one comes twice', async () => {
    let left = 3
    server.answer = () => ({ json: { data: left-- > 0 ? table.slice(left * 5, left * 5 + 5) : [], c: `c${left}` } })
    const options = { by: 'cursor', at: 'c', rows: 'data', query: { c: '{cursor}' } } as const
    expect(await idsOf(options)).toHaveLength(15)
    server.answer = () => ({ json: { data: table, c: 'same' } })
    expect(await faultOf(idsOf(options))).toBe('broken: the same cursor came twice: the pages run in a circle')
    server.answer = () => ({ json: { data: table, c: { deep: 1 } } })
    expect(await faultOf(idsOf(options))).toContain('neither a text nor a number')
    server.answer = () => ({ json: { data: table, c: 'x'.repeat(2001) } })
    expect(await faultOf(idsOf(options))).toContain('longer than 2,000 characters')
  })

  it('fails where links run in a circle', async () => {
    server.answer = () => ({ json: { data: table, next: '/events' } })
    expect(await faultOf(idsOf({ by: 'next', at: 'next', rows: 'data' }))).toContain('its links run in a circle')
  })

  it.each([
    [{ by: 'page', query: { per: 10 } }, "paging by page needs '{page}' in the path, the query or the body"],
    [{ by: 'offset', query: {} }, "paging by offset needs '{offset}' in the path, the query or the body"],
    [{ by: 'key' }, "paging by key needs '{after}' in the path, the query or the body"],
    [{ by: 'cursor', at: 'c' }, "paging by cursor needs '{cursor}' in the path, the query or the body"],
    [{ by: 'cursor', query: { c: '{cursor}' } }, 'paging by cursor needs at: the path of the cursor'],
    [{ by: 'next' }, 'paging by next needs at: the path of the next page’s URL'],
  ] as const)('refuses %j before anything is asked', async (options, sentence) => {
    expect(await faultOf(idsOf(options))).toBe(`misconfigured: ${sentence}`)
    expect(server.asked).toHaveLength(0)
  })
})

describe('an answer', () => {
  const ask = (): Promise<unknown> => faultOf(idsOf({ by: 'none', whole: true }))

  it.each([
    [{ json: { data: [] } }, 'broken: the answer has no list of rows'],
    [{ json: [1] }, 'broken: the answer has a row that is not an object'],
    [{ json: [[]] }, 'broken: the answer has a row that is not an object'],
    [{ text: '<!doctype html><p>Log in' }, 'with HTML or XML in place of JSON: does it ask for a login?'],
    [{ text: '[{"id":1},' }, 'answered with invalid JSON'],
    [{ text: Buffer.from('[{"id":1,"name":"Caf\u00e9"}]', 'latin1') }, 'answered with bytes that are not UTF-8'],
    [{ status: 204 }, 'sent an empty answer (204)'],
    [{ status: 500, json: { trace: 'secret' } }, 'unreachable: 127.0.0.1'],
    [{ status: 401 }, 'refuses the key (401)'],
    [{ status: 403 }, 'refuses the key, or it may not see /events (403)'],
    [{ status: 404 }, 'has no /events, or this key may not see it (404)'],
    [{ status: 422 }, 'refuses the request to /events (422)'],
    [{ status: 301, headers: { location: 'https://other.example/x' } }, 'broken: 127.0.0.1'],
    [{ status: 301, headers: { location: 'https://other.example/x' } }, 'redirects to other.example (301)'],
    [{ status: 304 }, 'answered with the status 304, which is no answer to the request'],
  ])('%j is no list', async (answer, sentence) => {
    server.answer = () => answer
    expect(await ask()).toContain(sentence)
  })

  it('that is cut is asked for once more, and then fails', async () => {
    server.answer = () => ({ text: '[{"id":1}', headers: { 'content-length': '100' }, isCut: true })
    expect(await ask()).toContain('unreachable')
    expect(server.asked).toHaveLength(2)
  })

  it('with an error in it fails whatever its status, and shows no more than a code', async () => {
    const options = { by: 'none', whole: true, rows: 'data', errorAt: 'error.code', refusedAs: ['EXPIRED'] } as const
    server.answer = () => ({ json: { data: [], error: { code: 'QUOTA', trace: 'secret' } } })
    expect(await faultOf(idsOf(options))).toContain('answered with an error (QUOTA)')
    server.answer = () => ({ status: 500, json: { error: { code: 'EXPIRED' } } })
    expect(await faultOf(idsOf(options))).toContain('refused: ')
    const kinds = { 401: 'refused', 403: 'refused', 404: 'misconfigured', 400: 'misconfigured', 500: 'broken' }
    for (const [status, kind] of Object.entries(kinds)) {
      server.answer = () => ({ status: Number(status), json: { error: { code: 'QUOTA' } } })
      expect(await faultOf(idsOf(options))).toMatch(new RegExp(`^${kind}: .*QUOTA`))
    }
    server.answer = () => ({ json: { data: [], error: { code: 'SELECT * FROM users' } } })
    expect(await faultOf(idsOf(options))).toEndWith('answered with an error')
  })

  it('without the total that was promised fails', async () => {
    server.answer = () => ({ json: { data: [] } })
    expect(await faultOf(idsOf({ by: 'none', rows: 'data', total: 'count' }))).toContain('no number of rows at count')
    server.answer = () => ({ json: [], headers: { 'x-total-count': '12' } })
    expect(await faultOf(idsOf({ by: 'none', total: { header: 'X-Total-Count' } }))).toBe('no fault')
  })

  it('keeps the digits that a float would change', async () => {
    server.answer = () => ({
      text: '{"price":12.50,"id":12345678901234567890,"other":9007199254741014,"seats":120,"__proto__":{"a":1}}',
    })
    expect(JSON.stringify(await http.get(`${server.url}/x`))).toBe(
      '{"price":"12.50","id":"12345678901234567890","other":"9007199254741014","seats":120,"__proto__":{"a":1}}',
    )
  })
})

describe('requests', () => {
  it('go to the origins of url settings alone, and not in the clear off this machine', async () => {
    expect(await faultOf(http.get('https://elsewhere.example/'))).toBe(
      `misconfigured: https://elsewhere.example gets no requests: it is not the origin of a url setting (${server.url})`,
    )
    expect(await faultOf(http.get(server.url.replace('//', '//user@')))).toContain('gets no requests')
    expect(await faultOf(http.get('events'))).toContain('not a URL')
  })

  it('carry the query, the key and further headers', async () => {
    await http.get(`${server.url}/events?kept=1&limit=2`, {
      bearer: 'key-123',
      headers: { 'X-Tenant': '7' },
      query: { limit: 5, ids: [1, 2], 'tag[]': ['a', 'b'], none: null, text: 'a b&c' },
    })
    const [asked] = server.asked
    expect(asked?.headers).toMatchObject({
      authorization: 'Bearer key-123',
      'x-tenant': '7',
      'cache-control': 'no-cache',
    })
    expect([...(asked?.query ?? [])]).toEqual([
      ['kept', '1'],
      ['limit', '5'],
      ['ids', '1,2'],
      ['tag[]', 'a'],
      ['tag[]', 'b'],
      ['text', 'a b&c'],
    ])
  })

  it('send an empty list as an empty text, since some APIs answer all rows without it', async () => {
    await http.get(`${server.url}/events?event_id=1&kept=1&tag[]=a`, { query: { event_id: [], 'tag[]': [] } })
    expect(server.asked.map(({ query }) => [...query])).toEqual([
      [
        ['kept', '1'],
        ['event_id', ''],
      ],
    ])
  })

  it('wait as long as Retry-After says, all of them', async () => {
    const begun = performance.now()
    server.answer = () => (server.asked.length === 1 ? { status: 429, headers: { 'retry-after': '1' } } : { json: [] })
    const first = http.get(`${server.url}/a`)
    await eventually(
      async () => waits.length,
      (count) => count > 0,
    )
    await Promise.all([first, http.get(`${server.url}/b`)])
    expect(performance.now() - begun).toBeGreaterThan(950)
    expect(waits.map((wait) => wait.slice(wait.indexOf(':')))).toContain(
      `: 127.0.0.1:${server.port} asks for fewer requests (429)`,
    )
    expect(server.asked).toHaveLength(3)
  })

  it('stop before the limit that an answer tells', async () => {
    server.answer = () => ({ json: [], headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' } })
    const begun = performance.now()
    await http.get(`${server.url}/a`)
    await http.get(`${server.url}/b`)
    expect(performance.now() - begun).toBeGreaterThan(900)
  })

  it('stop until the time that an answer tells by its own clock, and not for one that is past', async () => {
    const hasty = open({ most: 10, perMs: 1000 }, new AbortController(), { longestPauseMs: 5000 })
    // The clock here is five minutes ahead.
    const now = Math.floor(Date.now() / 1000) - 300
    let reset = now - 60
    server.answer = () => ({
      json: [],
      headers: {
        date: new Date(now * 1000).toUTCString(),
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(reset),
      },
    })
    await hasty.get(`${server.url}/a`)
    reset = now + 100
    await hasty.get(`${server.url}/b`)
    expect(await pauseOf(hasty.get(`${server.url}/c`))).toBe(
      `throttled: 127.0.0.1:${server.port} asks for a pause (200) for 100 s`,
    )
    expect(server.asked).toHaveLength(2)
  })

  it('fail as throttled where the CRM asks for a pause again and again', async () => {
    server.answer = () => ({ status: 429, headers: { 'retry-after': '0' } })
    expect(await faultOf(http.get(`${server.url}/a`))).toContain('throttled: ')
    expect(server.asked).toHaveLength(4)
  })

  it('pay one pause together if the API refuses several that were sent at once', async () => {
    server.answer = async () => {
      await eventually(
        async () => server.asked.length,
        (count) => count >= 2,
      )
      return { status: 429 }
    }
    const bound = open({ most: 10, perMs: 1000 })
    const asked = [pauseOf(bound.get(`${server.url}/a`)), pauseOf(bound.get(`${server.url}/b`))]
    const sentence = `throttled: 127.0.0.1:${server.port} asks for fewer requests (429) for 10 s`
    expect(await Promise.all(asked)).toEqual([sentence, sentence])
  })

  it('wait for no longer than the longest pause, and say when to try again', async () => {
    const hasty = open({ most: 10, perMs: 1000 }, new AbortController(), { longestPauseMs: 5000 })
    server.answer = () => ({ status: 429 })
    const sentence = `throttled: 127.0.0.1:${server.port} asks for fewer requests (429) for 10 s`
    expect([await pauseOf(hasty.get(`${server.url}/a`)), await pauseOf(hasty.get(`${server.url}/b`))]).toEqual([
      sentence,
      sentence,
    ])
    // The pause holds for the second request too, which is not sent.
    expect(server.asked).toHaveLength(1)
  })

  it('wait for no longer than that for a server that is down either, and say what it asks for', async () => {
    const hasty = open({ most: 10, perMs: 1000 }, new AbortController(), { longestPauseMs: 5000 })
    server.answer = () => ({ status: 503, headers: { 'retry-after': '120' } })
    const sentence = `throttled: 127.0.0.1:${server.port} asks for a pause (503) for 120 s`
    expect([await pauseOf(hasty.get(`${server.url}/a`)), await pauseOf(hasty.get(`${server.url}/b`))]).toEqual([
      sentence,
      sentence,
    ])
    expect(server.asked).toHaveLength(1)
  })

  it('keep to the budget in any period of its length', async () => {
    const few = open({ most: 2, perMs: 300 })
    const begun = performance.now()
    for (let count = 0; count < 5; count++) await few.get(`${server.url}/a`)
    expect(performance.now() - begun).toBeGreaterThan(590)
    expect(waits.map((wait) => wait.slice(wait.indexOf(':')))).toContain(': the budget of requests is used up')
  })

  it('count each attempt as a request of the budget', async () => {
    const few = open({ most: 2, perMs: 300 })
    server.answer = () => ({ text: '[', headers: { 'content-length': '9' }, isCut: true })
    for (let count = 0; count < 2; count++) expect(await faultOf(few.get(`${server.url}/a`))).toContain('unreachable')
    expect(server.asked).toHaveLength(4)
    // How often depends on when the second attempts leave.
    expect(waits).not.toHaveLength(0)
  })

  it('end with the read that sent them', async () => {
    const reading = new AbortController()
    const bound = open({ most: 10, perMs: 1000 }, reading)
    // It never answers.
    server.answer = () => new Promise(() => {})
    const asked = faultOf(bound.get(`${server.url}/a`))
    await eventually(
      async () => server.asked.length,
      (count) => count === 1,
    )
    reading.abort()
    expect(await asked).toContain('unreachable')
  })
})
