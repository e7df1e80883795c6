import { afterAll, afterEach, beforeAll, expect, it } from 'bun:test'
import { Client } from 'pg'
import { eventually } from '../support/eventually.ts'
import { describeWithPostgres } from './needs-postgres.ts'
import type { Read } from './reads.ts'
import { Reads } from './reads.ts'
import { idOf, World } from './world.ts'

const ROWS = 5000
const FIRST_HALF = `id < '${idOf(ROWS / 2)}'`
const GRANT = 'GRANT SELECT ON crm.shown, crm.seen TO marquee'
const KINDS = ['full read', 'audit', 'id scan'] as const

let world: World
let reads: Reads

/**
 * A table and a view of it, and the connector before one of them. Its limit is more than a machine may stand still,
 * unless a test waits for it.
 */
async function open(from = 'crm.shown', requestTimeout = '30s'): Promise<void> {
  await world.query(`CREATE TABLE crm.shown AS SELECT * FROM crm.public_events;
    ALTER TABLE crm.shown ADD PRIMARY KEY (id); CREATE INDEX ON crm.shown (updated_at);
    CREATE VIEW crm.seen AS SELECT * FROM crm.shown; ${GRANT}`)
  reads = await Reads.open(world, { crm: { idScanEvery: '1ms', requestTimeout, events: { from } } })
}

async function close(): Promise<void> {
  await reads.close()
  await world.query('DROP TABLE IF EXISTS crm.shown CASCADE')
}

/** A read that has brought some pages and has more to tell. */
async function begin(kind: (typeof KINDS)[number]): Promise<Read> {
  const { cursor } = await reads.full().well()
  // Each read of changes ends with an id scan.
  const read = kind === 'id scan' ? reads.changes(cursor) : reads.full(kind === 'audit')
  while (read.sizes.reduce((sum, size) => sum + size, 0) < 1000) expect(await read.page()).toBe(true)
  return read
}

