import { afterAll, describe, expect, it } from 'bun:test'
import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Runtime } from '../support/child.ts'
import { programOf, ROOT } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { freePort } from '../support/free-port.ts'
import { askOperations, sampleOf } from '../support/operations-client.ts'
import { exchange } from '../support/raw-client.ts'
import { RUNTIMES } from '../support/depth.ts'

const LOST = 'marquee_log_lines_dropped_total'
const FILE_KB = 16
const AT_ONCE = 50

const folder = mkdtempSync(join(tmpdir(), 'marquee-log-'))
const small = join(folder, 'small')
const canMount =
  spawnSync('sh', ['-c', `mkdir ${small} && mount -t tmpfs -o size=${FILE_KB}k marquee-test ${small} 2>/dev/null`])
    .status === 0
const left = new Set<ChildProcess>()
afterAll(() => {
  // Of a test that failed.
  for (const child of left) child.kill('SIGKILL')
  if (canMount) spawnSync('sh', ['-c', `umount -l ${small}`])
  rmSync(folder, { recursive: true })
})

/** A service that logs each request, on standard output that `command` makes of it. */
async function start(runtime: Runtime, command: string) {
  const [port, operationsPort] = [await freePort(), await freePort()]
  const settings = {
    listen: { port },
    operations: { port: operationsPort },
    log: { requests: true },
    freshness: { maxAge: '10m', refreshEvery: '10m' },
    // Its line would be one that is no request.
    snapshot: null,
  }
  const directory = new FilesDirectory(settings, { events: '[]', venues: '[]' })
  const args = ['-c', command, programOf(runtime), 'src/main.ts', 'serve', '--config', directory.configuration]
  const child = spawn('bash', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
  left.add(child)
  child.stdout.setEncoding('utf8')
  const operations = `http://127.0.0.1:${operationsPort}`
  await eventually(
    () => askOperations(`${operations}/ready`),
    (reply) => reply?.status === 200,
  )
  let asked = 0
  return {
    child,
    directory,
    /** Requests, of which each is a line of the log. */
    async ask(): Promise<void> {
      const request = (): string => `GET /${asked++} HTTP/1.1\r\nHost: x\r\n`
      const requests = Array.from({ length: AT_ONCE - 1 }, () => `${request()}\r\n`).join('')
      await exchange(port, `${requests}${request()}Connection: close\r\n\r\n`)
    },
    get asked(): number {
      return asked
    },
    /** Lines that could not be written so far. */
    async lost(): Promise<number> {
      return sampleOf((await askOperations(`${operations}/metrics`))?.text ?? '', LOST) ?? 0
    },
  }
}

type Started = Awaited<ReturnType<typeof start>>

/**
 * Which requests are in lines that are whole, and how many lines others say were lost; a line that is neither must be
 * torn.
 */
function tally(log: string): { readonly paths: readonly string[]; readonly lost: number; readonly torn: number } {
  const paths: string[] = []
  let [lost, torn] = [0, 0]
  for (const text of log.split('\n').filter((line) => line !== '')) {
    try {
      const line = JSON.parse(text) as { event: string; path?: string; lines?: number }
      if (line.path !== undefined) paths.push(line.path)
      if (line.event === 'lines-lost') lost += line.lines ?? 0
    } catch {
      torn++
      // Its beginning is that of a line, and nothing of another one is in it.
      expect(text.split('{"time"').length).toBe(2)
    }
  }
  return { paths, lost, torn }
}

async function end({ child, directory }: Started): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  expect((await exited)[0]).toBe(0)
  left.delete(child)
  directory.remove()
}

const FULL = [
  // bash counts in KB; without the trap the signal would end the process.
  ['a file that may not grow', folder, `trap '' XFSZ; ulimit -f ${FILE_KB};`],
  ...(canMount ? [['a file system that is full', small, ''] as const] : []),
] as const
if (!canMount) console.warn('A file system of its own cannot be mounted here: a log on a full one is not tested.')

describe.each(RUNTIMES)('the log, on %s', (runtime) => {
  it.each(FULL)(
    'to %s: it goes on with a new line when there is room again, and says how many were lost',
    async (_, where, before) => {
      const path = join(where, `${runtime}.log`)
      const service = await start(runtime, `${before} exec "$0" "$@" >> ${path}`)
      let log = ''
      for (let round = 1; round <= 3; round++) {
        const already = await service.lost()
        await eventually(
          async () => {
            await service.ask()
            return service.lost()
          },
          (lost) => lost > already + AT_ONCE,
        )
        expect(statSync(path).size).toBe(FILE_KB * 1024)
        // As logrotate's copytruncate does.
        log += readFileSync(path, 'utf8')
        truncateSync(path)
        await service.ask()
      }
      const lostLines = await service.lost()
      await end(service)
      log += readFileSync(path, 'utf8')
      const { paths, lost, torn } = tally(log)
      expect([lost, paths.length + lost]).toEqual([lostLines, service.asked])
      // A line may end just where the room does.
      expect(torn).toBeLessThanOrEqual(3)
      expect(new Set(paths).size).toBe(paths.length)
      rmSync(path)
    },
  )

  it('to a reader that stood still: it says how many lines were lost when it reads again', async () => {
    const service = await start(runtime, 'exec "$0" "$@"')
    await eventually(
      async () => {
        for (let times = 0; times < 20; times++) await service.ask()
        return service.lost()
      },
      (lost) => lost > 1000,
    )
    const lostLines = await service.lost()
    let log = ''
    service.child.stdout.on('data', (text: string) => (log += text))
    const said = await eventually(
      async () => {
        await service.ask()
        return tally(log.slice(0, log.lastIndexOf('\n')))
      },
      ({ lost }) => lost > 0,
    )
    expect(said.lost).toBeGreaterThanOrEqual(lostLines)
    const closed = once(service.child.stdout, 'close')
    const finallyLost = await service.lost()
    await end(service)
    await closed
    const { paths, lost, torn } = tally(log)
    expect([lost, paths.length + lost, torn]).toEqual([finallyLost, service.asked, 0])
  })
})
