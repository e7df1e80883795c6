import type { RealInstance } from '../../test/cluster/real-instance.ts'
import { startInstance } from '../../test/cluster/real-instance.ts'
import type { Runtime } from '../../test/support/child.ts'
import { eventually } from '../../test/support/eventually.ts'
import { usageOf } from '../machine/process-tree.ts'
import { scaled } from '../measure/scale.ts'
import { median, percentile } from '../report/statistics.ts'
import type { Workshop } from '../workshop.ts'
import { BenchFleet } from './fleet.ts'
import type { PostgresCrm } from './postgres-crm.ts'
import { recordBytes, storeBytes, untilSnapshot } from './stored-snapshot.ts'
import { Watcher } from './watcher.ts'

export const FOLLOWERS: number = scaled(10, 2)
export const ROWS_A_SECOND: number = scaled(1000, 100)
const SECONDS = scaled(12, 1)
/**
 * How long each follower is watched next to the leader, one after the other: watching all at once would be a load
 * itself.
 */
const WATCHED_S = scaled(1.5, 0.5)

export interface Publishing {
  readonly runtime: Runtime
  readonly samples: number
  /** The time from when the leader shows a row until a follower does. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** Shares of a core; the leader's is what it takes more than a single service with the same changes. */
  readonly leaderShare: number
  readonly followerShare: number
  readonly storeShare: number
  readonly recordBytes: number
  /** The size of the store at the end. */
  readonly storeBytes: number
}

/** Measures how long constant changes take to reach followers, and what that costs. */
export async function measurePublishing(workshop: Workshop, runtime: Runtime, crm: PostgresCrm): Promise<Publishing> {
  const fleet = await BenchFleet.open(workshop, { crm: crm.section }, crm.env)
  const leader = await fleet.start(runtime)
  await untilSnapshot(leader, crm.events)
  const records = await recordBytes(fleet.redis)
  await fleet.startAtOnce(runtime, FOLLOWERS)
  await fleet.leader()
  const followers = fleet.instances.filter((one) => one !== leader)
  const changing = crm.beginChanging(ROWS_A_SECOND)
  const delays: number[] = []
  for (const follower of followers) delays.push(...(await delaysTo(leader, follower, crm)))
  const [readerCpu, storeCpu, ...followerCpu] = await sharesOfCore([
    leader.process.child.pid,
    fleet.redis.pid,
    ...followers.map(({ process }) => process.child.pid),
  ])
  const held = storeBytes(fleet.redis)
  await fleet.stop()
  const alone = await startInstance(runtime, { crm: crm.section }, crm.env)
  await eventually(
    () => alone.status(),
    (told) => told?.ready === true,
  )
  const [aloneCpu] = await sharesOfCore([alone.process.child.pid])
  await alone.end()
  await changing.end()
  const sorted = delays.toSorted((left, right) => left - right)
  return {
    runtime,
    samples: sorted.length,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    leaderShare: (readerCpu ?? Number.NaN) - (aloneCpu ?? Number.NaN),
    followerShare: median(followerCpu),
    storeShare: storeCpu ?? Number.NaN,
    recordBytes: records,
    storeBytes: held,
  }
}

async function delaysTo(leader: RealInstance, follower: RealInstance, crm: PostgresCrm): Promise<number[]> {
  const [from, to] = [
    await Watcher.open(leader.process.port, crm.watchedId),
    await Watcher.open(follower.process.port, crm.watchedId),
  ]
  const first = crm.rounds + 1
  await Bun.sleep(WATCHED_S * 1000)
  const last = crm.rounds - 1
  const delays: number[] = []
  for (let round = first; round <= last; round++) {
    const [fromMs, toMs] = [from.seenAtMs[round], to.seenAtMs[round]]
    if (fromMs !== undefined && toMs !== undefined) delays.push(Math.max(0, toMs - fromMs))
  }
  from.end()
  to.end()
  return delays
}

/** The share of a core that each process uses, by the system's ticks of 10 ms. */
async function sharesOfCore(pids: readonly number[]): Promise<readonly number[]> {
  const cpuUs = (): readonly number[] => pids.map((pid) => usageOf(pid).cpuUs)
  const [before, fromMs] = [cpuUs(), performance.now()]
  await Bun.sleep(SECONDS * 1000)
  const [after, ms] = [cpuUs(), performance.now() - fromMs]
  return after.map((us, index) => (us - (before[index] ?? 0)) / 1000 / ms)
}
