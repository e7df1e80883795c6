import { isLoopback } from '../domain/host.ts'
import { type Configuration, ownCode } from '../config/configuration.ts'
import { bugPlace } from '../domain/printable.ts'
import { createOperations, operationsOf } from '../operations/app.ts'
import type { RefusedReload } from '../operations/status.ts'
import { systemTime } from '../time/time.ts'
import type { Listener } from '../runtime/listener.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Marquee } from './assemble.ts'
import type { Current } from './current.ts'
import type { OverWatch } from './over-watch.ts'
import type { SuspicionWatch } from './suspicion-watch.ts'
import type { Telemetry } from '../observe/telemetry.ts'
import { type CommandContext, runtimeName, VERSION } from './command-context.ts'

export interface Running {
  readonly current: Current
  /** The origin of the configuration at the start, as the end of a sentence. */
  readonly from: string
  readonly marquee: Marquee
  readonly telemetry: Telemetry
  readonly watched: SuspicionWatch
  readonly over: OverWatch
  /** The address of the public listener, without the base path; empty until it listens. */
  address: string
  stopping: boolean
  /** Why the last reload was refused; `null` if it succeeded. */
  refused: RefusedReload | null
}

/**
 * Returns the address of the page for browsers, if both listeners are on loopback: elsewhere it may not be reachable.
 */
function pageIn({ address, current }: Running): string | null {
  const { describe, listen, operations } = current.configuration
  const isHere = operations !== null && isLoopback(listen.host) && isLoopback(operations.host)
  return describe && isHere ? `${address}${listen.basePath === '/' ? '/' : `${listen.basePath}/`}` : null
}

/** Opens the operations listener. Rejects with a system error if it cannot listen. */
export async function openOperations(
  running: Running,
  section: NonNullable<Configuration['operations']>,
  { droppedLines = () => 0 }: CommandContext,
  listenFetch: Runtime['listenFetch'],
): Promise<Listener> {
  const { current, marquee, telemetry, watched, over } = running
  const { reading, admissions } = marquee
  const { requests, reads, history } = telemetry
  const answers = operationsOf({
    served: reading.lists,
    reading: () => reading.status(),
    settings: () => current.configuration.freshness,
    state: () => ({
      page: pageIn(running),
      stopping: running.stopping,
      refused: running.refused,
      hasLists: current.configuration.lists,
    }),
    requests,
    reads,
    history,
    watched,
    allOverSinceMs: () => over.overSinceMs,
    time: systemTime,
    waiting: () => admissions.waiting,
    readyBodies: () => marquee.listMaker.ready.count,
    webhooks: marquee.webhooks,
    droppedLines,
    version: VERSION,
    runtime: runtimeName(),
    // Read once: after a reload, the configuration has the digest of the new file, but the old program still runs.
    connector: ownCode(current.configuration.crm),
    ...marquee.explaining,
  })
  const app = createOperations({
    ...answers,
    async accept() {
      const accepted = await reading.acceptShorter()
      if (accepted !== null && accepted.length > 0) telemetry.observe({ kind: 'shorter-accepted', lists: accepted })
      return accepted
    },
    onFailure: (cause) => telemetry.observe({ kind: 'internal-error', message: bugPlace(cause) }),
    token: section.token?.reveal() ?? null,
    host: section.host,
  })
  return listenFetch({ host: section.host, port: section.port, fetch: (request) => app.fetch(request) })
}
