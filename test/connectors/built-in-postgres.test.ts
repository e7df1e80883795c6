import { afterAll, afterEach, beforeAll, expect, it } from 'bun:test'
import { examineList } from '../../src/crm/connector/conformance.ts'
import type { ListSource } from '../../src/sync/port.ts'
import { systemTime } from '../../src/time/time.ts'
import { withTimeout } from '../../src/time/waiting.ts'
import { describeWithPostgres } from '../postgres/needs-postgres.ts'
import { World } from '../postgres/world.ts'
import { eventually } from '../support/eventually.ts'
import { droppingFirstRow } from '../support/dropped-row.ts'
import { type Examined, examinedRows } from '../support/examined-source.ts'

let world: World

/** The events as a configuration reads them; nothing else reads. */
async function eventsOf(crm: Readonly<Record<string, unknown>> = {}): Promise<ListSource<unknown>> {
  const { marquee } = await world.begin({ crm, freshness: { refreshEvery: '1h', maxAge: '3h', fullReadEvery: '3h' } })
  return marquee.crm.events
}

async function findingsOf(source: Examined, scansIds = source.reportsChanges): Promise<readonly string[]> {
  const findings = await examineList('events', examinedRows(source, scansIds), systemTime, true)
  return findings.map(({ sentence }) => sentence)
}

describeWithPostgres('the PostgreSQL connector, examined as a connector of one’s own', () => {
  beforeAll(async () => {
    world = await World.create({}, 2042)
    await world.query(`ALTER TABLE crm.event DISABLE TRIGGER USER;
      UPDATE crm.event SET updated_at = now() - interval '1 day'; ALTER TABLE crm.event ENABLE TRIGGER USER`)
  })
  afterEach(() => world.stopAll())
  afterAll(() => world.remove())

  it('keeps all promises by updatedAt with id scans', async () => {
    const source = await eventsOf()
    expect(source.reportsChanges).toBe(true)
    expect(await findingsOf(source)).toEqual([])
  })

  it('keeps all promises where every refresh is a full read', async () => {
    const source = await eventsOf({ events: { from: 'crm.public_events', updatedAt: null } })
    expect(source.reportsChanges).toBe(false)
    expect(await findingsOf(source)).toEqual([])
  })

  it('is found out where a full read or an id scan lacks a row', async () => {
    const source = await eventsOf()
    const [unlike] = await findingsOf(droppingFirstRow(source, ({ kind }, reads) => kind === 'full' && reads > 3))
    expect(unlike).toContain('returned different rows')
    const isScan = ({ mustConfirm = false }): boolean => mustConfirm
    expect((await findingsOf(droppingFirstRow(source, isScan))).join()).toContain('ids lacks 1 of ')
  })

  it('ends a read that is given up within a second, also while the database is locked', async () => {
    const source = await eventsOf()
    const client = await world.server.admin()
    await client.query('BEGIN; LOCK TABLE crm.event IN ACCESS EXCLUSIVE MODE')
    const given = new AbortController()
    const held = { size: 0, version: (): number => Number.NaN }
    const reading = source.read({ kind: 'full', cursor: null, held, signal: given.signal })
    const isOk = async (): Promise<boolean> => {
      let next = await reading.next()
      while (next.done !== true) next = await reading.next()
      return next.value.ok
    }
    const ended = isOk()
    const isWaiting = `SELECT 1 FROM pg_locks WHERE relation = 'crm.event'::regclass AND NOT granted`
    await eventually(
      () => client.query(isWaiting),
      ({ rows }) => rows.length > 0,
    )
    given.abort()
    expect(await withTimeout(systemTime, 1000, ended)).toBe(false)
    await client.query('ROLLBACK')
    await client.end()
  })
})
