import { afterAll, afterEach, beforeAll, expect, it } from 'bun:test'
import { type Cursor, cursorOf } from '../../src/sync/port.ts'
import { describeWithPostgres } from './needs-postgres.ts'
import { Reads } from './reads.ts'
import { World, idOf } from './world.ts'

/** No id scan but the one that a test waits for. */
const UNSWEPT = { freshness: { maxAge: '10m' } }
const SWEPT = { crm: { idScanEvery: '1ms' } }

let world: World
let reads: Reads

/** Changes rows, whose stamp is what an SQL expression says. */
async function stamp(stampedAs: string, from: number, until = from, title = 'Changed'): Promise<void> {
  await world.query(
    `BEGIN; SET LOCAL session_replication_role = replica;
     UPDATE crm.event SET title = '${title}', updated_at = ${stampedAs}
       WHERE event_id BETWEEN '${idOf(from)}' AND '${idOf(until)}'; COMMIT`,
  )
}

/** What a read of changes brings of a row, and where the next one begins. */
async function changed(
  cursor: Cursor | null,
  number: number,
): Promise<{ name: string | undefined; cursor: Cursor | null }> {
  const read = reads.changes(cursor)
  const { cursor: next } = await read.well()
  return { name: read.rows.get(number), cursor: next }
}

describeWithPostgres('a stamp that is not of its time', () => {
  beforeAll(async () => {
    world = await World.create({ TimeZone: 'UTC' })
    await world.query("ALTER ROLE marquee SET TimeZone = 'America/New_York'")
    await world.query(`CREATE VIEW crm.local_events AS SELECT id, name, venue_id, ticket_capacity, tickets_available, start,
      finish, price, tags, active, show_on_web, updated_at AT TIME ZONE 'Asia/Tokyo' AS updated_at FROM crm.public_events`)
    await world.query('GRANT SELECT ON crm.local_events TO marquee')
  })

  afterEach(async () => {
    await reads.close()
    await world.query('TRUNCATE crm.event')
  })

  afterAll(() => world.remove())

  it.each([
    ['by an hour', "now() + interval '1 hour'", /\(by (?:59|60) min\)/],
    ['for ever', "'infinity'", /is in the future \(for ever\), so/],
  ])('hides and slows no other where it is in the future %s, and is named', async (_, future, by) => {
    await world.fill(1000)
    await stamp(future, 3)
    reads = await Reads.open(world, UNSWEPT)
    let { cursor } = await reads.full().well()
    expect(reads.notices).toHaveLength(1)
    expect(reads.notices[0]).toContain(`events, id ${idOf(3)}: updatedAt is in the future`)
    expect(reads.notices[0]).toMatch(by)
    for (let round = 0; round < 3; round++) {
      await world.query('UPDATE crm.event SET title = $1 WHERE event_id = $2', [`Round ${round}`, idOf(7)])
      const found = await changed(cursor, 7)
      expect(found.name).toBe(`Round ${round}`)
      cursor = found.cursor
    }
    await world.query('UPDATE crm.event SET title = $1', ['All'])
    const all = reads.changes(cursor)
    await all.well()
    expect([...all.rows.values()].filter((name) => name === 'All')).toHaveLength(1000)
  })

  it('is served by the id scan as it changes, and is named once', async () => {
    await world.fill(1000)
    reads = await Reads.open(world, SWEPT)
    const { cursor } = await reads.full().well()
    expect(reads.notices).toEqual([])
    await stamp("now() + interval '3 days'", 3)
    const found = await changed(cursor, 3)
    expect(found.name).toBe('Changed')
    const again = await changed(found.cursor, 3)
    expect(again.name).toBe('unchanged')
    expect(reads.notices).toHaveLength(1)
    expect(reads.notices[0]).toContain(
      'is in the future (by 3 days), so such changes are seen only when all rows are compared',
    )
    // And again where there are many more.
    await stamp("now() + interval '1 hour'", 10, 19)
    await changed(again.cursor, 3)
    expect(reads.notices[1]).toContain(`and 9 more: updatedAt is in the future`)
    expect(reads.notices).toHaveLength(2)
  })

  it('does not stand in the way where clocks show an hour for the second time', async () => {
    await world.fill(1000)
    // Stamped when the clock showed this hour first.
    await stamp("now() + random() * interval '59 minutes'", 100, 900)
    reads = await Reads.open(world, UNSWEPT)
    const { cursor } = await reads.full().well()
    expect(cursor).toStartWith('since ')
    const anHourAhead = cursorOf(`since ${new Date(Date.now() + 3_500_000).toISOString()}`)
    await world.query('UPDATE crm.event SET title = $1 WHERE event_id = $2', ['Second', idOf(7)])
    const found = await changed(anHourAhead, 7)
    expect(found.name).toBe('Second')
    await world.query('UPDATE crm.event SET title = $1 WHERE event_id = $2', ['Third', idOf(8)])
    const read = reads.changes(found.cursor)
    await read.well()
    expect(read.rows.get(8)).toBe('Third')
    // Those of the hour's first time come as the clock reaches them, not all with each read.
    expect([...read.rows.keys()].filter((number) => number >= 100 && number <= 900).length).toBeLessThan(20)
  })

  it('is wall time of the zone that the database has for the role, or that the configuration names', async () => {
    const events = { from: 'crm.local_events' }
    await world.fill(300)
    // Those who write are in Tokyo, hours ahead of what the role is set to.
    reads = await Reads.open(world, { ...UNSWEPT, crm: { events } })
    await reads.full().well()
    expect(reads.notices).toHaveLength(2)
    expect(reads.notices[0]).toContain(
      'updated_at has no time zone, and is read as local time in America/New_York; if its zone is another one, set crm.events.updatedAtIn',
    )
    expect(reads.notices[1]).toContain('299 more: updatedAt is in the future')
    await reads.close()
    for (const zone of ['configured', 'set for the role']) {
      if (zone !== 'configured') await world.query("ALTER ROLE marquee SET TimeZone = 'Asia/Tokyo'")
      const named = zone === 'configured' ? { ...events, updatedAtIn: 'Asia/Tokyo' } : events
      reads = await Reads.open(world, { ...UNSWEPT, crm: { events: named } })
      const { cursor } = await reads.full().well()
      expect(reads.notices.filter((notice) => notice.includes('in the future'))).toEqual([])
      await world.query('UPDATE crm.event SET title = $1 WHERE event_id = $2', [zone, idOf(7)])
      expect((await changed(cursor, 7)).name).toBe(zone)
      if (zone === 'configured') await reads.close()
    }
    await world.query("ALTER ROLE marquee SET TimeZone = 'America/New_York'")
  })

  it('is said to be usual where id scan after id scan finds what reads of changes should have', async () => {
    await world.fill(1000)
    reads = await Reads.open(world, SWEPT)
    let { cursor } = await reads.full().well()
    for (let round = 0; round < 4; round++) {
      expect(reads.notices).toHaveLength(round < 3 ? 0 : 1)
      await stamp(`now() - interval '5 hours' + ${round} * interval '1 minute'`, 3, 3, `Round ${round}`)
      const found = await changed(cursor, 3)
      expect(found.name).toBe(`Round ${round}`)
      cursor = found.cursor
    }
    expect(reads.notices).toHaveLength(1)
    expect(reads.notices[0]).toContain(`id ${idOf(3)} and others change with an updatedAt`)
  })
})
