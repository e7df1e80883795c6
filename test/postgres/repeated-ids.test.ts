import { afterAll, afterEach, beforeAll, expect, it } from 'bun:test'
import { eventually } from '../support/eventually.ts'
import { describeWithPostgres } from './needs-postgres.ts'
import type { Running } from './world.ts'
import { idOf, World } from './world.ts'

const TWICE = { from: 'crm.both' }

let world: World

function withheldOf({ marquee }: Running): readonly string[] {
  return [...marquee.reading.replica.events.list.withheldRows()].map(({ id, withheld: { fault } }) => `${id} ${fault}`)
}

describeWithPostgres('an id that a view holds twice', () => {
  beforeAll(async () => {
    world = await World.create()
    await world.query(`CREATE TABLE crm.archive (LIKE crm.event INCLUDING ALL);
      CREATE TRIGGER tell_marquee AFTER INSERT OR UPDATE ON crm.archive FOR EACH STATEMENT EXECUTE FUNCTION crm.tell_marquee();
      CREATE VIEW crm.old_events AS SELECT event_id AS id, title AS name, venue_id, seats AS ticket_capacity,
        seats AS tickets_available, starts_at AS start, ends_at AS finish, price, tags, title NOT LIKE 'Gone%' AS active, true AS show_on_web,
        updated_at FROM crm.archive;
      CREATE VIEW crm.both AS SELECT * FROM crm.public_events UNION ALL SELECT * FROM crm.old_events;
      GRANT SELECT ON crm.both TO marquee`)
  })

  afterEach(async () => {
    await world.stopAll()
    await world.query('TRUNCATE crm.event, crm.archive')
  })

  afterAll(() => world.remove())

  async function archive(number: number, title: string): Promise<void> {
    await world.query(
      'INSERT INTO crm.archive (event_id, title, starts_at, ends_at, updated_at) VALUES ($1, $2, now(), now(), clock_timestamp())',
      [idOf(number), title],
    )
  }

  it('is withheld as a whole, whichever row changes, until a full read finds it once', async () => {
    await world.fill(20)
    await archive(3, 'Old')
    const running = await world.start({
      freshness: { maxAge: '2s', refreshEvery: '20ms', fullReadEvery: '300ms' },
      crm: { events: TWICE, idScanEvery: '100ms' },
    })
    expect(running.served).toBe(19)
    const seen = new Set<string>()
    const look = setInterval(() => seen.add(running.event(idOf(3))?.Name ?? 'withheld'), 1)
    for (let round = 0; round < 20; round++) {
      const table = round % 2 === 0 ? 'event' : 'archive'
      await world.query(`UPDATE crm.${table} SET title = $1, updated_at = clock_timestamp() WHERE event_id = $2`, [
        `Round ${round}`,
        idOf(3),
      ])
      await running.furtherReads(2)
    }
    clearInterval(look)
    expect([...seen]).toEqual(['withheld'])
    expect(withheldOf(running)).toContain(`${idOf(3)} duplicate-id`)
    const { events } = running.marquee.reading.replica
    expect(events.list.withheld + events.list.unidentified.length).toBeGreaterThan(0)
    await world.query('DELETE FROM crm.archive WHERE event_id = $1', [idOf(3)])
    await running.until(idOf(3), (event) => event?.Name === 'Round 18')
  })

  it('is that of its active row if the other is inactive, whichever is read first', async () => {
    await world.fill(20)
    await archive(3, 'Gone 3')
    await archive(4, 'Gone 4')
    const running = await world.start({
      freshness: { maxAge: '2s', refreshEvery: '20ms', fullReadEvery: '100ms' },
      crm: { events: TWICE },
    })
    expect(running.served).toBe(20)
    await world.query("UPDATE crm.event SET title = 'New', updated_at = clock_timestamp() WHERE event_id = $1", [
      idOf(3),
    ])
    await running.until(idOf(3), (event) => event?.Name === 'New')
    expect(withheldOf(running).filter((row) => row.endsWith('duplicate-id'))).toEqual([])
  })

  it('is withdrawn where its second row comes later, by the id scan', async () => {
    await world.fill(20)
    const running = await world.start({
      freshness: { maxAge: '10m', refreshEvery: '100ms' },
      crm: { events: TWICE, idScanEvery: '1s' },
    })
    expect(running.served).toBe(20)
    await archive(3, 'Old')
    await eventually(
      async () => withheldOf(running),
      (withheld) => withheld.includes(`${idOf(3)} duplicate-id`),
    )
    expect(running.event(idOf(3))).toBeNull()
    expect(running.served).toBe(19)
  })
})
