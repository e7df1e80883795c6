import { describe, expect, it } from 'bun:test'
import { join } from 'node:path'
import { EVENT, LISTS } from '../contract/rows.ts'
import type { Runtime } from '../support/child.ts'
import { Child, programOf, ROOT } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { Service, writeEvents } from '../snapshot/service.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { freePort } from '../support/free-port.ts'
import { serve, untilListening } from '../support/marquee-process.ts'
import { accepts, exchange } from '../support/raw-client.ts'
import { parseReply } from '../support/reply.ts'
import { LARGE_IS_ON, CALENDAR_TARGET, LARGE_LISTS, requestTo, TARGET } from './large-rows.ts'
import { RawConnection } from './raw-connection.ts'
import { silentCrm } from './silent-crm.ts'
import { Victim } from './victim.ts'
import { BOTH_RUNTIMES } from '../support/depth.ts'

/** What a stop may take where nobody holds it up: far less than limits.drain, which it would otherwise wait for. */
const PROMPT_MS = 60_000
const LONG_DRAIN = { limits: { drain: '3m' } }

interface Tally {
  readonly sent: number
  readonly answered: number
  readonly wrong: number
  readonly lostSentAtMs: readonly number[]
}

/** How long a service takes requests after its log says that it stops (docs/operations.md), less what clocks differ. */
const TAKEN_MS = 90

/** When a service began to stop, by its log. */
function stoppingAtMs({ stdout }: Child): number {
  const line = stdout.split('\n').find((text) => text.includes('"event":"stopping"'))
  if (line === undefined) throw new Error(`it never said that it stops:\n${stdout}`)
  return Date.parse((JSON.parse(line) as { time: string }).time)
}

/**
 * Requests that were lost though the service still took them. A client that the machine held up, and that sent later,
 * meets a closed connection, and says nothing of the service.
 */
function lostOf(
  { lostSentAtMs }: Pick<Tally, 'lostSentAtMs'>,
  child: Child,
): { readonly lost: number; readonly late: number } {
  const untilMs = stoppingAtMs(child) + TAKEN_MS
  const late = lostSentAtMs.filter((atMs) => atMs > untilMs).length
  return { lost: lostSentAtMs.length - late, late }
}

/** Clients in a process of their own, on 50 keep-alive connections, who go on until nobody listens. */
async function load(port: number, atOnce = 1): Promise<{ tally: Promise<Tally> }> {
  const program = join(import.meta.dirname, 'keep-alive-load.ts')
  const child = new Child(process.execPath, [program, String(port), TARGET, '50', String(atOnce)])
  await child.line((line) => line.includes('loading'))
  const tally = child.exited.then(() => JSON.parse(child.stdout.trim().split('\n').at(-1) ?? '{}') as Tally)
  return { tally }
}

async function statusOf(port: number, target: string): Promise<number> {
  return parseReply(await exchange(port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)).status
}

/** As much as a page may have: more than the sockets between hold before the client reads. */
const LARGE_LENGTH = 2_000_000

/** Runs `serve` through a shell that does something to its standard output. */
function serveInto(runtime: Runtime, configuration: string, redirection: string): Child {
  const line = `exec '${programOf(runtime)}' src/main.ts serve --config '${configuration}' ${redirection}`
  return new Child('bash', ['-c', line])
}

