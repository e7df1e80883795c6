import { crmSection, fill, openEnvironment } from '../../test/dataverse/environment.ts'
import type { Runtime } from '../../test/support/child.ts'
import { eventually } from '../../test/support/eventually.ts'
import { scaled } from '../measure/scale.ts'
import type { Workshop } from '../workshop.ts'
import { BenchFleet } from './fleet.ts'
import type { PostgresCrm } from './postgres-crm.ts'

/** The number of instances, including the leader. */
export const MANY: number = scaled(10, 3)
export const CROWD: number = scaled(50, 4)
const WINDOW_S = scaled(10, 1)
const DATAVERSE_EVENTS = scaled(2000, 100)
/** Frequent refreshes, so that a short window contains enough of them. */
export const REFRESHES_A_SECOND = 2
const FRESHNESS = { maxAge: '10s', refreshEvery: `${1000 / REFRESHES_A_SECOND}ms` }
const PATIENCE_MS = 180_000

/** A CRM that counts its requests, and the instances that send them. */
interface Counted {
  readonly name: string
  readonly fleet: BenchFleet
  readonly count: () => Promise<number>
}

export interface Requests {
  readonly runtime: Runtime
  readonly crm: string
  /** Requests a second without disturbance, by the number of instances. */
  readonly calm: ReadonlyMap<number, number>
  /** Additional requests while the leader is killed and another instance takes over. */
  readonly atHandOver: number
}

export interface Crowd {
  readonly runtime: Runtime
  /** The time from spawning the first instance until all answer, in ms. */
  readonly allReadyMs: number
  readonly readers: number
  readonly calm: number
}

/** Measures how many requests the CRM gets as instances are added, and when the leader is lost. */
export async function measureRequests(
  workshop: Workshop,
  runtime: Runtime,
  postgres: PostgresCrm,
): Promise<readonly Requests[]> {
  const all = [await withPostgres(workshop, postgres), await withDataverse(workshop)]
  // Both at once: without load they do not disturb each other.
  const requests = await Promise.all(all.map((counted) => measure(counted, runtime)))
  for (const { fleet } of all) await fleet.stop()
  return requests
}

async function measure({ name, fleet, count }: Counted, runtime: Runtime): Promise<Requests> {
  const calm = new Map<number, number>()
  await fleet.start(runtime)
  for (const instances of [1, MANY]) {
    await fleet.startAtOnce(runtime, instances - fleet.instances.length)
    await fleet.leader()
    await aHeartbeat()
    calm.set(instances, await aSecond(count))
  }
  const [before, fromMs] = [await count(), performance.now()]
  await fleet.kill(await fleet.leader())
  await fleet.leader()
  await aHeartbeat()
  const usual = ((calm.get(MANY) ?? 0) * (performance.now() - fromMs)) / 1000
  return { runtime, crm: name, calm, atHandOver: (await count()) - before - usual }
}

/** Starts this many instances at once with an empty store. */
export async function measureCrowd(workshop: Workshop, runtime: Runtime, postgres: PostgresCrm): Promise<Crowd> {
  const { fleet, count } = await withPostgres(workshop, postgres)
  const fromMs = performance.now()
  const instances = await fleet.startAtOnce(runtime, CROWD)
  await Promise.all(
    instances.map((instance) =>
      eventually(
        () => instance.status(),
        (told) => told?.ready === true,
        PATIENCE_MS,
      ),
    ),
  )
  const allReadyMs = performance.now() - fromMs
  const told = await Promise.all(instances.map((instance) => instance.status()))
  const readers = told.filter((one) => one?.cluster.role === 'leader').length
  const calm = await aSecond(count)
  await fleet.stop()
  return { runtime, allReadyMs, readers, calm }
}

async function withPostgres(workshop: Workshop, crm: PostgresCrm): Promise<Counted> {
  const settings = { crm: crm.section, freshness: FRESHNESS }
  return {
    name: 'PostgreSQL',
    fleet: await BenchFleet.open(workshop, settings, crm.env),
    count: () => crm.calls(),
  }
}

async function withDataverse(workshop: Workshop): Promise<Counted> {
  const environment = await openEnvironment()
  const { standIn } = environment
  workshop.keep({ stop: async () => standIn.close() })
  fill(environment, DATAVERSE_EVENTS)
  const settings = { crm: crmSection(standIn), freshness: FRESHNESS }
  return {
    name: 'Dataverse (stand-in)',
    fleet: await BenchFleet.open(workshop, settings, { SECRET: standIn.directory.secret }),
    count: async () => standIn.reads.length,
  }
}

/** Waits until requests of the start have ended. */
function aHeartbeat(): Promise<void> {
  return Bun.sleep(1000)
}

async function aSecond(count: () => Promise<number>): Promise<number> {
  const [before, fromMs] = [await count(), performance.now()]
  await Bun.sleep(WINDOW_S * 1000)
  return ((await count()) - before) / ((performance.now() - fromMs) / 1000)
}
