import { afterAll, afterEach, beforeAll, expect, it } from 'bun:test'
import { namedIds } from '../../src/domain/named-ids.ts'
import { eventually } from '../support/eventually.ts'
import { describeWithPostgres } from './needs-postgres.ts'
import { idOf, World } from './world.ts'

let world: World

/** So rarely that what is seen soon was seen because a notification said so. */
const RARELY = { freshness: { maxAge: '10m', refreshEvery: '5m' } }

/** Within a second on an idle machine; that these tests hold on a busy one is worth more than the exact figure. */
const SOON_MS = 60_000

describeWithPostgres('events from a real PostgreSQL', () => {
  beforeAll(async () => {
    world = await World.create()
  })

  afterEach(async () => {
    await world.stopAll()
    await world.query('TRUNCATE crm.event, crm.venue')
  })

  afterAll(() => world.remove())

  it('are served with the digits and texts of the database', async () => {
    await world.query(
      `INSERT INTO crm.event (event_id, title, seats, sold, starts_at, ends_at, price, tags, on_web)
       VALUES ($1, 'Bach & Söhne', 250, 7, '2026-07-12 18:30:00.1234567+00', '2026-07-12 20:30+00', 12.50, ARRAY['Music', 'a,b', NULL, 'NULL', 'say "hi" \\ {ü}'], true)`,
      [idOf(1)],
    )
    const running = await world.start()
    expect({ ...running.event(idOf(1)) }).toEqual({
      Id: idOf(1),
      Name: 'Bach & Söhne',
      VenueId: '00000000-0000-0000-0000-000000000000',
      TicketCapacity: 250,
      TicketsAvailable: 243,
      Start: '2026-07-12T18:30:00.123457+00:00',
      Finish: '2026-07-12T20:30:00+00:00',
      Price: '12.50',
      Tags: ['Music', 'a,b', 'NULL', 'say "hi" \\ {ü}'],
      Links: [],
    } as unknown as Record<string, never>)
  })

  it('are withheld one by one where a value does not fit', async () => {
    await world.fill(3)
    await world.query('UPDATE crm.event SET starts_at = NULL WHERE event_id = $1', [idOf(1)])
    await world.query("UPDATE crm.event SET ends_at = 'infinity', price = 'NaN' WHERE event_id = $1", [idOf(2)])
    const running = await world.start()
    expect(running.served).toBe(1)
    const withheld = [...running.marquee.reading.replica.events.list.withheldRows()]
    expect(withheld.map(({ withheld: { fault, column, where } }) => `${where}: ${column} ${fault}`).toSorted()).toEqual(
      [`events, id ${idOf(1)}: start missing`, `events, id ${idOf(2)}: finish unreadable`],
    )
  })

  it('change within a second of a commit that is notified', async () => {
    await world.fill(10)
    const running = await world.start(RARELY)
    await world.query("UPDATE crm.event SET title = 'Moved' WHERE event_id = $1", [idOf(3)])
    await running.until(idOf(3), (event) => event?.Name === 'Moved', SOON_MS)
    await world.query('UPDATE crm.event SET on_web = false WHERE event_id = $1', [idOf(3)])
    await running.until(idOf(3), (event) => event === null, SOON_MS)
    await world.query('DELETE FROM crm.event WHERE event_id = $1', [idOf(4)])
    await running.until(idOf(4), (event) => event === null, SOON_MS)
    await world.query('DELETE FROM crm.event WHERE event_id = ANY($1)', [[idOf(5), idOf(6)]])
    await running.until(idOf(6), (event) => event === null, SOON_MS)
    expect(running.served).toBe(6)
  })

  it('tell how long it took from their stamp until they were served', async () => {
    await world.fill(10)
    const running = await world.start(RARELY)
    const begun = performance.now()
    await world.query("UPDATE crm.event SET title = 'Moved' WHERE event_id = $1", [idOf(3)])
    await running.until(idOf(3), (event) => event?.Name === 'Moved', SOON_MS)
    const tookMs = performance.now() - begun
    const delays = running.observations.flatMap((seen) => (seen.kind === 'changes-published' ? seen.delaysMs : []))
    expect(delays).toHaveLength(1)
    expect(delays[0]).toBeWithin(0, tookMs + 50)
  })

  it('are not withdrawn because a notification names them', async () => {
    await world.fill(10)
    const running = await world.start(RARELY)
    await world.query("SELECT pg_notify('marquee', $1)", [`${idOf(3)},${idOf(77)},nonsense,'"`])
    await world.query("UPDATE crm.event SET title = 'Seen' WHERE event_id = $1", [idOf(4)])
    await running.until(idOf(4), (event) => event?.Name === 'Seen', SOON_MS)
    expect(running.served).toBe(10)
  })

  it('go as soon as they can be looked for where a notification named them while nothing could be read', async () => {
    await world.fill(10)
    const running = await world.start(RARELY)
    await world.query("UPDATE crm.event SET title = 'Heard' WHERE event_id = $1", [idOf(3)])
    await running.until(idOf(3), (event) => event?.Name === 'Heard', SOON_MS)
    await world.query('REVOKE SELECT ON crm.public_events FROM marquee')
    await world.query('DELETE FROM crm.event WHERE event_id = $1', [idOf(4)])
    await eventually(
      async () => running.marquee.reading.replica.events.lastFailure?.kind,
      (kind) => kind === 'refused',
    )
    await world.query('GRANT SELECT ON crm.public_events TO marquee')
    expect(running.event(idOf(4))).not.toBeNull()
    running.marquee.reading.replica.events.refresh.retryNow()
    await running.until(idOf(4), (event) => event === null, SOON_MS)
  })

  it('are not all compared for a venue that is deleted and that none of them points at', async () => {
    const venue = idOf(7)
    await world.fill(1000)
    await world.query("INSERT INTO crm.venue (venue_id, title) VALUES ($1, 'Hall')", [venue])
    const running = await world.start(RARELY)
    const { list } = running.marquee.reading.replica.venues
    const before = running.observations.length
    await world.query('DELETE FROM crm.venue WHERE venue_id = $1', [venue])
    await eventually(
      async () => list.served,
      (served) => served === 0,
      SOON_MS,
    )
    const rows = await eventually(
      async () =>
        running.observations
          .slice(before)
          .flatMap((seen) => (seen.kind === 'read-ended' && seen.read.list === 'events' ? [seen.read.rows] : [])),
      ({ length }) => length > 0,
    )
    expect(Math.max(...rows)).toBeLessThan(1000)
  })

  it('go within a second too where more are deleted than a notification names', async () => {
    await world.fill(500)
    const running = await world.start(RARELY)
    await world.query('DELETE FROM crm.event WHERE event_id < $1', [idOf(200)])
    await running.until(idOf(1), (event) => event === null, SOON_MS)
    expect(running.served).toBe(300)
  })

  it('go within the id scan where notifications come all the time and name nobody', async () => {
    await world.fill(10)
    const running = await world.start({ ...RARELY, crm: { idScanEvery: '500ms' } })
    const silent = await world.server.admin()
    await silent.query('SET session_replication_role = replica')
    await silent.query('DELETE FROM crm.event WHERE event_id = $1', [idOf(6)])
    const deleted = performance.now()
    while (running.event(idOf(6)) !== null && performance.now() < deleted + SOON_MS)
      await silent.query('NOTIFY marquee')
    expect(performance.now() - deleted).toBeLessThan(SOON_MS)
    await silent.end()
  })

  it('are served whatever rows without an id are beside them, and those are counted', async () => {
    await world.fill(3000)
    await world.query(`CREATE VIEW crm.partly AS SELECT CASE WHEN id < '${idOf(1100)}' THEN id END AS id, name, venue_id,
      ticket_capacity, tickets_available, start, finish, price, tags, active, show_on_web, updated_at FROM crm.public_events;
      GRANT SELECT ON crm.partly TO marquee`)
    const running = await world.start({
      freshness: { maxAge: '10m', refreshEvery: '50ms' },
      crm: { listen: undefined, events: { from: 'crm.partly' } },
    })
    const { list } = running.marquee.reading.replica.events
    expect(running.served).toBe(1100)
    const faults = [...list.withheldRows()].map(({ id, withheld: { fault } }) => `${id} ${fault}`)
    expect(faults).toHaveLength(1900)
    expect(new Set(faults)).toEqual(new Set(['null no-id']))
    // More than a page of them change, and the rows with an id after them.
    await world.query("UPDATE crm.event SET title = 'Nobody' WHERE event_id >= $1", [idOf(1100)])
    await world.query("UPDATE crm.event SET title = 'Somebody' WHERE event_id < $1", [idOf(1100)])
    for (const number of [0, 500, 1099]) await running.until(idOf(number), (event) => event?.Name === 'Somebody')
    await world.stopAll()
    await world.query('DROP VIEW crm.partly')
  })

  it('are seen within the maximum age where a long transaction commits them late', async () => {
    await world.fill(10)
    const running = await world.start({
      freshness: { maxAge: '6s', refreshEvery: '100ms' },
      crm: { listen: undefined },
    })
    const late = await world.server.admin()
    await late.query('BEGIN')
    await late.query('SET LOCAL session_replication_role = replica')
    await late.query(
      "UPDATE crm.event SET title = 'Late', updated_at = now() - interval '10 minutes' WHERE event_id = $1",
      [idOf(5)],
    )
    await world.query("UPDATE crm.event SET title = 'Early' WHERE event_id = $1", [idOf(6)])
    await running.until(idOf(6), (event) => event?.Name === 'Early')
    expect(running.event(idOf(5))?.Name).toBe('Event 5')
    await late.query('COMMIT')
    await late.end()
    await running.until(idOf(5), (event) => event?.Name === 'Late')
  })

  it('go with the next id scan where they are deleted without a word', async () => {
    await world.fill(10)
    const running = await world.start({
      freshness: { maxAge: '6s', refreshEvery: '100ms' },
      crm: { listen: undefined },
    })
    await world.query('DELETE FROM crm.event WHERE event_id = $1', [idOf(6)])
    await running.until(idOf(6), (event) => event === null)
    expect(running.served).toBe(9)
  })

  it('are read in full by every refresh where no column tells of changes', async () => {
    await world.fill(3)
    const table = { from: 'crm.public_events', updatedAt: null }
    const running = await world.start({
      freshness: { refreshEvery: '50ms' },
      crm: { listen: undefined, events: table },
    })
    await world.query('DELETE FROM crm.event WHERE event_id = $1', [idOf(1)])
    await running.until(idOf(1), (event) => event === null)
    expect(running.reads()).not.toContain('events changes ok')
  })

  it('come with their venue, of which a page of events may be the first to tell', async () => {
    await world.fill(2500)
    await world.query("INSERT INTO crm.venue (venue_id, title) SELECT event_id, 'Hall ' || title FROM crm.event")
    await world.query('UPDATE crm.event SET venue_id = event_id')
    const running = await world.start()
    const { events, venues } = running.marquee.reading.replica
    expect([events.list.served, venues.list.served]).toEqual([2500, 2500])
    const fresh = idOf(99_999)
    await world.query("INSERT INTO crm.venue (venue_id, title) VALUES ($1, 'New hall')", [fresh])
    await world.query('UPDATE crm.event SET venue_id = $1', [fresh])
    await running.until(idOf(7), (event) => event?.VenueId === fresh)
  })

  it('are counted as drift where they change and their stamp does not', async () => {
    await world.fill(3)
    await world.query('ALTER TABLE crm.event DISABLE TRIGGER set_updated_at')
    // Longer ago than reads of changes go back.
    await world.query("UPDATE crm.event SET updated_at = now() - interval '1 hour' WHERE event_id = $1", [idOf(1)])
    const running = await world.start({ freshness: { refreshEvery: '50ms', fullReadEvery: '100ms' } })
    await world.query("UPDATE crm.event SET title = 'Silent' WHERE event_id = $1", [idOf(1)])
    await world.query('ALTER TABLE crm.event ENABLE TRIGGER set_updated_at')
    await running.until(idOf(1), (event) => event?.Name === 'Silent')
    const drift = () => running.observations.flatMap((seen) => (seen.kind === 'drift-found' ? [seen.byColumn] : []))
    await eventually(
      async () => drift(),
      (found) => found.length > 0,
    )
    expect(drift()).toEqual([{ Name: 1 }])
  })

  it('know ids that are no UUIDs by their namespace', async () => {
    await world.query('CREATE VIEW crm.numbered AS SELECT 17 AS key, e.* FROM crm.public_events e')
    await world.fill(1)
    const events = { from: 'crm.numbered', fields: { Id: 'key' } }
    const running = await world.start({
      crm: { events, idNamespace: '6ba7b810-9dad-11d1-80b4-00c04fd430c8' },
      url: world.server.url(),
    })
    expect(running.event(namedIds('6ba7b810-9dad-11d1-80b4-00c04fd430c8' as never, 'crm.numbered/')('17'))?.Name).toBe(
      'Event 0',
    )
    await world.query('DROP VIEW crm.numbered')
  })
})
