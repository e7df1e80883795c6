import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { renderProblem } from '../../src/config/config-problem.ts'
import { type Runtime, Child, programOf } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { untilListening } from '../support/marquee-process.ts'
import { type Environment, crmSection, eventValues, fill, idOf, openEnvironment } from './environment.ts'
import { RUNTIMES } from '../support/depth.ts'

const directory = mkdtempSync(join(tmpdir(), 'marquee-commands-'))
let environment: Environment

beforeAll(async () => {
  environment = await openEnvironment()
  environment.events.changeTracking = false
  fill(environment, 5)
})

afterAll(() => {
  environment.standIn.close()
  rmSync(directory, { recursive: true })
})

interface RunOptions {
  readonly secret?: string
  readonly runtime?: Runtime
  readonly of?: Environment
}

function run(command: string, keys: Readonly<Record<string, unknown>>, options: RunOptions = {}): Child {
  const { secret, runtime = 'bun', of = environment } = options
  const crm = crmSection(of.standIn, keys)
  const path = join(directory, `${Math.random()}.yaml`)
  writeFileSync(path, JSON.stringify({ listen: { port: 0 }, operations: { port: 0 }, crm }))
  const args = command === 'check' ? ['check', '--json'] : [command]
  return new Child(programOf(runtime), ['src/main.ts', ...args, '--config', path], {
    env: { SECRET: secret ?? of.standIn.directory.secret },
  })
}

async function problemsOf(keys: string): Promise<readonly string[]> {
  const text = `crm:\n  kind: dataverse\n  tenant: t\n  clientId: c\n${keys}`
  const readFile = (): Promise<never> => Promise.reject(new Error('none'))
  const loaded = await loadConfiguration({ path: 'm.yaml', text, env: { S: 's' }, readFile })
  return loaded.ok ? [] : loaded.problems.map(renderProblem)
}

describe('a Dataverse environment, from the command line', () => {
  it('takes rows where a column is blank, or holds none of some values', async () => {
    const of = await openEnvironment()
    fill(of, 3)
    of.events.put(idOf(2), eventValues(2, { cr5_price: 5, msevtmgt_publishstatus: 100_000_004 }))
    of.events.put(idOf(3), eventValues(3, { msevtmgt_publishstatus: null }))
    const check = async (active: unknown, showOnWeb: unknown) => {
      const child = run('check', { events: { active, showOnWeb } }, { of })
      await child.exited
      return JSON.parse(child.stdout) as { readonly events: number; readonly passing?: unknown }
    }
    expect((await check({ cr5_price: 'blank' }, null)).events).toBe(2)
    const { events, passing } = await check(null, { msevtmgt_publishstatus: { not: [100_000_004] } })
    const values = [{ value: '100000003', count: 1 }]
    expect([events, passing]).toEqual([2, [{ kind: 'event', column: 'msevtmgt_publishstatus', values }]])
    of.standIn.close()
  })

  it('is checked: 0, and a warning where change tracking is off', async () => {
    const child = run('check', {})
    expect(await child.exited).toBe(0)
    const report = JSON.parse(child.stdout) as { readonly events: number; readonly warnings: readonly string[] }
    expect(report.events).toBe(5)
    expect(report.warnings.join()).toContain('the table msevtmgt_events has no change tracking')
  })

  it('says in check which codes lack a word', async () => {
    const { events } = environment
    const keys = { events: { fields: { Tags: { column: 'cr5_tags', label: true } } } }
    events.change(idOf(2), { cr5_tags: '2,77' })
    const checked = run('check', keys)
    expect(await checked.exited).toBe(0)
    const report = JSON.parse(checked.stdout) as { readonly events: number; readonly warnings: readonly string[] }
    expect(report.events).toBe(5)
    expect(report.warnings.join()).toContain('events: codes in cr5_tags have no label in the CRM: 77')
    events.change(idOf(2), { cr5_tags: null })
  })

  it('ends check with 1 where the credentials are refused, with 2 where a column does not exist', async () => {
    const refused = run('check', {}, { secret: 'wrong-word' })
    const misnamed = run('check', { venues: { fields: { Latitude: 'cr5_latitud' } } })
    expect(await refused.exited).toBe(1)
    expect(refused.stdout).toContain('the client secret is wrong')
    expect(await misnamed.exited).toBe(2)
    expect(misnamed.stdout).toContain('did you mean cr5_latitude?')
  })

  it('lets serve stay up where a table does not exist, or the credentials are refused', async () => {
    const misnamed = run('serve', { venues: { from: 'msevtmgt_venus' } })
    expect(await misnamed.line((line) => line.includes('the venues could not be read'))).toContain(
      'did you mean msevtmgt_venues?',
    )
    expect(await misnamed.stop()).toBe(0)
    const refused = await untilListening(run('serve', {}, { secret: 'wrong-word' }))
    const operations = refused.listening.operations ?? ''
    expect((await fetch(`${operations}live`)).status).toBe(200)
    expect((await fetch(`${operations}ready`)).status).toBe(503)
    expect((await fetch(`${refused.listening.address}api/events/${environment.events.sorted()[0]?.id}`)).status).toBe(
      502,
    )
    await refused.child.stop()
  })
})

