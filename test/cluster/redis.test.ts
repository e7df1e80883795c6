import { beforeAll, describe, expect, it } from 'bun:test'
import { MemoryStore } from '../support/memory-store.ts'
import { systemWire } from '../support/system-wire.ts'
import { describeWithRedis } from './needs-redis.ts'
import { REDIS_SENTENCES } from './redis-sentences.ts'
import { SENTENCES } from './store-sentences.ts'
import { triedOnNode } from './tried-on-node.ts'

describe('a store in memory', () => {
  it.each(Object.entries(SENTENCES))('%s', async (_, sentence) => {
    const store = new MemoryStore()
    await sentence(() => store.connect(systemWire))
  })
})

describeWithRedis('Redis on Bun', () => {
  it.each(Object.entries(REDIS_SENTENCES))('%s', (_, sentence) => sentence())
})

describeWithRedis('Redis on Node', () => {
  let failures: ReadonlyMap<string, string | null> = new Map()

  beforeAll(async () => {
    failures = await triedOnNode()
  })

  it.each(Object.keys(REDIS_SENTENCES))('%s', (name) => {
    expect(failures.get(name)).toBe(null)
  })
})
