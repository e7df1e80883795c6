import { Buffer } from 'node:buffer'
import { IN_THE_FILE, Secret } from '../../src/domain/secret.ts'
import { idOf } from '../../src/cluster/entries.ts'
import { unpack } from '../../src/snapshot/snapshot-chunks.ts'
import { RedisStore } from '../../src/cluster/redis/redis-store.ts'
import type { Manifest } from '../../src/cluster/store-snapshot.ts'
import type { RealInstance } from '../../test/cluster/real-instance.ts'
import { eventually } from '../../test/support/eventually.ts'
import type { RedisServer } from '../../test/support/redis-server.ts'

const PATIENCE_MS = 300_000

/**
 * Resolves once a snapshot with all rows has been written to the store or a file after `sinceMs`. The first ones may
 * lack a list.
 */
export async function untilSnapshot(instance: RealInstance, leastRows: number, sinceMs = 0): Promise<void> {
  await eventually(
    async () => (await instance.status())?.snapshot ?? null,
    (snapshot) => snapshot !== null && snapshot.rows >= leastRows && performance.now() - snapshot.ageMs > sinceMs,
    PATIENCE_MS,
  )
}

/** The bytes of all row records: those in the chunks of the store's snapshot, unpacked. */
export async function recordBytes(redis: RedisServer): Promise<number> {
  const fingerprint = redis.ask('HKEYS', 'marquee:scopes')
  const store = new RedisStore({ url: new Secret(redis.url, IN_THE_FILE), ca: null, name: 'marquee' }, fingerprint)
  const connection = await store.connect()
  const { manifest } = JSON.parse(String(await connection.getBlob('snapshot'))) as { readonly manifest: string }
  const { from, chunks } = JSON.parse(manifest) as Pick<Manifest, 'from' | 'chunks'>
  let bytes = 0
  for (const index of chunks.keys()) {
    const chunk = await connection.getBlob(`snapshot:${idOf(from)}:${index}`)
    if (chunk === null) throw new Error('a chunk of the snapshot is missing')
    bytes += unpack(Buffer.from(chunk)).length
  }
  connection.destroy()
  return bytes
}

/** The memory that the store reports. */
export function storeBytes(redis: RedisServer): number {
  return Number(/^used_memory:(\d+)/m.exec(redis.ask('INFO', 'memory'))?.[1] ?? Number.NaN)
}
