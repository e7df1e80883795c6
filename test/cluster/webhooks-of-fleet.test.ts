import { afterEach, beforeEach, expect, it } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { WebhookReceiver, verified } from '../feeds/webhook-receiver.ts'
import { askOperations, sampleOf } from '../support/operations-client.ts'
import { RedisServer } from '../support/redis-server.ts'
import { describeWithRedis } from './needs-redis.ts'
import { RealFleet } from './real-fleet.ts'
import type { RealInstance } from './real-instance.ts'

const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`

let redis: RedisServer
let fleet: RealFleet
let receiver: WebhookReceiver
let folder: string

beforeEach(async () => {
  redis = await RedisServer.start()
  receiver = new WebhookReceiver()
  folder = mkdtempSync(join(tmpdir(), 'marquee-webhooks-'))
  const file = join(folder, 'secret')
  writeFileSync(file, SECRET)
  fleet = new RealFleet({
    cluster: { url: redis.url, heartbeat: '100ms' },
    feeds: { changes: 'on' },
    webhooks: [{ url: receiver.origin, secret: { file }, every: '1s' }],
  })
})

afterEach(async () => {
  await fleet.end()
  await receiver.stop()
  await redis.remove()
  rmSync(folder, { recursive: true })
})

const types = (): readonly string[] => receiver.calls.map((call) => verified(call, SECRET).type)

async function calls(instance: RealInstance): Promise<number | null> {
  const { text } = (await askOperations(`${instance.process.listening.operations}metrics`)) ?? { text: '' }
  return sampleOf(text, `marquee_webhook_calls_total{webhook="webhooks[0] at ${receiver.origin}",outcome="ok"}`)
}

describeWithRedis('webhooks of several instances', () => {
  it('are called by the leader alone; the next leader says to read the lists, and goes on', async () => {
    await Promise.all([fleet.start('bun'), fleet.start('node')])
    const leader = await fleet.leader()
    const follower = fleet.instances.find((one) => one !== leader)
    if (follower === undefined) throw new Error('there is no follower')
    await receiver.atLeast(1)
    fleet.write()
    await receiver.atLeast(2)
    await fleet.untilEqual()
    expect(types()).toEqual(['reset', 'changes'])
    expect([await calls(leader), await calls(follower)]).toEqual([2, 0])
    leader.process.child.signal('SIGKILL')
    await fleet.leader([follower])
    await receiver.atLeast(3)
    expect(types()).toEqual(['reset', 'changes', 'reset'])
    fleet.write()
    await receiver.atLeast(4)
    expect(types()).toEqual(['reset', 'changes', 'reset', 'changes'])
    expect(await calls(follower)).toBe(2)
  })
})
