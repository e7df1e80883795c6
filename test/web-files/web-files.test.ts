import { afterAll, afterEach, describe, expect, it } from 'bun:test'
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isPrivateAddress } from '../../src/domain/host.ts'
import { idsOf } from '../../src/app/assemble.ts'
import { parseGuid } from '../../src/domain/guid.ts'
import type { ServedRows } from '../../src/sync/port.ts'
import { createPrivateCa } from '../dataverse/private-ca.ts'
import { workbook } from '../support/workbook-file.ts'
import { NAMESPACE, type Rig, type WebRead, openRig, readWeb } from './rig.ts'
import { type WebReply, type WebServer, webServer } from './web-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'marquee-web-'))
const left: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of left.splice(0)) await one.close()
})
afterAll(() => rmSync(folder, { recursive: true }))

const ROWS = [
  ['Nr', 'Titel', 'Beginn', 'Ende'],
  ['1', 'Konzert', '2036-07-12T19:30', '2036-07-12T22:00'],
  ['2', 'Lesung', '2036-07-13T19:30', '2036-07-13T22:00'],
] as const
const CSV = `${ROWS.map((row) => row.join(',')).join('\n')}\n`
const OBJECTS = ROWS.slice(1).map((row) => Object.fromEntries(ROWS[0].map((name, index) => [name, row[index]])))
const FIELDS = 'fields: { Id: Nr, Name: Titel, Start: Beginn, Finish: Ende }, showOnWeb: null, active: null'

async function serve(answer: (path: string, index: number) => WebReply): Promise<WebServer> {
  let index = 0
  const server = await webServer(({ path }) => answer(path, index++))
  left.push(server)
  return server
}

/** A files CRM whose events come from a URL, and whose venues from the folder. */
async function rigOf(from: string, more = '', env: Readonly<Record<string, string>> = {}): Promise<Rig> {
  const rig = await openRig(
    `{ kind: files, directory: ${folder}, idNamespace: ${NAMESPACE}, ${more} events: { from: ${from}, ${FIELDS} } }`,
    env,
  )
  left.push(rig.crm)
  return rig
}

function names({ changes }: { readonly changes: readonly { readonly kind: string }[] }): readonly unknown[] {
  return changes.map((change) => ('record' in change ? (change.record as { Name: string }).Name : change.kind))
}

const OLD = 'Sat, 01 Nov 2036 12:00:00 GMT'
const ago = (ms: number): string => new Date(Date.now() - ms).toUTCString()

