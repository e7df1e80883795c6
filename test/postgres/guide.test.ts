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

  it('has indexes that the reads of changes use', async () => {
    await world.fill(20_000)
    await world.query('ANALYZE crm.event')
    const plan = await world.query(
      `EXPLAIN SELECT id FROM crm.public_events WHERE changed_at >= now() + interval '1 minute' ORDER BY changed_at, id LIMIT 1000`,
    )
    expect(JSON.stringify(plan)).toContain('event_changed_at')
    const full = await world.query('EXPLAIN DECLARE c CURSOR FOR SELECT id, name FROM crm.public_events ORDER BY id')
    expect(JSON.stringify(full)).toContain('event_pkey')
  })
})
