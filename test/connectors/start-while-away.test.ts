import { afterEach, beforeEach, describe, expect, it } from 'bun:test'
import { WorkFolder } from '../commands/work-folder.ts'
import { eventually } from '../support/eventually.ts'
import { serve } from '../support/marquee-process.ts'
import { BOTH_RUNTIMES, inTurn } from '../support/depth.ts'
import { type Answer, type Asked, JsonServer } from './json-server.ts'

const ID = '00000000-0000-4000-8000-000000000001'
const EVENT = { id: ID, title: 'Tosca', starts: '2036-05-01T19:30:00Z', ends: '2036-05-01T22:00:00Z' }
const FIELDS = 'fields: { Name: title, Start: starts, Finish: ends, TicketsAvailable: null, Price: null }'
const NAMESPACE = 'idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11'
const KEY = '{ env: KEY }'

let server: JsonServer
/** What a proxy answers in the place of the CRM; `null` once the CRM is back. */
let away: Answer | null = null

beforeEach(async () => {
  server = await JsonServer.open((asked) => away ?? answerOf(asked))
})
afterEach(() => server.close())

/** The answers of each kind of CRM: one event where it is easy to give one, else empty lists. */
function answerOf({ path }: Asked): Answer {
  if (path === '/services/oauth2/token') return { json: { access_token: 'token', token_type: 'Bearer' } }
  if (path.startsWith('/services/data')) return { json: { totalSize: 0, done: true, records: [] } }
  if (path.startsWith('/json/2/')) return { json: [] }
  if (path.startsWith('/civicrm/')) return { json: { values: [], count: 0 } }
  if (path === '/events') return { json: { data: [EVENT] } }
  return path.endsWith('.csv') ? { text: 'Id,Name\n', headers: { 'content-type': 'text/csv' } } : { json: { data: [] } }
}

const MODULE = `const list = (path, fields) => ({ fields, async *full({ http, settings, fail }) {
  const answer = await http.get(settings.url + path)
  if (answer.away) fail('misconfigured', 'there is no such table')
  yield answer.data
} })
export default { api: 1, settings: { url: 'url' },
  events: list('/events', { Id: 'id', Name: 'title', Start: 'starts', Finish: 'ends' }), venues: list('/venues', { Id: 'id', Name: 'name' }) }
`
const COMMAND = `const { url } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'))
fetch(url + '/' + process.argv[2]).then(async (reply) => {
  const { data = [] } = await reply.json()
  if (!reply.ok) console.log('#fail misconfigured there is no such table')
  else console.log('#total ' + data.length)
  for (const row of data) console.log(JSON.stringify(row))
})
`

const http = `kind: http
  url: URL
  events: { get: /events, rows: data, paging: { by: none, whole: true }, ${FIELDS} }
  venues: { get: /venues, rows: data, paging: { by: none, whole: true }, fields: { Name: name } }`
const CRMS = {
  http,
  salesforce: `kind: salesforce\n  url: URL\n  clientId: app\n  clientSecret: ${KEY}\n  ${NAMESPACE}\n  events: { from: Event__c }\n  venues: { from: Venue__c }`,
  odoo: `kind: odoo\n  url: URL\n  database: db\n  key: ${KEY}\n  ${NAMESPACE}\n  venues: { where: [] }`,
  civicrm: `kind: civicrm\n  url: URL\n  key: ${KEY}\n  ${NAMESPACE}`,
  module: `kind: module\n  path: ./crm.mjs\n  settings: { url: URL }`,
  command: `kind: command\n  run: [node, crm.cjs]\n  settings: { url: URL }\n  events: { ways: [full], ${FIELDS.replace('{', '{ Id: id,')} }\n  venues: { fields: { Id: id, Name: name } }`,
  'files by URL': `kind: files\n  allowInsecure: true\n  events: { from: { url: URL/events.csv } }\n  venues: { from: { url: URL/venues.csv } }`,
} as const

const page = '404 page not found\n'
const AWAY: readonly (readonly [crm: keyof typeof CRMS, what: string, answer: Answer])[] = [
  ['http', '404', { status: 404, text: page }],
  ['http', '410', { status: 410, text: page }],
  ['http', '400', { status: 400, text: page }],
  ['http', '405', { status: 405, text: page }],
  ['http', '422', { status: 422, text: page }],
  ['salesforce', '400 QUERY_TIMEOUT', { status: 400, json: [{ errorCode: 'QUERY_TIMEOUT', message: 'Your query' }] }],
  ['salesforce', '404', { status: 404, text: page }],
  ['odoo', '404', { status: 404, text: page }],
  ['odoo', 'a missing field', { status: 500, json: { name: 'builtins.ValueError', message: 'Invalid field' } }],
  ['civicrm', '404', { status: 404, text: page }],
  ['module', 'fail(misconfigured)', { json: { away: true } }],
  ['module', '404', { status: 404, text: page }],
  ['command', '#fail misconfigured', { status: 404, json: {} }],
]

