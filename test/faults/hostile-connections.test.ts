import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { LARGE_IS_ON, LARGE_LISTS, LARGE_TARGET, requestTo, TARGET } from './large-rows.ts'
import { RawConnection } from './raw-connection.ts'
import { Victim } from './victim.ts'
import { RUNTIMES } from '../support/depth.ts'

/**
 * Half-sent headers are let go after 10 s on Node, which looks every 2 s, and after 12 s on Bun; a loaded machine may
 * add as much.
 */
const HEADERS_MS = 30_000
const IDLE = { limits: { idle: '2s' } }

/** A service under attack, and what it was before. */
interface Attacked {
  readonly victim: Victim
  readonly good: string
  /** Descriptors that were open. */
  readonly before: number
  readonly open: (count: number) => Promise<RawConnection[]>
}

// Most of the time is waiting for a limit: both runtimes wait together.
describe('connections that no good client makes, to Bun and to Node', () => {
  let attacked: readonly Attacked[]
  beforeAll(async () => {
    attacked = await Promise.all(
      RUNTIMES.map(async (runtime) => {
        const victim = await Victim.start(runtime, { ...IDLE, ...LARGE_IS_ON }, LARGE_LISTS)
        const good = (await victim.ask(TARGET)).body
        const open = (count: number): Promise<RawConnection[]> =>
          Promise.all(Array.from({ length: count }, () => RawConnection.open(victim.port)))
        return { victim, good, before: victim.descriptors, open }
      }),
    )
  })
  afterAll(async () => {
    expect(await Promise.all(attacked.map(({ victim }) => victim.stop()))).toEqual([0, 0])
  })

  /**
   * After an attack a good request is answered, no descriptor is open and no more memory than `mostMb` held that was
   * not.
   */
  async function attack(mostMb: number, work: (attacked: Attacked) => Promise<void>): Promise<void> {
    await Promise.all(
      attacked.map(async (one) => {
        const { victim, good, before } = one
        const { residentMb } = victim
        await work(one)
        await victim.letGo(before)
        expect((await victim.ask(TARGET)).body).toBe(good)
        expect(victim.residentMb).toBeLessThan(residentMb + mostMb)
      }),
    )
  }

  it('silence, half a request, half a body, or one byte a second: closed, from any client', () =>
    attack(50, async ({ open }) => {
      const started = performance.now()
      const connections = await open(40)
      const half = `POST ${TARGET} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf`
      const begun = ['', 'GET / HTTP/1.1\r\nHost: ', requestTo(TARGET), half]
      for (const [index, connection] of connections.entries()) connection.read().send(begun[index % begun.length] ?? '')
      const trickle = setInterval(() => connections[1]?.send('a'), 1000)
      await Promise.all(connections.map((connection) => connection.closed))
      clearInterval(trickle)
      expect(performance.now() - started).toBeLessThan(HEADERS_MS)
    }))

  it('large answers that nobody reads: let go after limits.idle; who reads has all of it', () =>
    attack(200, async ({ victim, before, open }) => {
      const unread = await open(8)
      // More than the sockets between can hold.
      for (const connection of unread) connection.send(requestTo(LARGE_TARGET).repeat(6))
      expect((await victim.ask(LARGE_TARGET)).bytes.length).toBeGreaterThan(1_900_000)
      await victim.letGo(before)
      for (const connection of unread) connection.destroy()
    }))

  it('thousands of requests sent on without reading: cut off, and what is held does not grow with them', () =>
    attack(400, async ({ victim, open }) => {
      const residentMb = victim.residentMb
      const connections = await open(60)
      for (const connection of connections) connection.send(requestTo(TARGET).repeat(20_000))
      let peakMb = 0
      const watch = setInterval(() => (peakMb = Math.max(peakMb, victim.residentMb)), 50)
      await Promise.all(connections.map((connection) => connection.closed))
      clearInterval(watch)
      expect(peakMb - residentMb).toBeLessThan(400)
    }))

  it('a batch of requests that is read is answered whole, in order', () =>
    attack(100, async ({ open }) => {
      const [connection] = await open(1)
      const batch = Array.from({ length: 60 }, (_, index) => requestTo(`/nothing/${index}`))
      connection?.read().send(batch.join(''))
      const received = await connection?.until((text) => text.includes('/nothing/59"'))
      const instances = [...(received ?? '').matchAll(/"instance":"\/nothing\/(\d+)"/g)].map(([, index]) =>
        Number(index),
      )
      expect(instances).toEqual(Array.from({ length: 60 }, (_, index) => index))
      connection?.destroy()
    }))

  it('3,000 idle connections: others are answered, and all are closed after limits.idle', () =>
    attack(150, async ({ victim, good, open }) => {
      const connections = await open(3000)
      for (const connection of connections) connection.read().send(requestTo('/x'))
      await Promise.all(connections.map((connection) => connection.until((text) => text.includes('"instance":"/x"'))))
      expect((await victim.ask(TARGET)).body).toBe(good)
      await Promise.all(connections.map((connection) => connection.closed))
    }))

  it('2,000 resets, before, within and after a request', () =>
    attack(200, async ({ open }) => {
      for (let round = 0; round < 20; round++) {
        const connections = await open(100)
        for (const [index, connection] of connections.entries()) {
          connection.send([requestTo('/api/events?limit=2'), requestTo(TARGET), 'GET /', ''][index % 4] ?? '')
          connection.reset()
        }
      }
    }))

  it('a client that has closed its sending side: let go', () =>
    attack(50, async ({ open }) => {
      const connections = await open(30)
      for (const [index, connection] of connections.entries()) {
        connection.read().socket.end(index % 2 === 0 ? requestTo(TARGET) : 'GET / HT')
      }
      await Promise.all(connections.map((connection) => connection.closed))
    }))
})
