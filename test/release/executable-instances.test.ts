import { afterAll, beforeAll, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ClusterStatus } from '../../src/operations/status.ts'
import { describeWithRedis } from '../cluster/needs-redis.ts'
import { Child, programOf, ROOT } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory, type Settings } from '../support/files-directory.ts'
import { type MarqueeProcess, untilListening } from '../support/marquee-process.ts'
import { askOperations } from '../support/operations-client.ts'
import { RedisServer } from '../support/redis-server.ts'

const ID = '00000000-0000-4000-8000-000000000001'
const EVENT = { Id: ID, Name: 'Tosca', Start: '2036-07-12T19:30:00Z', Finish: '2036-07-12T21:30:00Z', ShowOnWeb: true }
const LISTS = { events: JSON.stringify([EVENT]), venues: '[]' }

const folder = mkdtempSync(join(tmpdir(), 'marquee-executable-'))
const program = join(folder, 'marquee')
beforeAll(() => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build-executable.ts', program], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true }))

function start(words: readonly string[], { configuration }: FilesDirectory): Promise<MarqueeProcess> {
  const [command = '', ...args] = words
  return untilListening(new Child(command, [...args, 'serve', '--config', configuration]))
}

it('the executable goes on from its snapshot', async () => {
  const settings = { operations: { port: 0 }, snapshot: { directory: join(folder, 'snapshot') } }
  const directory = new FilesDirectory(settings, LISTS)
  const first = await start([program], directory)
  expect(await first.child.line((line) => line.includes('"snapshot-written"'))).not.toBeNull()
  const url = ({ listening }: MarqueeProcess): string => `${listening.address}api/events/${ID}`
  const before = await (await fetch(url(first))).text()
  expect(await first.child.stop()).toBe(0)
  const second = await start([program], directory)
  expect(await second.child.line((line) => line.includes('"snapshot-read"'))).not.toBeNull()
  expect(await (await fetch(url(second))).text()).toBe(before)
  expect(await second.child.stop()).toBe(0)
  directory.remove()
}, 60_000)

describeWithRedis('the executable in a cluster', () => {
  it('shares with an instance from its sources, and takes over when that one ends', async () => {
    const redis = await RedisServer.start()
    const crm = new FilesDirectory({}, LISTS)
    const settings: Settings = {
      operations: { port: 0 },
      snapshot: null,
      crm: { kind: 'files', directory: crm.crm },
      cluster: { url: redis.url, heartbeat: '100ms' },
      freshness: { maxAge: '10s', refreshEvery: '1s' },
    }
    const directories = [new FilesDirectory(settings, null), new FilesDirectory(settings, null)] as const
    const roleOf = async ({ listening }: MarqueeProcess): Promise<string> => {
      const reply = await askOperations(`${listening.operations}status`)
      return (JSON.parse(reply?.text ?? '{}') as { readonly cluster?: ClusterStatus }).cluster?.role ?? ''
    }
    const source = await start([programOf('bun'), 'src/main.ts'], directories[0])
    await eventually(
      () => roleOf(source),
      (role) => role === 'leader',
    )
    const executable = await start([program], directories[1])
    await eventually(
      () => roleOf(executable),
      (role) => role === 'follower',
    )
    const url = `${executable.listening.address}api/events/${ID}`
    expect(await (await fetch(url)).text()).toContain('Tosca')
    expect(await source.child.stop()).toBe(0)
    const role = await eventually(
      () => roleOf(executable),
      (now) => now === 'leader',
    )
    expect([role, (await fetch(url)).status]).toEqual(['leader', 200])
    expect(await executable.child.stop()).toBe(0)
    for (const directory of [...directories, crm]) directory.remove()
    await redis.remove()
  }, 90_000)
})
