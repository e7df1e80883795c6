import { afterEach, beforeEach, describe, expect, it } from 'bun:test'
import { readTemplate } from '../../src/cli/templates/read-template.ts'
import { runCommand } from '../commands/run-command.ts'
import { type Answer, type Asked, JsonServer } from './json-server.ts'
import { idNumbered } from './own-crm.ts'
import { ConnectorFolder, SECRET } from './own-service.ts'
import { RUNTIMES } from '../support/depth.ts'

const OUR_CRM = readTemplate('our-crm.ts.txt')
let server: JsonServer

const event = (number: number): Record<string, unknown> => ({
  id: idNumbered(number),
  title: `event ${number}`,
  venue: { id: idNumbered(9) },
  starts_at: '2036-05-01T19:30:00Z',
  ends_at: '2036-05-01T21:30:00Z',
  seats: 100,
  sold: 4,
  price: '12.50',
  tags: ['Folk'],
  status: 'published',
  changed: '2026-11-01T00:00:00Z',
})

const good = ({ path, query, headers }: Asked): Answer => {
  if (headers.authorization !== `Bearer ${SECRET}`) return { status: 401 }
  const all =
    path === '/events'
      ? Array.from({ length: 230 }, (_, at) => event(at + 1))
      : [{ id: idNumbered(9), name: 'Hall', address: { city: 'London' } }]
  const [page, size] = [Number(query.get('page')), Number(query.get('per_page'))]
  return { json: { data: all.slice((page - 1) * size, page * size) } }
}

beforeEach(async () => {
  server = await JsonServer.open(good)
})

afterEach(() => server.close())

async function check(
  args: readonly string[] = [],
  edit: (text: string) => string = (text) => text,
  runtime: 'bun' | 'node' = 'bun',
  { crm = '', more = '' } = {},
): Promise<{ status: unknown; said: string }> {
  const kind = `kind: module\npath: ./our-crm.ts${crm}`
  using folder = new ConnectorFolder(server, { 'our-crm.ts': edit(OUR_CRM) }, kind, more)
  const command = ['check', '--config', folder.configuration, ...args]
  const { status, stdout, stderr } = await runCommand(command, { runtime })
  return { status, said: stdout + stderr }
}

describe.each(RUNTIMES)('check, on %s', (runtime) => {
  it('reads further fields that the connector or the configuration maps, and names one that neither does', async () => {
    const more = 'representation: { further: { events: { State: text, Changed: date-time } } }'
    const edit = (text: string): string => text.replace("Id: 'id',", "Id: 'id', State: 'status',")
    const crm = '\nevents: { fields: { Changed: changed } }'
    const both = await check(['--show', '1'], edit, runtime, { crm, more })
    expect(both.said).toContain('"State":"published","Changed":"2026-11-01T00:00:00+00:00","_links"')
    const { status, said } = await check([], edit, runtime, { more })
    expect([status, said.includes('crm.events.fields.Changed is missing')]).toEqual([2, true])
  })

  it('prints the requests of a module with --trace, and names its secrets, but never shows them', async () => {
    server.answer = (asked) => ({ ...good(asked), headers: { 'x-key': SECRET } })
    const edit = (text: string): string => text.replaceAll('/events`', '/events?key=${settings.token}`')
    const { status, said } = await check(['--trace'], edit, runtime)
    expect(status).toBe(0)
    expect(said).toContain(`> GET ${server.url}/events?key=[secret]&page=4&per_page=100`)
    expect(said).toContain('< 200 application/json {"data":[]}')
    expect(said).toContain('Secrets: crm.settings.token, from the file ./crm.key.')
    expect(said).not.toContain(SECRET)
    expect((await check([], undefined, runtime)).said).not.toContain('> GET')
  })

  it('reads by the connector that init writes, and examines it', async () => {
    const { status, said } = await check(['--connector'], undefined, runtime)
    expect(said).toContain('230 events and 1 venue would be served.')
    expect(status).toBe(0)
  })
})