function folderFor(crm: keyof typeof CRMS): WorkFolder {
  const text = CRMS[crm].replaceAll('URL', server.url)
  return new WorkFolder({
    'marquee.yaml': `listen: { port: 0 }\noperations: { port: 0 }\nfreshness: { maxAge: 2s, refreshEvery: 200ms }\ncrm:\n  ${text}\n`,
    'crm.mjs': MODULE,
    'crm.cjs': COMMAND,
  })
}

const statusOf = async (url: string): Promise<number> => (await fetch(url)).status
const env = { KEY: 'secret-word' }

describe('a start while a proxy answers in the place of the CRM', () => {
  it.each(inTurn(AWAY))(
    'on %s, %s, %s: the service stays up, says so once, and serves as soon as the CRM is back',
    async (runtime, crm, _, answer) => {
      away = answer
      using folder = folderFor(crm)
      const { child, listening } = await serve(runtime, folder.at('marquee.yaml'), env)
      const { address, operations } = listening
      const failures = (): readonly string[] =>
        child.stdout.split('\n').filter((line) => /"the events could not be read/.test(line))
      await eventually(
        async () => failures().length,
        (count) => count > 0,
      )
      expect(await statusOf(`${operations}live`)).toBe(200)
      expect(await statusOf(`${operations}ready`)).toBe(503)
      const refused = await fetch(`${address}api/events/${ID}`)
      expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([502, true])
      const asked = server.asked.length
      if (crm !== 'command')
        await eventually(
          async () => server.asked.length,
          (count) => count > asked + 4,
        )
      expect(failures()).toHaveLength(1)
      expect(failures()[0]).toContain('`./marquee check` says what is missing')
      away = null
      await eventually(
        () => statusOf(`${operations}ready`),
        (status) => status === 200,
      )
      const isFilled = crm === 'http' || crm === 'module' || crm === 'command'
      expect(await statusOf(`${address}api/events/${ID}`)).toBe(isFilled ? 200 : 404)
      expect(await child.stop()).toBe(0)
    },
  )
})

it.each(BOTH_RUNTIMES)(
  'a restart while the CRM is away keeps the snapshot, and serves it once a read confirms it (%s)',
  async (runtime) => {
    away = null
    using folder = folderFor('http')
    const first = await serve(runtime, folder.at('marquee.yaml'), env)
    await eventually(
      () => statusOf(`${first.listening.operations}ready`),
      (status) => status === 200,
    )
    expect(await first.child.stop()).toBe(0)
    away = { status: 404, text: page }
    const { child, listening } = await serve(runtime, folder.at('marquee.yaml'), env)
    await child.line((line) => line.includes('could not be read (misconfigured)'))
    expect(child.stdout).toContain('loaded in')
    expect(await statusOf(`${listening.address}api/events/${ID}`)).toBe(502)
    away = null
    await eventually(
      () => statusOf(`${listening.address}api/events/${ID}`),
      (status) => status === 200,
    )
    expect(await child.stop()).toBe(0)
  },
)

it.each(BOTH_RUNTIMES)(
  'a file that lacks a column at the start is no end: it is served once it is corrected (%s)',
  async (runtime) => {
    const crm = `kind: files\n  directory: .\n  events: { ${FIELDS} }\n  venues: { fields: { Name: name } }`
    using folder = new WorkFolder({
      'marquee.yaml': `listen: { port: 0 }\noperations: { port: 0 }\nfreshness: { refreshEvery: 200ms }\ncrm:\n  ${crm}\n`,
      'events.csv': `Id,title,starts\n${ID},Tosca,2036-05-01T19:30:00Z\n`,
      'venues.csv': 'Id,name\n',
    })
    const { child, listening } = await serve(runtime, folder.at('marquee.yaml'), env)
    expect(await child.line((line) => line.includes('could not be read (misconfigured)'))).toContain('ends')
    expect(await statusOf(`${listening.address}api/events/${ID}`)).toBe(502)
    folder.write(
      'events.csv',
      `Id,title,starts,ends,ShowOnWeb\n${ID},Tosca,2036-05-01T19:30:00Z,2036-05-01T22:00:00Z,yes\n`,
    )
    await eventually(
      () => statusOf(`${listening.address}api/events/${ID}`),
      (status) => status === 200,
    )
    expect(await child.stop()).toBe(0)
  },
)
