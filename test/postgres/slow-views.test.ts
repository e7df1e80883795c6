import { afterAll, afterEach, beforeAll, expect, it } from 'bun:test'
import { readCrm } from '../../src/app/assemble.ts'
import { eventually } from '../support/eventually.ts'
import { describeWithPostgres } from './needs-postgres.ts'
import type { Read } from './reads.ts'
import { Reads } from './reads.ts'
import { idOf, World } from './world.ts'

const ROWS = 5000
const SLOW = { from: 'crm.slow_events' }

let world: World

/** How often the view was computed, by anyone: it tells the server's log each time. */
function runs(): number {
  return world.server.log.split('LOG:  the view is computed').length - 1
}

describeWithPostgres('a view that takes long, however few rows are asked for', () => {
  beforeAll(async () => {
    world = await World.create()
    await world.fill(ROWS)
    // Each run of the view calls the function once, which takes its time.
    await world.query(`CREATE FUNCTION crm.beat() RETURNS integer LANGUAGE plpgsql VOLATILE AS
        $$ BEGIN RAISE LOG 'the view is computed'; PERFORM pg_sleep(0.16); RETURN 1; END $$;
      CREATE VIEW crm.slow_events AS
        SELECT e.* FROM (SELECT crm.beat() OFFSET 0) AS waited, (SELECT DISTINCT ON (id) * FROM crm.public_events ORDER BY id) e;
      CREATE VIEW crm.latest_events AS SELECT DISTINCT ON (id) * FROM crm.public_events ORDER BY id, updated_at DESC;
      CREATE VIEW crm.renamed_events AS SELECT id, name, venue_id, ticket_capacity, tickets_available, start, finish, price,
        tags, active, show_on_web, updated_at AS touched FROM crm.public_events WHERE active;
      GRANT SELECT ON crm.slow_events, crm.latest_events, crm.renamed_events TO marquee;
      ANALYZE crm.event`)
  })

  afterEach(() => world.stopAll())

  afterAll(() => world.remove())

  it('is computed once for a read, and a few times where rows differ', async () => {
    const reads = await Reads.open(world, { crm: { events: SLOW, idScanEvery: '1ms' } })
    /** In so many runs of the view. */
    async function within(expected: number, read: Read): ReturnType<Read['well']> {
      const before = runs()
      const end = await read.well()
      await eventually(
        async () => runs() - before,
        (count) => count === expected,
      )
      return end
    }
    // Before, each page was a run: 7 of them, and more for each refresh.
    const { cursor } = await within(1, reads.full())
    // The changes, and all ids; before, once, whether the database heeds the time.
    const { cursor: next } = await within(3, reads.changes(cursor))
    await world.query(`BEGIN; SET LOCAL session_replication_role = replica;
      UPDATE crm.event SET title = 'Late', updated_at = updated_at - interval '1 hour'; COMMIT`)
    // And all rows, since so many differ.
    const scan = reads.changes(next)
    await within(3, scan)
    expect([...scan.rows.values()].filter((name) => name === 'Late')).toHaveLength(ROWS)
    await reads.close()
  })

  it('holds up no request while many of its rows change', async () => {
    const running = await world.start({ crm: { events: SLOW }, freshness: { maxAge: '8s', refreshEvery: '500ms' } })
    const {
      reading: { replica },
      admissions,
    } = running.marquee
    let tooOld = 0
    const look = setInterval(() => (tooOld += admissions.ageNow(replica.events) < 0 ? 1 : 0), 5)
    const until = performance.now() + 8000
    for (let round = 0; performance.now() < until; round++) {
      await world.query('UPDATE crm.event SET title = $1 WHERE event_id BETWEEN $2 AND $3', [
        `Round ${round}`,
        idOf((round * 250) % ROWS),
        idOf(((round * 250) % ROWS) + 249),
      ])
      await running.until(idOf((round * 250) % ROWS), (event) => event?.Name === `Round ${round}`)
    }
    clearInterval(look)
    expect(tooOld).toBe(0)
  })

  it('is told of by check though an index is there below it, of no use; and not where the index is of use under another name', async () => {
    const latest = await readCrm(await world.configuration({ crm: { events: { from: 'crm.latest_events' } } }))
    expect(latest.findings.map(({ sentence }) => sentence)).toEqual([
      'crm.latest_events has no index that begins with updated_at, or cannot use it (a DISTINCT, GROUP BY, window or expression is in the way), so every refresh scans all of it',
    ])
    const renamed = { from: 'crm.renamed_events', updatedAt: 'touched' }
    expect((await readCrm(await world.configuration({ crm: { events: renamed } }))).findings).toEqual([])
  })
})
