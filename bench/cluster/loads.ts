import { readdirSync } from 'node:fs'
import type { RealInstance } from '../../test/cluster/real-instance.ts'
import type { Runtime } from '../../test/support/child.ts'
import { eventually } from '../../test/support/eventually.ts'
import type { Lists } from '../lists/data.ts'
import { residentBytes } from '../machine/process-tree.ts'
import { scaled } from '../measure/scale.ts'
import type { Workshop } from '../workshop.ts'
import { first200Ms } from './first-200.ts'
import { BenchFleet } from './fleet.ts'
import { recordBytes, storeBytes, untilSnapshot } from './stored-snapshot.ts'
import { Watcher } from './watcher.ts'

const PATIENCE_MS = 120_000
/** Several heartbeats, so that the log has entries that a stopped process has not seen. */
const STOPPED_MS = 3000
const SETTLED_MS = scaled(10_000, 1000)
const SAMPLE_MS = 20
/**
 * A follower whose log has a gap awaits a new snapshot, which takes the leader up to 18 s with a million rows. By
 * default, its data would reach the maximum age meanwhile, and requests would wait for newer data: no stall.
 */
const FRESHNESS = { maxAge: '5m', refreshEvery: '5s' }

export interface Loads {
  readonly runtime: Runtime
  readonly events: number
  /**
   * The time from spawning until the first 200: of a follower, and of a single service that starts from its snapshot
   * file.
   */
  readonly followerMs: readonly number[]
  readonly fileMs: readonly number[]
  readonly recordBytes: number
  /** The size of the store with one snapshot in it. */
  readonly storeBytes: number
  /** The longest response time of the leader while it writes a snapshot, and of a follower while it loads one. */
  readonly makingMs: number
  readonly loadingMs: number
  /** The additional memory of a follower that loads a snapshot: at the peak, and 10 s after the cut-over. */
  readonly secondBytes: number
  readonly leftBytes: number
}

/** Measures lists of one size: how soon another process has them, and what writing and loading a snapshot delay. */
export async function measureLoads(workshop: Workshop, runtime: Runtime, lists: Lists, starts: number): Promise<Loads> {
  const { directory, ids, lastId } = lists
  const folder = workshop.folder()
  const files = { freshness: FRESHNESS, crm: { kind: 'files', directory }, snapshot: { directory: folder } }
  const fleet = await BenchFleet.open(workshop, files)
  const leader = await fleet.start(runtime)
  await untilSnapshot(leader, rowsOf(lists))
  const held = { recordBytes: await recordBytes(fleet.redis), storeBytes: storeBytes(fleet.redis) }
  // Only the leader writes the file, and followers do not read it.
  await eventually(
    async () => readdirSync(folder),
    (names) => names.length === 1 && names.every((name) => name.endsWith('.snapshot')),
    PATIENCE_MS,
  )
  const again = Array.from({ length: starts })
  const followerMs: number[] = []
  for (const _ of again) followerMs.push(await first200Ms(runtime, fleet.settings, lastId))
  const makingMs = await whileMaking(fleet, leader, lists)
  const follower = await fleet.start(runtime)
  const loading = await whileLoading(fleet, follower, lists)
  await fleet.stop()
  const fileMs: number[] = []
  for (const _ of again) fileMs.push(await first200Ms(runtime, files, lastId))
  return { runtime, events: ids.length, followerMs, fileMs, ...held, makingMs, ...loading }
}

/** Empties the store, so that the leader writes a whole snapshot. */
async function whileMaking(fleet: BenchFleet, leader: RealInstance, lists: Lists): Promise<number> {
  const watcher = await Watcher.open(leader.process.port, lists.lastId)
  const sinceMs = performance.now()
  fleet.redis.ask('FLUSHALL')
  watcher.forget()
  await untilSnapshot(leader, rowsOf(lists), sinceMs)
  watcher.end()
  return watcher.worstMs
}

/** Stops a follower until the log has lost its next entry, so that it loads a snapshot while serving the old data. */
async function whileLoading(
  { redis }: BenchFleet,
  follower: RealInstance,
  { lastId }: Lists,
): Promise<Pick<Loads, 'loadingMs' | 'secondBytes' | 'leftBytes'>> {
  const { child, port } = follower.process
  await eventually(
    () => follower.status(),
    (told) => told?.cluster.role === 'follower' && told.ready,
    PATIENCE_MS,
  )
  const beforeBytes = residentBytes(child.pid)
  child.signal('SIGSTOP')
  await Bun.sleep(STOPPED_MS)
  redis.ask('XTRIM', redis.ask('KEYS', '*:log'), 'MAXLEN', '1')
  child.signal('SIGCONT')
  await eventually(
    () => follower.status(),
    (told) => told?.cluster.role === 'waiting',
    PATIENCE_MS,
  )
  const watcher = await Watcher.open(port, lastId)
  let mostBytes = 0
  const sampling = setInterval(() => (mostBytes = Math.max(mostBytes, residentBytes(child.pid))), SAMPLE_MS)
  await eventually(
    () => follower.status(),
    (told) => told?.cluster.role === 'follower' && told.ready,
    PATIENCE_MS,
  )
  watcher.end()
  await Bun.sleep(SETTLED_MS)
  clearInterval(sampling)
  const leftBytes = residentBytes(child.pid) - beforeBytes
  return { loadingMs: watcher.worstMs, secondBytes: mostBytes - beforeBytes, leftBytes }
}

/** The number of events and venues; there are a tenth as many venues. */
function rowsOf({ ids }: Lists): number {
  return ids.length + Math.max(1, Math.floor(ids.length / 10))
}
