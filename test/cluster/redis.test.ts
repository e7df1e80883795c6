import { beforeAll, describe, expect, it } from 'bun:test'
import { Child, programOf } from '../support/child.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { systemWire } from '../support/system-wire.ts'
import { describeWithRedis } from './needs-redis.ts'
import { REDIS_SENTENCES } from './redis-sentences.ts'
import { SENTENCES } from './store-sentences.ts'

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
  const ended = new Map<string, string | null>()

  beforeAll(async () => {
    const child = new Child(programOf('node'), ['test/cluster/on-node.ts'])
    await child.exited
    for (const line of child.stdout.trim().split('\n')) {
      const { name, failure } = JSON.parse(line) as { name: string; failure: string | null }
      ended.set(name, failure)
    }
    if (child.stderr.includes('Error')) console.error(child.stderr)
  })

  it.each(Object.keys(REDIS_SENTENCES))('%s', (name) => {
    expect(ended.get(name) ?? (ended.has(name) ? null : 'it was not reached')).toBe(null)
  })
})
