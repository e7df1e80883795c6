import { describe, expect, it } from 'bun:test'
import { inspect } from 'node:util'
import type { Configuration, CrmSettings } from './configuration.ts'
import { type LoadedConfiguration, loadConfiguration, findConfiguration } from './read-configuration.ts'
import { changedKeys } from '../app/reload.ts'
import { renderProblem } from './config-problem.ts'
import type { ReadFile } from '../time/read-text.ts'

const CRM = 'crm: { kind: files, directory: ./crm }\n'

function folder(files: Readonly<Record<string, string | Uint8Array>>): ReadFile {
  return async (path) => {
    const content = files[path]
    if (content === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' })
    return typeof content === 'string' ? new TextEncoder().encode(content) : content
  }
}

async function load(text: string, env: Record<string, string> = {}, files = {}): Promise<LoadedConfiguration> {
  return loadConfiguration({ path: '/etc/marquee.yaml', text, env, readFile: folder(files) })
}

async function sentences(text: string, env: Record<string, string> = {}, files = {}): Promise<string[]> {
  const loaded = await load(text, env, files)
  return loaded.ok ? [] : loaded.problems.map((problem) => renderProblem(problem).replace('/etc/', ''))
}

async function configured(text: string, env: Record<string, string> = {}, files = {}) {
  const loaded = await load(text, env, files)
  if (!loaded.ok) throw new Error(loaded.problems.map(renderProblem).join('\n'))
  return loaded.configuration
}

/** What settings of a CRM say about themselves are functions, and no values. */
function withoutTraits(settings: { readonly crm: CrmSettings }): Readonly<Record<string, unknown>> {
  const values = Object.entries(settings.crm).filter(([, value]) => typeof value !== 'function')
  return { ...settings, crm: Object.fromEntries(values) }
}

describe('a configuration', () => {
  it('has a default for every key but those of the CRM', async () => {
    const { crm, timeZone, isTimeZoneSet: _, ...rest } = await configured(CRM)
    expect(rest).toEqual({
      listen: { host: '127.0.0.1', port: 8080, basePath: '/' },
      operations: { host: '127.0.0.1', port: 8081, token: null },
      freshness: {
        maxAgeMs: 30_000,
        refreshEveryMs: 5000,
        fullReadEveryMs: 900_000,
        staleIfErrorMs: 0,
        shrinkGuardMs: 86_400_000,
      },
      representation: {
        namespace: 'Marquee',
        links: { event: [], venue: [] },
        further: { events: [], venues: [] },
        page: null,
        currency: null,
      },
      feeds: { calendar: false, jsonLd: false, atom: false, changes: false, calendarName: null, language: 'en-GB' },
      webhooks: [],
      conditionalRequests: false,
      lists: false,
      describe: true,
      limits: {
        waiting: 1000,
        waitForMs: 10_000,
        idleMs: 75_000,
        drainMs: 10_000,
        memoryBytes: 2e9,
        readyBodiesBytes: null,
      },
      snapshot: { directory: '/etc/.marquee' },
      cluster: null,
      log: { requests: false },
    })
    expect(timeZone.id).toBe('UTC')
    const plain = { block: null, texts: null } as const
    expect(withoutTraits({ crm })['crm']).toEqual({
      kind: 'files',
      directory: '/etc/crm',
      timeZone,
      idNamespace: null,
      maxFileAgeMs: null,
      requestTimeoutMs: null,
      proxy: null,
      ca: null,
      events: plain,
      venues: plain,
    })
  })

  it('takes every key that is documented', async () => {
    const configuration = await configured(
      `listen: { host: "[::1]", port: 0, basePath: /Events%20now/é/ }
operations: { host: 0.0.0.0, port: 9000, token: { env: TOKEN } }
timeZone: europe/london
freshness: { maxAge: 2m, refreshEvery: 500ms, fullReadEvery: 1h, staleIfError: 12h, shrinkGuard: off }
representation:
  namespace: EventsApi
  links:
    event: [ { rel: tickets, href: 'https://tickets.example.org/{Id}', title: Book } ]
    venue: [ { rel: map, href: ~/maps } ]
  further: { events: { Doors: date-time, Genres: texts }, venues: { StepFree: flag } }
conditionalRequests: true
limits: { waiting: 5, waitFor: 0, idle: 4000s, drain: 1m, memory: 1GiB, readyBodies: 256MB }
snapshot: { directory: ./state }
cluster: { url: "rediss://store.example.org:6380/1", name: two, ca: ca.pem, heartbeat: 100ms, readAlone: off }
log: { requests: on }
crm: { kind: files, directory: /srv/lists, timeZone: America/New_York }`,
      { TOKEN: 'open-sesame' },
      { '/etc/ca.pem': '' },
    )
    const { operations, timeZone, crm, isTimeZoneSet, cluster, ...rest } = configuration
    expect(isTimeZoneSet).toBe(true)
    const { url, ...shared } = cluster ?? {}
    expect(url?.reveal()).toBe('rediss://store.example.org:6380/1')
    expect(shared).toEqual({
      name: 'two',
      ca: '/etc/ca.pem',
      heartbeatMs: 100,
      readAlone: false,
      sentinel: null,
      allowInsecure: false,
    })
    expect(rest).toEqual({
      listen: { host: '::1', port: 0, basePath: '/Events%20now/%C3%A9' },
      freshness: {
        maxAgeMs: 120_000,
        refreshEveryMs: 500,
        fullReadEveryMs: 3_600_000,
        staleIfErrorMs: 43_200_000,
        shrinkGuardMs: null,
      },
      representation: {
        namespace: 'EventsApi',
        links: {
          event: [{ rel: 'tickets', href: 'https://tickets.example.org/{Id}', title: 'Book' }],
          venue: [{ rel: 'map', href: '~/maps', title: null }],
        },
        further: {
          events: [
            { name: 'Doors', type: 'date-time' },
            { name: 'Genres', type: 'texts' },
          ],
          venues: [{ name: 'StepFree', type: 'flag' }],
        },
        page: null,
        currency: null,
      },
      feeds: { calendar: false, jsonLd: false, atom: false, changes: false, calendarName: null, language: 'en-GB' },
      webhooks: [],
      conditionalRequests: true,
      lists: false,
      describe: true,
      limits: {
        waiting: 5,
        waitForMs: 0,
        idleMs: 4_000_000,
        drainMs: 60_000,
        memoryBytes: 2 ** 30,
        readyBodiesBytes: 256e6,
      },
      snapshot: { directory: '/etc/state' },
      log: { requests: true },
    })
    expect(operations?.token?.reveal()).toBe('open-sesame')
    expect([timeZone.id, crm.timeZone.id, directoryOf(crm)]).toEqual([
      'Europe/London',
      'America/New_York',
      '/srv/lists',
    ])
  })

  it('keeps its snapshot in the state directory that systemd names, else beside the file, and nowhere where it is null', async () => {
    const directory = async (text: string, env = {}): Promise<string | null> =>
      (await configured(`${text}\n${CRM}`, env)).snapshot?.directory ?? null
    const system = { STATE_DIRECTORY: '/var/lib/marquee:/var/lib/other' }
    expect(await directory('', system)).toBe('/var/lib/marquee')
    expect(await directory('snapshot: {}', system)).toBe('/var/lib/marquee')
    expect(await directory('snapshot: { directory: ../b }', system)).toBe('/b')
    expect(await directory('', { STATE_DIRECTORY: '' })).toBe('/etc/.marquee')
    expect(await directory('snapshot: null', system)).toBeNull()
    expect(await directory('snapshot: { directory: null }', system)).toBeNull()
    expect((await sampleOf('/sample')).snapshot).toBeNull()
  })

  it('may be JSON, with tabs, a byte order mark and Windows line ends', async () => {
    const text = '\uFEFF{\r\n\t"crm": {\r\n\t\t"kind": "files",\r\n\t\t"directory": "x\\/y"\r\n\t}\r\n}\r\n'
    const bytes = new TextEncoder().encode(text)
    const loaded = await loadConfiguration({ path: '/etc/m.json', env: {}, readFile: folder({ '/etc/m.json': bytes }) })
    expect(loaded.ok && directoryOf(loaded.configuration.crm)).toBe('/etc/x/y')
  })

  it('is frozen throughout', async () => {
    const { listen, representation } = await configured(CRM)
    expect(Object.isFrozen(listen) && Object.isFrozen(representation.links.event)).toBe(true)
  })

  it('takes a section whose keys are all commented out for an absent one, but a null operations for off', async () => {
    const { operations, representation } = await configured(
      `${CRM}listen:\nfreshness:\nlimits:\noperations:\nrepresentation:\n  links:\n    event:\n`,
    )
    expect([operations, representation.links]).toEqual([null, { event: [], venue: [] }])
  })

  it('refreshes every 5 s or twice within the maximum age, whichever is more often', async () => {
    const every = async (maxAge: string) =>
      (await configured(`${CRM}freshness: { maxAge: ${maxAge} }`)).freshness.refreshEveryMs
    expect(await Promise.all(['1h', '10s', '9s', '200ms', '1ms', '0'].map(every))).toEqual([
      5000, 5000, 4500, 100, 10, 5000,
    ])
  })

  it('reads in full every 15 minutes, or as rarely as it refreshes', async () => {
    const every = async (freshness: string) =>
      (await configured(`${CRM}freshness: { ${freshness} }`)).freshness.fullReadEveryMs
    expect(await Promise.all(['', 'refreshEvery: 1h', 'refreshEvery: 20s, fullReadEvery: 20s'].map(every))).toEqual([
      900_000, 3_600_000, 20_000,
    ])
  })

  it('is the same twice, so that what a reload changes can be told section by section', async () => {
    const text = `crm: { kind: postgres, url: { env: URL }, events: { from: e, fields: { Name: n } }, venues: { from: v } }`
    const env = { URL: 'postgres://me@h/d?sslrootcert=ca.pem' }
    const [once, again] = [await configured(text, env), await configured(text, env)]
    expect(withoutTraits(again)).toEqual(withoutTraits(once))
    expect(changedKeys(once, again)).toEqual({ changed: [], fixed: [], later: [] })
  })

  it('takes anchors and aliases', async () => {
    const { freshness, limits } = await configured(
      `${CRM}freshness: { maxAge: &short 3s }\nlimits: { waitFor: *short }`,
    )
    expect([freshness.maxAgeMs, limits.waitForMs]).toEqual([3000, 3000])
  })

  it('warns of what is allowed but hardly meant', async () => {
    const loaded = await load(
      `${CRM}freshness: { maxAge: 1s, refreshEvery: 5s }
representation: { links: { event: [ { rel: a, href: 'x{id}{page}' }, { rel: b, href: 'x{Id' } ], venue: [ { rel: a, href: '{Id}' } ] } }`,
    )
    expect(loaded.ok && loaded.warnings).toEqual([
      'freshness.refreshEvery is longer than freshness.maxAge: requests will have to wait for refreshes',
      'representation.links.event[0].href contains a name in braces that is not a field and will not be filled in; did you mean {Id}?',
      'representation.links.event[1].href has a { without a closing }',
    ])
  })
})

describe('a JSON API', () => {
  it('is warned of if its key stands in URLs, or rows may move between its pages', async () => {
    const paged = (more: string): string =>
      `{ get: /x, query: { offset: '{offset}', ${more} }, paging: { by: offset, size: 9 } }`
    const loaded = await load(
      `crm: { kind: http, url: https://crm.example, auth: { query: { name: k, value: { env: KEY } } },
  events: ${paged('sort: id')}, venues: ${paged('a: b')} }`,
      { KEY: 'secret-word' },
    )
    expect(loaded.ok && loaded.warnings).toEqual([
      'crm.auth.query puts the key into URLs, which are logged on the way: use a header if the API takes one',
      'crm.venues is read by offset, and its request has no sort or order: rows move between pages unless the API keeps an order that never changes',
    ])
  })
})

describe('{ env } and { file }', () => {
  it('may give any value, and text is read as what the key needs', async () => {
    const { listen, freshness, crm, conditionalRequests } = await configured(
      `listen: { port: { env: PORT } }
freshness: { maxAge: { file: age.txt }, shrinkGuard: { env: GUARD } }
conditionalRequests: { env: CONDITIONAL }
crm: { kind: { env: KIND }, directory: { file: /run/dir } }`,
      { PORT: ' 99 ', GUARD: 'OFF', KIND: 'files', CONDITIONAL: 'true' },
      { '/etc/age.txt': '3s\r\n', '/run/dir': 'lists\n' },
    )
    expect([listen.port, freshness.maxAgeMs, freshness.shrinkGuardMs]).toEqual([99, 3000, null])
    expect([conditionalRequests, directoryOf(crm)]).toEqual([true, '/etc/lists'])
  })

  it('may give a column, a value and a path of a mapping', async () => {
    const { crm } = await configured(
      `crm:
  kind: postgres
  url: { env: URL }
  ca: { env: CA }
  events: { from: e, active: { state: [{ env: STATE }, 2] }, fields: { Name: { env: TITLE }, Price: { value: { env: PRICE } } } }
  venues: { from: v }`,
      { URL: 'postgres://me@h/d', CA: 'ca.pem', STATE: 'open', TITLE: 'title', PRICE: '0' },
    )
    expect(crm).toMatchObject({
      ca: '/etc/ca.pem',
      events: {
        active: [{ column: 'state', oneOf: ['open', 2] }],
        fields: { Name: { kind: 'column', column: 'title' }, Price: { kind: 'value', value: '0' } },
      },
    })
  })

  it('are one problem where they fail inside of a value, and where a section should stand', async () => {
    const files = { '/etc/x': 'a\n' }
    const links = 'representation: { links: { event: [ { file: x } ] } }'
    expect(await sentences(`${CRM}${links}`, {}, files)).toEqual([
      'marquee.yaml:2: representation.links.event[0] is the value in the file x (not shown); it must be a mapping with the keys rel, href, title',
    ])
    const crm =
      'crm: { kind: postgres, url: { env: URL }, venues: { from: v }, events: { from: e, active: { a: [{ env: NO }] } } }'
    expect(await sentences(crm, { URL: 'postgres://me@h/d' })).toEqual([
      'marquee.yaml:1: crm.events.active.a[0] needs the environment variable NO, which is not set',
    ])
  })

  it('drop one newline at the end of a file, and no more', async () => {
    const file = { '/etc/t': 'a=\n' }
    const { operations } = await configured(`${CRM}operations: { token: { file: t } }`, {}, file)
    expect(operations?.token?.reveal()).toBe('a=')
    expect(await sentences(`${CRM}operations: { token: { file: t } }`, {}, { '/etc/t': 'a\n\n' })).toHaveLength(1)
  })

  it('let a secret in a file be read again, so that rotation needs no restart', async () => {
    const files: Record<string, string> = { '/etc/t': 'old\n' }
    const { operations } = await configured(`${CRM}operations: { token: { file: t } }`, {}, files)
    files['/etc/t'] = 'new\n'
    const fresh = await operations?.token?.refresh()
    expect(fresh?.ok && fresh.secret.reveal()).toBe('new')
    expect(operations?.token?.reveal()).toBe('old')
    delete files['/etc/t']
    expect(await operations?.token?.refresh()).toEqual({ ok: false, message: 'needs the file t, which does not exist' })
  })

  it('are never printed with what they hold', async () => {
    const configuration = await configured(`${CRM}operations: { token: { env: TOKEN } }`, { TOKEN: 'hunter2' })
    const shown = [
      inspect(configuration, { depth: 9, showHidden: true }),
      JSON.stringify(configuration),
      String(configuration.operations?.token),
    ]
    expect(shown.join('')).not.toContain('hunter2')
    expect(shown[2]).toBe('[secret]')
  })
})

describe('all that is wrong', () => {
  it('is told together, in the order of the lines, rules between keys included', async () => {
    const text = `maxAge: 3s
listen:
  port: "8080"
  hst: x
  port: 80
freshness:
  maxAeg: 3s
operations: { host: 0.0.0.0, port: many }
timeZone: { env: ZONE }
__proto__: 1
crm:
  kind: files
`
    expect(await sentences(text)).toEqual([
      'marquee.yaml:1: maxAge is not a known key; did you mean freshness.maxAge?',
      'marquee.yaml:3: listen.port is "8080"; it must be a whole number from 0 to 65535, without quotes',
      'marquee.yaml:4: listen.hst is not a known key; did you mean host?',
      'marquee.yaml:5: listen.port is given twice, first on line 3; remove one',
      'marquee.yaml:7: freshness.maxAeg is not a known key; did you mean maxAge?',
      'marquee.yaml:8: operations.port is "many"; it must be a whole number from 0 to 65535',
      'marquee.yaml:8: operations.token is missing; it is required if operations.host is not loopback: give { env: NAME } or { file: PATH }, or listen on 127.0.0.1',
      'marquee.yaml:9: timeZone needs the environment variable ZONE, which is not set',
      'marquee.yaml:10: __proto__ is not a known key; known here: listen, operations, timeZone, freshness, representation, feeds, webhooks, conditionalRequests, lists, describe, limits, snapshot, cluster, log, crm',
      'marquee.yaml:11: crm.directory is missing; it must be the directory that holds events and venues',
    ])
  })

  it.each([
    [
      'crm: { kind: dataverse, url: http://x.example.org, clientId: a, clientSecret: { env: S } }',
      ['tenant is missing', 'url must begin with https:, since it carries secrets'],
    ],
    [
      'crm: { kind: postgres, idScanEvery: 31s, events: { from: e }, venues: { from: v } }',
      ['url is missing', 'idScanEvery must not be longer than freshness.maxAge'],
    ],
    [
      'crm: { kind: odoo, url: https://o.example.org, version: 17, database: d, idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11, venues: { where: [] } }',
      ['key is missing', 'user is missing; Odoo 17 and 18 need the user'],
    ],
    [
      'crm: { kind: http, url: https://a.example.org, events: { get: /e, post: /e }, venues: { paging: { by: none } } }',
      [
        'events.paging is missing',
        'events must have get or post, and only one of them',
        'venues must have get or post, and only one of them',
        'venues.paging by none needs total or whole: true',
      ],
    ],
  ])('is told of the rules between keys of the CRM where a required key is missing: %s', async (crm, says) => {
    const problems = await sentences(crm, { S: 's' })
    for (const sentence of says) expect(problems.join('\n')).toContain(`marquee.yaml:1: crm.${sentence}`)
    expect(problems).toHaveLength(says.length)
  })

  it.each([
    // The URL may be all that was meant.
    'files, events: { form: https://example.org/e.csv }, venues: { from: https://example.org/v.csv } }',
    'files, events: { from: { url: 5 } }, venues: { from: https://example.org/v.csv } }',
    'files, directry: ./crm }',
    'postgres, url: { env: S }, idScanEvery: 31, events: { from: e }, venues: { from: v } }',
    'http, url: https://a.example.org, events: { get: 5, paging: { by: none, whole: true } }, venues: { get: /v, paging: { by: none, whole: true } } }',
    'http, url: https://a.example.org, events: { gte: /e, paging: { by: none, whole: true } }, venues: { get: /v, paging: { by: none, whole: true } } }',
    'http, url: https://a.example.org, events: { get: /e, since: 5, ids: { a: b }, paging: { by: none, whole: 7 } }, venues: { get: /v, paging: { by: none, whole: true } } }',
  ])('is not told of what only follows from another mistake: crm: { kind: %s', async (rest) => {
    const problems = await sentences(`crm: { kind: ${rest}`, { S: 'postgres://me@h/d' })
    expect(problems.length).toBeGreaterThan(0)
    for (const sentence of problems)
      expect(sentence).toMatch(/ is (?:5|7|31|not a known key)|events\.from must be a URL/)
  })

  it('is told of a cluster.ca that cannot be read beside other mistakes', async () => {
    const problems = await sentences('cluster: { url: { env: S }, ca: none.pem }\ncrm: { kind: files }', {
      S: 'rediss://r',
    })
    expect(problems).toHaveLength(2)
    expect(problems[0]).toStartWith('marquee.yaml:1: cluster.ca is "/etc/none.pem", which ')
    expect(problems[1]).toStartWith('marquee.yaml:2: crm.directory is missing')
  })

  it('is told of the rules between keys, too, where another key of the CRM is wrong', async () => {
    const crm =
      'crm: { kind: postgres, url: { env: URL }, idScanEvery: 31s, idNamespace: x, events: { from: e }, venues: { from: v } }'
    expect(await sentences(crm, { URL: 'postgres://me@h/d' })).toEqual([
      'marquee.yaml:1: crm.idNamespace is "x"; it must be a UUID that is not all zeros',
      'marquee.yaml:1: crm.idScanEvery must not be longer than freshness.maxAge, or every request would wait for an id scan',
    ])
    const nested = crm
      .replace('idNamespace: x', 'requestTimeout: 20s')
      .replace('from: e', 'from: e, fields: { Name: 1 }')
    expect((await sentences(nested, { URL: 'postgres://me@h/d' })).map((sentence) => sentence.split(' ')[1])).toEqual([
      'crm.events.fields.Name',
      'crm.idScanEvery',
    ])
  })

  it('is told that a fullReadEvery below refreshEvery would do nothing', async () => {
    const rule =
      'freshness.fullReadEvery must not be shorter than freshness.refreshEvery (default: 5s, or half of freshness.maxAge if that is less)'
    expect(await sentences(`${CRM}freshness:\n  refreshEvery: 30s\n  fullReadEvery: 29999ms`)).toEqual([
      `marquee.yaml:4: ${rule}`,
    ])
    expect(await sentences(`${CRM}freshness: { fullReadEvery: 4s }`)).toEqual([`marquee.yaml:2: ${rule}`])
  })

  it('is told of at most a hundred times', async () => {
    const problems = await sentences(CRM + Array.from({ length: 300 }, (_, index) => `key${index}: 1`).join('\n'))
    expect([problems.length, problems.at(-1)]).toEqual([101, 'marquee.yaml: has 200 more problems'])
  })

  it('names the file as the person did', async () => {
    const loaded = await loadConfiguration({ path: 'nope\n.yaml', env: {}, readFile: folder({}) })
    expect(loaded.ok ? [] : loaded.problems.map(renderProblem)).toEqual(['"nope\\n.yaml": does not exist'])
  })
})

it('the sample is what a file with nothing but its directory, lists and no snapshot sets', async () => {
  const sample = await sampleOf('/sample')
  const configuration = await configured('lists: on\nsnapshot: null\ncrm: { kind: files, directory: /sample }')
  expect(JSON.stringify(configuration)).toBe(JSON.stringify(sample))
  expect(Object.isFrozen(sample.crm)).toBe(true)
})

async function sampleOf(sample: string): Promise<Configuration> {
  const loaded = await loadConfiguration({ path: null, env: {}, readFile: folder({}), sample })
  if (!loaded.ok) throw new Error(inspect(loaded.problems))
  return loaded.configuration
}

function directoryOf(crm: CrmSettings): string | null {
  return crm.kind === 'files' ? crm.directory : null
}

async function found(options: { option?: string; env?: Record<string, string>; files?: string[] }): Promise<string> {
  const files = new Set(options.files)
  const { option, env = {} } = options
  const result = await findConfiguration({ option, env, cwd: '/app', exists: async (path) => files.has(path) })
  return `${result.path ?? 'sample'}, ${result.because}`
}

const NPM_START = { npm_lifecycle_event: 'start', INIT_CWD: '/home/me' }

it('takes the switches of a field by reference, as any value', async () => {
  const url =
    'url: https://a.example, tenant: 5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34, clientId: 5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34'
  const yaml = 'events: { fields: { Name: { column: n, html: { env: YES }, label: { env: NO } } } }'
  const text = `crm: { kind: dataverse, ${url}, clientSecret: { env: YES }, ${yaml} }`
  const { crm } = await configured(text, { YES: 'true', NO: 'off' })
  expect(crm.kind === 'dataverse' && crm.events.fields?.Name).toMatchObject({ html: true, label: false })
})

it('lets a list have no formats of dates, whatever all lists have', async () => {
  const texts = 'texts: { dates: [DD.MM.YYYY] }'
  const { crm } = await configured(`crm: { kind: files, directory: ., ${texts}, venues: { texts: { dates: [] } } }`)
  const dates = crm.kind === 'files' ? [crm.events.texts?.dates.length, crm.venues.texts?.dates.length] : null
  expect(dates).toEqual([1, 0])
})

describe('the configuration', () => {
  it('is the file of --config, before MARQUEE_CONFIG, before ./marquee.yaml, before the sample', async () => {
    const files = ['/app/marquee.yaml']
    const env = { MARQUEE_CONFIG: 'b.yaml' }
    expect(await found({ option: 'a.yaml', env, files })).toBe('/app/a.yaml, named by --config')
    expect(await found({ env, files })).toBe('/app/b.yaml, named by MARQUEE_CONFIG')
    expect(await found({ env: { MARQUEE_CONFIG: '' }, files })).toBe('/app/marquee.yaml, found here')
    expect(await found({})).toBe('sample, there is no marquee.yaml here')
  })

  it('is looked for where the person stands inside npm start and start:node, and only there', async () => {
    expect(await found({ option: 'a.yaml', env: NPM_START })).toBe('/home/me/a.yaml, named by --config')
    const startNode = { ...NPM_START, npm_lifecycle_event: 'start:node' }
    expect(await found({ option: 'a.yaml', env: startNode })).toBe('/home/me/a.yaml, named by --config')
    const other = { ...NPM_START, npm_lifecycle_event: 'test' }
    expect(await found({ option: 'a.yaml', env: other })).toBe('/app/a.yaml, named by --config')
    expect(await found({ option: 'a.yaml', env: { INIT_CWD: '/home/me' } })).toBe('/app/a.yaml, named by --config')
  })

  it('beside the person comes before the one beside the package', async () => {
    const files = ['/app/marquee.yaml', '/home/me/marquee.yaml']
    expect(await found({ env: NPM_START, files })).toBe('/home/me/marquee.yaml, found here')
    expect(await found({ env: NPM_START, files: ['/app/marquee.yaml'] })).toBe('/app/marquee.yaml, found here')
  })

  it('may be named by a whole path', async () => {
    expect(await found({ option: '/etc/m.yaml', env: NPM_START })).toBe('/etc/m.yaml, named by --config')
  })
})
