import { afterAll, afterEach, beforeAll, expect, it } from 'bun:test'
import { eventually } from '../support/eventually.ts'
import { describeWithPostgres } from './needs-postgres.ts'
import type { Running } from './world.ts'
import { idOf, World } from './world.ts'

const ROWS = 100_000
/** So rarely that no id scan falls into a measurement, and no refresh but one that a notification asks for. */
const RARELY = { freshness: { maxAge: '10m', refreshEvery: '5m' } }

let world: World

/** Of the events: how many rows anyone has fetched by an index, and how many scans of all there were. */
async function tableReads(running: Running): Promise<{ readonly fetched: number; readonly scans: number }> {
  // A session tells what it counted when it ends a transaction, but once a second at the most.
  await new Promise((resolve) => setTimeout(resolve, 1100))
  await refreshAgain(running)()
  await world.query('SELECT pg_stat_force_next_flush()')
  const [found] = await world.query(
    "SELECT idx_tup_fetch::int AS fetched, seq_scan::int AS scans FROM pg_stat_user_tables WHERE relname = 'event'",
  )
  return { fetched: Number(found?.['fetched']), scans: Number(found?.['scans']) }
}

/** What one refresh of both lists cost the server, statements of all kinds, and how many rows it gave. */
async function costOf(refresh: () => Promise<unknown>): Promise<{ readonly ms: number; readonly rows: number }> {
  await world.query('SELECT pg_stat_statements_reset()')
  await refresh()
  const [cost] = await world.query(`SELECT sum(total_exec_time)::float AS ms,
      sum(rows) FILTER (WHERE query LIKE 'FETCH%')::int AS rows
    FROM pg_stat_statements s JOIN pg_roles r ON r.oid = s.userid WHERE rolname = 'marquee'`)
  return { ms: Number(cost?.['ms']), rows: Number(cost?.['rows']) }
}

function refreshAgain({
  marquee: {
    reading: { replica },
  },
}: Running): () => Promise<unknown> {
  return () => replica.events.refresh.attempt()
}

describeWithPostgres('a list that got one stamp for all rows, as the guide has it', () => {
  beforeAll(async () => {
    world = await World.create({ shared_preload_libraries: 'pg_stat_statements', autovacuum: 'off' }, ROWS)
    await world.query('CREATE EXTENSION pg_stat_statements')
  })

  afterEach(() => world.stopAll())

  afterAll(() => world.remove())

  it('costs an idle refresh what a single row costs, from the first one on', async () => {
    expect(await world.query('SELECT count(DISTINCT updated_at)::int AS stamps FROM crm.event')).toEqual([
      { stamps: 1 },
    ])
    // Nobody has told the server anything of the new column.
    expect(await world.query("SELECT FROM pg_stats WHERE tablename = 'event'")).toEqual([])
    const running = await world.start({ freshness: { maxAge: '10m', refreshEvery: '5m' }, crm: { listen: undefined } })
    const before = await tableReads(running)
    const costs = [await costOf(refreshAgain(running)), await costOf(refreshAgain(running))]
    expect(costs.map(({ rows }) => rows)).toEqual([0, 0])
    expect(await tableReads(running)).toEqual(before)
    await world.query('ANALYZE crm.event')
    const analyzed = await costOf(refreshAgain(running))
    expect([analyzed.rows, await tableReads(running)]).toEqual([0, before])
    // Measured: 0.3 ms, and 10 ms for a scan.
    const scan = await costOf(() =>
      world.query("SET ROLE marquee; SELECT count(*) FROM crm.public_events WHERE name = ''; RESET ROLE"),
    )
    expect(Math.min(...costs.map(({ ms }) => ms))).toBeLessThan(scan.ms / 3)
  })

  it('serves the change of very many rows at once, each read once, and then few again', async () => {
    const running = await world.start(RARELY)
    const before = await tableReads(running)
    // The update itself finds its rows by a scan, not by an index.
    await world.query("UPDATE crm.event SET title = title || '!' WHERE title LIKE 'Event _____'")
    await running.until(idOf(10_000), (event) => event?.Name === 'Event 10000!')
    await running.until(idOf(99_999), (event) => event?.Name === 'Event 99999!')
    await eventually(
      async () => running.marquee.reading.replica.events.refresh.isRunning,
      (runs) => !runs,
    )
    const after = await tableReads(running)
    // 90,000 rows, and those within the overlap with each of the few refreshes that followed.
    expect(after.fetched - before.fetched).toBeWithin(90_000, 92_000)
    expect(after.scans - before.scans).toBe(1)
    const { rows } = await costOf(refreshAgain(running))
    expect(rows).toBeLessThanOrEqual(200)
  })

  it('goes on being read in short steps while single rows change', async () => {
    const running = await world.start(RARELY)
    for (let round = 0; round < 5; round++) {
      await world.query('UPDATE crm.event SET title = $2 WHERE event_id = $1', [idOf(round), `Round ${round}`])
      await running.until(idOf(round), (event) => event?.Name === `Round ${round}`)
    }
    expect((await costOf(refreshAgain(running))).rows).toBeLessThanOrEqual(205)
  })

  it('finds within the id scan what is committed late, with a stamp before that of all others', async () => {
    const running = await world.start({
      freshness: { maxAge: '4s', refreshEvery: '200ms' },
      crm: { listen: undefined },
    })
    const late = await world.server.admin()
    await late.query('BEGIN')
    await late.query('UPDATE crm.event SET title = $2 WHERE event_id = $1', [idOf(7), 'Late'])
    await world.query("UPDATE crm.event SET title = 'Many' WHERE title LIKE 'Event 1____!'")
    await running.until(idOf(19_999), (event) => event?.Name === 'Many')
    expect(running.event(idOf(7))?.Name).not.toBe('Late')
    await late.query('COMMIT')
    await late.end()
    await running.until(idOf(7), (event) => event?.Name === 'Late')
  })

  it('finds within the id scan very many rows that changed and tell of it by an older stamp', async () => {
    const running = await world.start({
      freshness: { maxAge: '4s', refreshEvery: '200ms' },
      crm: { listen: undefined },
    })
    await world.query(`BEGIN; SET LOCAL session_replication_role = replica;
      UPDATE crm.event SET title = 'Old', updated_at = updated_at - interval '1 day' WHERE event_id < '${idOf(25_000)}'; COMMIT`)
    for (const number of [0, 12_000, 24_999]) await running.until(idOf(number), (event) => event?.Name === 'Old')
    expect(running.reads().filter((read) => !read.endsWith(' ok'))).toEqual([])
  })
})
