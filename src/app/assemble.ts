import { isLoopback } from '../domain/host.ts'
import type { Configuration } from '../config/configuration.ts'
import { type ListName, LISTS } from '../domain/field.ts'
import { type ProxiedHttpClient, trustingHttpClient } from '../crm/web/http-client.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import { type ListSuspicions, listSuspicions } from '../crm/mapping/suspicions.ts'
import { openCrm } from '../crm/open-crm.ts'
import { Formatter } from '../formats/format.ts'
import { type ServiceSwitches, Service } from '../http/service.ts'
import { type RecordLists, ListMaker } from '../records/row-records.ts'
import type { RequestWatch } from '../http/call.ts'
import { bugPlace, howMany } from '../domain/printable.ts'
import type { Observation, Observe } from '../observe/observation.ts'
import type { Crm, Failure } from '../sync/port.ts'
import { type ServedLists, Admissions } from '../sync/served-list.ts'
import { type Time, systemTime } from '../time/time.ts'
import { yieldToEventLoop } from '../time/waiting.ts'
import type { KeptDescriptors } from '../runtime/listener.ts'
import { Current } from './current.ts'
import { type Reading, type ReadingOptions, DirectReading } from './reading.ts'
import { SlowSteps } from './slow-steps.ts'
import { usualReadyBytes } from './usable-memory.ts'
import type { ExplainOptions } from '../operations/explanation.ts'
import { textKeyFor } from '../proposal/text-keys.ts'
import { crmIds } from '../domain/named-ids.ts'

/** A running Marquee without its listeners. */
export interface Marquee {
  readonly current: Current
  readonly crm: Crm
  readonly reading: Reading
  readonly admissions: Admissions
  readonly listMaker: ListMaker
  /** `null` without `feeds.changes`. */
  readonly webhooks: Webhooks | null
  /** Answers the requests. A reload replaces it. */
  service: Service
  /** Makes this configuration the current one, and keeps the records. If it rejects, nothing has changed. */
  adopt(configuration: Configuration): Promise<void>
  /** What explanations need to know of the CRM. */
  readonly explaining: Pick<ExplainOptions, 'idsOf' | 'venueText' | 'textKeyFor'>
  readonly suspicions: ListSuspicions
  /** Answers callers who wait for a change. */
  stopWaiting(): void
}

interface AssembleOptions {
  readonly watch?: RequestWatch
  /** `null` if the runtime keeps no descriptors back. */
  readonly reserve?: KeptDescriptors | null
  readonly suspicions?: ListSuspicions
  /** Prints each request to the CRM. */
  readonly trace?: ((line: string) => void) | undefined
  /** The longest pause to wait for if the CRM asks for one; any if absent. */
  readonly longestPauseMs?: number
}

/** Creates the parts of a Marquee from the configuration, and starts none of them. */
export async function assemble(
  configuration: Configuration,
  time: Time,
  observe: Observe,
  options: AssembleOptions = {},
): Promise<Marquee> {
  return assembleWith(configuration, time, observe, options, async (parts) => {
    const { cluster } = configuration
    if (cluster === null) return DirectReading.withSnapshot(parts)
    const { ClusterMember } = await import('./cluster-member.ts')
    return new ClusterMember(parts, cluster)
  })
}

/** Like `assemble`, for an instance that reads the CRM itself, whatever is configured, and keeps no snapshot. */
export async function assembleAlone(
  configuration: Configuration,
  time: Time,
  observe: Observe,
  options: AssembleOptions = {},
): Promise<Marquee & { readonly reading: DirectReading }> {
  return assembleWith(configuration, time, observe, options, async (parts) => new DirectReading(parts))
}

