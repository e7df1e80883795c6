import type { FleetSetting } from './fleet.ts'
import { Fleet } from './fleet.ts'
import { Mishaps } from './mishaps.ts'

export interface FleetOutcome {
  readonly answers: number
  readonly refused: number
  readonly mishaps: number
  readonly wrongs: number
  readonly wrong: readonly string[]
  readonly news: Readonly<Record<string, number>>
  readonly virtualMs: number
  readonly log: readonly string[]
}

/** Lets a fleet live with its mishaps for so long, heals all, and compares what each instance holds. */
export async function runFleet(
  setting: FleetSetting,
  seed: number,
  forMs: number,
  onFleet: (fleet: Fleet) => void = () => {},
): Promise<FleetOutcome> {
  const fleet = new Fleet(setting, seed)
  onFleet(fleet)
  const mishaps = new Mishaps(fleet, fleet.chance.fork(), setting.maxAgeMs * 0.9)
  const { checker, time } = fleet
  fleet.begin()
  // The first one reads before anything happens to it.
  await fleet.until(() => fleet.instances.some((instance) => fleet.answers(instance)), 10 * setting.maxAgeMs)
  mishaps.begin()
  await fleet.pass(forMs)
  if (checker.wrongs === 0) {
    mishaps.heal()
    // Three bounds is the longest that one of them may still be stopped.
    await fleet.pass(3 * setting.maxAgeMs)
    const isWell = await fleet.until(
      () => fleet.instances.every((instance) => fleet.answers(instance)),
      2 * setting.maxAgeMs + 10_000,
    )
    if (!isWell) {
      const silent = fleet.instances
        .filter((instance) => !fleet.answers(instance))
        .map(({ cluster }) => cluster.member.role)
      checker.fault(`after all was well again ${silent.length} do not answer (${silent.join(', ')})`)
    }
    fleet.history.end()
    const loadsBefore = fleet.news['loads-again'] ?? 0
    await fleet.pass(3 * setting.maxAgeMs + setting.fullReadEveryMs * 2)
    const loads = (fleet.news['loads-again'] ?? 0) - loadsBefore
    if (loads > 0) checker.fault(`${loads} times rows were loaded again though all was well`)
    const readers = fleet.instances.filter(({ cluster }) => cluster.member.role === 'leader').length
    if (checker.wrongs === 0 && readers !== 1) checker.fault(`${readers} read in the end`)
    if (checker.wrongs === 0) for (const instance of fleet.instances) checker.compare(instance)
  }
  return {
    answers: checker.answers,
    refused: checker.refused,
    mishaps: mishaps.count,
    wrongs: checker.wrongs,
    wrong: checker.wrong,
    news: fleet.news,
    virtualMs: time.trueMs,
    log: fleet.log,
  }
}
