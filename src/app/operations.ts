import { isLoopback } from '../config/addresses.ts'
import type { Configuration } from '../config/configuration.ts'
import { ownCode } from '../config/crm/own-code.ts'
import { bugPlace } from '../observe/printable.ts'
import { createOperations } from '../operations/app.ts'
import { explainId } from '../operations/explanation.ts'
import { expose } from '../operations/exposition.ts'
import { metricsOf } from '../operations/metrics.ts'
import { type RefusedReload, type Status, isReady, mayAnswer, statusOf } from '../operations/status.ts'
import { recordsChangedLately, recordsNamed } from '../operations/record-search.ts'
import { Sampling } from '../operations/samples.ts'
import { SearchTurns } from '../operations/search-turns.ts'
import { searchWithheld } from '../operations/withheld-search.ts'
import type { RefreshSettings } from '../sync/served-list.ts'
import { systemTime } from '../time/time.ts'
import { yieldToEventLoop } from '../time/waiting.ts'
import type { Listener, ListenFetch } from '../runtime/listener.ts'
import type { Marquee } from './assemble.ts'
import type { SuspicionWatch } from './suspicion-watch.ts'
import type { Telemetry } from './telemetry.ts'
import { type CommandContext, runtimeName, VERSION } from './command-context.ts'

/** A serving process. */
export interface Running {
  configuration: Configuration
  readonly marquee: Marquee
  readonly telemetry: Telemetry
  readonly watched: SuspicionWatch
  /** The address of the public listener, without the base path; empty until it listens. */
  address: string
  /** Whether a signal to stop has arrived. */
  stopping: boolean
  /** Why the last reload was refused; `null` if it succeeded. */
  refused: RefusedReload | null
}

/** The page for browsers, which the dashboard links to if both listeners are on loopback: elsewhere it may not be reachable. */
function pageIn({ address, configuration: { describe, listen, operations } }: Running): string | null {
  const isHere = operations !== null && isLoopback(listen.host) && isLoopback(operations.host)
  return describe && isHere ? `${address}${listen.basePath === '/' ? '/' : `${listen.basePath}/`}` : null
}

/** Opens the operations listener. Rejects with a system error if it cannot listen. */
export async function openOperations(
  running: Running,
  section: NonNullable<Configuration['operations']>,
  { droppedLines = () => 0 }: CommandContext,
  listenFetch: ListenFetch,
): Promise<Listener> {
  const { marquee, telemetry } = running
  const freshness = (): RefreshSettings => running.configuration.freshness
  const { reading, admissions, idsOf, crm } = marquee
  const { lists } = reading
  const { requests, reads, history, observe } = telemetry
  const waiting = (): number => admissions.waiting
  // A reload takes a new digest, but not the new program.
  const connector = ownCode(running.configuration.crm)
  const startedAt = new Date(systemTime.now().wallMs).toISOString()
  const ready = (): boolean => !running.stopping && isReady(lists(), freshness(), systemTime.now())
  const status = (): Status => {
    const { snapshot, cluster } = reading.status()
    return statusOf({
      lists: lists(),
      settings: freshness(),
      now: systemTime.now(),
      version: VERSION,
      startedAt,
      page: pageIn(running),
      stopping: running.stopping,
      waiting: waiting(),
      snapshot,
      readyBodies: marquee.ready.count,
      refused: running.refused,
      connector,
      cluster: cluster?.status ?? null,
      ignoredColumns: (list) => history.ignoredColumns(list),
      hasOwnAvailability: (list) => crm[list].availabilityEveryMs !== null,
      watched: running.watched,
    })
  }
  const metrics = metricsOf({
    served: lists,
    requests,
    reads,
    time: systemTime,
    isReady: ready,
    waiting,
    readyBodies: () => marquee.ready.count,
    snapshot: () => reading.status().snapshot,
    cluster: () => reading.status().cluster,
    droppedLines,
    version: VERSION,
    runtime: runtimeName(),
  })
  const turns = new SearchTurns()
  const sampling = new Sampling(() => {
    const { events, venues } = lists()
    const ages = [events, venues].map((list) => list.ageMs(systemTime.now()))
    const ended = [...reads.lists.values()].flatMap(({ byOutcome }) => [...byOutcome.values()])
    return {
      ageMs: ages.includes(null) ? null : Math.max(...ages.map((age) => age ?? 0)),
      reads: ended.reduce((sum, count) => sum + count, 0),
      requests: requests.durations.counts.reduce((sum, count) => sum + count, 0),
    }
  }, systemTime)
  sampling.start()
  const app = createOperations({
    isReady: ready,
    status,
    explain(id) {
      const now = systemTime.now()
      const served = lists()
      const cluster = reading.status().cluster?.status
      return explainId(id, {
        lists: served,
        now,
        idsOf,
        readBy: cluster?.role === 'follower' ? cluster.leader : null,
        mayAnswer: (list) => mayAnswer(served[list], freshness(), now),
        remarkOn: (list, row) => crm[list].remarkOn?.(row) ?? null,
        venueText: (venue) => marquee.suspicions.events.venueTexts.get(venue)?.text ?? null,
      })
    },
    withheld: (query, signal) =>
      turns.run(() => searchWithheld(lists()[query.list].list.withheldBatches(), query, yieldToEventLoop, signal)),
    find: (text, signal) => turns.run(() => recordsNamed(lists(), text, systemTime.now(), signal)),
    changes: (signal) => turns.run(() => recordsChangedLately(lists(), systemTime.now(), signal)),
    samples: () => sampling.samples,
    reads: () => history.reads,
    metrics: () => expose(metrics),
    async accept() {
      const accepted = await reading.acceptShorter()
      if (accepted !== null && accepted.length > 0) observe({ kind: 'shorter-accepted', lists: accepted })
      return accepted
    },
    onFailure: (cause) => observe({ kind: 'internal-error', message: bugPlace(cause) }),
    token: section.token?.reveal() ?? null,
    host: section.host,
  })
  return listenFetch({ host: section.host, port: section.port, fetch: (request) => app.fetch(request) })
}
