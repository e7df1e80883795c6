import { afterAll, describe, expect, it } from 'bun:test'
import type { FleetSetting } from './fleet.ts'
import { Fleet, fleetSettingOf } from './fleet.ts'
import type { FleetOutcome } from './run-fleet.ts'
import { runFleet } from './run-fleet.ts'
import { COUNTED_MS, FLEET_RUNS, SEED } from '../support/depth.ts'

/** Each way to the store takes as long as a change takes to come. */
const slow = { maxAgeMs: 30_000, storeDelayMs: 150, changeEveryMs: 150 } as const

const PLANS: readonly (readonly [string, FleetSetting])[] = [
  ['read by pages', fleetSettingOf({ strategy: 'full-read', maxAgeMs: 30_000 })],
  ['read by a token', fleetSettingOf({ strategy: 'token-delta', maxAgeMs: 30_000 })],
  ['read by time', fleetSettingOf({ strategy: 'time-delta', maxAgeMs: 30_000 })],
  ['a maximum age of 2 s', fleetSettingOf({ strategy: 'token-delta', maxAgeMs: 2000 })],
  ['cursors that do not travel', fleetSettingOf({ strategy: 'token-delta', maxAgeMs: 30_000, cursorsStay: true })],
  [
    'nobody reads alone where the store is lost',
    fleetSettingOf({ strategy: 'token-delta', maxAgeMs: 30_000, readAlone: false }),
  ],
  ['a slow store, read by pages', fleetSettingOf({ strategy: 'full-read', ...slow })],
  ['a slow store, read by a token', fleetSettingOf({ strategy: 'token-delta', ...slow })],
  ['a slow store, read by time', fleetSettingOf({ strategy: 'time-delta', ...slow })],
  [
    'stale answers while reads fail',
    fleetSettingOf({ strategy: 'token-delta', maxAgeMs: 2000, staleIfErrorMs: 20_000 }),
  ],
]

const outcomes: FleetOutcome[] = []
const begun = performance.now()

describe(`several instances by one store (MARQUEE_SEED=${SEED})`, () => {
  for (let run = 0; run < FLEET_RUNS; run++) {
    const [name, setting] = PLANS[run % PLANS.length] ?? [
      '',
      fleetSettingOf({ strategy: 'full-read', maxAgeMs: 30_000 }),
    ]
    it(`give no wrong answer: ${name}, seed ${SEED + run}`, async () => {
      const outcome = await runFleet(setting, SEED + run, 25 * setting.maxAgeMs)
      outcomes.push(outcome)
      if (outcome.wrongs > 0) console.log(outcome.log.slice(-40).join('\n'))
      expect(outcome.wrong).toEqual([])
      expect(outcome.answers).toBeGreaterThan(100)
    }, 600_000)
  }

  afterAll(() => {
    const sum = (of: (outcome: FleetOutcome) => number): string =>
      outcomes.reduce((total, outcome) => total + of(outcome), 0).toLocaleString('en')
    const news: Record<string, number> = {}
    for (const outcome of outcomes)
      for (const [kind, count] of Object.entries(outcome.news)) news[kind] = (news[kind] ?? 0) + count
    console.log(
      `fleet: ${outcomes.length} runs in ${Math.round(performance.now() - begun)} ms, seed ${SEED}; ` +
        `${sum(({ answers }) => answers)} answers checked, ${sum(({ refused }) => refused)} refused; ` +
        `${sum(({ mishaps }) => mishaps)} mishaps; wrong: ${sum(({ wrongs }) => wrongs)}; ${JSON.stringify(news)}`,
    )
  })
})

describe('the cost to the CRM (instances: Goals)', () => {
  const requests = async (instances: number, failsAtMs = Infinity): Promise<number> => {
    const fleet = new Fleet(fleetSettingOf({ strategy: 'token-delta', maxAgeMs: 30_000, instances, clients: 0 }), SEED)
    fleet.begin()
    fleet.time.inTheWorld(failsAtMs, () => (fleet.weather.downUntilMs = Infinity))
    await fleet.pass(COUNTED_MS)
    return fleet.requests
  }

  it('is that of one instance, however many there are', async () => {
    const [one, five] = [await requests(1), await requests(5)]
    expect(one).toBeGreaterThan(100)
    expect(Math.abs(five - one)).toBeLessThan(one * 0.05)
  }, 600_000)

  it('is some twice that of one while nobody can read it: an instance that takes over tries at once, once', async () => {
    const [one, five] = [await requests(1, 60_000), await requests(5, 60_000)]
    expect(one).toBeGreaterThan(100)
    expect(five).toBeLessThan(2.5 * one)
  }, 600_000)
})
