import { describe, expect, it } from 'bun:test'
import { RedisConnection } from './redis-store.ts'

/** A connection, and the commands that it sends. */
function recorded(): { connection: RedisConnection; sent: (readonly unknown[])[] } {
  const sent: (readonly unknown[])[] = []
  const send = (parts: readonly unknown[]) => {
    sent.push(parts)
    return Promise.resolve(1)
  }
  const url = { reveal: () => '', refresh: () => Promise.resolve({ ok: false } as const) }
  const settings = { url, ca: null, name: 'marquee' }
  return { connection: new RedisConnection(send, () => {}, settings, '0123456789ab'), sent }
}

describe('what a connection to Redis sends', () => {
  it('removes a thousand keys or fields at once, and no more', async () => {
    const { connection, sent } = recorded()
    const names = Array.from({ length: 2500 }, (_, at) => `${at}`)
    await connection.drop(names)
    await connection.dropFields('nonces', names)
    expect(sent.map((parts) => [parts[0], parts.length])).toEqual([
      ['UNLINK', 1001],
      ['UNLINK', 1001],
      ['UNLINK', 501],
      ['HDEL', 1002],
      ['HDEL', 1002],
      ['HDEL', 502],
    ])
    await connection.drop([])
    await connection.dropFields('nonces', [])
    expect(sent.length).toBe(6)
  })

  it('is one command for a nonce, which expires with the log', async () => {
    const { connection, sent } = recorded()
    await connection.writeField('nonces', 'a', '1')
    expect(sent.map(([command]) => command)).toEqual(['HSET'])
  })
})
