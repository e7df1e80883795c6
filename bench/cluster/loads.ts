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
/** Some heartbeats: what the log holds then is new to a process that was stopped before. */
const STOPPED_MS = 3000
const SETTLED_MS = scaled(10_000, 1000)
const SAMPLE_MS = 20

export interface Loads {
  readonly runtime: Runtime
  readonly events: number
  /** Spawn until the first 200: a follower, and a service by itself that goes on from its file. */
  readonly followerMs: readonly number[]
  readonly fileMs: readonly number[]
  readonly recordBytes: number
  /** What the store holds with one snapshot in it. */
  readonly storeBytes: number
  /** The longest that an answer took of the leader while it made a snapshot, and of a follower while it loaded one. */
  readonly makingMs: number
  readonly loadingMs: number
  /** What a follower held beside what it served, at the most and 10 s after it had changed over. */
  readonly secondBytes: number
  readonly leftBytes: number
}

/** Lists of one size: how soon they are there in another process, and what making and loading a snapshot hold up. */
export async function measureLoads(workshop: Workshop, runtime: Runtime, lists: Lists, starts: number): Promise<Loads> {
  const { directory, ids, lastId } = lists
  const folder = workshop.folder()
  const files = { crm: { kind: 'files', directory }, snapshot: { directory: folder } }
  const fleet = await BenchFleet.open(workshop, files)
  const leader = await fleet.start(runtime)
  await untilSnapshot(leader, rowsOf(lists))
  const held = { recordBytes: await recordBytes(fleet.redis), storeBytes: storeBytes(fleet.redis) }
  // Who reads for all keeps the file, too; followers do not look at it.
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

/** The store is emptied, so that the leader writes all of it again. */
async function whileMaking(fleet: BenchFleet, leader: RealInstance, lists: Lists): Promise<number> {
  const watcher = await Watcher.open(leader.process.port, lists.lastId)
  const sinceMs = performance.now()
  fleet.redis.ask('FLUSHALL')
  watcher.forget()
  await untilSnapshot(leader, rowsOf(lists), sinceMs)
  watcher.end()
  return watcher.worstMs
}

/** A follower is stopped until the log has lost what it would have read next, so that it loads a snapshot beside what it serves. */
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

/** There are a tenth as many venues. */
function rowsOf({ ids }: Lists): number {
  return ids.length + Math.max(1, Math.floor(ids.length / 10))
}
