import { afterAll, beforeAll, expect, it } from 'bun:test'
import { Secret } from '../../src/domain/secret.ts'
import type { Connection } from '../../src/crm/postgres/connection.ts'
import { Listening } from '../../src/crm/postgres/listening.ts'
import type { Transaction } from '../../src/crm/postgres/read-session.ts'
import { ReadSession } from '../../src/crm/postgres/read-session.ts'
import { TableLane } from '../../src/crm/postgres/table-stream.ts'
import { systemTime } from '../../src/time/time.ts'
import { TIMED_OUT, withTimeout } from '../../src/time/waiting.ts'
import { eventually } from '../support/eventually.ts'
import { describeWithPostgres } from './needs-postgres.ts'
import { Reads } from './reads.ts'
import { World, idOf } from './world.ts'
import { openerOf } from './opener-of.ts'

let world: World

function sessionOf(greet: ((connection: Connection) => Promise<void>) | null = null): ReadSession {
  const url = new Secret(world.url, { name: 'a test', reread: null })
  const opener = openerOf(url)
  return new ReadSession(opener, greet)
}

/** A transaction, which is there soon unless its lane is locked for ever. */
async function begun(session: ReadSession): Promise<Transaction> {
  const transaction = await withTimeout(systemTime, 3000, session.begin())
  if (transaction === TIMED_OUT) throw new Error('the lane is locked')
  return transaction
}

describeWithPostgres('the connections of a lane', () => {
  beforeAll(async () => {
    world = await World.create()
    await world.fill(20)
  })

  afterAll(() => world.remove())

  it('are lost and opened again, and the cursor of an audit is still followed, after all rows were compared', async () => {
    const reads = await Reads.open(world, { crm: { idScanEvery: '1ms' } })
    await reads.full().well()
    await world.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'marquee'")
    await reads.full().well()
    const { cursor } = await reads.full(true).well()
    await world.query('DELETE FROM crm.event WHERE event_id = $1', [idOf(3)])
    const changes = reads.changes(cursor)
    expect(await changes.well()).toMatchObject({ complete: true, confirms: true })
    expect([changes.rows.has(3), changes.rows.get(4)]).toEqual([false, 'unchanged'])
    await reads.close()
  })

  it('listen for notifications only once somebody has subscribed, also on a connection opened before', async () => {
    const notices: string[] = []
    const listening = new Listening({
      channel: 'marquee',
      time: systemTime,
      notice: (message) => notices.push(message),
    })
    const session = sessionOf((connection) => listening.greet(connection))
    const listens = async (): Promise<readonly (string | null)[]> => {
      const transaction = await begun(session)
      const channels = await transaction.query('SELECT pg_listening_channels()')
      await transaction.end()
      return channels.rows.map(([channel]) => channel ?? null)
    }
    expect(await listens()).toEqual([])
    let hints = 0
    const end = listening.subscribe(() => void hints++, session)
    expect(await listens()).toEqual(['marquee'])
    await world.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'marquee'")
    expect(await listens()).toEqual(['marquee'])
    const before = hints
    await world.query('NOTIFY marquee')
    await eventually(
      async () => hints,
      (count) => count > before,
    )
    end()
    listening.close()
    await session.close()
    expect(notices).toEqual([])
  })

  it('are free for the next read where the first statements on a connection end in an error of ours', async () => {
    let greetings = 0
    const session = sessionOf(async () => {
      if (++greetings === 1) throw new Error('a bug')
    })
    expect(await session.begin().catch(String)).toBe('Error: a bug')
    await (await begun(session)).end()
    expect(await session.alone(() => Promise.reject(new Error('another bug'))).catch(String)).toBe('Error: another bug')
    await (await begun(session)).end()
    await session.close()
  })

  it('are free for the next read where the columns of a table cannot be understood', async () => {
    const session = sessionOf()
    const list = {
      name: 'events',
      written: 'crm.event',
      quoted: 'crm.event',
      idColumn: 'event_id',
      tableSettings: { from: 'crm.event', updatedAt: null, updatedAtIn: null, fields: {} },
      stock: { fields: { Id: 'event_id' } },
      named: [],
      get instead(): never {
        throw new Error('a third bug')
      },
    } as const
    expect(await new TableLane(list, session).open().catch(String)).toBe('Error: a third bug')
    await (await begun(session)).end()
    await session.close()
  })
})