/** Waits until a statement of the administrator's waits for a lock. */
async function untilWaiting(): Promise<void> {
  const client = await world.server.admin()
  const waiting = () => client.query("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
  await eventually(waiting, ({ rowCount }) => rowCount === 1)
  await client.end()
}

/** Waits until the server has ended a transaction of the role that began now and stands idle. */
async function untilIdleIsEnded(): Promise<void> {
  const witness = new Client({ connectionString: world.url })
  // The error says why it is ended; without a listener it would end the tests.
  witness.on('error', () => {})
  const ended = new Promise((resolve) => witness.once('end', resolve))
  await witness.connect()
  await witness.query('BEGIN')
  await ended
}

describeWithPostgres('one read of a list', () => {
  beforeAll(async () => {
    world = await World.create()
    await world.fill(ROWS)
  })

  afterEach(close)

  afterAll(() => world.remove())

  it.each(KINDS)('shows one moment, whatever is deleted, added and changed in its midst (%s)', async (kind) => {
    await open()
    const read = await begin(kind)
    await world.query("UPDATE crm.shown SET name = 'Later', updated_at = clock_timestamp()")
    await world.query(`DELETE FROM crm.shown WHERE NOT (${FIRST_HALF})`)
    await world.query(`INSERT INTO crm.shown
      SELECT gen_random_uuid(), 'New', venue_id, 1, 1, start, finish, 1, tags, true, true, now() FROM crm.shown`)
    expect(await read.well()).toMatchObject({ complete: true, oneMoment: true })
    expect(read.rows.size).toBe(ROWS)
    const said = new Set(read.rows.values())
    expect([said.has('Later'), said.has('New')]).toEqual([false, false])
  })

  it.each([
    ['crm.shown', 'ALTER TABLE crm.shown ENABLE ROW LEVEL SECURITY', 0],
    [
      'crm.shown',
      `ALTER TABLE crm.shown ENABLE ROW LEVEL SECURITY; CREATE POLICY half ON crm.shown USING (${FIRST_HALF})`,
      ROWS / 2,
    ],
    ['crm.shown', 'TRUNCATE crm.shown', 0],
    ['crm.seen', `CREATE OR REPLACE VIEW crm.seen AS SELECT * FROM crm.shown WHERE ${FIRST_HALF}`, ROWS / 2],
    ['crm.seen', `DROP VIEW crm.seen; CREATE VIEW crm.seen AS SELECT * FROM crm.shown WHERE false; ${GRANT}`, 0],
  ])('of %s ends before %s, and the next one shows all of that', async (from, change, left) => {
    for (const kind of KINDS) {
      await open(from)
      const read = await begin(kind)
      const changed = world.query(`BEGIN; ${change}; COMMIT`)
      await untilWaiting()
      expect(await read.well()).toMatchObject({ complete: true, oneMoment: true })
      expect(read.rows.size).toBe(ROWS)
      await changed
      const next = reads.full()
      expect(await next.well()).toMatchObject({ complete: true, oneMoment: true })
      expect(next.rows.size).toBe(left)
      await close()
    }
  })

  it.each(KINDS)('fails where its connection is lost in its midst (%s)', async (kind) => {
    await open()
    const read = await begin(kind)
    await world.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'marquee'")
    expect(await read.toEnd()).toMatchObject({ ok: false, failure: { kind: 'unreachable' } })
    expect(await reads.full().well()).toMatchObject({ complete: true })
  })

  it.each(KINDS)('fails in time where the server stops in its midst (%s)', async (kind) => {
    await open('crm.shown', '4s')
    const read = await begin(kind)
    world.server.freeze()
    try {
      expect(await read.toEnd()).toMatchObject({ ok: false, failure: { kind: 'timeout' } })
    } finally {
      world.server.continue()
    }
    expect(await reads.full().well()).toMatchObject({ complete: true })
  })

  it.each(KINDS)('goes on where a right is taken away in its midst, and the next read says so (%s)', async (kind) => {
    await open()
    const read = await begin(kind)
    await world.query('REVOKE SELECT ON crm.shown FROM marquee')
    expect(await read.well()).toMatchObject({ complete: true })
    expect(read.rows.size).toBe(ROWS)
    expect(await reads.full().toEnd()).toMatchObject({ ok: false, failure: { kind: 'refused' } })
  })

  it('goes on after its consumer stood still, whatever the role is told of idle transactions', async () => {
    await open()
    await world.query("ALTER ROLE marquee SET idle_in_transaction_session_timeout = '50ms'")
    const read = await begin('full read')
    await untilIdleIsEnded()
    expect(await read.well()).toMatchObject({ complete: true })
    await world.query('ALTER ROLE marquee RESET idle_in_transaction_session_timeout')
  })

  it('holds nothing any more where it is given up', async () => {
    await open()
    const read = await begin('audit')
    await read.abandon()
    const client = await world.server.admin()
    const inTransaction = () => client.query("SELECT FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'")
    await eventually(inTransaction, ({ rowCount }) => rowCount === 0)
    await client.end()
    await world.query('TRUNCATE crm.shown')
  })
})

describeWithPostgres('a list of which a policy hides all rows at some moment', () => {
  beforeAll(async () => {
    world = await World.create()
    await world.fill(ROWS)
    await world.query('CREATE TABLE crm.shown AS SELECT * FROM crm.public_events; GRANT SELECT ON crm.shown TO marquee')
  })

  afterAll(() => world.remove())

  it('is served whole, at whatever moment that is', async () => {
    const running = await world.start({
      freshness: { maxAge: '4s', refreshEvery: '20ms', fullReadEvery: '50ms' },
      crm: { idScanEvery: '1ms', listen: undefined, events: { from: 'crm.shown' } },
    })
    const { reader } = running.marquee.reading.replica.events
    let least = ROWS
    const look = setInterval(() => (least = Math.min(least, running.served)), 1)
    const untilShrunk = (isShrunk: boolean) =>
      eventually(
        async () => reader.guard.shrunk !== null,
        (isHeld) => isHeld === isShrunk,
      )
    for (let round = 0; round < 6; round++) {
      await running.furtherReads(round % 4)
      await world.query('ALTER TABLE crm.shown ENABLE ROW LEVEL SECURITY')
      await untilShrunk(true)
      await world.query('ALTER TABLE crm.shown DISABLE ROW LEVEL SECURITY')
      await untilShrunk(false)
    }
    clearInterval(look)
    expect(least).toBe(ROWS)
  })
})
