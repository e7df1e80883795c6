import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfiguration } from '../../src/config/load-configuration.ts'
import { renderProblem } from '../../src/config/problem.ts'
import { Child, programOf } from '../support/child.ts'
import { untilListening } from '../support/marquee-process.ts'
import type { Environment } from './environment.ts'
import { fill, openEnvironment } from './environment.ts'

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

function run(command: string, keys: Readonly<Record<string, unknown>>, secret?: string): Child {
  const { origin: url, directory: aad } = environment.standIn
  const { tenant, clientId } = aad
  const crm = { kind: 'dataverse', url, authority: url, tenant, clientId, clientSecret: { env: 'SECRET' }, ...keys }
  const path = join(directory, `${Math.random()}.yaml`)
  writeFileSync(path, JSON.stringify({ listen: { port: 0 }, operations: { port: 0 }, crm }))
  const args = command === 'check' ? ['check', '--json'] : [command]
  return new Child(programOf('bun'), ['src/main.ts', ...args, '--config', path], {
    env: { SECRET: secret ?? aad.secret },
  })
}

async function problemsOf(keys: string): Promise<readonly string[]> {
  const text = `crm:\n  kind: dataverse\n  tenant: t\n  clientId: c\n${keys}`
  const readFile = (): Promise<never> => Promise.reject(new Error('none'))
  const loaded = await loadConfiguration({ path: 'm.yaml', text, env: { S: 's' }, readFile })
  return loaded.ok ? [] : loaded.problems.map(renderProblem)
}

describe('a Dataverse environment, from the command line', () => {
  it('is checked: 0, and a warning where change tracking is off', async () => {
    const child = run('check', {})
    expect(await child.exited).toBe(0)
    const report = JSON.parse(child.stdout) as { readonly events: number; readonly warnings: readonly string[] }
    expect(report.events).toBe(5)
    expect(report.warnings.join()).toContain('the table msevtmgt_events has no change tracking')
  }, 20_000)

  it('ends check with 1 where the credentials are refused, with 2 where a column does not exist', async () => {
    const refused = run('check', {}, 'wrong')
    const misnamed = run('check', { venues: { fields: { Latitude: 'cr5_latitud' } } })
    expect(await refused.exited).toBe(1)
    expect(refused.stdout).toContain('the client secret is wrong')
    expect(await misnamed.exited).toBe(2)
    expect(misnamed.stdout).toContain('did you mean cr5_latitude?')
  }, 20_000)

  it('ends serve with 2 where a table does not exist, and lets it stay up where the credentials are refused', async () => {
    const misnamed = run('serve', { venues: { from: 'msevtmgt_venus' } })
    expect(await misnamed.exited).toBe(2)
    expect(misnamed.stdout + misnamed.stderr).toContain('did you mean msevtmgt_venues?')
    const refused = await untilListening(run('serve', {}, 'wrong'))
    const operations = refused.listening.operations ?? ''
    expect((await fetch(`${operations}live`)).status).toBe(200)
    expect((await fetch(`${operations}ready`)).status).toBe(503)
    expect((await fetch(`${refused.listening.address}api/events/${environment.events.sorted()[0]?.id}`)).status).toBe(
      502,
    )
    await refused.child.stop()
  }, 30_000)
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