describe('a list by URL', () => {
  const XLSX = workbook([
    { name: 'Other', rows: [['x']] },
    { name: 'Spielplan', rows: ROWS },
  ])
  it.each([
    ['CSV by its content type', '/export', 'text/csv; charset=utf-8', CSV, ''],
    ['CSV that the server calls Excel', '/events.csv', 'application/vnd.ms-excel', CSV, ''],
    ['CSV where nothing tells', '/export', 'application/octet-stream', CSV, ''],
    ['JSON by its content type', '/export', 'application/json', JSON.stringify(OBJECTS), ''],
    ['JSON by its name', '/x/events.json?v=1', 'text/plain', JSON.stringify(OBJECTS), ''],
    [
      'NDJSON by its name',
      '/events.ndjson',
      'text/plain',
      OBJECTS.map((row) => `${JSON.stringify(row)}\n`).join(''),
      '',
    ],
    ['a workbook by its first bytes', '/export.csv', 'text/csv', XLSX, 'Spielplan'],
  ])('is %s', async (_, path, type, body, sheet) => {
    const server = await serve(() => ({ headers: { 'content-type': type }, body }))
    const url = `"${server.origin}${path}"`
    const { crm } = await rigOf(sheet === '' ? url : `{ url: ${url}, sheet: ${sheet} }`)
    const read = await readWeb(crm.events)
    expect([read.failure, names(read)]).toEqual(['', ['Konzert', 'Lesung']])
  })

  it('has ids by the name of the list: the signature in a URL changes', async () => {
    const server = await serve(() => ({ body: CSV }))
    const { crm } = await rigOf(`"${server.origin}/a.csv?sig=1"`)
    const { changes } = await readWeb(crm.events)
    const ids = idsOf({ idNamespace: parseGuid(NAMESPACE), idNames: () => ['events', 'venues'] } as never)
    expect(changes[0]?.id).toBe(ids?.('1')[0] ?? null)
  })

  it('is unchanged by a 304, which confirms it as of the request', async () => {
    const server = await serve((_, index) =>
      index === 0
        ? { headers: { etag: '"a"', 'last-modified': OLD, date: OLD.replace('12', '13') }, body: CSV }
        : { status: 304 },
    )
    const rig = await rigOf(`"${server.origin}/a.csv"`)
    const first = await readWeb(rig.crm.events)
    rig.aheadMs = 20_000
    const second = await readWeb(rig.crm.events, first.cursor)
    rig.aheadMs = 21_000
    const third = await readWeb(rig.crm.events, first.cursor)
    expect(server.seen[1]?.headers).toMatchObject({ 'if-none-match': '"a"', 'if-modified-since': OLD })
    expect([server.seen.length, second.changes.length]).toEqual([3, 0])
    const asOf = ({ outcome }: WebRead): number => (outcome.ok ? (outcome.asOf?.wallMs ?? 0) : 0)
    expect([asOf(second) - asOf(first) >= 20_000, asOf(third) - asOf(second) >= 1000]).toEqual([true, true])
  })

  it('is asked at most every 10 s where the last answer was no 304, and is then as old as that answer', async () => {
    let body = CSV
    const server = await serve(() => ({ body }))
    const rig = await rigOf(`"${server.origin}/a.csv"`)
    const first = await readWeb(rig.crm.events)
    body = CSV.replace('Lesung', 'Oper')
    rig.aheadMs = 9000
    const second = await readWeb(rig.crm.events, first.cursor)
    expect([server.seen.length, second.changes.length]).toEqual([1, 0])
    expect(second.outcome).toMatchObject({ asOf: first.outcome.ok ? first.outcome.asOf : null, unchanged: true })
    rig.aheadMs = 11_000
    const third = await readWeb(rig.crm.events, first.cursor)
    expect([server.seen.length, names(third)]).toEqual([2, ['Konzert', 'Oper']])
    rig.aheadMs = 30_000
    const fourth = await readWeb(rig.crm.events, third.cursor)
    expect([server.seen.length, fourth.outcome]).toMatchObject([3, { ok: true, unchanged: true }])
  })

  it('is asked at each refresh, also soon after a change, if its server answers conditions', async () => {
    let [etag, body, changedAgoMs] = ['"a"', CSV, 60_000]
    const server: WebServer = await serve(() =>
      server.seen.at(-1)?.headers['if-none-match'] === etag
        ? { status: 304 }
        : { headers: { etag, 'last-modified': ago(changedAgoMs), date: ago(0) }, body },
    )
    const rig = await rigOf(`"${server.origin}/a.csv"`)
    const first = await readWeb(rig.crm.events)
    ;[etag, body, changedAgoMs] = ['"b"', CSV.replace('Lesung', 'Oper'), 1000]
    rig.aheadMs = 1000
    const second = await readWeb(rig.crm.events, first.cursor)
    expect(names(second)).toEqual(['Konzert', 'Oper'])
    // Too new for a condition, the file is downloaded once more, and then confirmed by 304.
    for (rig.aheadMs of [3500, 4500, 5500]) {
      const { outcome } = await readWeb(rig.crm.events, second.cursor)
      expect(outcome).toMatchObject({ ok: true, unchanged: true })
      expect(outcome.ok ? outcome.asOf?.monotonicMs : 0).toBeGreaterThan(performance.now() + rig.aheadMs - 1000)
    }
    expect(server.seen).toHaveLength(5)
    expect(rig.notices).toEqual([])
  })

  it('is asked without a condition while another change would leave its Last-Modified as it is', async () => {
    const now = new Date().toUTCString()
    const server = await serve(() => ({ headers: { etag: '"a"', 'last-modified': now, date: now }, body: CSV }))
    const rig = await rigOf(`"${server.origin}/a.csv"`)
    const first = await readWeb(rig.crm.events)
    rig.aheadMs = 11_000
    await readWeb(rig.crm.events, first.cursor)
    expect(server.seen.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, undefined])
  })

  it('is asked by its ETag if its Last-Modified is always the current time', async () => {
    const server = await serve(() => ({
      headers: { etag: '"a"', 'last-modified': ago(0), date: ago(0) },
      body: CSV,
    }))
    const rig = await rigOf(`"${server.origin}/a.csv"`)
    const { cursor } = await readWeb(rig.crm.events)
    for (rig.aheadMs of [11_000, 22_000]) await readWeb(rig.crm.events, cursor)
    expect(server.seen.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, undefined, '"a"'])
    expect(server.seen.map(({ headers }) => headers['if-modified-since'])).toEqual([undefined, undefined, undefined])
  })

  it('is read again if the list has lost its cursor, and the file has not changed', async () => {
    const server: WebServer = await serve(() =>
      server.seen.at(-1)?.headers['if-modified-since'] === undefined
        ? { headers: { 'last-modified': OLD, date: OLD.replace('12', '13') }, body: CSV }
        : { status: 304 },
    )
    const rig = await rigOf(`"${server.origin}/a.csv"`)
    const { cursor } = await readWeb(rig.crm.events)
    await readWeb(rig.crm.events, cursor)
    const again = await readWeb(rig.crm.events)
    expect([again.failure, names(again)]).toEqual(['', ['Konzert', 'Lesung']])
    expect(rig.notices).toEqual([])
  })

  it('has the headers that the configuration names, as secrets', async () => {
    const server = await serve(() => ({ body: CSV }))
    const { crm } = await rigOf(
      `{ url: "${server.origin}/a.csv", headers: { Authorization: { env: KEY }, X-Team: "7" } }`,
      '',
      {
        KEY: 'Bearer secret-word',
      },
    )
    expect((await readWeb(crm.events)).failure).toBe('')
    expect(server.seen[0]?.headers).toMatchObject({ authorization: 'Bearer secret-word', 'x-team': '7' })
  })

  it('reads the file of a refused key again, once', async () => {
    const key = join(folder, 'key')
    writeFileSync(key, 'old')
    const server = await webServer(({ headers }) =>
      headers['authorization'] === 'new' ? { body: CSV } : { status: 401 },
    )
    left.push(server)
    const rig = await rigOf(`{ url: "${server.origin}/a.csv", headers: { Authorization: { file: ${key} } } }`)
    writeFileSync(key, 'new')
    const read = await readWeb(rig.crm.events)
    expect([read.failure, names(read), server.seen.length]).toEqual(['', ['Konzert', 'Lesung'], 2])
  })
})

