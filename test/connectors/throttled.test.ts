import { readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'bun:test'
import { WorkFolder } from '../commands/work-folder.ts'
import { BOTH_RUNTIMES, inTurn, RUNTIMES } from '../support/depth.ts'
import { eventually as eventuallyWithin } from '../support/eventually.ts'
import { serve } from '../support/marquee-process.ts'
import { type Answer, type Asked, JsonServer } from './json-server.ts'

const ID = '00000000-0000-4000-8000-000000000001'
const rowsOf = (path: string): readonly object[] =>
  path.startsWith('/events')
    ? [{ id: ID, title: 'Tosca', starts: '2036-05-01T19:30:00Z', ends: '2036-05-01T22:00:00Z' }]
    : []
/** A pause must be told at once, so nothing is waited for long. */
const eventually = <Seen>(ask: () => Promise<Seen>, isIt: (seen: Seen) => boolean): Promise<Seen> =>
  eventuallyWithin(ask, isIt, 30_000)
const LATE = { 'retry-after': '120' }

let server: JsonServer
/** What is answered to requests from now on; `null` for the lists. */
let limit: ((asked: Asked) => Answer | null) | null = null

function answerOf({ path, query }: Asked): Answer {
  if (path === '/services/oauth2/token') return { json: { access_token: 'token', token_type: 'Bearer' } }
  if (path.endsWith('/oauth2/v2.0/token')) return { json: { access_token: 'token', token_type: 'Bearer' } }
  if (path.startsWith('/api/data/')) return { json: { value: [] } }
  if (path.startsWith('/services/data')) return { json: { totalSize: 0, done: true, records: [] } }
  if (path.startsWith('/json/2/')) return { json: [] }
  if (path.startsWith('/civicrm/')) return { json: { values: [], count: 0 } }
  if (path.endsWith('.csv')) return { text: 'Id,Name\n', headers: { 'content-type': 'text/csv' } }
  return { json: { data: query.get('page') === '2' ? [] : rowsOf(path) } }
}

beforeEach(async () => {
  limit = null
  server = await JsonServer.open((asked) => limit?.(asked) ?? answerOf(asked))
})
afterEach(() => server.close())

const FIELDS = '{ Id: id, Name: title, Start: starts, Finish: ends, TicketsAvailable: null, Price: null }'
const NAMESPACE = 'idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11'
const KEY = '{ env: KEY }'
const httpWith = (paging: string, more = ''): string => `kind: http
  url: URL
  ${more}
  events: { get: /events, query: { page: '{page}' }, rows: data, paging: { ${paging} }, fields: ${FIELDS.replace('Id: id, ', '')} }
  venues: { get: /venues, rows: data, paging: { by: none, whole: true }, fields: { Name: name } }`
const PAGES = 'by: page, size: 1, stable: true'
const HTTP = httpWith(PAGES)
const MODULE = `const list = (path, fields) => ({ fields, async *full({ http, settings }) { yield (await http.get(settings.url + path)).data } })
export default { api: 1, settings: { url: 'url' }, events: list('/events', ${JSON.stringify({ Id: 'id', Name: 'title', Start: 'starts', Finish: 'ends' })}),
  venues: list('/venues', { Id: 'id', Name: 'name' }) }
`
const COMMAND = `const { url } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'))
fetch(url + '/' + process.argv[2]).then(async (reply) => {
  const { data = [] } = await reply.json()
  console.log(reply.ok ? '#total ' + data.length : '#fail throttled our CRM asks for fewer requests')
  for (const row of data) console.log(JSON.stringify(row))
})
`
const SALESFORCE = `kind: salesforce\n  url: URL\n  clientId: app\n  clientSecret: ${KEY}\n  ${NAMESPACE}\n  events: { from: Event__c }\n  venues: { from: Venue__c }`
const ODOO = `kind: odoo\n  url: URL\n  database: db\n  key: ${KEY}\n  ${NAMESPACE}\n  venues: { where: [] }`
const DATAVERSE = `kind: dataverse\n  url: URL\n  authority: URL\n  tenant: tenant\n  clientId: app\n  clientSecret: ${KEY}`
const CIVICRM = `kind: civicrm\n  url: URL\n  key: ${KEY}\n  ${NAMESPACE}`
const OWN = `kind: module\n  path: ./crm.mjs\n  settings: { url: URL }`
const RUN = `kind: command\n  run: [node, crm.cjs]\n  settings: { url: URL }\n  events: { ways: [full], fields: ${FIELDS} }\n  venues: { fields: { Id: id, Name: name } }`
const WEB_FILES = `kind: files\n  events: { from: URL/events.csv, fields: { Name: Name } }\n  venues: { from: URL/venues.csv, fields: { Name: Name } }`

const always = (answer: Answer) => (): Answer => answer
const busy = always({ status: 429, headers: LATE, json: {} })
/** The token of Salesforce is given, and the limit is reached. */
const overLimit = ({ path }: Asked): Answer | null =>
  path.startsWith('/services/data')
    ? { status: 403, json: [{ message: 'TotalRequests Limit exceeded.', errorCode: 'REQUEST_LIMIT_EXCEEDED' }] }
    : null

/** A limit of Dataverse that the code alone tells. */
const overTime = ({ path }: Asked): Answer | null =>
  path.startsWith('/api/data/')
    ? { status: 503, headers: LATE, json: { error: { code: '0x80072321', message: '' } } }
    : null

type Case = readonly [name: string, crm: string, limit: (asked: Asked) => Answer | null, leastMs: number, why: string]
const CASES: readonly Case[] = [
  ['http, 429', HTTP, busy, 100_000, 'asks for fewer requests (429)'],
  ['http, 503 with Retry-After', HTTP, always({ status: 503, headers: LATE }), 100_000, 'asks for a pause (503)'],
  ['http, 429 without Retry-After', HTTP, always({ status: 429 }), 5000, 'asks for fewer requests (429)'],
  [
    'http, 403 with Retry-After',
    HTTP,
    always({ status: 403, headers: LATE }),
    100_000,
    'asks for fewer requests (403)',
  ],
  [
    'http, 429 in the middle of a list',
    HTTP,
    ({ query }) => (query.get('page') === '2' ? { status: 429, headers: LATE } : null),
    100_000,
    'asks for fewer requests (429); the read continues',
  ],
  [
    'http, a limit that an answer tells beforehand',
    HTTP,
    (asked) => ({ ...answerOf(asked), headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '120' } }),
    100_000,
    'asks for a pause',
  ],
  ['salesforce, 403 REQUEST_LIMIT_EXCEEDED', SALESFORCE, overLimit, 5000, 'asks for fewer requests (403)'],
  ['salesforce, 429 for the token', SALESFORCE, busy, 100_000, 'asks for fewer requests (429)'],
  ['odoo, 429', ODOO, busy, 100_000, 'asks for fewer requests (429)'],
  ['dataverse, 429', DATAVERSE, busy, 100_000, 'asks for fewer requests (429)'],
  ['dataverse, a limit of execution time', DATAVERSE, overTime, 100_000, 'asks for less execution time (503)'],
  ['civicrm, 429', CIVICRM, busy, 100_000, 'asks for fewer requests (429)'],
  ['module, 429', OWN, busy, 100_000, 'asks for fewer requests (429)'],
  ['command, #fail throttled', RUN, busy, 5000, 'our CRM asks for fewer requests'],
  ['files by URL, 429', WEB_FILES, busy, 100_000, 'asks for fewer requests (429)'],
]

