import { afterEach, describe, expect, it } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Crm } from '../../src/sync/port.ts'
import { type Answer, type Asked, JsonServer } from './json-server.ts'
import { type ListRead, openConfigured, readList } from './replay.ts'

const left: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of left.splice(0)) await one.close()
})

interface ApiRow {
  readonly id: number
  readonly name: string
  readonly changed: string
  readonly more?: unknown
}

const rowsUpTo = (count: number): ApiRow[] =>
  Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    name: `Hall ${index + 1}`,
    changed: `2026-11-20T10:00:${String(index % 60).padStart(2, '0')}Z`,
  }))

const NONE = 'get: /none, paging: { by: none, whole: true }'
const NAMESPACE = '6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11'

/** An API whose venues are read as `venues` says; its events are an empty list. */
async function open(
  answer: (asked: Asked) => Answer | Promise<Answer>,
  venues: string,
  more = '',
  env: Readonly<Record<string, string>> = {},
): Promise<{ crm: Crm; api: JsonServer }> {
  const api = await JsonServer.open((asked) => (asked.path === '/none' ? { json: [] } : answer(asked)))
  left.push(api)
  const crm = await openConfigured(configuration(api.url, venues, more), env)
  left.push(crm)
  return { crm, api }
}

function configuration(url: string, venues: string, more = ''): string {
  return `crm: { kind: http, url: "${url}", idNamespace: ${NAMESPACE}, ${more} events: { ${NONE} }, venues: { ${venues}, fields: { Name: name } } }`
}

const names = ({ records }: ListRead<{ readonly Name: string | null }>): unknown[] => records.map(({ Name }) => Name)
const numbered = (count: number): string[] => rowsUpTo(count).map(({ name }) => name)

/** The first thing that is wrong with a configuration, without the place. */
async function problem(venues: string, more = ''): Promise<string> {
  return openConfigured(configuration('https://crm.example', venues, more), {}).then(
    () => 'no problem',
    (cause: unknown) => /^Error: \/tmp\/m\.yaml:1: (.*)/.exec(String(cause))?.[1] ?? String(cause),
  )
}

const offsetOf = ({ query }: Asked): number => Number(query.get('offset') ?? 0)
const BY_OFFSET = "get: /venues, query: { offset: '{offset}', limit: '{size}' }, paging: { by: offset, size: 3 }"
const BY_PAGE = "get: /venues, query: { page: '{page}', size: '{size}' }, paging: { by: page, size: 3 }"
const BY_KEY = "get: /venues, query: { after: '{after}', limit: '{size}' }, paging: { by: key, size: 3 }"

