import { describe, expect, it } from 'bun:test'
import { join } from 'node:path'
import type { Runtime } from '../support/child.ts'
import { Child, programOf } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import type { MarqueeProcess } from '../support/marquee-process.ts'
import { untilListening } from '../support/marquee-process.ts'
import { exchange } from '../support/raw-client.ts'
import type { Reply } from '../support/reply.ts'
import { parseReply } from '../support/reply.ts'
import { requestTo } from './large-rows.ts'
import { RawConnection } from './raw-connection.ts'
import type { Mood } from './stand-in-crm.ts'
import { STAND_IN_EVENT } from './stand-in-crm.ts'
import type { StandInReport, StandInSettings } from './stand-in-service.ts'
import { residentMb } from './victim.ts'
import { RUNTIMES } from '../support/depth.ts'

const TARGET = `/api/events/${STAND_IN_EVENT}`
const EVERY_100_MS = {
  maxAgeMs: 1000,
  refreshEveryMs: 100,
  fullReadEveryMs: 900_000,
  staleIfErrorMs: 0,
  shrinkGuardMs: 86_400_000,
}
const USUAL: StandInSettings = {
  freshness: EVERY_100_MS,
  limits: { waiting: 1000, waitForMs: 2000 },
  idleMs: 75_000,
  patienceMs: 300,
}
/** Far more than a machine may stand still. */
const LONG_MS = 120_000
/** Each request is answered from a read that began after it. */
const AT_ONCE: Partial<StandInSettings> = {
  freshness: { ...EVERY_100_MS, maxAgeMs: 0, refreshEveryMs: 3_600_000 },
  limits: { waiting: 1000, waitForMs: LONG_MS },
  patienceMs: LONG_MS,
}

/** The service before a stand-in CRM. */
class StandIn {
  readonly process: MarqueeProcess
  constructor(process: MarqueeProcess) {
    this.process = process
  }