interface ListStatus {
  readonly lastError: string | null
  readonly nextTryInMs: number
}

async function withService(
  runtime: 'bun' | 'node',
  crm: string,
  sentences: (address: string, list: () => Promise<ListStatus>, metrics: () => Promise<string>) => Promise<void>,
  maxAge = '1s',
): Promise<string> {
  const text = crm.replaceAll('URL', server.url)
  using folder = new WorkFolder({
    'marquee.yaml': `listen: { port: 0 }\noperations: { port: 0 }\nsnapshot: null\nfreshness: { maxAge: ${maxAge}, refreshEvery: 300ms }\ncrm:\n  ${text}\n`,
    'crm.mjs': MODULE,
    'crm.cjs': COMMAND,
  })
  const { child, listening } = await serve(runtime, folder.at('marquee.yaml'), { KEY: 'secret-word' })
  const textOf = async (path: string): Promise<string> => (await fetch(`${listening.operations}${path}`)).text()
  const list = async (): Promise<ListStatus> =>
    (JSON.parse(await textOf('status')) as { lists: { events: ListStatus } }).lists.events
  await sentences(listening.address, list, () => textOf('metrics'))
  expect(await child.stop()).toBe(0)
  return child.stdout
}

/** What callers, the dashboard, \`/status\`, the metrics and the alert say of the pause. */
async function expectTruth(
  address: string,
  list: () => Promise<ListStatus>,
  metrics: () => Promise<string>,
  [, , , leastMs, why]: Case,
): Promise<void> {
  const { nextTryInMs } = await eventually(list, ({ lastError }) => lastError?.includes(why) === true)
  expect(nextTryInMs).toBeGreaterThan(leastMs - 2000)
  await eventually(
    async () => (await fetch(`${address}api/events/${ID}`)).status,
    (status) => status === 502,
  )
  const begun = performance.now()
  const refused = await fetch(`${address}api/events/${ID}`)
  expect(refused.status).toBe(502)
  expect(performance.now() - begun).toBeLessThan(2000)
  const told = (await list()).nextTryInMs
  const retryAfterS = Number(refused.headers.get('retry-after'))
  expect(Math.abs(retryAfterS * 1000 - told)).toBeLessThan(3000)
  const text = await metrics()
  expect(text).toMatch(/^marquee_refreshes_total\{list="events",outcome="throttled"\} [1-9]/m)
  expect(text).toContain('marquee_list_failing{list="events"} 1')
}