describe('one page taken for the whole list', () => {
  it('is impossible: paging has no default', async () => {
    expect(await problem('get: /venues')).toStartWith('crm.venues.paging is missing')
    expect(await problem('get: /venues, paging: { size: 5 }')).toStartWith('crm.venues.paging.by is missing')
  })

  it('is impossible: by none needs a total, or the word of the operator', async () => {
    expect(await problem('get: /venues, paging: { by: none }')).toBe(
      'crm.venues.paging by none needs total or whole: true; otherwise Marquee cannot know whether one answer has all rows',
    )
    const { crm } = await open(
      () => ({ json: { data: rowsUpTo(3), total: 5 } }),
      'get: /venues, rows: data, paging: { by: none, total: total }',
    )
    expect((await readList(crm.venues)).failure).toStartWith('broken: venues: ')
  })

  it('is not suspected by offset: a second request has shown the end', async () => {
    const { crm } = await open((asked) => ({ json: rowsUpTo(3).slice(offsetOf(asked)) }), BY_OFFSET)
    await readList(crm.venues)
    const [reading] = crm.readings ?? []
    expect(reading).toMatchObject({ list: 'venues', pages: 1, isFirstFull: true, isEndEmpty: true })
    expect(reading?.requests.get('full')).toBe(2)
  })

  it('is impossible: the link to the next page is found where OData writes it', async () => {
    const { crm } = await open(
      ({ query }) =>
        query.has('$skiptoken')
          ? { json: { value: rowsUpTo(5).slice(3) } }
          : { json: { value: rowsUpTo(3), '@odata.nextLink': '/venues?$skiptoken=3' } },
      "get: /venues, rows: value, paging: { by: next, at: '@odata.nextLink' }",
    )
    expect(names(await readList(crm.venues))).toEqual(numbered(5))
  })

  it.each([
    [
      'page',
      "query: { p: '{pages}' }",
      'crm.venues.query.p has the unknown placeholder {pages}; there are {size}, {page}, {offset}, {after}, {cursor}, {since}, {ids}',
    ],
    ['page', 'query: { p: 1 }', "crm.venues.paging by page needs '{page}' in the path, the query or the body"],
    ['offset', 'query: { p: 1 }', "crm.venues.paging by offset needs '{offset}' in the path, the query or the body"],
    ['key', 'query: { p: 1 }', "crm.venues.paging by key needs '{after}' in the path, the query or the body"],
    ['cursor', "query: { p: '{cursor}' }", 'crm.venues.paging by cursor needs at: the path of the cursor'],
    ['next', 'query: { p: 1 }', 'crm.venues.paging by next needs at: the path of the next page’s URL'],
    [
      'page',
      'query: { p: {page} }',
      "crm.venues.query.p must be in quotes: '{page}' without them is a mapping to YAML",
    ],
  ])('is impossible: by %s with %s is refused', async (by, query, sentence) => {
    expect(await problem(`get: /venues, ${query}, paging: { by: ${by} }`)).toBe(sentence)
  })
})

describe('pages skipped in silence', () => {
  it('cannot be: an offset grows by the rows that came, not by what was asked', async () => {
    const all = rowsUpTo(8)
    const { crm, api } = await open((asked) => ({ json: all.slice(offsetOf(asked), offsetOf(asked) + 2) }), BY_OFFSET)
    expect(names(await readList(crm.venues)).filter((name, at, found) => found.indexOf(name) === at)).toEqual(
      numbered(8),
    )
    expect(api.asked.length).toBeGreaterThan(4)
  })

  it('cannot be: a server that caps its pages is named with its cap', async () => {
    const all = rowsUpTo(8)
    const { crm } = await open(({ query }) => {
      const page = Number(query.get('page'))
      return { json: all.slice((page - 1) * 3, (page - 1) * 3 + 2) }
    }, BY_PAGE)
    expect((await readList(crm.venues)).failure).toBe(
      'misconfigured: venues: asked for 3 rows a page, got 2: set paging.size to 2',
    )
  })
})

describe('endless paging', () => {
  it('is named where the server gives its last page for every number after it, as json-server does', async () => {
    const { crm } = await open(
      ({ query }) => ({
        json: rowsUpTo(5)
          .slice(query.get('page') === '1' ? 0 : 3)
          .slice(0, 3),
      }),
      BY_PAGE,
    )
    expect((await readList(crm.venues)).failure).toBe(
      'broken: venues: page 3 has only rows of earlier pages; is paging.by right?',
    )
  })

  it.each([
    ['an API that does not know its offset', BY_OFFSET, () => ({ json: rowsUpTo(3) })],
    ['an API that does not know its page', BY_PAGE, () => ({ json: rowsUpTo(3) })],
    [
      'a cursor that comes again',
      "get: /venues, query: { c: '{cursor}' }, rows: data, paging: { by: cursor, at: next }",
      () => ({ json: { data: rowsUpTo(2), next: 'same' } }),
    ],
    [
      'a link that leads back',
      'get: /venues, rows: data, paging: { by: next, at: next }',
      () => ({ json: { data: rowsUpTo(2), next: '/venues' } }),
    ],
    ['keys that do not rise', BY_KEY, () => ({ json: rowsUpTo(3) })],
  ])('ends as a fault: %s', async (_, venues, answer) => {
    const { crm, api } = await open(answer, venues)
    expect((await readList(crm.venues)).failure).toStartWith('broken: venues: ')
    expect(api.asked.length).toBeLessThan(60)
  })
})