describe('check of a connector', () => {
  it.each([
    ['a wrong key', () => ({ status: 401 }), 1, 'refuses the key (401); the file ./crm.key is read again'],
    [
      'a long pause',
      () => ({ status: 429, headers: { 'retry-after': '120' } }),
      1,
      'asks for fewer requests (429) until ',
    ],
    ['a wrong path', () => ({ status: 404 }), 2, 'has no /events, or this key may not see it (404)'],
    ['HTML', () => ({ text: '<html>' }), 1, 'HTML or XML in place of JSON'],
    [
      'a cut answer',
      () => ({ text: '{"data": [', headers: { 'content-length': '99' }, isCut: true }),
      1,
      'events: 127.0.0.1',
    ],
    ['no list', () => ({ json: { rows: [] } }), 1, 'the answer has no list of rows at data'],
    ['an error of its own', () => ({ status: 500 }), 1, 'answered with a server error (500)'],
    [
      'the same page for ever',
      (asked: Asked) => good({ ...asked, query: new URLSearchParams('page=1&per_page=100') }),
      1,
      'has only rows of earlier pages',
    ],
    [
      'fewer rows than asked',
      (asked: Asked) => good({ ...asked, query: new URLSearchParams(`page=${asked.query.get('page')}&per_page=50`) }),
      2,
      'asked for 100 rows a page, got 50: set paging.size to 50',
    ],
  ])('tells of %s', async (_, answer, status, sentence) => {
    server.answer = (asked) => (asked.path === '/events' ? answer(asked) : good(asked))
    const checked = await check()
    expect(checked.said).toContain(sentence)
    expect(checked.status).toBe(status)
    expect(checked.said).not.toContain(SECRET)
  })

  it.each([
    ['a misspelt setting', "token: 'secret'", "key: 'secret'", 'crm.settings.token is not a setting of the connector'],
    [
      'a secret that is no secret',
      "url: 'url'",
      "url: 'secret'",
      'crm.settings.url must be given as { env: NAME } or { file: PATH }',
    ],
    ['a syntax error', 'export default {', 'export default {{', 'our-crm.ts'],
    [
      'another host',
      '${settings.url}/events',
      'https://elsewhere.example/events',
      'https://elsewhere.example gets no requests',
    ],
    ['no api', 'api: 2', 'api: 3', 'has no default export with api: 2 (or 1), events and venues'],
    ['a missing placeholder', "page: '{page}'", 'page: 1', "paging by page needs '{page}'"],
  ])('tells of %s in the connector', async (_, from, to, sentence) => {
    const { status, said } = await check([], (text) => text.replaceAll(from, to))
    expect(said).toContain(sentence)
    expect(status).toBe(2)
  })

  it('warns of a misspelt path, since an API leaves out what is blank; --strict ends with 1', async () => {
    const misspell = (text: string): string => text.replaceAll('starts_at', 'start_at')
    const [lenient, strict] = [await check([], misspell), await check(['--strict'], misspell)]
    for (const { said } of [lenient, strict]) {
      expect(said).toContain('0 events and 1 venue would be served, 230 rows would not.')
      expect(said).toContain('did you mean "starts_at"?')
    }
    expect([lenient.status, strict.status]).toEqual([0, 1])
  })

  it('says which rows a connector loses, with 2', async () => {
    const ignoring = `updatedAt: 'changed',
    since: ({ http, settings }) => http.pages(\`\${settings.url}/events\`, { by: 'none', whole: true, rows: 'data', query: { page: 1, per_page: 50 }, bearer: settings.token }),
    full:`
    const { status, said } = await check(['--connector'], (text) => text.replace('full:', ignoring))
    expect(said).toContain('the API ignores the parameter')
    expect(status).toBe(2)
  })

  it('prints how each list is read, what that costs, and what the connector itself has to say', async () => {
    const own = `check: async ({ settings }) => [\`read from \${new URL(settings.url).hostname}\`], api: 2,`
    const { said, status } = await check([], (text) => text.replace('api: 2,', own))
    expect(said).toContain('warning: read from 127.0.0.1')
    expect(said).toMatch(
      /The events are read in full every 0\.2 s, about 72,000 requests an hour: 230 rows, 3 pages, 100 rows on page 1; the list ended with an empty page\./,
    )
    expect(status).toBe(0)
  })

  it('counts all requests of a module, also those that bring no page of rows', async () => {
    const more = `full: async function* ({ http, settings }) {
        await http.get(\`\${settings.url}/venues\`, { bearer: settings.token })
        yield* http.pages(`
    const { said } = await check([], (text) =>
      text
        .replace(/full: .*\n\s*http\.pages\(/, more)
        .replace(/bearer: settings\.token,\n\s*\}\),/, 'bearer: settings.token })\n},'),
    )
    expect(said).toContain('The events are read in full every 0.2 s, about 90,000 requests an hour: 230 rows, 3 pages')
  })

  it.each([
    ['says after a few seconds which list it still waits for, and which host asked it to wait, once', []],
    ['says nothing of it with --json', ['--json']],
  ])('%s', async (_, args) => {
    let refusals = 0
    server.answer = (asked) => {
      const isRefused = asked.path === '/events' && refusals++ === 0
      return isRefused ? { status: 429, headers: { 'retry-after': '6' } } : good(asked)
    }
    const { status, said } = await check(args)
    expect(status).toBe(0)
    const told = said.split('\n').filter((line) => line.startsWith('Still '))
    const until = /until \d\d:\d\d:\d\d UTC/
    const wait = `127.0.0.1:${server.port} asks for fewer requests (429) until HH:MM:SS UTC`
    expect(told.map((line) => line.replace(until, 'until HH:MM:SS UTC'))).toEqual(
      args.length > 0 ? [] : [`Still reading the events after 5 s: no rows so far; ${wait}.`],
    )
  })

  it('refuses a file that others may write', async () => {
    using folder = new ConnectorFolder(server, { 'our-crm.ts': OUR_CRM }, 'kind: module\npath: ./our-crm.ts')
    const { chmodSync } = await import('node:fs')
    chmodSync(folder.at('our-crm.ts'), 0o666)
    const { status, stderr } = await runCommand(['check', '--config', folder.configuration])
    expect(status).toBe(2)
    expect(stderr).toContain('can be written by others: chmod go-w the file')
  })
})
