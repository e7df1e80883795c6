import { afterAll, describe, expect, it } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Crm, Examination } from '../../src/sync/port.ts'
import { type Asked, JsonServer } from './json-server.ts'
import { openConfigured, readList } from './replay.ts'

const KEY = 'right-key-1234'
const NAMESPACE = '6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11'
const ODOO_REFUSES = { status: 401, json: { name: 'werkzeug.exceptions.Unauthorized' } }

/** A server that is every CRM at once, refuses every key but one, and has one row of everything. */
const server = await JsonServer.open((asked) => {
  if (asked.path.endsWith('/token')) {
    const isRight = String(asked.body).includes(`client_secret=${KEY}`)
    return isRight ? { json: { access_token: KEY } } : { status: 400, json: { error: 'invalid_client' } }
  }
  const given = asked.headers['x-civi-auth'] ?? asked.headers.authorization
  if (given !== `Bearer ${KEY}`) return asked.path.startsWith('/json/2') ? ODOO_REFUSES : { status: 401 }
  return { json: rowsFor(asked) }
})
const folder = mkdtempSync(join(tmpdir(), 'marquee-examine-'))
const left: Crm[] = []
afterAll(async () => {
  for (const crm of left) await crm.close()
  await server.close()
  rmSync(folder, { recursive: true })
})

const ROW = { id: 1, Id: '001000000000001AAA', SystemModstamp: '2026-11-20T21:00:00.000+0000', name: 'x', Name: 'x' }

function rowsFor({ path, query, body }: Asked): unknown {
  // After the first row there are no others.
  if (/"id",">",[1-9]/.test(JSON.stringify([body, query.get('params') ?? '']).replaceAll('\\', '')))
    return path.includes('/api4/') ? { values: [] } : []
  if (path.includes('/services/data/')) return { totalSize: 1, done: true, records: [ROW] }
  const isOdoo = path.startsWith('/json/2/')
  const row = isOdoo ? { ...ROW, ...Object.fromEntries(ODOO.map((name) => [name, false])) } : ROW
  return path.includes('/api4/') ? { values: [row] } : [row]
}

const ODOO = [
  'address_id',
  'date_begin',
  'date_end',
  'seats_limited',
  'tag_ids',
  'phone',
  'website',
  'active',
  'is_published',
  'write_date',
  'seats_max',
  'seats_available',
  'street',
  'street2',
  'zip',
  'state_id',
  'country_id',
  'partner_latitude',
  'partner_longitude',
  'city',
]

const MODULE = `
const read = (list) => async function* ({ http, settings }) {
  yield await http.get(settings.url + '/' + list, { bearer: settings.token })
}
const fields = { Id: 'id', Name: 'name' }
export default {
  api: 1,
  settings: { url: 'url', token: 'secret' },
  events: { fields, full: read('events') },
  venues: { fields, full: read('venues') },
}
`
const COMMAND = `
let text = ''
for await (const part of process.stdin) text += part
const { url, token } = JSON.parse(text)
const answer = await fetch(url + '/' + process.argv[2], { headers: { authorization: 'Bearer ' + token } })
if (answer.status === 401) console.log('#fail refused the key is refused')
else for (const row of await answer.json()) console.log(JSON.stringify(row))
`
writeFileSync(join(folder, 'own.mjs'), MODULE)
writeFileSync(join(folder, 'command.mjs'), COMMAND)

const OWN = `settings: { url: "${server.url}", token: { env: KEY } }, idNamespace: ${NAMESPACE}`
const LIST = '{ fields: { Id: id, Name: name } }'
const url = `url: "${server.url}", idNamespace: ${NAMESPACE}`
const KINDS: Readonly<Record<string, string>> = {
  module: `kind: module, path: ${join(folder, 'own.mjs')}, ${OWN}`,
  command: `kind: command, run: [node, ${join(folder, 'command.mjs')}], ${OWN}, events: ${LIST}, venues: ${LIST}`,
  http: `kind: http, ${url}, auth: { bearer: { env: KEY } }, events: { get: /events, paging: { by: none, whole: true }, fields: { Name: name } }, venues: { get: /venues, paging: { by: none, whole: true }, fields: { Name: name } }`,
  odoo: `kind: odoo, ${url}, database: demo, key: { env: KEY }, venues: { where: [] }`,
  salesforce: `kind: salesforce, ${url}, clientId: me, clientSecret: { env: KEY }, events: { from: Event__c }, venues: { from: Venue__c }`,
  civicrm: `kind: civicrm, ${url}, key: { env: KEY }`,
}

async function examined(
  kind: string,
  key: string,
): Promise<Examination & { readonly crm: Crm; readonly requests: number }> {
  const crm = await openConfigured(`crm: { ${KINDS[kind] ?? ''} }`, { KEY: key }, async (path) => readFileSync(path))
  left.push(crm)
  const before = server.asked.length
  const examination = (await crm.examine?.()) ?? { problems: [], warnings: ['nothing was examined'] }
  return { ...examination, crm, requests: server.asked.length - before }
}

describe.each(Object.keys(KINDS))('whether this instance could read the CRM (%s), which a cluster asks', (kind) => {
  it('is denied where the key is wrong, without telling it', async () => {
    const { problems } = await examined(kind, 'wrong-key-9876')
    expect(problems.map((problem) => problem.kind)).toEqual(['refused', 'refused'])
    expect(JSON.stringify(problems)).not.toContain('wrong-key')
  })

  it('is asked with the first page of each list, and not at all once the lists were read', async () => {
    const { crm, problems, warnings, requests } = await examined(kind, KEY)
    expect([problems, warnings]).toEqual([[], []])
    // Odoo's events come with their tickets and tags, in the user's language; CiviCRM's with their participants.
    expect(requests).toBeLessThanOrEqual(5)
    for (const source of [crm.events, crm.venues]) await readList<unknown>(source)
    const before = server.asked.length
    expect(await crm.examine?.()).toEqual({ problems: [], warnings: [] })
    expect(server.asked.length).toBe(before)
  })
})

describe('a list that cannot be what the configuration names', () => {
  it('is a problem where no row has an id', async () => {
    const text = `crm: { ${KINDS['http']?.replace('fields: { Name: name }', 'id: di, fields: { Name: name }') ?? ''} }`
    const crm = await openConfigured(text, { KEY })
    left.push(crm)
    const { problems = [] } = (await crm.examine?.()) ?? {}
    expect(problems).toMatchObject([{ kind: 'misconfigured' }])
    expect(problems[0]?.message).toContain('no row has "di" (events.fields.Id')
  })
})
