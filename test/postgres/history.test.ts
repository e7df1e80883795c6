import { afterAll, beforeAll, expect, it } from 'bun:test'
import { Chance } from '../model/chance.ts'
import { changeRows } from './change-rows.ts'
import { describeWithPostgres } from './needs-postgres.ts'
import { History } from './history.ts'
import type { Running } from './world.ts'
import { idOf, World } from './world.ts'
import { faultSeconds, SEED } from '../support/depth.ts'

const ROWS = 60
const LASTS_MS = 1000 * faultSeconds(8, 18)
const MAX_AGE_MS = 2000
/** What the event loop and a machine under load may add between an answer and the look at the clock. */
const SLACK_MS = 250

let world: World

/** Ends connections now and then, and stops the server for a moment. */
async function disturb(chance: Chance, until: number): Promise<void> {
  const client = await world.server.admin()
  while (performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 500 + chance.span(1000)))
    if (chance.happens(0.7)) {
      await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'marquee'")
      continue
    }
    world.server.freeze()
    await new Promise((resolve) => setTimeout(resolve, chance.span(300)))
    world.server.continue()
  }
  await client.end()
}

/** Asks for random events as a request does: where the data is too old there is no answer. */
async function ask(chance: Chance, history: History, running: Running, until: number): Promise<number> {
  const {
    reading: { replica },
    admissions,
  } = running.marquee
  let answers = 0
  while (performance.now() < until) {
    for (let question = 0; question < 20; question++) {
      if (admissions.ageNow(replica.events) < 0) continue
      const id = idOf(chance.below(ROWS))
      const fault = history.check(id, running.event(id)?.Name ?? null, performance.now() - MAX_AGE_MS - SLACK_MS)
      if (fault !== null) throw new Error(fault)
      answers++
    }
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  return answers
}

describeWithPostgres('a history of random changes', () => {
  beforeAll(async () => {
    world = await World.create()
    // No more than it needs: connections that were ended are no excuse.
    await world.query('ALTER ROLE marquee CONNECTION LIMIT 3')
  })

  afterAll(() => world.remove())

  it('never shows what was not so within the maximum age, nor goes back to an older state', async () => {
    const chance = new Chance(SEED)
    const history = new History()
    const running = await world.start({
      freshness: { maxAge: `${MAX_AGE_MS}ms`, refreshEvery: '200ms', fullReadEvery: '6s', shrinkGuard: 'off' },
      crm: { requestTimeout: '400ms' },
    })
    const until = performance.now() + LASTS_MS
    try {
      const asked = ask(chance.fork(), history, running, until)
      await Promise.all([
        asked,
        changeRows(world, history, { rows: ROWS, chance: chance.fork(), isOver: () => performance.now() > until }),
        disturb(chance.fork(), until),
      ])
      expect(await asked).toBeGreaterThan(5000)
      expect(history.states).toBeGreaterThan(300)
      expect(running.reads().filter((read) => read === 'events changes ok').length).toBeGreaterThan(20)
    } catch (cause) {
      throw new Error(`the history of seed ${SEED} fails`, { cause })
    }
  })
})
