import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { LISTS } from '../contract/rows.ts'
import { requestTo, TARGET } from './large-rows.ts'
import { RawConnection } from './raw-connection.ts'
import { Victim } from './victim.ts'
import { RUNTIMES, IDLE_S } from '../support/depth.ts'

/** What a runtime may add: a tick of Bun's is 4 s, and the first one may count double; and a loaded machine. */
const MORE_S = 15
const PAUSE_MS = 100

interface Case {
  readonly name: string
  readonly idleS: number
  readonly victim: Victim
}

/** Asks, and resolves when the whole answer is there. */
async function ask(connection: RawConnection, answers: number): Promise<void> {
  connection.send(requestTo(TARGET))
  await connection.until((received) => received.split('"_embedded":null}').length > answers)
}

/** Asks on one connection for longer than it may be idle. Tells whether the machine let it be idle for so long. */
async function keepBusy(port: number, idleS: number): Promise<'kept' | 'closed' | 'held up'> {
  const connection = (await RawConnection.open(port)).read()
  const untilMs = performance.now() + (2 * idleS + 4) * 1000
  let [answers, pauseMs] = [0, 0]
  for (let fromMs = performance.now(); fromMs < untilMs && !connection.socket.destroyed; fromMs = performance.now()) {
    await ask(connection, ++answers)
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    pauseMs = Math.max(pauseMs, performance.now() - fromMs)
  }
  const outcome = connection.socket.destroyed ? 'closed' : 'kept'
  connection.destroy()
  return pauseMs > (idleS * 1000) / 2 ? 'held up' : outcome
}

// Nearly all of the time is waiting: all of them wait together.
describe('limits.idle is the least that an idle connection lives, on Bun and on Node', () => {
  let cases: readonly Case[]
  beforeAll(async () => {
    const started = RUNTIMES.flatMap((runtime) =>
      IDLE_S.map(async (idleS): Promise<Case> => {
        // Each request waits for a refresh, or none does.
        const freshness = idleS === 4 ? { maxAge: 0, refreshEvery: '10m' } : { maxAge: '10m' }
        const victim = await Victim.start(runtime, { limits: { idle: `${idleS}s` }, freshness }, LISTS)
        return { name: `${idleS} s on ${runtime}`, idleS, victim }
      }),
    )
    cases = await Promise.all(started)
  })
  afterAll(async () => {
    expect(await Promise.all(cases.map(({ victim }) => victim.stop()))).toEqual(cases.map(() => 0))
  })

  it(`at ${IDLE_S.join(', ')} s, whenever the last request came`, async () => {
    const lives = cases.flatMap(({ name, idleS, victim }) =>
      // Begun at different moments, since a clock of the runtime's own decides.
      Array.from({ length: 8 }, async (_, index) => {
        await new Promise((resolve) => setTimeout(resolve, index * 550))
        const connection = (await RawConnection.open(victim.port)).read()
        // From before the request: what holds this process up between the answer and its own clock must not count.
        const askedMs = performance.now()
        await ask(connection, 1)
        await connection.closed
        return { name, idleS, livedS: (performance.now() - askedMs) / 1000 }
      }),
    )
    for (const { name, idleS, livedS } of await Promise.all(lives)) {
      expect([name, livedS > idleS - 0.05 && livedS < idleS + MORE_S, livedS]).toEqual([name, true, livedS])
    }
  })

  it('a connection that is busy is not closed at all', async () => {
    const busy = cases
      .filter(({ idleS }) => idleS <= 4)
      .map(async ({ name, idleS, victim }) => {
        let outcome = await keepBusy(victim.port, idleS)
        while (outcome === 'held up') outcome = await keepBusy(victim.port, idleS)
        expect([name, outcome]).toEqual([name, 'kept'])
      })
    await Promise.all(busy)
  })

  it('is said at the start where the runtime cannot keep it: 252 s on Bun', async () => {
    for (const runtime of RUNTIMES) {
      for (const [idle, isSaid] of [
        ['252s', false],
        ['253s', runtime === 'bun'],
      ] as const) {
        const victim = await Victim.start(runtime, { limits: { idle } }, LISTS)
        expect(victim.process.child.stderr.includes('limits.idle')).toBe(isSaid)
        await victim.stop()
      }
    }
  })
})
