import { HAS_POSTGRES } from '../../test/support/postgres-server.ts'
import { HAS_REDIS } from '../../test/support/redis-server.ts'
import { scaled } from '../measure/scale.ts'
import type { Section } from '../part.ts'
import { RUNTIMES } from '../report/figure.ts'
import { measureHandOvers } from '../cluster/hand-over.ts'
import { measureLoads } from '../cluster/loads.ts'
import { PostgresCrm } from '../cluster/postgres-crm.ts'
import { measurePublishing } from '../cluster/publishing.ts'
import { measureCrowd, measureRequests } from '../cluster/requests.ts'
import type { ClusterSize, ClusterMeasurements } from '../cluster/cluster-report.ts'
import { figuresOf, markdownOf } from '../cluster/cluster-report.ts'
import type { Workshop } from '../workshop.ts'

const SIZES: readonly ClusterSize[] = scaled(
  [
    { events: 100_000, starts: 5, followerMs: 1000, fileMs: 600 },
    { events: 1_000_000, starts: 1, followerMs: 4000, fileMs: 4000 },
  ],
  [{ events: 2000, starts: 1, followerMs: 1000, fileMs: 600 }],
)
const [PUBLISHED, COUNTED] = scaled([100_000, 10_000], [2000, 1000])
const HAND_OVERS = scaled(5, 1)

/** Measures what a cluster costs and gains. */
export async function cluster(workshop: Workshop): Promise<Section> {
  if (!HAS_REDIS) {
    workshop.leftOut.add('several instances that share a store: it needs redis-server')
    return { title: 'Several instances', markdown: 'Not measured: there is no Redis here.', figures: [] }
  }
  const measured: ClusterMeasurements = {
    sizes: SIZES,
    loads: [],
    requests: [],
    crowds: [],
    publishing: [],
    handOvers: new Map(),
  }
  for (const { events, starts } of SIZES) {
    const lists = workshop.lists(events)
    for (const runtime of RUNTIMES) measured.loads.push(await measureLoads(workshop, runtime, lists, starts))
  }
  if (HAS_POSTGRES) await measureWithPostgres(workshop, measured)
  else workshop.leftOut.add('what instances that share ask of a CRM, and how soon they show it: it needs postgresql')
  return { title: 'Several instances', markdown: markdownOf(measured), figures: figuresOf(measured) }
}

async function measureWithPostgres(workshop: Workshop, measured: ClusterMeasurements): Promise<void> {
  const small = await PostgresCrm.open(workshop, COUNTED)
  for (const runtime of RUNTIMES) {
    measured.requests.push(...(await measureRequests(workshop, runtime, small)))
    measured.crowds.push(await measureCrowd(workshop, runtime, small))
    measured.handOvers.set(runtime, await measureHandOvers(workshop, runtime, small, HAND_OVERS))
  }
  const large = await PostgresCrm.open(workshop, PUBLISHED)
  for (const runtime of RUNTIMES) measured.publishing.push(await measurePublishing(workshop, runtime, large))
}