describe('a CRM that asks for a pause', () => {
  it.each(inTurn(CASES))(
    'on %s, %s: everybody is told the truth at once',
    async (runtime, name, crm, answer, leastMs, why) => {
      const one: Case = [name, crm, answer, leastMs, why]
      const log = await withService(
        runtime,
        crm,
        async (address, list, metrics) => {
          await eventually(list, ({ lastError }) => lastError === null)
          const { length } = server.asked
          await eventually(
            async () => server.asked.length,
            (count) => count > length,
          )
          limit = answer
          await expectTruth(address, list, metrics, one)
          const asked = server.asked.length
          await Bun.sleep(1500)
          expect(server.asked.length - asked).toBeLessThan(2)
        },
        name.startsWith('files') ? '11s' : '1s',
      )
      const lines = log.split('\n').filter((line) => line.includes('the events') && line.includes('"level":"warn"'))
      expect(lines.length).toBeLessThanOrEqual(3)
    },
  )

  it.each(RUNTIMES)('a budget that is used up in the middle of a list is told as it is, on %s', async (runtime) => {
    const one: Case = [
      '',
      httpWith(PAGES, 'requests: { most: 10, per: 2m }'),
      always({}),
      80_000,
      'the budget of requests is used up',
    ]
    await withService(runtime, one[1], (address, list, metrics) => expectTruth(address, list, metrics, one))
  })
})

it.each(BOTH_RUNTIMES)(
  'a pause is kept over a restart, also after a kill: the CRM is not asked before it ends (%s)',
  async (runtime) => {
    using folder = new WorkFolder({
      'marquee.yaml': `listen: { port: 0 }\noperations: { port: 0 }\nfreshness: { maxAge: 1s, refreshEvery: 300ms, staleIfError: 12h }\ncrm:\n  ${HTTP.replaceAll('URL', server.url)}\n`,
    })
    const start = (): ReturnType<typeof serve> => serve(runtime, folder.at('marquee.yaml'), {})
    /** Whether the snapshot knows the pause. */
    const knowsPause = (): boolean => {
      const name = readdirSync(folder.at('.marquee')).find((file) => file.endsWith('.snapshot'))
      if (name === undefined) return false
      const lines = gunzipSync(readFileSync(folder.at(`.marquee/${name}`)))
        .toString('utf8')
        .trimEnd()
        .split('\n')
      const { lists } = JSON.parse(lines.at(-1) ?? '') as { lists: Record<string, { askedUntilMs: number | null }> }
      return Object.values(lists).some(({ askedUntilMs }) => askedUntilMs !== null && askedUntilMs > Date.now())
    }
    const first = await start()
    await eventually(
      async () => first.child.stdout,
      (log) => log.includes('"event":"snapshot-written"'),
    )
    limit = busy
    await eventually(
      async () => knowsPause(),
      (isKnown) => isKnown,
    )
    first.child.signal('SIGKILL')
    await first.child.exited
    limit = null
    const asked = server.asked.length
    const second = await start()
    await Bun.sleep(1500)
    expect(server.asked.length).toBe(asked)
    const answer = await fetch(`${second.listening.address}api/events/${ID}`)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'public, max-age=0'])
    const text = await (await fetch(`${second.listening.operations}status`)).text()
    const { events } = (JSON.parse(text) as { lists: { events: ListStatus } }).lists
    expect(events.nextTryInMs).toBeGreaterThan(60_000)
    expect(await second.child.stop()).toBe(0)
  },
)

it.each(BOTH_RUNTIMES)(
  'a short pause is waited for, and an outage of 503 is tried again soon (%s)',
  async (runtime) => {
    let pauses = 0
    limit = ({ path }) =>
      path === '/events' && ++pauses === 1 ? { status: 429, headers: { 'retry-after': '1' } } : null
    await withService(runtime, HTTP, async (address, list) => {
      const status = async (): Promise<number> => (await fetch(`${address}api/events/${ID}`)).status
      await eventually(status, (seen) => seen === 200)
      limit = always({ status: 503 })
      await eventually(list, ({ lastError }) => lastError?.includes('answered with a server error (503)') === true)
      await eventually(status, (seen) => seen === 502)
      const begun = performance.now()
      limit = null
      await eventually(status, (seen) => seen === 200)
      expect(performance.now() - begun).toBeLessThan(6000)
    })
  },
)
