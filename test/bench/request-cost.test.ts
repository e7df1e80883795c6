import { afterAll, afterEach, beforeAll, expect, it } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Lists, writeLists } from '../../bench/lists.ts'
import { pacedResult, startPaced, UNKNOWN_SHARE, untilAnswered } from '../../bench/load.ts'
import { RUNTIMES, usageOf } from '../../bench/machine.ts'
import { median, ratios, spread } from '../../bench/report.ts'
import type { Runtime } from '../support/child.ts'
import { Child, programOf } from '../support/child.ts'
import { freePort } from '../support/free-port.ts'
import { describeWithProc } from './needs-proc.ts'

const EVENTS = 2000
const ROUNDS = 3
/** Requests a second: the same for both servers, and less than either can answer. */
const RATE = 4000
const SECONDS = 1

/** Twice what is measured on a quiet machine, so that a busy one fails nothing. */
const CEILINGS: Readonly<Record<Runtime, number>> = { bun: 2.8, node: 2.6 }

interface Server {
  readonly pid: number
  readonly port: number
}

describeWithProc('what a request costs, against the same runtime answering constant bytes', () => {
  const directory = mkdtempSync(join(tmpdir(), 'marquee-request-cost-'))
  let lists: Lists
  const running: Child[] = []

  beforeAll(() => {
    lists = writeLists(directory, EVENTS)
  })

  // Also after a failure.
  afterEach(async () => {
    await Promise.all(running.splice(0).map((child) => child.stop()))
  })

  afterAll(() => rmSync(directory, { recursive: true }))

  for (const runtime of RUNTIMES) {
    const ceiling = CEILINGS[runtime]
    it(`is below ${ceiling} times that on ${runtime}, by processor time and with every format asked for`, async () => {
      const floor = await start(runtime, (port) => [`bench/apps/floor-${runtime}.ts`, String(port)])
      const marquee = await start(runtime, (port) => {
        const file = join(directory, `${runtime}.yaml`)
        writeFileSync(file, JSON.stringify({ listen: { port }, operations: null, crm: { kind: 'files', directory } }))
        return ['src/main.ts', 'serve', '--config', file]
      })
      const costs = new Map<Server, number[]>([
        [floor, []],
        [marquee, []],
      ])
      for (let round = 0; round <= ROUNDS; round++) {
        for (const [server, of] of costs) {
          const before = usageOf(server.pid).cpuUs
          const { requests, refused } = await pacedResult(
            startPaced(server.port, lists.idsFile, RATE, SECONDS, 0),
            SECONDS,
          )
          // A service that refuses what it should answer is cheap.
          const tolerance = 4 * Math.sqrt((UNKNOWN_SHARE * (1 - UNKNOWN_SHARE)) / requests)
          expect(Math.abs(refused / requests - (server === marquee ? UNKNOWN_SHARE : 0))).toBeLessThan(tolerance)
          if (round > 0) of.push((usageOf(server.pid).cpuUs - before) / requests)
        }
      }
      const against = ratios(costs.get(marquee) ?? [], costs.get(floor) ?? [])
      console.log(`${runtime}: ${spread(against)} times the floor, of at most ${ceiling}`)
      expect(median(against)).toBeLessThan(ceiling)
    })
  }

  async function start(runtime: Runtime, args: (port: number) => readonly string[]): Promise<Server> {
    const port = await freePort()
    const child = new Child(programOf(runtime), args(port))
    running.push(child)
    await untilAnswered(child, port, lists.lastId)
    return { pid: child.pid, port }
  }
})
