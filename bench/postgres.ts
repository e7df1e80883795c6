// Measures what reads cost PostgreSQL, and how soon a change is served: `bun bench/postgres.ts [ROWS] [--reads]
// [--one-stamp]`.
// The figures in docs/crm/postgres.md come from here.
import { openCrm } from '../src/crm/open-crm.ts'
import { systemTime } from '../src/time/time.ts'
import { openZone } from '../src/domain/zone.ts'
import type { Crm, Cursor, Held, ReadKind } from '../src/sync/port.ts'
import type { Guid } from '../src/domain/guid.ts'
import type { Running } from '../test/postgres/world.ts'
import { idOf, World } from '../test/postgres/world.ts'

const rows = Number(process.argv[2] ?? 100_000)
const CHANGES = 1000

// With `ADD COLUMN updated_at … DEFAULT now()`, as in the documentation, all existing rows get the same updatedAt.
const hasOneStamp = process.argv.includes('--one-stamp')
const settings = { shared_preload_libraries: 'pg_stat_statements', shared_buffers: '256MB', autovacuum: 'off' }
const world = await World.create(settings, hasOneStamp ? rows : 0)
await world.query('CREATE EXTENSION pg_stat_statements')
if (!hasOneStamp) await world.fill(rows)
await world.query('VACUUM ANALYZE')
console.log(`${rows} events, PostgreSQL on this machine\n`)

await measureReads()
if (!process.argv.includes('--reads')) await measureLatency()
await world.remove()

/** Measures each kind of read by the connector alone: its time, the server's work, and this process's memory. */
async function measureReads(): Promise<void> {
  const configuration = await world.configuration({ freshness: { maxAge: '30s' } })
  const context = {
    showIn: openZone('UTC') ?? configuration.timeZone,
    limits: { requestTimeoutMs: 60_000, maxAgeMs: 30_000 },
    loadWeb: () => Promise.reject(new Error('nobody speaks HTTP here')),
    env: {},
    time: systemTime,
    observe: () => {},
  }
  const open = (idScanEveryMs: number): Promise<Crm> =>
    openCrm(
      configuration.crm.kind === 'postgres' ? { ...configuration.crm, idScanEveryMs } : configuration.crm,
      context,
    )
  const [crm, scanning] = [await open(3_600_000), await open(0)]
  const versions = new Map<Guid, number>()
  const held: Held = { size: versions.size, version: (id) => versions.get(id) ?? Number.NaN }

  async function read(of: Crm, kind: ReadKind, cursor: Cursor | null, keep = false): Promise<Cursor | null> {
    const reading = of.events.read({ kind, cursor, held, signal: new AbortController().signal })
    for (;;) {
      const next = await reading.next()
      if (next.done === true) {
        if (!next.value.ok) throw new Error(next.value.failure.message)
        return next.value.cursor
      }
      pages++
      if (pages % 50 === 0) peak = Math.max(peak, process.memoryUsage().rss)
      if (!keep) continue
      for (const change of next.value.changes) if (change.kind === 'record') versions.set(change.id, change.version)
    }
  }

  let peak = 0
  let pages = 0
  async function told(name: string, work: () => Promise<unknown>): Promise<void> {
    await world.query('SELECT pg_stat_statements_reset()')
    Bun.gc(true)
    const before = process.memoryUsage().rss
    peak = before
    const from = performance.now()
    const cpuBefore = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(cpuBefore)
    const ms = performance.now() - from
    const cpu = `${((user + system) / 1000).toFixed(0)} ms of a core`
    const [cost] = await world.query(`SELECT round(sum(total_exec_time)::numeric, 2) AS ms, sum(rows)::int AS rows,
        sum(shared_blks_hit + shared_blks_read)::int AS pages, sum(calls)::int AS calls
      FROM pg_stat_statements s JOIN pg_roles r ON r.oid = s.userid WHERE rolname = 'marquee'`)
    const memory = `memory ${(before / 2 ** 20).toFixed(0)} MB, at most ${(peak / 2 ** 20).toFixed(0)} MB`
    const server = ['ms', 'rows', 'pages', 'calls'].map((key) => `${String(cost?.[key])} ${key}`).join(', ')
    console.log(`${name}: ${ms.toFixed(1)} ms here, ${cpu}; server: ${server}; ${memory}`)
  }

  await read(crm, 'full', null, true)
  const cursor = await read(scanning, 'full', null)
  const deltaCursor = await read(crm, 'full', null)
  await told('full read', () => read(crm, 'full', null))
  // The first one still reads all rows again, as all changed within the overlap.
  const settled = await read(crm, 'changes', deltaCursor)
  await new Promise((resolve) => setTimeout(resolve, 6000))
  const idle = await read(crm, 'changes', settled)
  await told('idle refresh (changes)', () => read(crm, 'changes', idle))
  const idScanIdle = await read(scanning, 'changes', await read(scanning, 'changes', cursor))
  await told('idle refresh with id scan', () => read(scanning, 'changes', idScanIdle))
  await crm.close()
  await scanning.close()
}

/** Measures the time from a commit at a random moment until a request would show it. */
async function measureLatency(): Promise<void> {
  const from = performance.now()
  const running = await world.start()
  console.log(`\nfirst read, until served: ${(performance.now() - from).toFixed(0)} ms`)
  await new Promise((resolve) => setTimeout(resolve, 6000))
  const kinds = {
    change: ["UPDATE crm.event SET title = 'Changed' WHERE event_id = $1", (name: string | null) => name === 'Changed'],
    unpublish: ['UPDATE crm.event SET on_web = false WHERE event_id = $1', (name: string | null) => name === null],
    delete: ['DELETE FROM crm.event WHERE event_id = $1', (name: string | null) => name === null],
  } as const
  for (const [kind, [sql, isIt]] of Object.entries(kinds)) {
    const latencies: number[] = []
    for (let change = 0; change < CHANGES; change++) {
      const id = idOf(Math.floor(Math.random() * rows))
      if (running.event(id) === null || running.event(id)?.Name === 'Changed') continue
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 60))
      await world.query(sql, [id])
      latencies.push(await untilServed(running, id, isIt))
    }
    latencies.sort((left, right) => left - right)
    const at = (part: number): string => (latencies[Math.floor(latencies.length * part)] ?? 0).toFixed(1)
    console.log(
      `${kind}: ${latencies.length} commits, served after p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, worst ${at(0.9999)} ms`,
    )
  }
}

async function untilServed(running: Running, id: string, isIt: (name: string | null) => boolean): Promise<number> {
  const from = performance.now()
  for (;;) {
    if (isIt(running.event(id)?.Name ?? null)) return performance.now() - from
    await new Promise((resolve) => setImmediate(resolve))
  }
}
