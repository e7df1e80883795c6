import { afterAll, beforeAll, expect, it } from 'bun:test'
import { PUBLISH } from './guide.ts'
import { describeWithPostgres } from './needs-postgres.ts'
import { World } from './world.ts'

let world: World

describeWithPostgres('the guide for operators', () => {
  beforeAll(async () => {
    world = await World.create()
  })

  afterAll(() => world.remove())

  it('takes one from a table to a served event', async () => {
    const running = await world.start()
    await world.query(PUBLISH)
    await running.until('5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34', (event) => event?.Price === '12.50')
    await running.stop()
  })

  it('makes a role that may read two views and nothing else', async () => {
    const may = await world.query(`SELECT c.relname, p.privilege FROM pg_class c
      CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) p (privilege)
      WHERE c.relnamespace = 'crm'::regnamespace AND c.relkind IN ('r', 'v') AND has_table_privilege('marquee', c.oid, p.privilege)
      ORDER BY c.relname`)
    expect(may).toEqual([
      { relname: 'public_events', privilege: 'SELECT' },
      { relname: 'public_venues', privilege: 'SELECT' },
    ])
  })

  it('has indexes that the reads of changes use, and those of single rows', async () => {
    await world.fill(20_000)
    await world.query('ANALYZE crm.event')
    const planOf = async (where: string) =>
      JSON.stringify(await world.query(`EXPLAIN SELECT id FROM crm.public_events WHERE ${where}`))
    const minute = "updated_at > now() + interval '1 minute' AND updated_at <= now() + interval '2 minutes'"
    expect(await planOf(minute)).toContain('event_updated_at')
    expect(await planOf("id = ANY('{5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34}')")).toContain('event_pkey')
  })
})
