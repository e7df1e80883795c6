import { afterAll, afterEach, beforeAll, expect, it } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Autocannon } from '../../bench/load/autocannon.ts'
import { UNKNOWN_SHARE } from '../../bench/load/callers.ts'
import type { Lists } from '../../bench/lists/data.ts'
import { writeLists } from '../../bench/lists/data.ts'
import { RUNTIMES } from '../../bench/report/figure.ts'
import { measure } from '../../bench/measure/round.ts'
import type { Server } from '../../bench/servers/server.ts'
import { untilServing } from '../../bench/servers/server.ts'
import { median, ratios, spread } from '../../bench/report/statistics.ts'
import type { Runtime } from '../support/child.ts'
import { Child, programOf } from '../support/child.ts'
import { freePort } from '../support/free-port.ts'
import { describeWithProc } from './needs-proc.ts'

const EVENTS = 2000
const ROUNDS = 5
const SECONDS = 0.4
/** A round on a loaded machine goes on until so many were answered: what a runtime compiles is spread over them. */
const REQUESTS = 3000
/** Before they count: until then both compile. */
const WARM_REQUESTS = 8000

/**
 * Twice what is measured on a quiet machine, so that a busy one fails nothing. autocannon sends less than a server can
 * take, which brings the ratios together: those of `npm run bench` are larger.
 */
const CEILINGS: Readonly<Record<Runtime, number>> = { bun: 2.8, node: 2.6 }

describeWithProc('what a request costs, against the same runtime answering constant bytes', () => {
  const directory = mkdtempSync(join(tmpdir(), 'marquee-request-cost-'))
  let lists: Lists
  let client: Autocannon
  const running: Child[] = []

  beforeAll(() => {
    lists = writeLists(directory, EVENTS)
    client = new Autocannon(lists.idsFile)
  })

  // Also after a failure.
  afterEach(async () => {
    await Promise.all(running.splice(0).map((child) => child.stop()))
  })

  afterAll(async () => {
    await client.stop()
    rmSync(directory, { recursive: true })
  })

  for (const runtime of RUNTIMES) {
    const ceiling = CEILINGS[runtime]
    it(`is below ${ceiling} times that on ${runtime}, by processor time and with every format asked for`, async () => {
      const floor = await startFloor(runtime)
      const marquee = await startMarquee(runtime)
      const costs = new Map<Server, number[]>([
        [floor, []],
        [marquee, []],
      ])
      for (let round = 0; round <= ROUNDS; round++) {
        for (const [server, of] of costs) {
          const { cpuUs, requests, refused } = await measureRequests(server, round === 0 ? WARM_REQUESTS : REQUESTS)
          // A service that refuses what it should answer is cheap. Ids are drawn at random: of less than some 2,000
          // requests the share is less sure than that, by four standard deviations.
          const tolerance = Math.max(0.02, 4 * Math.sqrt((UNKNOWN_SHARE * (1 - UNKNOWN_SHARE)) / requests))
          expect(Math.abs(refused / requests - (server === marquee ? UNKNOWN_SHARE : 0))).toBeLessThan(tolerance)
          if (round > 0) of.push(cpuUs / requests)
        }
      }
      const against = ratios(costs.get(marquee) ?? [], costs.get(floor) ?? [])
      console.log(`${runtime}: ${spread(against)} times the floor, of at most ${ceiling}`)
      expect(median(against)).toBeLessThan(ceiling)
    })
  }

  /** Measures a server until it has answered so many requests. */
  async function measureRequests(server: Server, count: number) {
    let [cpuUs, requests, refused] = [0, 0, 0]
    while (requests < count) {
      const part = await measure(server, client, SECONDS)
      expect(part.errors).toBe(0)
      if (part.requests === 0) continue
      cpuUs += part.cpuUsPerRequest * part.requests
      requests += part.requests
      refused += part.refused
    }
    return { cpuUs, requests, refused }
  }

  async function startFloor(runtime: Runtime): Promise<Server> {
    const port = await freePort()
    return start(`the floor on ${runtime}`, runtime, port, [`bench/servers/apps/floor-${runtime}.ts`, String(port)])
  }

  async function startMarquee(runtime: Runtime): Promise<Server> {
    const port = await freePort()
    const file = join(directory, `${runtime}.yaml`)
    writeFileSync(file, JSON.stringify({ listen: { port }, operations: null, crm: { kind: 'files', directory } }))
    return start(`Marquee on ${runtime}`, runtime, port, ['src/main.ts', 'serve', '--config', file])
  }

  function start(name: string, runtime: Runtime, port: number, args: readonly string[]): Promise<Server> {
    const child = new Child(programOf(runtime), args)
    running.push(child)
    return untilServing(name, child, port, lists.lastId)
  }
})
