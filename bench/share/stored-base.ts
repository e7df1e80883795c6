import { Buffer } from 'node:buffer'
import { IN_THE_FILE, Secret } from '../../src/config/secret.ts'
import { unpack } from '../../src/share/frame-body.ts'
import { RedisStore } from '../../src/share/redis/redis-store.ts'
import type { RedisServer } from '../../test/support/redis-server.ts'

/** The bytes of all records, as frames write them: those of the chunks in the store, unpacked. */
export async function recordBytes(redis: RedisServer): Promise<number> {
  const scope = redis.ask('HKEYS', 'marquee:scopes')
  const store = new RedisStore({ url: new Secret(redis.url, IN_THE_FILE), ca: null, name: 'marquee' }, scope)
  const connection = await store.connect()
  let bytes = 0
  for (const name of namesOf(redis, 'base:*')) {
    const chunk = await connection.getBlob(name)
    bytes += chunk === null ? 0 : unpack(Buffer.from(chunk)).length
  }
  connection.destroy()
  return bytes
}

/** What the store holds, as it says itself. */
export function storeBytes(redis: RedisServer): number {
  return Number(/^used_memory:(\d+)/m.exec(redis.ask('INFO', 'memory'))?.[1] ?? Number.NaN)
}

/** Keys of the one scope in the store, without what they all begin with. */
function namesOf(redis: RedisServer, pattern: string): readonly string[] {
  const keys = redis.ask('KEYS', `marquee:{*}:${pattern}`).split('\n')
  return keys.filter((key) => key !== '').map((key) => key.slice(key.indexOf('}:') + 2))
}
