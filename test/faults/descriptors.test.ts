import { afterAll, afterEach, describe, expect, it } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EVENT, EVENT_ROW, LISTS } from '../contract/rows.ts'
import { eventValues, fill, idOf as dataverseId, openEnvironment } from '../dataverse/environment.ts'
import { idOf as postgresId, World } from '../postgres/world.ts'
import type { Runtime } from '../support/child.ts'
import { Child, programOf } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { untilListening } from '../support/marquee-process.ts'
import { HAS_POSTGRES } from '../support/postgres-server.ts'
import { Flood } from './flood.ts'
import { RawConnection } from './raw-connection.ts'
import { RUNTIMES } from '../support/depth.ts'

const LIMIT = 256
const CALLERS = 400
const MAX_AGE_MS = 5000
/** Longer than any runtime keeps silent connections, and than the maximum age. */
const LASTS_MS = 14_000
const CHANGE_EVERY_MS = 400
const SETTINGS = {
  listen: { port: 0 },
  operations: null,
  freshness: { maxAge: `${MAX_AGE_MS}ms`, refreshEvery: '200ms', fullReadEvery: '1s' },
  limits: { waiting: 100 },
}

/** What a test that fails would leave behind. */
const left: (() => unknown)[] = []
afterEach(async () => {
  for (const end of left.splice(0).toReversed()) await end()
})