async function assembleWith<R extends Reading>(
  configuration: Configuration,
  time: Time,
  observe: Observe,
  { watch, reserve = null, suspicions = listSuspicions(), trace, longestPauseMs }: AssembleOptions,
  openReading: (parts: ReadingOptions) => Promise<R>,
): Promise<Marquee & { readonly reading: R }> {
  const { listen, timeZone } = configuration
  const current = new Current(configuration, longestPauseMs)
  const freshness = (): Configuration['freshness'] => current.configuration.freshness
  const limits = (): Configuration['limits'] => current.configuration.limits
  const crm = await openCrm(configuration.crm, {
    showIn: timeZone,
    further: configuration.representation.further,
    limits: () => current.settings.crmLimits,
    loadWeb: async () => {
      const { openHttpClient } = await import('../runtime/outgoing.ts')
      return (options) => openHttpClient(options, reserve)
    },
    env: process.env,
    suspicions,
    time,
    observe,
    ...(reserve === null ? {} : { descriptors: reserve }),
    trace,
  })
  const formatter = new Formatter(() => current.settings.format)
  const readyBytes = (): number => limits().readyBodiesBytes ?? usualReadyBytes()
  const listMaker = new ListMaker(formatter, readyBytes())
  // A change of `feeds` takes effect only at a restart.
  const { feeds: switches } = configuration
  const keepsIndexes = ({ lists }: Configuration): boolean => lists || switches.calendar || switches.atom
  const written = (): string => JSON.stringify(current.settings.format)
  const { ChangeFeed } = switches.changes ? await import('../changes/change-feed.ts') : { ChangeFeed: null }
  const changes = ChangeFeed === null ? undefined : new ChangeFeed(() => recordsIn(reading.lists()), time, written())
  const reading: R = await openReading({
    configuration,
    crm,
    listMaker,
    limits,
    time,
    observe,
    pause: yieldToEventLoop,
    settings: freshness,
    keepsIndexes: keepsIndexes(configuration),
    changes,
  })
  const { lists: served } = reading
  const mayCall = (): boolean => {
    const { role = 'leader' } = reading.status().cluster?.status ?? {}
    return role === 'leader' && LISTS.every((name) => served()[name].ageMs(time.now()) !== null)
  }
  const webhooks =
    changes === undefined
      ? null
      : new (await import('../webhooks/webhooks.ts')).Webhooks(
          { feed: changes, formatter, web: await webhookClient(reserve), time, observe, mayCall },
          configuration.webhooks,
        )
  const admissions = new Admissions(freshness, limits, time)
  const serviceOf = async (settings: Configuration): Promise<Service> => {
    const { feeds } = settings
    const feedsOn = {
      settings: {
        basePath: listen.basePath,
        ...settings.representation,
        calendarName: feeds.calendarName,
        language: feeds.language,
        isLowestPrice: configuration.crm.isLowestPrice(),
        zone: timeZone,
      },
      switches: feeds,
    }
    const options = {
      served,
      admissions,
      time,
      basePath: listen.basePath,
      maxAgeMs: settings.freshness.maxAgeMs,
      conditionalRequests: settings.conditionalRequests,
      onInternalError: (cause: unknown) => observe({ kind: 'internal-error', message: bugPlace(cause) }),
      watch,
    }
    return Service.open(options, {
      formatter,
      zone: timeZone,
      lists: settings.lists,
      feeds: switches.calendar || switches.jsonLd || switches.atom ? feedsOn : null,
      changes: changes ?? null,
      describe: descriptionIn(settings),
    })
  }
  const marquee: Marquee & { readonly reading: R } = {
    current,
    crm,
    reading,
    admissions,
    listMaker,
    webhooks,
    service: await serviceOf(configuration),
    explaining: {
      idsOf: idsOf(configuration.crm),
      ...(hasTextKeys(configuration.crm) ? { textKeyFor } : {}),
      venueText: (venue) => suspicions.events.venueTexts.get(venue)?.text ?? null,
    },
    suspicions,
    stopWaiting: () => changes?.stop(),
    async adopt(next) {
      const service = await serviceOf(next)
      await service.ready()
      const before = written()
      current.replace(next)
      reading.adopt({
        formatChanged: written() !== before,
        keepsIndexes: keepsIndexes(next),
      })
      changes?.adopt(written())
      if (!next.lists) listMaker.ready.endPages()
      listMaker.ready.limitTo(readyBytes())
      webhooks?.adopt(next.webhooks)
      marquee.service = service
    },
  }
  return marquee
}

/** Opens the HTTP client of webhooks. It uses the environment's proxy, and trusts what the runtime trusts. */
export async function webhookClient(reserve: KeptDescriptors | null): Promise<ProxiedHttpClient> {
  const { openHttpClient } = await import('../runtime/outgoing.ts')
  const proxies = { configured: null, env: process.env }
  return trustingHttpClient((options) => openHttpClient(options, reserve), null, proxies)
}

function recordsIn({ events, venues }: ServedLists): RecordLists {
  return { events: events.list, venues: venues.list }
}