describe('rows beside deletions', () => {
  it('that stay are not lost by offset: rows that move are looked for', async () => {
    let rows = rowsUpTo(9)
    const { crm } = await open((asked) => {
      const page = rows.slice(offsetOf(asked), offsetOf(asked) + 3)
      // One of the rows that were read goes between any two pages.
      rows = rows.filter(({ id }) => id !== page[0]?.id || id > 6)
      return { json: page }
    }, BY_OFFSET)
    const read = await readList(crm.venues)
    expect(read.failure).toBe('')
    const seen = new Set(names(read))
    expect(rows.filter(({ name }) => !seen.has(name))).toEqual([])
  })

  it('cost no second read by key, where rows cannot move', async () => {
    const { crm, api } = await open(({ query }) => ({ json: query.get('after') === '0' ? rowsUpTo(3) : [] }), BY_KEY)
    const served = { count: 4, has: () => true, countMissing: () => 1 }
    const held = { size: 4, version: () => Number.NaN }
    const { signal } = new AbortController()
    const reading = crm.venues.read({ kind: 'full', cursor: null, held, served, signal })
    let next = await reading.next()
    while (next.done !== true) next = await reading.next()
    expect([next.value.ok, api.asked.length]).toEqual([true, 2])
  })

  it('are not lost by key', async () => {
    let rows = rowsUpTo(9)
    const { crm } = await open(({ query }) => {
      const page = rows.filter(({ id }) => id > Number(query.get('after'))).slice(0, 3)
      rows = rows.filter(({ id }) => id !== page[0]?.id)
      return { json: page }
    }, BY_KEY)
    expect(names(await readList(crm.venues))).toEqual(numbered(9))
  })
})

const WITH_SINCE = `${BY_KEY}, updatedAt: changed, since: { since: '{since}' }, ids: { fields: id }`

function changesApi(rows: () => readonly ApiRow[]): (asked: Asked) => Answer {
  return ({ query }) => {
    const since = query.get('since')
    const found = rows().filter(
      ({ id, changed }) => id > Number(query.get('after')) && (since === null || changed >= since),
    )
    return { json: found.slice(0, 3) }
  }
}

