import type { Configuration } from '../config/configuration.ts'
import type { IdsOf } from '../crm/mapping/ids.ts'
import { idsOf } from '../crm/mapping/ids.ts'
import { openCrm } from '../crm/open-crm.ts'
import { Formatter } from '../formats/format.ts'
import { createNegotiator } from '../formats/negotiation.ts'
import { Lists } from '../http/lists.ts'
import { Service } from '../http/service.ts'
import type { RequestWatch } from '../http/call.ts'
import { bugPlace } from '../observe/printable.ts'
import type { Observation, Observe } from '../observe/observation.ts'
import { Admissions } from '../replica/admission.ts'
import type { Crm, CrmFailure } from '../replica/port.ts'
import { Replica } from '../replica/replica.ts'
import type { Time } from '../replica/time.ts'
import { systemTime } from '../replica/time.ts'
import type { DescriptorReserve } from '../runtime/descriptors.ts'

/** All parts of a running Marquee but its listeners. */
export interface Marquee {
  readonly crm: Crm
  readonly replica: Replica
  readonly admissions: Admissions
  readonly service: Service
  /** Null where the CRM's ids are GUIDs. */
  readonly idsOf: IdsOf | null
}

const REQUEST_TIMEOUT_CEILING_MS = 10_000

/** Puts the parts together as the configuration says; nothing runs yet. */
export async function assemble(
  configuration: Configuration,
  time: Time,
  observe: Observe,
  watch?: RequestWatch,
  reserve: DescriptorReserve | null = null,
): Promise<Marquee> {
  const { freshness, limits, listen, representation, timeZone } = configuration
  const { boundMs } = freshness
  const requestTimeoutMs =
    boundMs === 0 ? REQUEST_TIMEOUT_CEILING_MS : Math.min(boundMs / 3, REQUEST_TIMEOUT_CEILING_MS)
  const crm = await openCrm(configuration.crm, {
    showIn: timeZone,
    requestTimeoutMs,
    boundMs,
    memoryLimitBytes: limits.memoryBytes,
    loadWeb: async () => {
      const { openWeb } = await import('../runtime/web.ts')
      return (wayOut) => openWeb(wayOut, reserve)
    },
    env: process.env,
    time,
    observe,
    ...(reserve === null ? {} : { descriptors: reserve }),
  })
  const formatter = new Formatter({ basePath: listen.basePath, ...representation })
  const replica = new Replica({
    crm,
    formatter,
    settings: freshness,
    memoryLimitBytes: limits.memoryBytes,
    time,
    observe,
    pause: () => new Promise((resolve) => setImmediate(resolve)),
  })
  if (configuration.lists) await replica.keepIndexes()
  const admissions = new Admissions(freshness, limits, time)
  const service = new Service({
    replica,
    admissions,
    negotiate: createNegotiator(),
    time,
    basePath: listen.basePath,
    boundMs,
    conditionalRequests: configuration.conditionalRequests,
    lists: configuration.lists ? new Lists(replica, formatter, timeZone) : null,
    onInternalError: (cause) => observe({ kind: 'internal-error', message: bugPlace(cause) }),
    ...(watch === undefined ? {} : { watch }),
  })
  return { crm, replica, admissions, service, idsOf: idsOf(configuration.crm) }
}

export interface CrmRead {
  readonly marquee: Marquee
  /** One a list that could not be read. */
  readonly failures: readonly { readonly list: 'events' | 'venues'; readonly failure: CrmFailure }[]
  readonly observations: readonly Observation[]
  /** What the CRM lets an operator know though it can be read. */
  readonly warnings: readonly string[]
}

/** Reads both lists of the CRM in full, once, and serves nothing. */
export async function readCrm(configuration: Configuration): Promise<CrmRead> {
  const observations: Observation[] = []
  const marquee = await assemble(configuration, systemTime, (observation) => void observations.push(observation))
  const { venues, events } = marquee.replica
  const venuesRead = await venues.refresh.attempt()
  const eventsRead = await events.refresh.attempt()
  const examined = eventsRead.ok && venuesRead.ok ? await marquee.crm.examine?.() : undefined
  await marquee.crm.close()
  const failures: { list: 'events' | 'venues'; failure: CrmFailure }[] = []
  if (!eventsRead.ok) failures.push({ list: 'events', failure: eventsRead.failure })
  if (!venuesRead.ok) failures.push({ list: 'venues', failure: venuesRead.failure })
  return { marquee, failures, observations, warnings: examined?.warnings ?? [] }
}
