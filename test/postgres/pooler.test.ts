import { afterAll, afterEach, beforeAll, describe, expect, it } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCrm } from '../../src/app/assemble.ts'
import { Child, programOf } from '../support/child.ts'
import { HAS_PG_BOUNCER, PgBouncer } from '../support/pg-bouncer.ts'
import { HAS_POSTGRES } from '../support/postgres-server.ts'
import type { Given } from './world.ts'
import { idOf, World } from './world.ts'
import { RUNTIMES } from '../support/depth.ts'

const ROWS = 3000

let world: World
let bouncer: PgBouncer

const IS_THERE = HAS_POSTGRES && HAS_PG_BOUNCER
if (!IS_THERE)
  console.warn('SKIPPED, for PostgreSQL or PgBouncer is not installed (apt-get install postgresql pgbouncer)')

async function pool(mode: 'session' | 'transaction' | 'statement', poolSize = 3): Promise<Given> {
  const login = { user: 'marquee', password: 'change-me' }
  bouncer = await PgBouncer.start({ serverPort: world.server.port, mode, poolSize, ...login })
  return { url: world.url.replace(`:${world.server.port}/`, `:${bouncer.port}/`) }
}

async function checked(given: Given): Promise<{ warnings: readonly string[]; failures: readonly string[] }> {
  const { failures, warnings, observations } = await readCrm(await world.configuration(given))
  return {
    warnings: [...warnings, ...observations.flatMap((seen) => (seen.kind === 'crm-noticed' ? [seen.message] : []))],
    failures: failures.map(({ failure: { kind, message } }) => `${kind}: ${message}`),
  }
}

describe.skipIf(!IS_THERE)('PgBouncer before the database', () => {
  beforeAll(async () => {
    world = await World.create()
    await world.fill(ROWS)
  })

  afterEach(async () => {
    await world.stopAll()
    await bouncer.stop()
  })

  afterAll(() => world.remove())

  it('in session mode takes nothing away: notifications are heard', async () => {
    const given = await pool('session')
    expect(await checked(given)).toEqual({ warnings: [], failures: [] })
    const running = await world.start({ ...given, freshness: { maxAge: '10m', refreshEvery: '5m' } })
    await world.query("UPDATE crm.event SET title = 'Heard' WHERE event_id = $1", [idOf(7)])
    await running.until(idOf(7), (event) => event?.Name === 'Heard')
  })

  it('in transaction mode lets everything be read, and nothing be heard, which is said', async () => {
    const given = await pool('transaction')
    const { warnings, failures } = await checked(given)
    expect(failures).toEqual([])
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(/^crm\.listen: notifications do not arrive, most likely because of a pooler/)
    const running = await world.start({
      ...given,
      freshness: { maxAge: '6s', refreshEvery: '200ms', fullReadEvery: '300ms' },
    })
    expect(running.served).toBe(ROWS)
    await world.query("UPDATE crm.event SET title = 'Read' WHERE event_id = $1", [idOf(7)])
    await world.query('DELETE FROM crm.event WHERE event_id = $1', [idOf(8)])
    await running.until(idOf(7), (event) => event?.Name === 'Read')
    await running.until(idOf(8), (event) => event === null)
    expect(running.reads().filter((read) => !read.endsWith(' ok'))).toEqual([])
  })

  it('in statement mode lets nothing be read, which is said', async () => {
    const { failures } = await checked(await pool('statement'))
    expect(failures).toHaveLength(2)
    expect(failures[0]).toMatch(
      /^refused: \w+: PostgreSQL at .*: a pooler in statement mode does not allow transactions: set its pool_mode to session or transaction$/,
    )
  })

  it.each(RUNTIMES)('serve says in its log that notifications do not arrive (%s)', async (runtime) => {
    const folder = mkdtempSync(join(tmpdir(), 'marquee-pooler-'))
    const path = join(folder, 'marquee.yaml')
    const { url = '' } = await pool('transaction')
    const lists = { events: { from: 'crm.public_events' }, venues: { from: 'crm.public_venues' } }
    const crm = { kind: 'postgres', url: { env: 'DATABASE_URL' }, listen: 'marquee', ...lists }
    writeFileSync(path, JSON.stringify({ listen: { port: 0 }, operations: null, crm }))
    const child = new Child(programOf(runtime), ['src/main.ts', 'serve', '--config', path], {
      env: { DATABASE_URL: url },
    })
    const line = await child.line((text) => text.includes('"event":"crm-noticed"'))
    expect(line).toContain('notifications do not arrive')
    expect(await child.stop()).toBe(0)
    rmSync(folder, { recursive: true })
  })
})