describe('changes', () => {
  it('are asked for from before the newest time that came, so that none is lost at the edge', async () => {
    const rows = rowsUpTo(5)
    const { crm, api } = await open(
      changesApi(() => rows),
      WITH_SINCE,
    )
    const { cursor } = await readList(crm.venues)
    await readList(crm.venues, 'changes', cursor)
    const asked = api.asked.map(({ query }) => query.get('since')).filter((since) => since !== null)
    const own = asked.filter((since) => since < '2026-11-21')
    expect(own.length).toBeGreaterThan(0)
    expect(own.every((since) => since <= '2026-11-20T10:00:04Z')).toBe(true)
  })

  it('must be heeded: an API that ignores the time is misconfigured', async () => {
    let rows: { readonly id: number; readonly changed: string | null }[] = rowsUpTo(5)
    const { crm } = await open(
      ({ query }) => ({ json: rows.filter(({ id }) => id > Number(query.get('after'))).slice(0, 3) }),
      WITH_SINCE,
    )
    const { cursor } = await readList(crm.venues)
    expect((await readList(crm.venues, 'changes', cursor)).failure).toContain('does the API ignore its parameter?')
    // Whatever their times: nothing has changed since tomorrow.
    rows = rows.map((row) => ({ ...row, changed: null }))
    const { crm: timeless } = await open(
      ({ query }) => ({ json: rows.filter(({ id }) => id > Number(query.get('after'))).slice(0, 3) }),
      WITH_SINCE,
    )
    const read = await readList(timeless.venues)
    expect((await readList(timeless.venues, 'changes', read.cursor)).failure).toContain('does the API ignore')
  })

  it('ask for ids as items of a list, and within a longer text only if they cannot end it', async () => {
    const read = async (byId: string, id: string): Promise<readonly [unknown, unknown]> => {
      const rows = [{ id, name: 'Hall', changed: '2026-11-20T10:00:00Z' }]
      const { crm, api } = await open(
        ({ query }) => ({ json: query.has('more') || query.has('since') ? [] : rows }),
        `get: /venues, paging: { by: none, whole: true }, updatedAt: changed, since: { since: '{since}' }, ids: { fields: id }, byId: { more: 1, ${byId} }`,
      )
      const { cursor } = await readList(crm.venues)
      // Nothing is held, so the id scan asks for every row.
      const reading = crm.venues.read({
        kind: 'changes',
        cursor,
        held: { size: 0, version: () => Number.NaN },
        served: null,
        mustConfirm: true,
        signal: new AbortController().signal,
      })
      let next = await reading.next()
      while (next.done !== true) next = await reading.next()
      const fault = next.value.ok ? '' : next.value.failure.message
      return [fault, api.asked.find(({ query }) => query.has('more'))?.query.toString()]
    }
    expect(await read("'id[]': ['{ids}', x]", 'a b')).toEqual(['', 'more=1&id%5B%5D=a+b&id%5B%5D=x'])
    expect(await read("q: 'id in ({ids})'", 'a-1')).toEqual(['', 'more=1&q=id+in+%28a-1%29'])
    expect(await read("q: 'id in ({ids})'", '1) or (1=1')).toEqual([
      'venues: {ids} stands within a longer text, and a value has characters other than letters, digits, _ . : + and -: let {ids} be the whole value',
      undefined,
    ])
  })

  it('are as old as the answer with the ids, and fail if it lacks a row that the API counts', async () => {
    const list = `${BY_PAGE.replace('size: 3', 'size: 3, total: total')}, rows: data, updatedAt: changed, since: { since: '{since}' }, ids: { i: 1 }, byId: { ids: '{ids}' }`
    let rows = rowsUpTo(4)
    const { crm } = await open(({ query }) => {
      const page = Number(query.get('page'))
      const asked = query.has('since') ? [] : query.has('i') ? rows : rowsUpTo(4)
      const json = { data: asked.slice((page - 1) * 3, page * 3), total: query.has('since') ? 0 : 4 }
      return { json, headers: query.has('i') ? { age: '300' } : {} }
    }, list)
    const { cursor } = await readList(crm.venues)
    const compare = async (): Promise<{ lagMs: number; end: unknown }> => {
      const held = { size: 4, version: () => Number.NaN }
      const { signal } = new AbortController()
      const reading = crm.venues.read({ kind: 'changes', cursor, held, mustConfirm: true, signal })
      let lagMs = 0
      let next = await reading.next()
      for (; next.done !== true; next = await reading.next()) lagMs = Math.max(lagMs, next.value.sourceLagMs)
      return { lagMs, end: next.value }
    }
    expect(await compare()).toMatchObject({ lagMs: 300_000, end: { ok: true, confirms: true } })
    rows = rows.slice(1)
    expect((await compare()).end).toMatchObject({
      failure: { kind: 'broken', message: 'venues: the CRM says that there are 4 rows, but returned 3' },
    })
  })

  it('include deletions: the ids of all rows are compared', async () => {
    let rows = rowsUpTo(5)
    const { crm } = await open(
      changesApi(() => rows),
      WITH_SINCE,
    )
    const { cursor } = await readList(crm.venues)
    rows = rows.filter(({ id }) => id !== 4)
    const held = { size: 5, version: () => Number.NaN }
    const reading = crm.venues.read({
      kind: 'changes',
      cursor,
      held,
      served: null,
      mustConfirm: true,
      signal: new AbortController().signal,
    })
    let next = await reading.next()
    while (next.done !== true) next = await reading.next()
    expect(next.value).toMatchObject({ ok: true, complete: true, confirms: true })
  })

  it.each([
    ['epochSeconds', '1763633044'],
    ["'YYYY-MM-DD hh:mm:ss'", '2025-11-20 10:04:04'],
  ])('take the time as %s', async (as, example) => {
    const rows = rowsUpTo(5)
    const { crm, api } = await open(
      ({ query }) => ({ json: query.has('since') ? [] : changesApi(() => rows)({ query } as Asked).json }),
      `${WITH_SINCE}, sinceAs: ${as}`,
    )
    const { cursor } = await readList(crm.venues)
    await readList(crm.venues, 'changes', cursor)
    const written = api.asked.flatMap(({ query }) => query.get('since') ?? [])
    expect(written.map((since) => since.replaceAll(/\d/g, '0'))).toContain(example.replaceAll(/\d/g, '0'))
  })

  it.each([
    ['numbers', { id: 1, changed: 1_763_632_984 }, '', 'number', 'number'],
    ['texts', { id: '1', changed: '1763632984' }, '', 'string', 'string'],
    ['seconds', { id: '1', changed: '2025-11-20T10:03:04Z' }, 'sinceAs: epochSeconds,', 'number', 'string'],
  ])(
    'ask for times and ids alone in a body as the API writes them, after a restart too: %s',
    async (_, row, as, ofSince, ofIds) => {
      const opened = () =>
        open(
          ({ body }) => ({ json: Object.hasOwn(body as object, 'after') ? [] : [{ ...row, name: 'Hall' }] }),
          `post: /venues, paging: { by: none, whole: true }, updatedAt: changed, ${as} since: { after: '{since}' }, ids: { only: id }, byId: { some: '{ids}' }`,
        )
      const { cursor } = await readList((await opened()).crm.venues)
      const { crm, api } = await opened()
      const held = { size: 0, version: () => Number.NaN }
      const { signal } = new AbortController()
      const reading = crm.venues.read({ kind: 'changes', cursor, held, mustConfirm: true, signal })
      let next = await reading.next()
      while (next.done !== true) next = await reading.next()
      expect(next.value).toMatchObject({ ok: true })
      const bodies = api.asked.map(({ body }) => body as { after?: unknown; some?: unknown })
      const types = [bodies.flatMap(({ after }) => after ?? []), bodies.flatMap(({ some }) => some ?? [])]
      expect(types.map((given) => [...new Set(given.map((one): string => typeof one))])).toEqual([[ofSince], [ofIds]])
    },
  )

  it('go by the first of several times that is not null', async () => {
    const rows = rowsUpTo(2).map((row) => ({ ...row, changed: null, created: row.changed }))
    const { crm } = await open(
      ({ query }) => ({ json: query.has('since') ? [] : rows.filter(({ id }) => id > Number(query.get('after'))) }),
      `${BY_KEY}, updatedAt: [changed, created], since: { since: '{since}' }`,
    )
    const { failure, cursor } = await readList(crm.venues)
    expect([failure, String(cursor).includes('2026-11-20')]).toEqual(['', true])
  })

  it('need what they are read by', async () => {
    expect(await problem(`${BY_KEY}, since: { s: '{since}' }`)).toBe('crm.venues.updatedAt is missing; since needs it')
    expect(await problem(`${BY_KEY}, updatedAt: changed, since: { s: 1 }`)).toBe("crm.venues.since needs '{since}'")
    expect(await problem(`${BY_KEY}, ids: { fields: id }`)).toBe('crm.venues.ids is only used with since')
  })

  it('give a value to {since} and {ids} only where they are asked for', async () => {
    const since = "updatedAt: changed, since: { s: '{since}'"
    expect(await problem("get: '/venues/{ids}', paging: { by: none, whole: true }")).toBe(
      'crm.venues.get has {ids}, which only byId gives a value',
    )
    expect(await problem("get: /venues, query: { a: ['{since}'] }, paging: { by: none, whole: true }")).toBe(
      'crm.venues.query has {since}, which only since gives a value',
    )
    expect(await problem(`${BY_KEY}, ${since}, i: '{ids}' }`)).toBe(
      'crm.venues.since has {ids}, which only byId gives a value',
    )
    expect(await problem(`${BY_KEY}, ${since} }, ids: { f: id }, byId: { i: '{ids}', s: '{since}' }`)).toBe(
      'crm.venues.byId has {since}, which only since gives a value',
    )
  })
})

