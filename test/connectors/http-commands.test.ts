import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { PRESETS } from '../../src/cli/init.ts'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { markedByEditor } from '../config/editor-schema.ts'
import { JsonServer } from './json-server.ts'
import { RUNTIMES } from '../support/depth.ts'

const NAMESPACE = '6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11'
const VENUES = Array.from({ length: 7 }, (_, index) => ({
  id: index + 1,
  name: `Hall ${index + 1}`,
  changed: '2026-11-20T10:00:00Z',
}))
let api: JsonServer
let pauses = 0

beforeAll(async () => {
  api = await JsonServer.open(({ path, query, headers }) => {
    if (headers['authorization'] !== 'Bearer secret-word') return { status: 401, json: {} }
    if (path === '/busy' && pauses-- > 0) return { status: 503, headers: { 'retry-after': '6' } }
    const rows =
      path === '/events'
        ? []
        : path === '/priced'
          ? [{ id: 1, price: '12,50', changed: '2026-11-20T10:00:00Z' }]
          : path === '/by-offset'
            ? VENUES.slice(Number(query.get('offset')))
            : VENUES.filter(({ id }) => id > Number(query.get('after')))
    const since = path === '/heedless' ? null : query.get('since')
    return {
      json: {
        data: rows.filter(({ changed }) => since === null || changed >= since).slice(0, 3),
        token: 'secret-word',
      },
    }
  })
})
afterAll(() => api.close())

const configuration = (path: string): string => `operations: null
crm:
  kind: http
  url: ${api.url}
  auth: { bearer: { env: KEY } }
  idNamespace: ${NAMESPACE}
  events: { get: /events, rows: data, paging: { by: none, whole: true } }
  venues:
    get: ${path}
    query: { after: '{after}' }
    rows: data
    paging: { by: key, size: 3 }
    updatedAt: changed
    since: { since: '{since}' }
    fields: { Name: name }
`

for (const runtime of RUNTIMES) {
  describe(`crm.kind: http, on ${runtime}`, () => {
    it('is checked, and waits as its server asks: after 5 s check says for which host, and until when', async () => {
      pauses = 1
      using folder = new WorkFolder({ 'marquee.yaml': configuration('/busy') })
      const env = { KEY: 'secret-word' }
      const { status, stderr } = await runCommand(['check'], { cwd: folder.path, runtime, env })
      const said = stderr.split('\n').filter((line) => line.startsWith('Still '))
      expect(said.map((line) => line.replace(/\d\d:\d\d:\d\d UTC/, 'HH:MM:SS UTC'))).toEqual([
        `Still reading the venues after 5 s: no rows so far; ${new URL(api.url).host} asks for a pause (503) until HH:MM:SS UTC.`,
      ])
      expect(status).toBe(0)
    })

    it('is checked with the code that serves; --trace shows the requests without secrets', async () => {
      using folder = new WorkFolder({ 'marquee.yaml': configuration('/venues') })
      const { status, stdout, stderr } = await runCommand(['check', '--trace'], {
        cwd: folder.path,
        runtime,
        env: { KEY: 'secret-word' },
      })
      expect([status, stdout.includes('0 events and 7 venues would be served.')]).toEqual([0, true])
      expect(stderr).toContain(`> GET ${api.url}/venues?after=6`)
      expect(stderr).toContain('< 200 application/json {"data":[{"id":7,"name":"Hall 7"')
      expect(stderr).toContain('"token":"[secret]"')
      expect(stdout + stderr).not.toContain('secret-word')
    })

    it('is checked row by row if the last row of each page comes again with the next, as with offsets', async () => {
      const text = configuration('/by-offset')
        .replace("after: '{after}'", "offset: '{offset}'")
        .replace('by: key', 'by: offset')
        .replace(/ {4}updatedAt.*\n {4}since.*\n/, '')
      using folder = new WorkFolder({ 'marquee.yaml': text })
      const { stdout } = await runCommand(['check'], { cwd: folder.path, runtime, env: { KEY: 'secret-word' } })
      expect(stdout).toContain('0 events and 7 venues would be served.')
      expect(stdout).toMatch(/Name +← name +7 of 7 /)
    })

    it('names the key of texts that would make a price readable', async () => {
      const priced = '/priced, rows: data, paging: { by: none, whole: true }, fields: { Price: price }'
      const text = configuration('/venues').replace('/events, rows: data, paging: { by: none, whole: true }', priced)
      using folder = new WorkFolder({ 'marquee.yaml': text })
      const { stdout } = await runCommand(['check'], { cwd: folder.path, runtime, env: { KEY: 'secret-word' } })
      expect(stdout).toContain("set crm.texts.decimal: ','")
    })

    it('is refused by check where the API ignores the time of changes, or the key is wrong', async () => {
      using folder = new WorkFolder({ 'marquee.yaml': configuration('/heedless') })
      const heedless = await runCommand(['check', '--connector'], {
        cwd: folder.path,
        runtime,
        env: { KEY: 'secret-word' },
      })
      expect([heedless.status, heedless.stderr.includes('the API ignores the parameter')]).toEqual([2, true])
      const refused = await runCommand(['check'], { cwd: folder.path, runtime, env: { KEY: 'another-word' } })
      expect([refused.status, refused.stderr.includes('refuses the key (401)')]).toEqual([1, true])
    })
  })
}

