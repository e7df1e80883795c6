import { afterAll, beforeAll, expect, it } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { RedisServer } from '../support/redis-server.ts'
import { describeWithRedis } from './needs-redis.ts'
import { type RealInstance, startInstance } from './real-instance.ts'

const ID = '00000000-0000-4000-8000-000000000001'

describeWithRedis('instances whose further fields differ (contract §7)', () => {
  let store: RedisServer
  let folder = ''
  const instances: RealInstance[] = []

  beforeAll(async () => {
    store = await RedisServer.start()
    folder = mkdtempSync(join(tmpdir(), 'marquee-declarations-'))
    mkdirSync(join(folder, 'crm'))
    writeFileSync(join(folder, 'crm', 'venues.json'), '[]')
    const row = {
      Id: ID,
      Start: '2036-07-12T19:30Z',
      Finish: '2036-07-12T23:00Z',
      ShowOnWeb: true,
      Room: 'Red',
      Row: 7,
    }
    writeFileSync(join(folder, 'crm', 'events.json'), JSON.stringify([row]))
  })
  afterAll(async () => {
    for (const instance of instances) await instance.end()
    await store.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  it('take no record from each other, and each answers with its own', async () => {
    const declared = [{ Room: 'text' }, { Row: 'integer' }]
    for (const [index, events] of declared.entries()) {
      const instance = await startInstance(index === 0 ? 'bun' : 'node', {
        crm: { kind: 'files', directory: join(folder, 'crm') },
        representation: { further: { events } },
        cluster: { url: store.url },
      })
      instances.push(instance)
    }
    for (const instance of instances) {
      await eventually(
        () => instance.status(),
        (told) => told?.ready === true && told.cluster.role === 'leader',
      )
    }
    const bodies = await Promise.all(
      instances.map(async ({ process }) => (await fetch(`${process.listening.address}api/events/${ID}`)).json()),
    )
    expect(bodies).toMatchObject([{ Room: 'Red' }, { Row: 7 }])
    expect(
      bodies.map((body) => Object.keys(body as object).filter((name) => name === 'Room' || name === 'Row')),
    ).toEqual([['Room'], ['Row']])
  })
})