describe('an answer that is no list', () => {
  const ROWS = 'get: /venues, rows: data, paging: { by: none, whole: true }'
  it.each<readonly [string, Answer, string, string]>([
    [
      'an error with 200',
      { json: { error: 'quota', data: [] } },
      'errorAt: error,',
      'broken: venues: HOST answered with an error (quota)',
    ],
    [
      'a refusal with 200',
      { json: { error: 'bad_key' } },
      'errorAt: error, refusedAs: [bad_key],',
      'refused: venues: HOST refuses the key (bad_key)',
    ],
    ['no list at its path', { json: { items: [] } }, '', 'broken: venues: the answer has no list of rows at data'],
    [
      'a row that is no object',
      { json: { data: [1] } },
      '',
      'broken: venues: the answer has a row that is not an object',
    ],
    ['nothing', { status: 204, text: '' }, '', 'broken: venues: HOST sent an empty answer (204)'],
    [
      'a login page',
      { text: '<html>Sign in' },
      '',
      'broken: venues: HOST answered with HTML or XML in place of JSON: does it ask for a login?',
    ],
    ['half a body', { text: '{"data":[', isCut: true }, '', 'unreachable: '],
    [
      'another place',
      { status: 302, headers: { location: 'https://elsewhere.example/' } },
      '',
      'broken: venues: HOST redirects to elsewhere.example (302)',
    ],
    [
      'no such path',
      { status: 404, json: {} },
      '',
      'misconfigured: venues: HOST has no /venues, or this key may not see it (404)',
    ],
    [
      'a wrong request',
      { status: 400, json: { errors: [{ message: 'row 7', extensions: { code: 'INVALID_QUERY' } }] } },
      '',
      'misconfigured: venues: HOST refuses the request to /venues (400 INVALID_QUERY); see marquee check --trace',
    ],
    [
      'a wrong request without a known code',
      { status: 400, json: { code: 'a row of ours' } },
      '',
      'misconfigured: venues: HOST refuses the request to /venues (400); see marquee check --trace',
    ],
  ])('%s', async (_, answer, more, sentence) => {
    const { crm, api } = await open(() => answer, ROWS, more)
    const { failure } = await readList(crm.venues)
    expect(failure.replaceAll(new URL(api.url).host, 'HOST')).toStartWith(sentence)
  })
})