describe('init http', () => {
  it.each(PRESETS)('writes the preset %s as a whole file that editors accept', async (preset) => {
    using folder = new WorkFolder()
    const written = await runCommand(['init', 'http', '--preset', preset], { cwd: folder.path })
    expect(written.status).toBe(0)
    expect(written.stdout).toContain(
      'Next: set your address and lists in it, and the variable it names in auth, if any',
    )
    const text = readFileSync(folder.at('marquee.yaml'), 'utf8')
    expect(markedByEditor(text)).toEqual([])
    expect(text).toMatch(/# testedOn: \S/)
    // The ids of another Marquee are UUIDs.
    if (preset !== 'marquee') expect(text).toMatch(/idNamespace: [\da-f]{8}-/)
  })

  it('names the presets that there are, and refuses them for other kinds', async () => {
    using folder = new WorkFolder()
    const unknown = await runCommand(['init', 'http', '--preset', 'drupal'], { cwd: folder.path })
    expect([unknown.status, unknown.stderr]).toEqual([
      2,
      'there is no preset called "drupal"; known: directus, strapi, airtable, the-events-calendar, marquee\n',
    ])
    const other = await runCommand(['init', 'odoo', '--preset', 'directus'], { cwd: folder.path })
    expect([other.status, other.stderr]).toEqual([
      2,
      '--preset only works with http: ./marquee init http --preset NAME\n',
    ])
  })
})

it.each(RUNTIMES)('%s: check takes an API that ignores the paging if it is given ids', async (runtime) => {
  const deaf = await JsonServer.open(({ query }) => {
    const ids = query.get('ids')?.split(',')
    const since = query.get('since')
    const found = VENUES.filter(({ id }) =>
      ids === undefined ? id > Number(query.get('after')) : ids.includes(String(id)),
    )
    return { json: found.filter(({ changed }) => since === null || changed >= since) }
  })
  const list = `paging: { by: key, size: 3 }, query: { after: '{after}', n: '{size}' }, updatedAt: changed, since: { since: '{since}' }, byId: { ids: '{ids}' }`
  using folder = new WorkFolder({
    'marquee.yaml': `crm: { kind: http, url: "${deaf.url}", idNamespace: ${NAMESPACE}, events: { get: /e, ${list}, fields: { Name: name, Start: changed } }, venues: { get: /v, ${list}, fields: { Name: name } } }\n`,
  })
  const { stdout } = await runCommand(['check', '--json', '--connector'], { cwd: folder.path, runtime })
  await deaf.close()
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, problems: [], venues: 7 })
})
