import type { Runtime } from '../../test/support/child.ts'
import type { Workshop } from '../workshop.ts'
import { BenchFleet } from './fleet.ts'
import type { PostgresCrm } from './postgres-crm.ts'
import { Watcher } from './watcher.ts'

const AGAIN_MS = 5
const PATIENCE_MS = 60_000

/**
 * Measures hand-overs with three instances and default settings. Kills the leader, changes the CRM, and measures the
 * time until each remaining instance shows the change, in ms.
 */
export async function measureHandOvers(
  workshop: Workshop,
  runtime: Runtime,
  crm: PostgresCrm,
  times: number,
): Promise<readonly number[]> {
  const fleet = await BenchFleet.open(workshop, { crm: crm.section }, crm.env)
  const silencesMs: number[] = []
  for (let time = 0; time < times; time++) {
    await fleet.startAtOnce(runtime, 3 - fleet.instances.length)
    const leader = await fleet.leader()
    const others = fleet.instances.filter((one) => one !== leader)
    const watchers = await Promise.all(others.map(({ process }) => Watcher.open(process.port, crm.watchedId)))
    const killedMs = performance.now()
    await fleet.kill(leader)
    await crm.change()
    const seenMs = await Promise.all(watchers.map((watcher) => seen(watcher, crm.rounds)))
    silencesMs.push(Math.max(...seenMs) - killedMs)
    for (const watcher of watchers) watcher.end()
  }
  await fleet.stop()
  return silencesMs
}

async function seen(watcher: Watcher, round: number): Promise<number> {
  const untilMs = performance.now() + PATIENCE_MS
  while (watcher.seenAtMs[round] === undefined) {
    if (performance.now() > untilMs) throw new Error('a change was not seen after the leader had been killed')
    await Bun.sleep(AGAIN_MS)
  }
  return watcher.seenAtMs[round] ?? Number.NaN
}