describe('texts in the rows', () => {
  const row = {
    id: 1,
    name: 'Gala',
    price: '1.250,50 €',
    starts: '24.12.2027 19:30',
    tags: 'Rock, Pop',
    ends: '24.12.2027 23:00',
  }
  const fields = '{ Name: name, Price: price, Start: starts, Finish: ends, Tags: tags }'
  const read = async (texts: string, own = ''): Promise<ListRead<unknown>> => {
    const api = await JsonServer.open(({ path }) => ({ json: path === '/none' ? [] : [row] }))
    left.push(api)
    const events = `events: { get: /events, paging: { by: none, whole: true }, ${own} fields: ${fields} }`
    const crm = await openConfigured(
      `crm: { kind: http, url: "${api.url}", idNamespace: ${NAMESPACE}, ${texts} ${events}, venues: { ${NONE} } }`,
      {},
    )
    left.push(crm)
    return readList(crm.events)
  }

  it('are read as crm.texts says', async () => {
    const { records } = await read("texts: { decimal: ',', currency: ['€'], dates: [DD.MM.YYYY hh:mm], tags: [','] },")
    expect(records).toMatchObject([{ Name: 'Gala', Price: '1250.50', Tags: ['Rock', 'Pop'] }])
  })

  it('are read as the list itself says, key by key', async () => {
    const { records } = await read(
      "texts: { decimal: ',', currency: ['€'], dates: [DD.MM.YYYY hh:mm], tags: [';'] },",
      "texts: { tags: [','] },",
    )
    expect(records).toMatchObject([{ Price: '1250.50', Tags: ['Rock', 'Pop'] }])
  })

  it('are withheld with a reason if nothing says how they are written', async () => {
    expect((await read('')).records).toEqual([])
  })
})