const folder = mkdtempSync(join(tmpdir(), 'marquee-descriptors-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** `serve`, with no more than `limit` descriptors. */
function serveWith(
  limit: number,
  runtime: Runtime,
  configuration: string,
  env: Readonly<Record<string, string>> = {},
): Child {
  const command = `ulimit -n ${limit}; exec "$0" src/main.ts serve --config "$1"`
  const child = new Child('bash', ['-c', command, programOf(runtime), configuration], { env })
  left.push(() => child.stop())
  return child
}

/** A CRM whose one event is named after its version. */
interface Source {
  readonly configuration: string
  readonly env?: Readonly<Record<string, string>>
  readonly id: string
  /** Changes the event, and breaks connections to the CRM now and then. */
  change(version: number): Promise<void>
  close(): Promise<void>
}

function named(version: number): string {
  return `version ${version}.`
}

async function files(): Promise<Source> {
  const rows = (version: number): string => JSON.stringify([{ ...EVENT_ROW, Name: named(version) }])
  const directory = new FilesDirectory(SETTINGS, { ...LISTS, events: rows(0) })
  return {
    configuration: directory.configuration,
    id: EVENT,
    change: async (version) => directory.write('events', rows(version)),
    close: async () => directory.remove(),
  }
}

function written(name: string, crm: object): string {
  const path = join(folder, `${name}.yaml`)
  writeFileSync(path, JSON.stringify({ ...SETTINGS, crm }))
  return path
}

async function postgres(): Promise<Source> {
  const world = await World.create()
  await world.fill(1)
  const lists = { events: { from: 'crm.public_events' }, venues: { from: 'crm.public_venues' } }
  return {
    configuration: written('postgres', { kind: 'postgres', url: { env: 'DATABASE_URL' }, listen: 'marquee', ...lists }),
    // A name has to be looked up, which takes descriptors too.
    env: { DATABASE_URL: world.url.replace('127.0.0.1', 'localhost') },
    id: postgresId(0),
    async change(version) {
      await world.query('UPDATE crm.event SET title = $1', [named(version)])
      // A connection that is ended again and again would be an outage.
      if (version % 10 !== 0) return
      await world.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'marquee'")
    },
    close: () => world.remove(),
  }
}

async function dataverse(): Promise<Source> {
  const environment = await openEnvironment()
  fill(environment, 1)
  const { standIn, events } = environment
  const { tenant, clientId, secret } = standIn.directory
  const keys = { url: standIn.origin, authority: standIn.origin, tenant, clientId, clientSecret: { env: 'SECRET' } }
  return {
    configuration: written('dataverse', { kind: 'dataverse', ...keys }),
    env: { SECRET: secret },
    id: dataverseId(1),
    async change(version) {
      events.put(dataverseId(1), eventValues(1, { msevtmgt_name: named(version) }))
      standIn.trap('/api/', { kind: 'drop' })
    },
    close: async () => standIn.close(),
  }
}

const SOURCES = [
  ['a files CRM', true, files],
  ['PostgreSQL', HAS_POSTGRES, postgres],
  ['Dataverse', true, dataverse],
] as const

for (const [name, isThere, open] of SOURCES) {
  describe.skipIf(!isThere)(
    `${CALLERS} connections, again and again, against ${LIMIT} descriptors, in front of ${name}`,
    () => {
      it.each(RUNTIMES)('cause no 502, and each change is served within the maximum age, on %s', async (runtime) => {
        const source = await open()
        left.push(() => source.close())
        const child = serveWith(LIMIT, runtime, source.configuration, source.env)
        const { port } = await untilListening(child)
        const caller = (await RawConnection.open(port)).read()
        const ask = async (): Promise<{ readonly status: string; readonly version: number }> => {
          caller.send(`GET /api/events/${source.id} HTTP/1.1\r\nHost: x\r\n\r\n`)
          const last = await caller.until((text) => text.endsWith('}'))
          caller.forget()
          return {
            status: last.slice('HTTP/1.1 '.length).slice(0, 3),
            version: Number(/version (\d+)\./.exec(last)?.[1] ?? 0),
          }
        }
        await eventually(ask, ({ status }) => status === '200')
        const flood = new Flood(port, CALLERS)
        left.push(() => flood.stop())
        await eventually(
          async () => readdirSync(`/proc/${child.pid}/fd`).length,
          (taken) => taken >= (runtime === 'bun' ? LIMIT : LIMIT / 2),
        )
        const untilMs = performance.now() + LASTS_MS
        const changedMs: number[] = [0]
        const statuses = new Map<string, number>()
        let oldestMs = 0
        while (performance.now() < untilMs) {
          if (performance.now() - (changedMs.at(-1) ?? 0) > CHANGE_EVERY_MS) {
            await source.change(changedMs.length)
            changedMs.push(performance.now())
          }
          const askedMs = performance.now()
          const { status, version } = await ask()
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          // How long what was answered was no longer what the CRM holds, as of the request.
          oldestMs = Math.max(oldestMs, askedMs - (changedMs[version + 1] ?? askedMs))
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
        const { connected, ended } = flood
        console.log(
          `${name} on ${runtime}: ${[...statuses].map(([status, times]) => `${times} × ${status}`).join(', ')}; ${connected} connections held, ${ended} ended meanwhile; ${changedMs.length - 1} changes, the last seen after ${Math.round(oldestMs)} ms`,
        )
        expect([...statuses.keys()]).toEqual(['200'])
        expect(oldestMs).toBeLessThan(MAX_AGE_MS)
        flood.stop()
        // Newcomers had to wait, no longer.
        await eventually(
          async () => {
            const newcomer = (await RawConnection.open(port)).read()
            newcomer.send('GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
            return newcomer.until(() => false)
          },
          (answer) => answer.startsWith('HTTP/1.1 404'),
        )
        caller.destroy()
        expect(await child.stop()).toBe(0)
      })
    },
  )
}

// Bun lets new connections wait instead (above).
it.skipIf(!RUNTIMES.includes('node'))(
  'connections that send no request give way to those that do, where there are no more descriptors, on node',
  async () => {
    const directory = new FilesDirectory({ operations: null }, LISTS)
    const child = serveWith(LIMIT, 'node', directory.configuration)
    const { port } = await untilListening(child)
    const begun = ['', 'GET / HTTP/1.1\r\nHost: ', 'GET ']
    const hold = async (count: number): Promise<readonly RawConnection[]> => {
      const held = await Promise.all(Array.from({ length: count }, () => RawConnection.open(port)))
      for (const [index, connection] of held.entries()) connection.read().send(begun[index % begun.length] ?? '')
      return held
    }
    const asked = async (connection: RawConnection): Promise<string> => {
      connection.forget()
      connection.send(`GET /api/events/${EVENT} HTTP/1.1\r\nHost: x\r\n\r\n`)
      return (await connection.until((text) => text.endsWith('}'))).slice(0, 12)
    }
    const kept = (await RawConnection.open(port)).read()
    expect(await asked(kept)).toBe('HTTP/1.1 200')
    const held = [...(await hold(CALLERS))]
    for (let caller = 0; caller < 20; caller++) {
      const newcomer = (await RawConnection.open(port)).read()
      expect(await asked(newcomer)).toBe('HTTP/1.1 200')
      newcomer.destroy()
      held.push(...(await hold(10)))
    }
    expect(await asked(kept)).toBe('HTTP/1.1 200')
    for (const connection of [kept, ...held]) connection.destroy()
    expect(await child.stop()).toBe(0)
    directory.remove()
  },
)

describe.each(RUNTIMES)('too few descriptors for limits.waiting, on %s', (runtime) => {
  it.each([
    [1999, true],
    [2000, false],
  ])('are said at the start: of %d %p', async (limit, isSaid) => {
    const directory = new FilesDirectory({}, LISTS)
    const child = serveWith(limit, runtime, directory.configuration)
    await untilListening(child)
    expect(await child.stop()).toBe(0)
    const said = 'warning: only 1999 file descriptors may be open, and limits.waiting: 1000 needs twice as many'
    expect(child.stderr.includes(said)).toBe(isSaid)
    directory.remove()
  })
})