describe.each(RUNTIMES)('a Dataverse that lacks what is configured, and is slow to say so (%s)', (runtime) => {
  let slow: Environment

  beforeEach(async () => {
    slow = await openEnvironment()
    fill(slow, 5)
    slow.standIn.latencyMs = 750
  })

  afterEach(() => slow.standIn.close())

  const lacking = { fields: { Latitude: 'cr5_latitud' } }

  it('lets serve stay up, which names both tables', async () => {
    const tables = { events: { from: 'msevtmgt_evnts' }, venues: { from: 'msevtmgt_venus' } }
    const child = run('serve', tables, { runtime, of: slow })
    const said = (list: string): Promise<string | null> =>
      child.line((line) => line.includes(`the ${list} could not be read (misconfigured)`))
    expect(await said('events')).toContain('did you mean msevtmgt_events')
    expect(await said('venues')).toContain('did you mean msevtmgt_venues')
    expect(await child.stop()).toBe(0)
  })

  it('lets serve stay up where it was out at first, and serves the column once it is there', async () => {
    slow.standIn.latencyMs = 0
    const outage = slow.standIn.trap('/api/', { kind: 'drop' }, Number.POSITIVE_INFINITY)
    const { child, listening } = await untilListening(run('serve', { venues: lacking }, { runtime, of: slow }))
    outage.times = 0
    expect(await child.line((line) => line.includes('(misconfigured)'))).toContain('did you mean cr5_latitude?')
    slow.venues.columns.set('cr5_latitud', { type: 'Decimal' })
    const ready = async (): Promise<number> => (await fetch(`${listening.operations}ready`)).status
    await eventually(ready, (status) => status === 200)
    expect(await child.stop()).toBe(0)
  })

  it('lets serve stay up once something was served, and says so', async () => {
    // The venues are read and asked for before the definitions tell that the events have no such column.
    slow.standIn.latencyMs = 0
    slow.standIn.trap('EntityDefinitions', { kind: 'hang' }, 2)
    const keys = { requestTimeout: '2s', events: { fields: { Name: 'msevtmgt_nane' } } }
    const { child, listening } = await untilListening(run('serve', keys, { runtime, of: slow }))
    const venue = async (): Promise<number> => (await fetch(`${listening.address}api/venues/${idOf(0x1_0001)}`)).status
    await eventually(venue, (status) => status === 200)
    await child.line((line) => line.includes('msevtmgt_nane'))
    expect(await venue()).toBe(200)
    expect((await fetch(`${listening.address}api/events/${idOf(1)}`)).status).toBe(502)
    expect(await child.stop()).toBe(0)
  })
})

// A service at night, that nobody has asked for anything yet, is no start any more.
it.each(RUNTIMES)('a column that is lost after both lists were read ends no service (%s)', async (runtime) => {
  const lost = await openEnvironment()
  fill(lost, 5)
  const { child, listening } = await untilListening(run('serve', {}, { runtime, of: lost }))
  const ready = async (): Promise<number> => (await fetch(`${listening.operations}ready`)).status
  await eventually(ready, (status) => status === 200)
  lost.events.columns.delete('msevtmgt_name')
  lost.events.oldestKnown = Number.POSITIVE_INFINITY
  await child.line((line) => line.includes('msevtmgt_name'))
  expect(await ready()).toBe(200)
  expect(await child.stop()).toBe(0)
  lost.standIn.close()
})

describe('its configuration', () => {
  const secret = '  clientSecret: { env: S }\n'

  it('takes http: only to this machine, unless it is told to', async () => {
    const url = '  url: http://crm.example\n'
    expect((await problemsOf(url + secret)).join()).toContain('crm.url must begin with https:')
    expect(await problemsOf(`${url}${secret}  allowInsecure: true\n`)).toEqual([])
    expect(await problemsOf(`  url: http://127.0.0.1:8080\n${secret}`)).toEqual([])
    const authority = '  url: https://crm.example\n  authority: http://login.example\n'
    expect((await problemsOf(authority + secret)).join()).toContain('crm.authority must begin with https:')
  })

  it('takes no secret and no password in the file', async () => {
    const url = '  url: https://crm.example\n'
    const [inline = ''] = await problemsOf(`${url}  clientSecret: S3cret~text\n`)
    expect(inline).toContain('must not be written in the file')
    expect(inline).not.toContain('S3cret')
    const [proxied = ''] = await problemsOf(`${url}${secret}  proxy: http://user:pass-word@proxy:1\n`)
    expect(proxied).toContain('password')
    expect(proxied).not.toContain('pass-word')
  })

  it('takes an address without a path, and names that need no escaping', async () => {
    expect((await problemsOf(`  url: https://crm.example/api\n${secret}`)).join()).toContain('a URL without a path')
    const from = '  events: { from: "events?$filter=1" }\n'
    expect((await problemsOf(`  url: https://crm.example\n${secret}${from}`)).join()).toContain('entity set')
  })
})