describe('requests', () => {
  const ALL = 'get: /venues, paging: { by: none, whole: true }'
  const asked = async (auth: string, list = ALL): Promise<Asked | undefined> => {
    const { crm, api } = await open(() => ({ json: rowsUpTo(1) }), list, `auth: ${auth},`, { KEY: 'secret-word' })
    expect((await readList(crm.venues)).failure).toBe('')
    return api.asked.at(-1)
  }

  it.each([
    ['{ bearer: { env: KEY } }', 'authorization', 'Bearer secret-word'],
    ['{ bearer: { env: KEY }, scheme: Token }', 'authorization', 'Token secret-word'],
    ['{ header: { name: X-Api-Key, value: { env: KEY } } }', 'x-api-key', 'secret-word'],
    ['{ basic: { user: me, password: { env: KEY } } }', 'authorization', `Basic ${btoa('me:secret-word')}`],
    [
      '{ basic: { user: box office, password: { env: KEY } } }',
      'authorization',
      `Basic ${btoa('box office:secret-word')}`,
    ],
  ])('carry %s', async (auth, header, value) => {
    expect((await asked(auth))?.headers[header]).toBe(value)
  })

  it('carry a key in the query, and keep numbers, lists and null as they are meant', async () => {
    const list =
      "get: /venues, query: { a: [1, 2], 'b[]': [x, y], c: null, d: true }, paging: { by: none, whole: true }"
    const last = await asked('{ query: { name: key, value: { env: KEY } } }', list)
    expect([...(last?.query ?? [])]).toEqual([
      ['a', '1,2'],
      ['b[]', 'x'],
      ['b[]', 'y'],
      ['d', 'true'],
      ['key', 'secret-word'],
    ])
  })

  it('carry a body by POST, in which a placeholder alone keeps its type', async () => {
    const { crm, api } = await open(
      ({ body }) => ({ json: rowsUpTo(4).filter(({ id }) => id > (body as { where: { id: number } }).where.id) }),
      "post: /venues, body: { where: { id: '{after}' }, first: '{size}' }, paging: { by: key, size: 9 }",
    )
    expect(names(await readList(crm.venues))).toEqual(numbered(4))
    expect(api.asked.at(-1)?.body).toEqual({ where: { id: 4 }, first: 9 })
  })

  it('carry a token by client credentials, from another host, that is kept', async () => {
    const tokens = await JsonServer.open(({ body, headers }) =>
      headers['authorization'] === `Basic ${btoa('app:secret-word')}` &&
      new URLSearchParams(String(body)).get('grant_type') === 'client_credentials' &&
      new URLSearchParams(String(body)).get('scope') === 'read'
        ? { json: { access_token: 'token-1', expires_in: 3600 } }
        : { status: 401, json: { error: 'invalid_client' } },
    )
    left.push(tokens)
    const auth = `{ clientCredentials: { tokenUrl: "${tokens.url}/token", clientId: app, clientSecret: { env: KEY }, scope: read } }`
    const { crm, api } = await open(() => ({ json: rowsUpTo(1) }), ALL, `auth: ${auth},`, { KEY: 'secret-word' })
    expect([(await readList(crm.venues)).failure, (await readList(crm.venues)).failure]).toEqual(['', ''])
    expect([tokens.asked.length, api.asked.at(-1)?.headers['authorization']]).toEqual([1, 'Bearer token-1'])
  })

  it('carry a token as Salesforce writes it, whatever else the answer has', async () => {
    const token = '00D5e000000abcd!AQEAQFr.x_Y1~z'
    const others = { scope: null, id_token: 'not.a.token', expires_in: '3600', refresh_token: null }
    const tokens = await JsonServer.open(() => ({ json: { access_token: token, token_type: 'Bearer', ...others } }))
    left.push(tokens)
    const auth = `{ clientCredentials: { tokenUrl: "${tokens.url}/token", clientId: app, clientSecret: { env: KEY } } }`
    const { crm, api } = await open(() => ({ json: rowsUpTo(1) }), ALL, `auth: ${auth},`, { KEY: 'secret-word' })
    expect((await readList(crm.venues)).failure).toBe('')
    expect(api.asked.at(-1)?.headers['authorization']).toBe(`Bearer ${token}`)
  })

  it.each([
    ['holds a line break', { access_token: 'a\nb' }],
    ['is of a type that is not a bearer', { access_token: 'a', token_type: 'mac' }],
    ['lives for less than nothing', { access_token: 'a', expires_in: -1 }],
    ['is missing', { token_type: 'bearer' }],
  ])('carry no token by client credentials that %s', async (_, json) => {
    const tokens = await JsonServer.open(() => ({ json }))
    left.push(tokens)
    const auth = `{ clientCredentials: { tokenUrl: "${tokens.url}/token", clientId: app, clientSecret: { env: KEY } } }`
    const { crm, api } = await open(() => ({ json: rowsUpTo(1) }), ALL, `auth: ${auth},`, { KEY: 'secret-word' })
    const { failure } = await readList(crm.venues)
    expect(failure).toContain('the token server answered without a bearer token')
    expect(api.asked).toEqual([])
  })

  it('take a key from its file again when it was refused', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'marquee-http-'))
    const key = join(folder, 'key')
    writeFileSync(key, 'old')
    const api = await JsonServer.open(({ headers }) =>
      headers['authorization'] === 'Bearer new' ? { json: rowsUpTo(1) } : { status: 401, json: {} },
    )
    const readFile = async (path: string): Promise<Uint8Array> => new Uint8Array(await Bun.file(path).arrayBuffer())
    const crm = await openConfigured(configuration(api.url, ALL, `auth: { bearer: { file: ${key} } },`), {}, readFile)
    left.push(crm, api, { close: () => rmSync(folder, { recursive: true }) })
    writeFileSync(key, 'new')
    const failures = [await readList(crm.venues), await readList(crm.venues)].map(({ failure }) => failure)
    expect(failures.at(-1)).toBe('')
  })

  it('stay within their budget', async () => {
    const begun = performance.now()
    const { crm, api } = await open(
      ({ query }) => ({
        json: rowsUpTo(9)
          .filter(({ id }) => id > Number(query.get('after')))
          .slice(0, 3),
      }),
      BY_KEY,
      'requests: { most: 3, per: 1s },',
    )
    expect(names(await readList(crm.venues))).toEqual(numbered(9))
    expect([api.asked.length, performance.now() - begun > 900]).toEqual([4, true])
  })

  it('may have a budget for as long as the configuration allows', async () => {
    const { crm } = await open(() => ({ json: rowsUpTo(1) }), ALL, 'requests: { most: 100000, per: 576h },')
    expect((await readList(crm.venues)).failure).toBe('')
  })

  it('go to no other origin, unless only path and query of links count', async () => {
    const list = 'get: /venues, rows: data, paging: { by: next, at: next'
    const answer = ({ path }: Asked): Answer =>
      path === '/venues'
        ? { json: { data: rowsUpTo(1), next: 'http://inner.example/more' } }
        : { json: { data: rowsUpTo(2).slice(1), next: null } }
    const { crm } = await open(answer, `${list} }`)
    expect((await readList(crm.venues)).failure).toBe(
      'broken: venues: the next page is on another host (http://inner.example), which gets no requests',
    )
    const { crm: other } = await open(answer, `${list}, hostOfLinks: ignored }`)
    expect(names(await readList(other.venues))).toEqual(numbered(2))
  })

  it('hold secrets in auth alone', async () => {
    expect(await problem(ALL, 'headers: { X-Api-Key: word },')).toBe(
      'crm.headers must not hold X-Api-Key: secrets belong in crm.auth',
    )
    expect(await problem(ALL, 'auth: { bearer: word },')).toStartWith('crm.auth.bearer must not be written in the file')
    expect(await problem('post: /x, get: /y, paging: { by: none, whole: true }')).toBe(
      'crm.venues must have get or post, and only one of them',
    )
  })
})
