import type { Configuration } from '../config/configuration.ts'
import type { ListName } from '../domain/field.ts'
import { type IdsOf, idsOf } from '../crm/mapping/ids.ts'
import { type ListSuspicions, listSuspicions } from '../crm/mapping/suspicions.ts'
import { openCrm } from '../crm/open-crm.ts'
import { Formatter } from '../formats/format.ts'
import { createNegotiator } from '../formats/negotiation.ts'
import { Description } from '../http/description.ts'
import { Service } from '../http/service.ts'
import { ReadyBodies } from '../records/ready-bodies.ts'
import type { RequestWatch } from '../http/call.ts'
import { bugPlace } from '../observe/printable.ts'
import type { Observation, Observe } from '../observe/observation.ts'
import { Admissions } from '../sync/admission.ts'
import type { Crm, Failure, Diagnosis } from '../sync/port.ts'
import type { ToldLists } from '../sync/held-lists.ts'
import { Replica } from '../sync/replica.ts'
import { type Time, systemTime } from '../time/time.ts'
import { yieldToEventLoop } from '../time/waiting.ts'
import type { DescriptorReserve } from '../runtime/descriptor-reserve.ts'
import type { Sharing } from './cluster-member.ts'
import { usualReadyBytes } from './usable-memory.ts'

/** All parts of a running Marquee but its listeners. */
export interface Marquee {
  readonly crm: Crm
  /** What is told of both lists as they are now, whoever reads them. */
  readonly lists: ToldLists
  /** Reads the CRM for this instance alone, or shares what one of several reads. */
  readonly reading: Replica | Sharing
  /** The first of the two; a bug where it is the other. */
  readonly replica: Replica
  readonly admissions: Admissions
  readonly limits: Configuration['limits']
  readonly ready: ReadyBodies
  /** What answers now; another once other settings were adopted. */
  service: Service
  /** Takes over what a reload may change; the records that are held stay. Where it rejects, nothing has changed. */
  adopt(configuration: Configuration): Promise<void>
  /** Null where the CRM's ids are GUIDs. */
  readonly idsOf: IdsOf | null
  readonly suspicions: ListSuspicions
}

const REQUEST_TIMEOUT_CEILING_MS = 10_000

/** Puts the parts together as the configuration says; nothing runs yet. */
export async function assemble(
  configuration: Configuration,
  time: Time,
  observe: Observe,
  watch?: RequestWatch,
  reserve: DescriptorReserve | null = null,
  suspicions: ListSuspicions = listSuspicions(),
): Promise<Marquee> {
  const { listen, timeZone } = configuration
  // Live: whoever has one looks at it again each time, so that a reload is an assignment.
  const freshness = { ...configuration.freshness }
  const limits = { ...configuration.limits }
  const representation = { basePath: listen.basePath, ...configuration.representation }
  const crm = await openCrm(configuration.crm, {
    showIn: timeZone,
    limits: {
      get maxAgeMs() {
        return freshness.maxAgeMs
      },
      get memoryBytes() {
        return limits.memoryBytes
      },
      get requestTimeoutMs() {
        const { maxAgeMs } = freshness
        return maxAgeMs === 0 ? REQUEST_TIMEOUT_CEILING_MS : Math.min(maxAgeMs / 3, REQUEST_TIMEOUT_CEILING_MS)
      },
    },
    loadWeb: async () => {
      const { openHttpClient } = await import('../runtime/outgoing.ts')
      return (wayOut) => openHttpClient(wayOut, reserve)
    },
    env: process.env,
    suspicions,
    time,
    observe,
    ...(reserve === null ? {} : { descriptors: reserve }),
  })
  const formatter = new Formatter(representation)
  const readyBytes = (): number => limits.readyBodiesBytes ?? usualReadyBytes()
  const ready = new ReadyBodies(readyBytes())
  // `feeds` takes effect at a restart alone.
  const { feeds: switches } = configuration
  let keepsIndexes = configuration.lists || switches.calendar
  const parts = {
    crm,
    formatter,
    ready,
    limits,
    time,
    observe,
    pause: yieldToEventLoop,
    settings: freshness,
  }
  const { cluster } = configuration
  const reading =
    cluster === null
      ? new Replica(parts)
      : new (await import('./cluster-member.ts')).Sharing({
          ...parts,
          configuration,
          section: cluster,
          keepsIndexes: () => keepsIndexes,
        })
  const isAlone = reading instanceof Replica
  if (keepsIndexes && isAlone) await reading.keepIndexes()
  const admissions = new Admissions(freshness, limits, time)
  const serviceOf = async (settings: Configuration): Promise<Service> => {
    // Loaded where they are on: a start without them is the quicker for it.
    const { Lists } = settings.lists ? await import('../http/lists.ts') : { Lists: null }
    const { openFeeds } = switches.calendar || switches.jsonLd ? await import('./open-feeds.ts') : { openFeeds: null }
    return new Service({
      held: reading,
      admissions,
      negotiate: createNegotiator(),
      time,
      basePath: listen.basePath,
      maxAgeMs: settings.freshness.maxAgeMs,
      conditionalRequests: settings.conditionalRequests,
      lists: Lists === null ? null : new Lists(reading, formatter, timeZone),
      feeds: openFeeds?.(settings, { held: reading, pricing: suspicions.events }) ?? null,
      description: descriptionIn(settings),
      onInternalError: (cause) => observe({ kind: 'internal-error', message: bugPlace(cause) }),
      ...(watch === undefined ? {} : { watch }),
    })
  }
  const marquee: Marquee = {
    crm,
    lists: reading,
    reading,
    get replica() {
      if (isAlone) return reading
      throw new Error('the CRM is not read for this instance alone')
    },
    admissions,
    limits,
    ready,
    service: await serviceOf(configuration),
    idsOf: idsOf(configuration.crm),
    suspicions,
    async adopt(next) {
      const service = await serviceOf(next)
      await service.ready()
      const before = JSON.stringify(representation)
      Object.assign(freshness, next.freshness)
      Object.assign(limits, next.limits)
      Object.assign(representation, next.representation)
      keepsIndexes = next.lists || switches.calendar
      reading.applySettings(JSON.stringify(representation) !== before)
      if (!next.lists) ready.endPages()
      ready.limitTo(readyBytes())
      if (isAlone) {
        if (!keepsIndexes) reading.dropIndexes()
        // Until what is held is in order, a list is answered with 502.
        else if (reading.events.list.order === null) void reading.keepIndexes()
      }
      marquee.service = service
    },
  }
  return marquee
}

