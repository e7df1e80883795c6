import { afterAll, beforeAll, expect, it } from 'bun:test'
import { Chance } from '../model/chance.ts'
import { changeRows } from './change-rows.ts'
import { describeWithPostgres } from './needs-postgres.ts'
import type { Running } from './world.ts'
import { idOf, World } from './world.ts'
import { faultSeconds, limitAfter, SEED } from '../support/depth.ts'
import { RowHistory } from '../support/row-history.ts'

const ROWS = 60
const LASTS_MS = 1000 * faultSeconds(8, 18)
const MAX_AGE_MS = 2000
/** What the clocks of PostgreSQL's commits and of the answers may differ by. */
const SLACK_MS = 250
/** A history on a loaded machine goes on until enough has happened, at most so much longer. */
const PATIENCE_MS = 60_000
const ENOUGH = { answers: 5000, states: 300, reads: 20 }

let world: World

/** Ends connections now and then, and stops the server for a moment. */
async function disturb(chance: Chance, isOver: () => boolean): Promise<void> {
  const client = await world.server.admin()
  while (!isOver()) {
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
async function ask(
  chance: Chance,
  history: RowHistory,
  running: Running,
  { isOver, answered }: { readonly isOver: () => boolean; readonly answered: () => void },
): Promise<void> {
  const {
    reading: { replica },
    admissions,
  } = running.marquee
  while (!isOver()) {
    for (let question = 0; question < 20; question++) {
      const askedMs = performance.now()
      if (admissions.ageNow(replica.events) < 0) continue
      const id = idOf(chance.below(ROWS))
      const value = running.event(id)?.Name ?? null
      const fault = history.check({ id, atMs: askedMs - MAX_AGE_MS - SLACK_MS, value })
      if (fault !== null) throw new Error(fault)
      answered()
    }
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

describeWithPostgres('a history of random changes', () => {
  beforeAll(async () => {
    world = await World.create()
    // No more than it needs: connections that were ended are no excuse.
    await world.query('ALTER ROLE marquee CONNECTION LIMIT 3')
  })

  afterAll(() => world.remove())

  it(
    'never shows what was not so within the maximum age, nor goes back to an older state',
    async () => {
      const chance = new Chance(SEED)
      const history = new RowHistory()
      const running = await world.start({
        freshness: { maxAge: `${MAX_AGE_MS}ms`, refreshEvery: '200ms', fullReadEvery: '6s', shrinkGuard: 'off' },
        crm: { requestTimeout: '400ms' },
      })
      const beganMs = performance.now()
      let answers = 0
      const happened = () => ({
        answers,
        states: history.states,
        reads: running.reads().filter((read) => read === 'events changes ok').length,
      })
      const isEnough = (): boolean => {
        const { answers: answered, states, reads } = happened()
        return answered > ENOUGH.answers && states > ENOUGH.states && reads > ENOUGH.reads
      }
      const isOver = (): boolean => {
        const lastedMs = performance.now() - beganMs
        return lastedMs > LASTS_MS && (isEnough() || lastedMs > LASTS_MS + PATIENCE_MS)
      }
      try {
        await Promise.all([
          ask(chance.fork(), history, running, { isOver, answered: () => answers++ }),
          changeRows(world, history, { rows: ROWS, chance: chance.fork(), isOver }),
          disturb(chance.fork(), isOver),
        ])
        expect([isEnough(), happened()]).toEqual([true, happened()])
      } catch (cause) {
        throw new Error(`the history of seed ${SEED} fails`, { cause })
      }
    },
    limitAfter(LASTS_MS + PATIENCE_MS),
  )
})