for (const runtime of BOTH_RUNTIMES) {
  describe(`stop and start, on ${runtime}`, () => {
    it('SIGTERM under load: every request that was sent has its whole answer', async () => {
      const victim = await Victim.start(runtime, LONG_DRAIN, LISTS)
      const { tally } = await load(victim.port)
      for (let asked = 0; asked < 50; asked++) expect((await victim.ask(TARGET)).status).toBe(200)
      const started = performance.now()
      expect(await victim.stop()).toBe(0)
      expect(performance.now() - started).toBeLessThan(PROMPT_MS)
      const { sent, answered, wrong, ...rest } = await tally
      const { lost, late } = lostOf(rest, victim.process.child)
      console.log(
        `${runtime}: SIGTERM with 50 clients: ${sent} sent, ${answered} answered, ${wrong} wrong, ${lost} lost, ${late} sent too late`,
      )
      expect(answered).toBeGreaterThanOrEqual(50)
      expect({ answered: answered + late, wrong, lost }).toEqual({ answered: sent, wrong: 0, lost: 0 })
    })

    it('SIGTERM while clients pipeline: on Node every request has its answer, on Bun what has none can be sent again', async () => {
      const victim = await Victim.start(runtime, {}, LISTS)
      const { tally } = await load(victim.port, 8)
      for (let asked = 0; asked < 50; asked++) expect((await victim.ask(TARGET)).status).toBe(200)
      expect(await victim.stop()).toBe(0)
      const { sent, answered, wrong, ...rest } = await tally
      const { lost, late } = lostOf(rest, victim.process.child)
      console.log(
        `${runtime}: SIGTERM with 50 pipelining clients: ${sent} sent, ${answered} answered, ${lost} lost, ${late} sent too late`,
      )
      expect(answered).toBeGreaterThanOrEqual(400)
      expect({ answered: answered + lost + late, wrong }).toEqual({ answered: sent, wrong: 0 })
      if (runtime === 'node') expect(lost).toBe(0)
    })

    it('SIGTERM as soon as it answers: it ends in order, whatever it is still starting', async () => {
      const port = await freePort()
      const directory = new FilesDirectory({ listen: { port }, operations: { port: 0 } }, LISTS)
      const child = new Child(programOf(runtime), ['src/main.ts', 'serve', '--config', directory.configuration])
      await eventually(
        () => statusOf(port, '/').catch(() => 0),
        (status) => status === 404,
      )
      expect(await child.stop()).toBe(0)
      directory.remove()
    })

    it('the same with npm as the parent', async () => {
      const directory = new FilesDirectory({}, LISTS)
      const script = runtime === 'bun' ? 'start' : 'start:node'
      const npm = new Child('npm', ['run', '--prefix', ROOT, script, '--', '--config', directory.configuration])
      const { port } = await untilListening(npm)
      const { tally } = await load(port)
      expect(await statusOf(port, TARGET)).toBe(200)
      npm.signal('SIGTERM')
      const { sent, answered, wrong, ...rest } = await tally
      await npm.exited
      const { lost, late } = lostOf(rest, npm)
      expect({ answered: answered + late, wrong, lost }).toEqual({ answered: sent, wrong: 0, lost: 0 })
      directory.remove()
    })

    it('SIGTERM while a client reads slowly: it has all of its answer', async () => {
      const victim = await Victim.start(runtime, LARGE_IS_ON, LARGE_LISTS)
      const slow = await RawConnection.open(victim.port)
      slow.send(requestTo(CALENDAR_TARGET))
      expect((await victim.ask(TARGET)).status).toBe(200)
      victim.process.child.signal('SIGTERM')
      await eventually(
        () => accepts(victim.port),
        (accepted) => !accepted,
      )
      const received = await slow.read().until(() => false)
      expect(received).toEndWith('END:VCALENDAR\r\n')
      expect(received.length).toBeGreaterThan(LARGE_LENGTH)
      expect(await victim.stop()).toBe(0)
    })

    it('SIGTERM while the CRM hangs in the middle of a read: it does not wait for it', async () => {
      const crm = await silentCrm(LONG_DRAIN)
      const child = new Child(programOf(runtime), ['src/main.ts', 'serve', '--config', crm.configuration])
      await crm.asked
      await untilListening(child)
      const started = performance.now()
      expect(await child.stop()).toBe(0)
      expect(performance.now() - started).toBeLessThan(PROMPT_MS)
      crm.close()
    })

    it('SIGTERM during a first read: that it is cut off is no failure of the CRM', async () => {
      const service = await Service.create({ crm: { kind: 'files', directory: './crm' }, snapshot: null })
      writeEvents(service.folder, 200_000)
      const child = service.spawn(runtime)
      await eventually(
        () => service.ask('/'),
        ({ status }) => status !== 0,
      )
      expect(await child.stop()).toBe(0)
      expect(child.stdout).toContain('"event":"stopping"')
      expect(child.stdout).not.toContain('"level":"warn"')
      service.remove()
    })

    it('a stop whose event loop stands still: a request that arrives meanwhile has its answer', async () => {
      const child = new Child(programOf(runtime), ['test/faults/stalled-stop.ts'])
      expect(await child.exited).toBe(0)
      expect(child.stdout.trim()).toBe('HTTP/1.1 204 No Content')
    })

    it('SIGKILL, and another on the same port serves within its start time', async () => {
      const port = await freePort()
      const directory = new FilesDirectory({ listen: { port } }, LISTS)
      for (let time = 0; time < 2; time++) {
        const { child } = await serve(runtime, directory.configuration)
        expect(await statusOf(port, TARGET)).toBe(200)
        child.signal('SIGKILL')
        expect(await child.exited).toBe('SIGKILL')
      }
      directory.remove()
    })

    it.each([
      ['a full disk', '> /dev/full'],
      ['a reader that has gone', '> >(head -n 1)'],
      ['nobody at all, nor for errors', '>&- 2>&-'],
    ])('the log goes to %s: the service goes on, and ends as always', async (_, redirection) => {
      const port = await freePort()
      const settings = {
        listen: { port },
        freshness: { maxAge: '300ms', refreshEvery: '50ms' },
        log: { requests: true },
      }
      const directory = new FilesDirectory(settings, LISTS)
      const child = serveInto(runtime, directory.configuration, redirection)
      const status = async (): Promise<number> => ((await accepts(port)) ? statusOf(port, `/events/${EVENT}`) : 0)
      const becomes = (expected: number): Promise<number> => eventually(status, (now) => now === expected)
      await becomes(200)
      // Each change of fortune is a line, as is each request.
      directory.write('events', '[')
      await becomes(502)
      directory.write('events', LISTS.events ?? '')
      await becomes(200)
      expect(await child.stop()).toBe(0)
      directory.remove()
    })
  })
}
