import { afterAll, beforeAll, expect, it } from 'bun:test'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { describeWithRedis } from '../cluster/needs-redis.ts'
import { HAS_NGINX, startFront } from '../cluster/nginx.ts'
import { RealFleet } from '../cluster/real-fleet.ts'
import type { RealInstance } from '../cluster/real-instance.ts'
import { ROOT, type Runtime } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { RedisServer } from '../support/redis-server.ts'

const NEXT_VERSION = '99.0.0'
const CALLERS = 4
const PATIENCE_MS = 120_000
const RUNTIMES: readonly Runtime[] = ['bun', 'node', 'bun']

if (!HAS_NGINX) console.warn('SKIPPED, for nginx is not installed (apt-get install nginx): a rolling upgrade')

let folder = ''
let redis: RedisServer
beforeAll(async () => {
  folder = nextBuild()
  redis = await RedisServer.start()
})
afterAll(async () => {
  await redis.remove()
  rmSync(folder, { recursive: true })
})

/** A copy of this build whose version is higher, and whose snapshots and log have another format. */
function nextBuild(): string {
  const into = mkdtempSync(join(tmpdir(), 'marquee-next-'))
  for (const name of ['src', 'package.json', 'sample', 'docs']) {
    cpSync(join(ROOT, name), join(into, name), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(into, 'node_modules'))
  change(join(into, 'package.json'), /"version": "[^"]+"/, () => `"version": "${NEXT_VERSION}"`)
  change(
    join(into, 'src/snapshot/snapshot-lines.ts'),
    /SNAPSHOT_FORMAT = (\d+)/,
    (_, format: string) => `SNAPSHOT_FORMAT = ${Number(format) + 1}`,
  )
  return into
}

function change(path: string, pattern: RegExp, to: (...found: string[]) => string): void {
  const before = readFileSync(path, 'utf8')
  const after = before.replace(pattern, to)
  if (after === before) throw new Error(`${path} has nothing like ${pattern}`)
  writeFileSync(path, after)
}

describeWithRedis('three instances are upgraded one after the other, under load', () => {
  it.skipIf(!HAS_NGINX)(
    'to a build with another format, and back: nobody gets an error or a wrong answer',
    async () => {
      const fleet = new RealFleet({ cluster: { url: redis.url, heartbeat: '100ms' } })
      const ports = [await freePort(), await freePort(), await freePort()]
      const main = join(folder, 'src/main.ts')
      const begin = (index: number, program?: string): Promise<RealInstance> =>
        fleet.start(RUNTIMES[index] ?? 'bun', { listen: { port: ports[index] } }, program)
      const running = await Promise.all(ports.map((_, index) => begin(index)))
      await fleet.leader()
      const front = await startFront(ports)
      let isOver = false
      fleet.beginWriting()
      const calls = Array.from({ length: CALLERS }, () => fleet.callFront(front.address, () => isOver))
      try {
        for (const program of [main, undefined]) {
          for (const [index, instance] of running.entries()) {
            await fleet.stop(instance)
            const next = await begin(index, program)
            await eventually(
              () => next.status(),
              (told) => told?.ready === true,
            )
            running[index] = next
          }
          // All of one build again: one of them reads for all, by the log of their format.
          await fleet.leader()
          const versions = await Promise.all(running.map(async (each) => (await each.status())?.cluster.versions))
          for (const told of versions) expect(told).toEqual([program === main ? NEXT_VERSION : manifest.version])
        }
      } finally {
        isOver = true
        fleet.endWriting()
      }
      const ended = await Promise.all(calls)
      await fleet.untilEqual()
      await front.stop()
      await fleet.end()
      expect(ended.flatMap(({ wrong }) => wrong).slice(0, 10)).toEqual([])
      const answers = ended.reduce((sum, { answers: some }) => sum + some, 0)
      console.log(`a rolling upgrade and back: ${answers} answers`)
      expect(answers).toBeGreaterThan(1000)
    },
    PATIENCE_MS * 2,
  )
})
