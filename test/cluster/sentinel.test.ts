import { afterAll, expect, it } from 'bun:test'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { RedisServer } from '../support/redis-server.ts'
import { describeWithRedis } from './needs-redis.ts'
import { RealFleet } from './real-fleet.ts'

const NAME = 'ours'
const folder = mkdtempSync(join(tmpdir(), 'marquee-sentinel-'))
const sentinels: ChildProcess[] = []

afterAll(() => {
  for (const sentinel of sentinels) sentinel.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** Starts a sentinel that watches a primary, and needs one other to agree. Returns its port. */
async function startSentinel(primary: number): Promise<number> {
  const port = await freePort()
  const path = join(folder, `${port}.conf`)
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor ${NAME} 127.0.0.1 ${primary} 2`,
    `sentinel down-after-milliseconds ${NAME} 1000`,
    `sentinel failover-timeout ${NAME} 5000`,
  ]
  writeFileSync(path, `${lines.join('\n')}\n`)
  sentinels.push(spawn('/usr/bin/redis-server', [path, '--sentinel'], { stdio: 'ignore' }))
  return port
}

describeWithRedis('instances whose store is named by sentinels', () => {
  it('follow a fail-over to the replica; callers get no 502, no old answer, and each later change', async () => {
    const primary = await RedisServer.start()
    const replica = await RedisServer.start(['--replicaof', '127.0.0.1', String(primary.port)])
    const nodes: string[] = []
    for (let count = 0; count < 3; count++) nodes.push(`127.0.0.1:${await startSentinel(primary.port)}`)
    // The host and the port are not used, and one of the sentinels is not there.
    const url = 'redis://127.0.0.1:1/0'
    const fleet = new RealFleet({ cluster: { url, sentinel: { name: NAME, nodes: ['127.0.0.1:1', ...nodes] } } })
    try {
      const all = [await fleet.start('bun'), await fleet.start('node')]
      await fleet.leader()
      await eventually(
        async () => replica.ask('HLEN', replica.ask('KEYS', '*:events')),
        (rows) => Number(rows) >= 20,
      )
      let isOver = false
      fleet.beginWriting()
      const calls = all.map((instance) => fleet.call(instance, () => isOver))
      await new Promise((resolve) => setTimeout(resolve, 1000))
      await primary.end()
      await eventually(
        async () => replica.ask('INFO', 'replication'),
        (text) => text.includes('role:master'),
      )
      await eventually(
        () => Promise.all(all.map((instance) => instance.status())),
        (told) => told.every((one) => one?.cluster.connected === true && one.cluster.role !== 'standalone'),
      )
      fleet.endWriting()
      await fleet.untilEqual()
      isOver = true
      for (const { wrong, unavailable } of await Promise.all(calls)) expect([wrong, unavailable]).toEqual([[], 0])
      expect(Number(replica.ask('HLEN', replica.ask('KEYS', '*:events')))).toBeGreaterThanOrEqual(20)
    } finally {
      await fleet.end()
      await primary.remove()
      await replica.remove()
    }
  }, 120_000)

  it('say which primary no sentinel knows', async () => {
    const primary = await RedisServer.start()
    const node = `127.0.0.1:${await startSentinel(primary.port)}`
    const fleet = new RealFleet({ cluster: { url: primary.url, sentinel: { name: 'theirs', nodes: [node] } } })
    try {
      const instance = await fleet.start('bun')
      const told = await eventually(
        () => instance.status(),
        (one) => /knows theirs/.test(one?.cluster.lastError ?? ''),
      )
      expect(told?.cluster.lastError).toBe('no sentinel of cluster.sentinel.nodes knows theirs')
    } finally {
      await fleet.end()
      await primary.remove()
    }
  }, 60_000)
})
