import { afterAll, afterEach, beforeAll, expect, it } from 'bun:test'
import { eventually } from '../support/eventually.ts'
import { PostgresServer } from '../support/postgres-server.ts'
import { describeWithPostgres } from './needs-postgres.ts'
import { Reads } from './reads.ts'
import { SwitchingProxy } from './switching-proxy.ts'
import type { Running } from './world.ts'
import { idOf, World } from './world.ts'

const QUICK = { freshness: { maxAge: '2s', refreshEvery: '100ms' }, crm: { requestTimeout: '300ms' } }

let world: World

/** Waits for the next reads of the events to end like this. */
async function untilRead(running: Running, outcome: string): Promise<void> {
  const before = running.reads().length
  await eventually(
    async () => running.reads().slice(before),
    (reads) => reads.some((read) => read.startsWith('events') && read.endsWith(outcome)),
  )
}

function lastMessage({ marquee }: Running): string {
  return marquee.reading.replica.events.lastFailure?.message ?? ''
}

async function rename(number: number, title: string): Promise<void> {
  await world.query('UPDATE crm.event SET title = $2 WHERE event_id = $1', [idOf(number), title])
}

describeWithPostgres('the care for connections', () => {
  beforeAll(async () => {
    world = await World.create({ max_connections: '12', superuser_reserved_connections: '3' })
  })

  afterEach(async () => {
    world.server.continue()
    await world.stopAll()
    await world.query('TRUNCATE crm.event, crm.venue')
  })

  afterAll(() => world.remove())

  it('makes do with three connections, whatever is read at once', async () => {
    await world.query('ALTER ROLE marquee CONNECTION LIMIT 3')
    await world.fill(2000)
    await world.query("INSERT INTO crm.venue (venue_id, title) SELECT event_id, 'Hall' FROM crm.event")
    await world.query('UPDATE crm.event SET venue_id = event_id')
    const running = await world.start({
      freshness: { maxAge: '5m', refreshEvery: '20ms', fullReadEvery: '30ms' },
      crm: { idScanEvery: '1ms', requestTimeout: '60s' },
    })
    const count = () =>
      world.query("SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'marquee'")
    for (let round = 0; round < 20; round++) {
      const [venue, event] = [idOf(10_000 + round), idOf(round)]
      await world.query("INSERT INTO crm.venue (venue_id, title) VALUES ($1, 'New hall')", [venue])
      await world.query('UPDATE crm.event SET venue_id = $1 WHERE event_id = $2', [venue, event])
      await running.until(event, (seen) => seen?.VenueId === venue)
      await world.query('DELETE FROM crm.event WHERE event_id = $1', [event])
      await world.query('DELETE FROM crm.venue WHERE venue_id = ANY($1)', [[event, venue]])
    }
    await eventually(count, ([row]) => row?.['count'] === 3)
    const { venues } = running.marquee.reading.replica
    await eventually(
      async () => [running.served, venues.list.served],
      ([e, v]) => e === 1980 && v === 1980,
    )
    await eventually(
      async () => running.reads(),
      (reads) => ['events', 'venues'].every((list) => reads.filter((read) => read === `${list} full ok`).length > 3),
    )
    expect(running.reads().filter((read) => !read.endsWith(' ok'))).toEqual([])
    await world.stopAll()
    await eventually(count, ([row]) => row?.['count'] === 0)
    await world.query('ALTER ROLE marquee CONNECTION LIMIT 10')
  })

  it('gives up a server that stops answering, and reads again when it answers', async () => {
    await world.fill(3)
    const running = await world.start(QUICK)
    world.server.freeze()
    await untilRead(running, 'timeout')
    // Both tries, each within its limit: nobody waits for the operating system.
    expect(running.marquee.reading.replica.events.lastFailure?.message).toMatch(/within 0.3 s/)
    await eventually(
      async () => running.ageMs,
      (age) => age > 2000,
    )
    world.server.continue()
    await rename(1, 'After')
    await running.until(idOf(1), (event) => event?.Name === 'After')
    await eventually(
      async () => running.ageMs,
      (age) => age < 2000,
    )
  })

  it('compares all rows after a restart', async () => {
    await world.fill(3)
    // So rarely that no other comparison finds the row that is gone.
    const running = await world.start({ freshness: { maxAge: '10m', refreshEvery: '100ms' } })
    await world.query('ALTER ROLE marquee CONNECTION LIMIT 0')
    await world.server.stop()
    await untilRead(running, 'unreachable')
    expect(lastMessage(running)).toMatch(/^events: PostgreSQL at 127\.0\.0\.1:\d+\/postgres: /)
    const from = running.reads().length
    await world.server.start()
    await world.reconnect()
    await world.query(
      `BEGIN; SET LOCAL session_replication_role = replica; DELETE FROM crm.event WHERE event_id = '${idOf(2)}'; COMMIT`,
    )
    await world.query('ALTER ROLE marquee CONNECTION LIMIT 10')
    await running.until(idOf(2), (event) => event === null)
    expect(running.reads().slice(from)).not.toContain('events full ok')
  })

  it('listens again after its connections were ended, and looks once for what it missed', async () => {
    await world.fill(3)
    const running = await world.start({ freshness: { maxAge: '30s', refreshEvery: '20s' } })
    await world.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'marquee'")
    await rename(1, 'Unheard')
    await running.until(idOf(1), (event) => event?.Name === 'Unheard', 15_000)
    await rename(2, 'Heard')
    await running.until(idOf(2), (event) => event?.Name === 'Heard', 15_000)
    expect(running.reads()).not.toContain('events full unreachable')
  })

  it('says that there are too many connections, and comes in when there is room', async () => {
    await world.query('ALTER ROLE marquee CONNECTION LIMIT 0')
    const running = await world.begin({ ...QUICK, crm: { requestTimeout: '4s' } })
    await eventually(
      async () => running.observations.map((seen) => (seen.kind === 'read-ended' ? seen.read.message : '')),
      (failed) => failed.join().includes('no connection left for this role (53300)'),
    )
    await world.query('ALTER ROLE marquee CONNECTION LIMIT 10')
    await running.loaded()
  })

  it('names a column that is dropped while it runs, and mends with it', async () => {
    await world.fill(3)
    await world.query('CREATE TABLE crm.copied AS SELECT * FROM crm.public_events')
    await world.query('GRANT SELECT ON crm.copied TO marquee')
    const running = await world.start({ ...QUICK, crm: { ...QUICK.crm, events: { from: 'crm.copied' } } })
    await world.query('ALTER TABLE crm.copied RENAME COLUMN price TO prices')
    await untilRead(running, 'misconfigured')
    expect(lastMessage(running)).toContain('crm.copied has no column price (did you mean prices?)')
    expect(running.served).toBe(3)
    await world.query('ALTER TABLE crm.copied RENAME COLUMN prices TO price')
    await untilRead(running, 'ok')
    await running.stop()
    await world.query('DROP TABLE crm.copied')
  })

  it('waits for a lock no longer than a request may take', async () => {
    await world.fill(3)
    // So long that the server says so itself, on a machine that stands still for a while too.
    const running = await world.start({ ...QUICK, crm: { requestTimeout: '4s' } })
    const other = await world.server.admin()
    await other.query('BEGIN')
    await other.query('LOCK TABLE crm.event IN ACCESS EXCLUSIVE MODE')
    await untilRead(running, 'timeout')
    expect(lastMessage(running)).toMatch(/longer than crm\.requestTimeout \((?:55P03|57014)\)/)
    // The connection is kept, so what follows is no full read.
    const from = running.reads().length
    await other.query('COMMIT')
    await other.end()
    await untilRead(running, 'ok')
    expect(running.reads().slice(from)).not.toContain('events full ok')
  })

  it('ends an audit that blocks a session which wants to alter the table', async () => {
    await world.fill(3000)
    const reads = await Reads.open(world, { crm: { requestTimeout: '500ms' } })
    const { cursor } = await reads.full().well()
    const audit = reads.full(true)
    await audit.page()
    const altered = world.query('ALTER TABLE crm.event ADD COLUMN colour text')
    // It waits for the audit, and the changes wait behind it.
    const changes = await eventually(
      () => reads.changes(cursor).toEnd(),
      (outcome) => !outcome.ok,
    )
    expect(changes).toMatchObject({ ok: false, failure: { kind: 'timeout' } })
    expect(await audit.toEnd()).toMatchObject({ ok: false, failure: { kind: 'timeout' } })
    await altered
    await reads.changes(cursor).well()
    expect(await reads.full(true).well()).toMatchObject({ complete: true })
    await reads.close()
    await world.query('ALTER TABLE crm.event DROP COLUMN colour')
  })

  it('does not take rows for deleted that a policy suddenly hides', async () => {
    await world.fill(40)
    await world.query('CREATE TABLE crm.guarded AS SELECT * FROM crm.public_events')
    await world.query('GRANT SELECT ON crm.guarded TO marquee')
    const running = await world.start({ ...QUICK, crm: { ...QUICK.crm, events: { from: 'crm.guarded' } } })
    await world.query('ALTER TABLE crm.guarded ENABLE ROW LEVEL SECURITY')
    await untilRead(running, 'shrunk')
    expect(running.served).toBe(40)
    expect(lastMessage(running)).toContain('40 of 40 events are missing')
    await world.query('ALTER TABLE crm.guarded DISABLE ROW LEVEL SECURITY')
    await eventually(
      async () => running.marquee.reading.replica.events.reader.guard.shrunk !== null,
      (isHeld) => !isHeld,
    )
    await running.stop()
    await world.query('DROP TABLE crm.guarded')
  })

  it('waits and tries again slowly where rights are taken away', async () => {
    await world.fill(3)
    const running = await world.start(QUICK)
    await world.query('REVOKE SELECT ON crm.public_events FROM marquee')
    await untilRead(running, 'refused')
    expect(lastMessage(running)).toContain('GRANT USAGE on the schema and SELECT on both views (42501)')
    await world.query('GRANT SELECT ON crm.public_events TO marquee')
    running.marquee.reading.replica.events.refresh.retryNow()
    await untilRead(running, 'ok')
  })

  it('keeps what is newer where another server answers at the same address, and tells how far that is behind', async () => {
    await world.fill(3)
    const standby = await PostgresServer.standbyOf(world.server)
    const proxy = await SwitchingProxy.open(world.server.port)
    const url = world.url.replace(`:${world.server.port}/`, `:${proxy.port}/`)
    const running = await world.start({ ...QUICK, url })
    try {
      await eventually(
        async () => {
          const admin = await standby.admin()
          const { rows } = await admin.query<{ count: number }>('SELECT count(*)::int AS count FROM crm.event')
          await admin.end()
          return rows[0]?.count
        },
        (count) => count === 3,
      )
      const admin = await standby.admin()
      await admin.query('SELECT pg_wal_replay_pause()')
      await rename(1, 'Unknown to the standby')
      await running.until(idOf(1), (event) => event?.Name === 'Unknown to the standby')
      // A standby that has not yet received a change cannot know that it is behind.
      await eventually(
        async () => {
          const { rows } = await admin.query<{ behind: boolean }>(
            'SELECT pg_last_wal_receive_lsn() > pg_last_wal_replay_lsn() AS behind',
          )
          return rows[0]?.behind
        },
        (behind) => behind === true,
      )
      const from = running.reads().length
      proxy.switchTo(standby.port)
      await eventually(
        async () => running.reads().slice(from),
        (reads) => reads.includes('events changes ok'),
      )
      // What is known is newer than what the standby says: it is kept, and the age counts from what the standby knows.
      expect(running.event(idOf(1))?.Name).toBe('Unknown to the standby')
      await eventually(
        async () => running.ageMs,
        (age) => age > 2000,
      )
      await admin.query('SELECT pg_wal_replay_resume()')
      await admin.end()
      // All that was received is replayed: the standby is not behind, however long nothing happens.
      await eventually(
        async () => running.ageMs,
        (age) => age < 1500,
      )
      const notices = running.observations.flatMap((seen) => (seen.kind === 'crm-noticed' ? [seen.message] : []))
      expect(notices).toHaveLength(1)
      expect(notices[0]).toContain(
        'the server is a standby, which cannot LISTEN (25006): changes are seen with the next refresh',
      )
    } finally {
      await running.stop()
      proxy.close()
      await standby.remove()
    }
  })

  it('serves what a former standby has, of which its former primary had changed and added rows', async () => {
    await world.fill(3)
    const standby = await PostgresServer.standbyOf(world.server)
    const proxy = await SwitchingProxy.open(world.server.port)
    const url = world.url.replace(`:${world.server.port}/`, `:${proxy.port}/`)
    const admin = await standby.admin()
    await eventually(
      () => admin.query<{ count: number }>('SELECT count(*)::int AS count FROM crm.event'),
      ({ rows }) => rows[0]?.count === 3,
    )
    await admin.query("ALTER SYSTEM SET primary_conninfo = ''")
    await admin.query('SELECT pg_reload_conf()')
    await eventually(
      () => admin.query('SELECT FROM pg_stat_wal_receiver'),
      ({ rowCount }) => rowCount === 0,
    )
    // So rarely that no other comparison finds it.
    const running = await world.start({ url, freshness: { maxAge: '10m', refreshEvery: '100ms' } })
    try {
      await rename(1, 'Lost')
      await world.fill(1, 7)
      await running.until(idOf(1), (event) => event?.Name === 'Lost')
      await running.until(idOf(7), (event) => event !== null)
      await admin.query('SELECT pg_promote()')
      proxy.switchTo(standby.port)
      await running.until(idOf(7), (event) => event === null)
      await running.until(idOf(1), (event) => event?.Name === 'Event 1')
    } finally {
      await running.stop()
      await admin.end()
      proxy.close()
      await standby.remove()
    }
  })
})