/** What tells of this instance; null where `describe` is off. */
function descriptionIn(configuration: Configuration): Description | null {
  const { describe, listen, representation, lists, feeds, conditionalRequests, freshness, timeZone } = configuration
  if (!describe) return null
  const { basePath } = listen
  const { maxAgeMs } = freshness
  const instance = { basePath, ...representation, lists, feeds, conditionalRequests, maxAgeMs, zone: timeZone }
  return new Description(basePath, async () => {
    const { descriptionOf } = await import('../describe/html.ts')
    return descriptionOf(instance)
  })
}

export interface CrmRead {
  readonly marquee: Marquee
  /** One a list that could not be read. */
  readonly failures: readonly { readonly list: ListName; readonly failure: Failure }[]
  readonly observations: readonly Observation[]
  /** What the CRM lets an operator know though it can be read. */
  readonly warnings: readonly string[]
  /** Of the lists that were refused as broken: what they were meant to be. */
  readonly diagnoses: ReadonlyMap<ListName, Diagnosis>
}

/** Reads both lists of the CRM in full, once, and serves nothing; of each row all faults are told. */
export async function readCrm(configuration: Configuration): Promise<CrmRead> {
  const observations: Observation[] = []
  const observe = (observation: Observation): void => void observations.push(observation)
  // Nothing is served, and nothing is described.
  const silent = { ...configuration, describe: false, cluster: null }
  const marquee = await assemble(silent, systemTime, observe, undefined, null, listSuspicions(true))
  const { venues, events } = marquee.replica
  const reads = { venues: await venues.refresh.attempt(), events: await events.refresh.attempt() }
  const examined = reads.events.ok && reads.venues.ok ? await marquee.crm.examine?.() : undefined
  const failures: { list: ListName; failure: Failure }[] = []
  const diagnoses = new Map<ListName, Diagnosis>()
  for (const list of ['events', 'venues'] as const) {
    const read = reads[list]
    if (read.ok) {
      const { size, unidentified } = marquee.replica[list].list
      marquee.suspicions[list].judge(size + unidentified.length)
      continue
    }
    failures.push({ list, failure: read.failure })
    const diagnosis = read.failure.kind === 'broken' ? await marquee.crm.diagnose?.(list) : null
    if (diagnosis) diagnoses.set(list, diagnosis)
  }
  await marquee.crm.close()
  return { marquee, failures, observations, warnings: examined?.warnings ?? [], diagnoses }
}