describe('a server that refuses the configured headers', () => {
  it.each<readonly [string, Readonly<Record<string, string>>, string]>([
    [
      'Authorization: { env: KEY }, X-Team: "7"',
      { KEY: 'secret-word' },
      'authorization, from the environment variable KEY',
    ],
    ['X-Team: "7"', {}, 'x-team, from the configuration'],
  ])('is named with where they come from (%s)', async (headers, env, from) => {
    const server = await serve(() => ({ status: 401 }))
    const { crm } = await rigOf(`{ url: "${server.origin}/a.csv", headers: { ${headers} } }`, '', env)
    const host = new URL(server.origin).host
    expect((await readWeb(crm.events)).failure).toBe(
      `refused: ${host} refuses the key in headers (401): correct ${from}`,
    )
  })
})

describe('what a server answers instead of a list', () => {
  const PUBLISH = 'publish the sheet (File, Share, Publish to web), or send a key in headers'
  it.each<readonly [string, WebReply, string]>([
    [
      'a login page',
      { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Sign in</title>' },
      `refused: HOST/a.csv is a web page (HTML), not a file: ${PUBLISH}`,
    ],
    [
      'a login page that begins with a comment',
      { headers: { 'content-type': 'text/html' }, body: '<!-- Copyright -->\n<!DOCTYPE html><html>' },
      `refused: HOST/a.csv is a web page (HTML), not a file: ${PUBLISH}`,
    ],
    [
      'a login page without html',
      { headers: { 'content-type': 'text/csv' }, body: '<title>Sign in</title><form action="/a">' },
      `refused: HOST/a.csv is a web page (HTML), not a file: ${PUBLISH}`,
    ],
    ['a refusal', { status: 403 }, `refused: HOST refuses the request (403): ${PUBLISH}`],
    ['nothing there', { status: 404 }, 'unreachable: HOST has no such file (404): is the URL of HOST/a.csv right?'],
    ['an outage', { status: 500 }, 'unreachable: HOST answered with a server error (500)'],
    ['no file', { status: 204 }, 'broken: HOST answered with 204 instead of a file'],
    ['an empty file', { body: '' }, 'broken: HOST/a.csv has zero bytes; an empty list is a header row alone'],
    [
      'a broken CSV',
      { body: `${CSV}3,"Oper\n` },
      'broken: HOST/a.csv, line 4: the row that begins here has an unclosed quote',
    ],
    [
      'another table',
      { body: 'a,b\n1,2\n' },
      'misconfigured: HOST/a.csv has no column "Nr" (crm.events.fields.Id), "Titel" (crm.events.fields.Name), "Beginn" (crm.events.fields.Start), "Ende" (crm.events.fields.Finish); it has "a", "b"',
    ],
    ['a redirect to nowhere', { status: 302 }, 'broken: HOST redirects (302) without a usable address'],
    [
      'a redirect that is not encrypted',
      { status: 302, headers: { location: 'http://example.org/a.csv' } },
      'broken: HOST redirects to example.org, an address without https',
    ],
    [
      'a redirect to no host',
      { status: 302, headers: { location: 'file:///a.csv' } },
      'broken: HOST redirects to file:, an address without https',
    ],
  ])(
    '%s; it is asked again after 5 s, or 10 s if it was a file, and the failure says when',
    async (_, reply, sentence) => {
      const server = await serve(() => reply)
      const rig = await rigOf(`"${server.origin}/a.csv?sig=secret-word"`)
      const { failure, outcome } = await readWeb(rig.crm.events)
      expect(failure.replaceAll(new URL(server.origin).host, 'HOST')).toBe(sentence)
      const isFile = String(reply.body ?? '').includes(',')
      expect(outcome).toMatchObject({ failure: { retryAfterMs: isFile ? null : 5000 } })
      rig.aheadMs = isFile ? 9000 : 4000
      expect((await readWeb(rig.crm.events)).failure).toBe(failure)
      expect(server.seen.length).toBe(1)
      rig.aheadMs = isFile ? 11_000 : 5500
      await readWeb(rig.crm.events)
      expect(server.seen.length).toBe(2)
    },
  )

  it('a pause: neither list is asked until it is over', async () => {
    const server = await serve(() => ({ status: 429, headers: { 'retry-after': '20' } }))
    const rig = await openRig(
      `{ kind: files, idNamespace: ${NAMESPACE}, events: { from: "${server.origin}/e.csv", ${FIELDS} }, venues: { from: "${server.origin}/v.csv" } }`,
    )
    left.push(rig.crm)
    const first = await readWeb(rig.crm.events)
    expect(first.outcome).toMatchObject({ failure: { kind: 'throttled', retryAfterMs: 20_000 } })
    expect(first.failure).toMatch(/ asks for fewer requests \(429\) until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
    rig.aheadMs = 19_000
    expect((await readWeb(rig.crm.venues)).failure).toMatch(
      /^throttled: .* asks for fewer requests \(429\) until .* UTC$/,
    )
    expect((await readWeb(rig.crm.events)).failure).toStartWith('throttled: ')
    expect(server.seen.length).toBe(1)
    rig.aheadMs = 21_000
    await readWeb(rig.crm.venues)
    expect(server.seen.length).toBe(2)
  })

  it('a file that may be half-written is in doubt until it has not changed for a while', async () => {
    const server = await serve(() => ({ body: CSV }))
    const rig = await rigOf(`"${server.origin}/a.csv"`)
    const served: ServedRows = {
      count: 3,
      has: () => true,
      countMissing: () => 1,
    }
    const first = await readWeb(rig.crm.events, null, served)
    expect(first.unsure).toContain('may be half-written: it lacks some of the events that are served')
    rig.aheadMs = 16_000
    expect(await readWeb(rig.crm.events, null, served)).toMatchObject({ failure: '', unsure: '' })
  })

  it('a file whose last line has no end is read once it has not changed', async () => {
    let body = CSV
    const server = await serve(() => ({ body }))
    const rig = await rigOf(`"${server.origin}/a.csv"`)
    const first = await readWeb(rig.crm.events)
    body = `${CSV}3,Oper,2036-07-14T19:30,2036-07-14T22:00`
    rig.aheadMs = 11_000
    const served: ServedRows = { count: 2, has: () => true, countMissing: () => 0 }
    const second = await readWeb(rig.crm.events, first.cursor, served)
    expect(second.failure).toContain('its last line is incomplete')
    rig.aheadMs = 60_000
    const third = await readWeb(rig.crm.events, first.cursor, served)
    expect([third.failure, names(third)]).toEqual(['', ['Konzert', 'Lesung', 'Oper']])
    expect((await readWeb(rig.crm.events, third.cursor, served)).outcome).toMatchObject({ ok: true, unchanged: true })
  })
})

describe('a redirect', () => {
  it('is followed, to another origin without the configured headers', async () => {
    const target = await serve(() => ({ headers: { 'content-type': 'text/csv' }, body: CSV }))
    const server = await serve((path) =>
      path.startsWith('/a')
        ? { status: 302, headers: { location: '/b' } }
        : { status: 307, headers: { location: `${target.origin}/c#x` } },
    )
    const { crm } = await rigOf(`{ url: "${server.origin}/a", headers: { X-Key: { env: KEY } } }`, '', {
      KEY: 'secret-word',
    })
    const read = await readWeb(crm.events)
    expect([read.failure, names(read)]).toEqual(['', ['Konzert', 'Lesung']])
    expect(server.seen.map(({ path, headers }) => [path, headers['x-key']])).toEqual([
      ['/a', 'secret-word'],
      ['/b', 'secret-word'],
    ])
    expect(target.seen.map(({ path, headers }) => [path, headers['x-key']])).toEqual([['/c', undefined]])
  })

  it('ends after five others', async () => {
    const server = await serve((_, index) => ({ status: 302, headers: { location: `/${index}` } }))
    const { crm } = await rigOf(`"${server.origin}/a"`)
    expect((await readWeb(crm.events)).failure).toContain('after 5 other redirects')
    expect(server.seen.length).toBe(6)
  })

  it('to a private address is not followed from outside', async () => {
    const ca = createPrivateCa()
    const inner = await serve(() => ({ body: CSV }))
    const outer = await webServer(() => ({ status: 302, headers: { location: `${inner.origin}/a` } }), ca.server)
    const proxy = createServer()
    proxy.on('connect', (_, client) => {
      const upstream = connect(outer.port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
        upstream.pipe(client).pipe(upstream)
      })
      client.on('error', () => upstream.destroy())
      upstream.on('error', () => client.destroy())
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const address = proxy.address()
    const port = typeof address === 'object' ? address?.port : 0
    left.push(outer, { close: async () => void proxy.close() })
    const { crm } = await rigOf('"https://crm.test/a.csv"', `proxy: "http://127.0.0.1:${port}", ca: ${ca.path},`)
    const { failure } = await readWeb(crm.events)
    expect(failure).toContain('broken: crm.test redirects to 127.0.0.1:')
    expect(failure).toContain('a private address, which Marquee does not follow from a public one')
    expect([outer.seen.length, inner.seen.length]).toEqual([1, 0])
    rmSync(ca.directory, { recursive: true })
  })

  it.each([
    ['127.0.0.1', true],
    ['::1', true],
    ['::', true],
    ['10.2.3.4', true],
    ['172.31.0.1', true],
    ['172.32.0.1', false],
    ['192.168.1.1', true],
    ['169.254.169.254', true],
    ['100.64.0.1', true],
    ['fd00::1', true],
    ['fe80::1', true],
    ['::ffff:7f00:1', true],
    ['::ffff:127.0.0.1', true],
    ['::ffff:808:808', false],
    ['8.8.8.8', false],
    ['2001:db8::1', false],
  ])('knows %s: %p', (name, isPrivate) => {
    expect(isPrivateAddress(name)).toBe(isPrivate)
  })
})

describe('crm.maxFileAge', () => {
  it('fails a list whose Last-Modified is older, by the clock of its server', async () => {
    let headers: Record<string, string> = { 'last-modified': ago(30 * 3_600_000), date: ago(0) }
    const server = await serve(() => ({ headers, body: CSV }))
    const rig = await rigOf(`"${server.origin}/a.csv"`, 'maxFileAge: 26h,')
    expect((await readWeb(rig.crm.events)).failure).toContain(
      '/a.csv was last written 30 h ago, and crm.maxFileAge allows 26 h: has the export stopped?',
    )
    headers = { 'last-modified': ago(60 * 3_600_000), date: ago(40 * 3_600_000) }
    rig.aheadMs = 11_000
    expect((await readWeb(rig.crm.events)).failure).toBe('')
  })

  it('fails a list that grows too old while it does not change', async () => {
    const server = await serve((_, index) =>
      index === 0 ? { headers: { 'last-modified': ago(25 * 3_600_000), date: ago(0) }, body: CSV } : { status: 304 },
    )
    const rig = await rigOf(`"${server.origin}/a.csv"`, 'maxFileAge: 26h,')
    const { cursor, failure } = await readWeb(rig.crm.events)
    expect(failure).toBe('')
    rig.aheadMs = 2 * 3_600_000
    expect((await readWeb(rig.crm.events, cursor)).failure).toContain('was last written 27 h ago')
  })

  it('is refused where the server does not say when the file was written', async () => {
    const server = await serve(() => ({ body: CSV }))
    const rig = await rigOf(`"${server.origin}/a.csv"`, 'maxFileAge: 26h,')
    expect((await readWeb(rig.crm.events)).failure).toContain(
      '/a.csv comes without Last-Modified, so its age is unknown; remove crm.maxFileAge',
    )
  })

  it('fails a file in the directory by its modification time', async () => {
    const path = join(folder, 'old.csv')
    writeFileSync(path, CSV)
    const rig = await rigOf('old.csv', 'maxFileAge: 26h,')
    expect((await readWeb(rig.crm.events)).failure).toBe('')
    const writtenAt = new Date(Date.now() - 30 * 3_600_000)
    utimesSync(path, writtenAt, writtenAt)
    expect((await readWeb(rig.crm.events)).failure).toBe(
      'unreachable: old.csv was last written 30 h ago, and crm.maxFileAge allows 26 h: has the export stopped?',
    )
  })

  it('tells ages below an hour in minutes', async () => {
    const path = join(folder, 'old.csv')
    writeFileSync(path, CSV)
    const writtenAt = new Date(Date.now() - 210_000)
    utimesSync(path, writtenAt, writtenAt)
    expect((await readWeb((await rigOf('old.csv', 'maxFileAge: 2m,')).crm.events)).failure).toBe(
      'unreachable: old.csv was last written 3 min ago, and crm.maxFileAge allows 2 min: has the export stopped?',
    )
  })
})

describe('crm.texts', () => {
  const texts = "texts: { decimal: ',', dates: [DD.MM.YYYY hh:mm], yes: [ja], no: [nein], tags: [','] },"
  const row = {
    Nr: '1',
    Titel: 'Konzert',
    Beginn: '12.07.2036 19:30',
    Ende: '12.07.2036 22:00',
    Preis: '1.250,50',
    Web: 'ja',
    Themen: 'Jazz, Rock',
  }
  const fields =
    'fields: { Id: Nr, Name: Titel, Start: Beginn, Finish: Ende, Price: Preis, Tags: Themen }, showOnWeb: { Web: [ja] }, active: null'
  const sheet = [Object.keys(row), Object.values(row)]
  it.each([
    ['JSON', 'events.json', JSON.stringify([row])],
    ['NDJSON', 'events.ndjson', `${JSON.stringify(row)}\n`],
    ['Excel', 'events.xlsx', workbook([{ name: 'S', rows: sheet }])],
  ])('holds for the texts of %s', async (_, name, body) => {
    const server = await serve(() => ({ body }))
    const rig = await openRig(
      `{ kind: files, directory: ${folder}, idNamespace: ${NAMESPACE}, ${texts} events: { from: "${server.origin}/${name}", ${fields} } }`,
    )
    left.push(rig.crm)
    const { changes } = await readWeb(rig.crm.events)
    expect(changes[0]).toMatchObject({
      record: { Start: '2036-07-12T19:30:00+00:00', Price: '1250.50', Tags: ['Jazz', 'Rock'] },
    })
  })
})
