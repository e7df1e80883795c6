import { afterAll, beforeAll, expect, it } from 'bun:test'
import { describeWithPostgres } from './needs-postgres.ts'
import { type Running, World, idOf } from './world.ts'

let world: World

function withheldOf({ marquee }: Running): readonly string[] {
  return [...marquee.reading.replica.events.list.withheldRows()].map(
    ({ id, withheld: { fault, column } }) => `${id} ${fault} ${column}`,
  )
}

async function rename(number: number, title: string): Promise<void> {
  await world.query('UPDATE crm.event SET title = $1, updated_at = clock_timestamp() WHERE event_id = $2', [
    title,
    idOf(number),
  ])
}

describeWithPostgres('a row of more than 256 KB', () => {
  beforeAll(async () => {
    world = await World.create()
    await world.fill(20)
  })

  afterAll(() => world.remove())

  it('is withheld, as it grows, at the first read and by id scans, and is served when it is smaller', async () => {
    await rename(3, 'x'.repeat(300_000))
    const running = await world.start({
      freshness: { maxAge: '2s', refreshEvery: '50ms' },
      crm: { idScanEvery: '100ms' },
    })
    expect([withheldOf(running), running.served]).toEqual([[`${idOf(3)} too-large null`], 19])
    // Counted in bytes: 250,000 characters may be less or more.
    await rename(4, 'x'.repeat(250_000))
    await running.until(idOf(4), (event) => event?.Name?.startsWith('xx') === true)
    await rename(4, 'ä'.repeat(250_000))
    await running.until(idOf(4), (event) => event === null)
    await running.furtherReads(5)
    expect(withheldOf(running).toSorted()).toEqual([`${idOf(3)} too-large null`, `${idOf(4)} too-large null`])
    await rename(4, 'small')
    await running.until(idOf(4), (event) => event?.Name === 'small')
    expect(withheldOf(running)).toEqual([`${idOf(3)} too-large null`])
  })
})