  async ask(target: string): Promise<Reply> {
    const text = `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
    return parseReply(await exchange(this.process.port, text))
  }

  async order(path: string): Promise<StandInReport> {
    const answer = await fetch(`${this.process.listening.operations}${path}`)
    return (await answer.json()) as StandInReport
  }

  mood(mood: Mood, name?: string): Promise<StandInReport> {
    return this.order(`/mood?is=${mood}${name === undefined ? '' : `&name=${name}`}`)
  }

  /** Resolves with the first answer of this status. */
  becomes(status: number): Promise<Reply> {
    return eventually(
      () => this.ask(TARGET),
      (reply) => reply.status === status,
    )
  }
}

/** Runs it on both runtimes side by side: most of the time is waiting. */
async function onBoth(settings: Partial<StandInSettings>, work: (it: StandIn, runtime: Runtime) => Promise<void>) {
  await Promise.all(RUNTIMES.map((runtime) => using(runtime, settings, work)))
}

async function using(
  runtime: Runtime,
  settings: Partial<StandInSettings>,
  work: (it: StandIn, runtime: Runtime) => Promise<void>,
) {
  const argument = JSON.stringify({ ...USUAL, ...settings })
  const child = new Child(programOf(runtime), [join(import.meta.dirname, 'stand-in-service.ts'), argument])
  const standIn = new StandIn(await untilListening(child))
  try {
    await standIn.becomes(200)
    await work(standIn, runtime)
    expect((await standIn.order('/')).internalErrors).toBe(0)
  } finally {
    child.signal('SIGKILL')
    await child.exited
  }
}

describe('refreshing without hurting, on Bun and on Node', () => {
  // One after the other: two times 10,000 sockets are more than a process may have.
  it.each(RUNTIMES)(
    '10,000 clients wait for a CRM that hangs: so many wait, so long; the others have their 502 at once; memory is flat (%s)',
    (name) =>
      using(name, { limits: { waiting: 1000, waitForMs: 2000 }, patienceMs: 3_600_000 }, async (standIn, runtime) => {
        const { pid } = standIn.process.child
        const connections: RawConnection[] = []
        while (connections.length < 10_000) {
          const opening = Array.from({ length: 500 }, () => RawConnection.open(standIn.process.port))
          const some = await Promise.all(opening)
          // A loaded machine opens all in more than the 10 s that a silent connection may last; one that was answered
          // may last longer.
          for (const connection of some) connection.read().send(requestTo('/nothing'))
          await Promise.all(some.map((connection) => connection.until((text) => text.includes('"instance"'))))
          for (const connection of some) connection.forget()
          connections.push(...some)
        }
        const before = residentMb(pid)
        await standIn.mood('hangs')
        // The first who waited in vain tells that the maximum age is past.
        await standIn.becomes(502)
        // The CRM is not given up meanwhile: whoever waits is answered because of the limit alone.
        for (const connection of connections) connection.send(requestTo(TARGET))
        const answers = connections.map((connection) => connection.until((text) => text.includes('"instance"')))
        for (const answer of await Promise.all(answers)) {
          expect(answer).toMatch(/^HTTP\/1\.1 502 .*\r\nRetry-After: [1-9]\r\n/s)
        }
        const grownMb = residentMb(pid) - before
        const { mostWaiting: most } = await standIn.order('/')
        const figures = `at most ${most} waited, ${Math.round(grownMb)} MB more`
        console.log(`${runtime}: 10,000 clients of a CRM that hangs: ${figures}`)
        // One is the request that told of the maximum age.
        expect(most).toBeGreaterThan(1)
        expect(most).toBeLessThanOrEqual(1000)
        expect(grownMb).toBeLessThan(200)
        await standIn.mood('answers')
        await standIn.order('/release')
        await standIn.becomes(200)
        for (const connection of connections) connection.destroy()
      }),
  )

  it('a read that hangs is given up at its limit, and what it brings late is never used', () =>
    onBoth({}, async (standIn) => {
      await standIn.mood('hangs')
      await standIn.becomes(502)
      await standIn.mood('cuts', 'late')
      await standIn.order('/release')
      const { reads } = await standIn.order('/')
      const seen: string[] = []
      await eventually(
        async () => {
          seen.push((await standIn.ask(TARGET)).body)
          return standIn.order('/')
        },
        (report) => report.reads > reads,
      )
      expect(seen.filter((body) => body.includes('late'))).toEqual([])
      await standIn.mood('answers', 'mended')
      expect((await standIn.becomes(200)).body).toContain('"Name":"mended"')
    }))

  it('a CRM that drips, cuts, answers garbage, and comes back: 502 past the maximum age, and served again', () =>
    onBoth({}, async (standIn) => {
      for (const mood of ['drips', 'cuts', 'garbage'] as const) {
        await standIn.mood(mood)
        await standIn.becomes(502)
        await standIn.mood('answers', mood)
        expect((await standIn.becomes(200)).body).toContain(`"Name":"${mood}"`)
      }
    }))

  it('Retry-After is true: no read comes before it, and who heeds it is answered', () =>
    onBoth({}, async (standIn) => {
      await standIn.mood('busy')
      let askedMs = 0
      const reply = await eventually(
        () => ((askedMs = performance.now()), standIn.ask(TARGET)),
        ({ status }) => status === 502,
      )
      const { reads } = await standIn.mood('answers')
      const retryAfterMs = Number(reply.headers.get('retry-after')) * 1000
      expect(retryAfterMs).toBeGreaterThan(0)
      expect(retryAfterMs).toBeLessThanOrEqual(3000)
      await standIn.becomes(200)
      // It is in whole seconds, rounded up. From before the request: what holds this process up must not count.
      expect(performance.now() - askedMs).toBeGreaterThan(retryAfterMs - 1100)
      expect((await standIn.order('/')).reads).toBeGreaterThan(reads)
    }))

  it('the CRM is read as often under a flood as without anybody, and never twice at once', () =>
    onBoth({}, async (standIn, runtime) => {
      const targets = [TARGET, '/api/events/00000000-0000-4000-8000-00000000dead', '/api/venues/null', '/x']
      /** Until there were so many reads and requests, on a machine that stands still for a while too. */
      const window = async (
        workers: number,
        least: number,
      ): Promise<{ reads: number; mostReads: number; asked: number }> => {
        let [asked, reads] = [0, 0]
        const begunMs = performance.now()
        const { reads: before } = await standIn.order('/')
        const isOver = (): boolean => reads > 20 && asked >= least
        const flood = Array.from({ length: workers }, async () => {
          while (!isOver()) await standIn.ask(targets[asked++ % targets.length] ?? '')
        })
        await eventually(async () => ((reads = (await standIn.order('/')).reads - before), isOver()), Boolean)
        await Promise.all(flood)
        reads = (await standIn.order('/')).reads - before
        // Each list every 100 ms, and one under way at the beginning.
        return { reads, mostReads: 2 * ((performance.now() - begunMs) / EVERY_100_MS.refreshEveryMs + 1), asked }
      }
      const quiet = await window(0, 0)
      const flooded = await window(30, 500)
      console.log(
        `${runtime}: ${quiet.reads} reads of at most ${Math.round(quiet.mostReads)} without a request, ${flooded.reads} of at most ${Math.round(flooded.mostReads)} under ${flooded.asked}`,
      )
      expect(quiet.reads).toBeLessThanOrEqual(quiet.mostReads)
      expect(flooded.reads).toBeLessThanOrEqual(flooded.mostReads)
      // One of each list.
      expect((await standIn.order('/')).mostReadsAtOnce).toBeLessThanOrEqual(2)
    }))

  it('a maximum age of 0 makes all who wait share one read', () =>
    onBoth(AT_ONCE, async (standIn) => {
      const { reads } = await standIn.order('/')
      const replies = await Promise.all(Array.from({ length: 200 }, () => standIn.ask(TARGET)))
      expect(replies.filter(({ status }) => status !== 200)).toEqual([])
      const after = await standIn.order('/')
      expect(after.reads).toBeGreaterThan(reads)
      expect(after.reads - reads).toBeLessThan(200)
      expect(after.mostReadsAtOnce).toBeLessThanOrEqual(2)
    }))

  it('a request may wait longer than a connection may be idle', () =>
    onBoth(
      {
        ...AT_ONCE,
        idleMs: 1000,
      },
      async (standIn) => {
        await standIn.mood('slow')
        const connection = (await RawConnection.open(standIn.process.port)).read()
        connection.send(requestTo(TARGET))
        const answer = await connection.until((text) => text.includes('"_embedded"'))
        expect(answer).toStartWith('HTTP/1.1 200 ')
        // And then it is idle.
        await connection.closed
      },
    ))
})