/** Returns a function that describes this instance; `null` if `describe` is off. */
function descriptionIn(configuration: Configuration): ServiceSwitches['describe'] {
  const { describe, listen, representation, lists, feeds, conditionalRequests, freshness, timeZone } = configuration
  if (!describe) return null
  const { basePath } = listen
  const { maxAgeMs } = freshness
  const { operations } = configuration
  const isHere = operations !== null && isLoopback(listen.host) && isLoopback(operations.host) && operations.port !== 0
  const instance = {
    dashboardPort: isHere ? operations.port : null,
    basePath,
    ...representation,
    lists,
    feeds,
    conditionalRequests,
    maxAgeMs,
    zone: timeZone,
  }
  return async () => {
    const { descriptionOf } = await import('../describe/html.ts')
    return descriptionOf(instance)
  }
}

export type CrmRead = Awaited<ReturnType<typeof readCrm>>

/** If the CRM asks for a longer pause, the read ends with a message, because a person waits for the result. */
const LONGEST_PAUSE_MS = 15_000

interface ReadOptions {
  /** Whether to examine the connector thoroughly. */
  readonly isThorough?: boolean
  readonly trace?: AssembleOptions['trace']
  /** Prints what the read waits for if it takes long. */
  readonly onSlow?: ((line: string) => void) | undefined
}

/** Reads both lists in full once, reports all faults of each row, and serves nothing. */
export async function readCrm(
  configuration: Configuration,
  { isThorough = false, trace, onSlow = () => {} }: ReadOptions = {},
) {
  const observations: Observation[] = []
  const steps = new SlowSteps(onSlow, systemTime)
  const observe = (observation: Observation): void => {
    observations.push(observation)
    if (observation.kind === 'read-paused') steps.pause(observation.why, observation.untilMs)
  }
  const silent = { ...configuration, describe: false }
  const options = {
    suspicions: listSuspicions(true),
    longestPauseMs: LONGEST_PAUSE_MS,
    trace,
  }
  const marquee = await assembleAlone(silent, systemTime, observe, options)
  const lists = marquee.reading.replica
  const { venues, events } = lists
  const rowsOf = (list: ListName): number => lists[list].list.size + lists[list].list.unidentified.length
  const progressOf = (list: ListName) => (): string =>
    rowsOf(list) === 0 ? 'no rows so far' : `${howMany(rowsOf(list), 'row')} so far`
  const reads = {
    venues: await steps.watch(venues.refresh.attempt(), 'reading the venues', progressOf('venues')),
    events: await steps.watch(events.refresh.attempt(), 'reading the events', progressOf('events')),
  }
  const isRead = reads.events.ok && reads.venues.ok
  const examined = isRead ? await steps.watch(Promise.resolve(marquee.crm.examine?.()), 'examining the CRM') : undefined
  const failures: { list: ListName; failure: Failure }[] = []
  for (const list of ['events', 'venues'] as const) {
    const attempt = reads[list]
    if (attempt.ok) {
      marquee.suspicions[list].judge(rowsOf(list))
      continue
    }
    failures.push({ list, failure: attempt.failure })
  }
  const conformed = failures.length === 0 ? marquee.crm.conform?.(isThorough) : undefined
  const findings = (await steps.watch(Promise.resolve(conformed), 'examining the connector')) ?? []
  await marquee.crm.close()
  const warnings = [...(examined?.warnings ?? []), ...(examined?.problems ?? []).map(({ message }) => message)]
  // The readings say how the lists were read, the findings what is wrong with the connector itself.
  const readings = marquee.crm.readings ?? []
  return { marquee, lists, readings, findings, failures, observations, warnings }
}

/** Whether the CRM's kind has `crm.texts`. */
export function hasTextKeys({ kind }: Configuration['crm']): boolean {
  return kind === 'files' || kind === 'http'
}

/** Returns the conversion from CRM ids; `null` if they are GUIDs and stay unchanged. */
export function idsOf(crm: Configuration['crm']): ExplainOptions['idsOf'] {
  const names = crm.idNames()
  if (names === null || !('idNamespace' in crm) || crm.idNamespace === null) return null
  const { idNamespace } = crm
  const conversions = names.map((from) => crmIds(idNamespace, from))
  return (crmId) => conversions.map((idOf) => idOf(crmId))
}
