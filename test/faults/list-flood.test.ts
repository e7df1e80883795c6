import { describe, expect, it } from 'bun:test'
import { join } from 'node:path'
import { Child } from '../support/child.ts'
import { RUNTIMES } from '../support/depth.ts'
import { slowness } from '../support/machine-speed.ts'
import { mainThreadMs } from '../support/processor-time.ts'
import { Victim } from './victim.ts'

const EVENTS = 20_000
const CONNECTIONS = 8
const ASKED = 100
/** Requests of the flood that are answered meanwhile, however slowly a loaded machine lets it begin. */
const FLOOD = 400
/** No request takes longer, whatever it asks. */
const LONGEST_TURN_MS = 20
/** What reading the requests and writing the answers may add. */
const SLACK_MS = 50
const SLOWNESS = await slowness()
/** Never twice the same, so that none is ready: a page of 200 whose bodies may be. */
const PAGE = '/api/events?limit=200&to=2037-01-01T00:00:00.{n}Z'

function id(index: number): string {
  return `a0000000-0000-4000-8000-${String(index).padStart(12, '0')}`
}

function row(index: number): object {
  const day = `2036-${String(1 + (index % 12)).padStart(2, '0')}-${String(1 + (index % 28)).padStart(2, '0')}`
  return {
    Id: id(index),
    Name: `Event ${index}`,
    Start: `${day}T19:30:00Z`,
    Finish: `${day}T22:00:00Z`,
    ShowOnWeb: true,
  }
}

const SUBSCRIPTION = '/api/events.ics?to=2037-01-01T00:00:00.{n}Z'

/**
 * How long the service worked until each of many answers, in ms, the shortest first; one after the other on one
 * connection, `ASKED` at least, and until `isEnough`. Elapsed time would also tell what else the machine does.
 */
async function times(
  { port, pid }: Victim,
  pathOf: (turn: number) => string,
  isEnough: () => boolean = () => true,
): Promise<readonly number[]> {
  const took: number[] = []
  for (let turn = 0; turn < ASKED || !isEnough(); turn++) {
    const begun = mainThreadMs(pid)
    const response = await fetch(`http://127.0.0.1:${port}${pathOf(turn)}`)
    expect((await response.bytes()).length).toBeGreaterThan(100)
    expect(response.status).toBe(200)
    took.push(mainThreadMs(pid) - begun)
  }
  return took.toSorted((left, right) => left - right)
}

for (const runtime of RUNTIMES) {
  describe(`a flood of lists, on ${runtime}`, () => {
    it('of different calendars delays no record by a second', async () => {
      const events = JSON.stringify(
        Array.from({ length: 2000 }, (_, index) => ({ ...row(index), Name: `Event ${index} ${'x'.repeat(2000)}` })),
      )
      const victim = await Victim.start(
        runtime,
        { feeds: { calendar: 'on' }, freshness: { maxAge: '60s' } },
        { events, venues: '[]' },
      )
      const { port } = victim
      const program = join(import.meta.dirname, 'keep-alive-load.ts')
      const flood = new Child(process.execPath, [program, String(port), SUBSCRIPTION, '100'])
      await flood.line((line) => line.includes('loading'))
      const took = await times(victim, (turn) => `/api/events/${id((turn * 997) % 2000)}`)
      const { status } = await fetch(`http://127.0.0.1:${port}${SUBSCRIPTION.replace('{n}', '9999999')}`)
      await victim.stop()
      await flood.exited
      expect(status).toBe(200)
      expect(took.at(-1)).toBeLessThan(1000 * SLOWNESS)
    })

    it('delays a request for a record by no more than a turn for each connection of the flood', async () => {
      const events = JSON.stringify(Array.from({ length: EVENTS }, (_, index) => row(index)))
      const victim = await Victim.start(
        runtime,
        { lists: 'on', freshness: { maxAge: '60s' } },
        { events, venues: '[]' },
      )
      const { port } = victim
      const program = join(import.meta.dirname, 'keep-alive-load.ts')
      const flood = new Child(process.execPath, [program, String(port), PAGE, String(CONNECTIONS)])
      await flood.line((line) => line.includes('loading'))
      const isFlooded = (): boolean => flood.stdout.includes(`{"answered":${FLOOD}}`)
      const took = await times(victim, (turn) => `/api/events/${id((turn * 997) % EVENTS)}`, isFlooded)
      await victim.stop()
      await flood.exited
      const tally = JSON.parse(flood.stdout.trim().split('\n').at(-1) ?? '{}') as { answered: number; wrong: number }
      expect(tally.wrong).toBe(0)
      expect(tally.answered).toBeGreaterThanOrEqual(FLOOD)
      expect(took[Math.floor(took.length * 0.99)]).toBeLessThan((CONNECTIONS * LONGEST_TURN_MS + SLACK_MS) * SLOWNESS)
    })
  })
}
