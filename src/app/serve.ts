// The parts, put together. In: a configuration. Out: a service that runs, reloads and stops.

import type { Configuration } from '../config/configuration.ts'
import { listSuspicions } from '../crm/mapping/suspicions.ts'
import type { RouteLabel } from '../observe/meters.ts'
import type { Observation, Observe } from '../observe/observation.ts'
import { printable } from '../observe/printable.ts'
import { systemTime } from '../time/time.ts'
import { withTimeout } from '../time/waiting.ts'
import { descriptorLimit } from '../runtime/descriptor-reserve.ts'
import { type Listener, type ListenFetch, type PublicListener, addressOf } from '../runtime/listener.ts'
import { assemble } from './assemble.ts'
import { type ConfigurationOptions, readConfiguration } from './read-configuration.ts'
import type { Running } from './operations.ts'
import { onHangUp } from './reload.ts'
import { OutageWatch } from './outage-watch.ts'
import { SuspicionWatch } from './suspicion-watch.ts'
import { type CommandContext, ANSWER_IS_NO, FINE, WRONG_USAGE } from './command-context.ts'
import { createTelemetry } from './telemetry.ts'

/** How long the first log line waits for a record to name. A large list continues loading after it. */
const FIRST_READ_MS = 2000
/** How long the operations listener waits for the first read before it opens. Probes soon need it. */
const ASIDE_AFTER_MS = 100

/** Runs the service until a signal ends it; resolves with the exit status. */
export async function serve(options: ConfigurationOptions, context: CommandContext): Promise<number> {
  const read = await readConfiguration(options, context)
  if (read === null) return WRONG_USAGE
  const { configuration, from } = read
  const telemetry = createTelemetry(context, configuration.log.requests)
  const { watch, log } = telemetry
  // Things that the configuration names and the CRM does not have. Waiting would not help.
  const lacks = new Set<string>()
  const inVain = Promise.withResolvers<void>()
  const suspicions = listSuspicions()
  const watched = new SuspicionWatch(configuration, suspicions, telemetry.observe)
  const observe: Observe = (observation) => {
    if (isCutOff(observation) && running.isEnding) return
    telemetry.observe(observation)
    watched.note(observation, marquee.reading.lists())
    if (observation.kind === 'read-ended') outages.look()
    if (observation.kind !== 'read-ended' || observation.read.outcome !== 'misconfigured' || hasServed(running)) return
    lacks.add(observation.read.message ?? '')
    inVain.resolve()
  }
  const outages = new OutageWatch(
    () =>
      running.stopping
        ? null
        : {
            lists: marquee.reading.lists(),
            settings: running.configuration.freshness,
            waitForMs: marquee.limits.waitForMs,
          },
    telemetry.observe,
    systemTime,
  )
  const runtime = 'Bun' in globalThis ? await import('../runtime/bun.ts') : await import('../runtime/node.ts')
  const marquee = await assemble(configuration, systemTime, observe, {
    watch,
    reserve: runtime.openReserve(),
    suspicions,
  })
  const { host, port } = configuration.listen
  const { idleMs } = configuration.limits
  const listener = await runtime
    .listen({ host, port, idleMs, answer: (call) => marquee.service.answer(call) })
    .catch((cause: unknown) => {
      context.error(whyNotListening(cause, { host, port }, 'listen'))
      return null
    })
  if (listener === null) return ANSWER_IS_NO
  const listenedAtMs = Date.now()
  keepLimits(listener, configuration, context)
  const running: Running = {
    configuration,
    marquee,
    telemetry,
    watched,
    address: addressOf(listener),
    stopping: false,
    isEnding: false,
    refused: null,
  }
  // The lists come first. Everything else waits for them briefly.
  marquee.reading.start()
  const firstReads = marquee.reading.untilRead()
  const opening = withTimeout(systemTime, ASIDE_AFTER_MS, firstReads).then(() =>
    openAside(running, runtime.listenFetch, context),
  )
  const { ended, stop } = untilSignal(running, listener, opening, observe)
  const hungUp = onHangUp(running, options, context, observe, (next) => keepLimits(listener, next, context))
  const ignored = new Set<string>()
  const takeSignals = (): void =>
    context.signals?.handTo((signal) => {
      if (signal === 'SIGHUP') {
        void hungUp().then((isAlone) => (isAlone && !running.stopping ? stop(signal) : null))
      } else if (!ignored.has(signal)) {
        ignored.add(signal)
        observe({ kind: 'signal-ignored', signal })
      }
    })
  const operations = await opening
  await marquee.service.ready()
  await withTimeout(systemTime, FIRST_READ_MS, firstReads)
  if (lacks.size === 0) {
    const addresses = {
      address: addressOf(listener),
      operations: operations === null ? null : `${addressOf(operations)}/`,
    }
    const { startUp } = await import('./start-up.ts')
    const atMs = Math.min(listenedAtMs, telemetry.firstAtMs)
    startUp({ configuration, from, marquee, option: options.config, atMs, ...addresses }, context)
    log.begin()
    takeSignals()
  }
  const ending = inVain.promise.then(async () => {
    // The other list's read may find more.
    await withTimeout(systemTime, FIRST_READ_MS, marquee.reading.untilReadsEnd())
    for (const message of lacks) context.error(printable(message))
    await listener.stop(LAST_ANSWERS_MS)
    return WRONG_USAGE
  })
  const endWatch = outages.start()
  return Promise.race([ended, ending]).finally(endWatch)
}

/** Applies the limits, and warns of those that the runtime or the system cannot keep. */
function keepLimits(listener: PublicListener, { limits }: Configuration, { error }: CommandContext): void {
  const idleMs = listener.keepIdle(limits.idleMs)
  if (idleMs < limits.idleMs) {
    const least = `${limits.idleMs / 1000} s, and this runtime keeps an idle connection for no more than ${idleMs / 1000} s`
    error(`warning: limits.idle is ${least}: keep that of the load balancer in front below it, or run on Node`)
  }
  const descriptors = descriptorLimit()
  if (descriptors < 2 * limits.waiting) {
    const few = `only ${descriptors} file descriptors may be open, and limits.waiting: ${limits.waiting} needs twice as many`
    error(`warning: ${few}: raise them (LimitNOFILE, ulimit -n), or lower limits.waiting`)
  }
}

/** Opens the operations listener. If its port is taken, the service continues without it. */
async function openAside(
  running: Running,
  listenFetch: ListenFetch,
  context: CommandContext,
): Promise<Listener | null> {
  const { operations } = running.configuration
  if (operations === null) return null
  try {
    const { openOperations } = await import('./operations.ts')
    return await openOperations(running, operations, context, listenFetch)
  } catch (cause) {
    const why = whyNotListening(cause, operations, 'operations')
    context.error(`warning: serving without the operations listener: ${why}`)
    return null
  }
}

function whyNotListening(
  cause: unknown,
  { host, port }: { host: string; port: number },
  section: 'listen' | 'operations',
): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason'
  const where = `${host}:${port} (${section}.host, ${section}.port)`
  if (code === 'EADDRINUSE') {
    const option = section === 'listen' ? '--port' : '--operations-port'
    return `${where} is in use: stop what listens there, or choose another port by ${option} or ${section}.port, 0 for any`
  }
  if (code === 'EACCES') return `${where} is not allowed: ports below 1024 need a privilege this user lacks`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `${where} is not an address of this machine`
  return `${where} cannot be listened on (${code})`
}

/** Routes that need no record. */
const WITHOUT_CRM: ReadonlySet<RouteLabel> = new Set(['/api/openapi.json', '/', 'other'])

/** Whether records were or could have been served. From then on, a wrong configuration does not end the process. */
function hasServed({ marquee, telemetry }: Running): boolean {
  const now = systemTime.now()
  const { events, venues } = marquee.reading.lists()
  if (events.ageMs(now) !== null && venues.ageMs(now) !== null) return true
  return telemetry.requests
    .counts()
    .some(({ route, status }) => !WITHOUT_CRM.has(route) && (status === 200 || status === 304))
}

/** Whether the observation comes from aborting reads, not from a failure of the CRM. */
function isCutOff(observation: Observation): boolean {
  if (observation.kind === 'read-ended') return observation.read.outcome !== 'ok'
  return observation.kind === 'cluster-changed' && observation.what === 'unfit'
}

/** How long a stop waits for the last answers. */
const LAST_ANSWERS_MS = 1000

/** Signals within this time count as one: a terminal and npm both send Ctrl-C. */
const SECOND_SIGNAL_MS = 1000

/** Stops in order at the first signal, and immediately at one that follows a second or more later. */
function untilSignal(
  running: Running,
  listener: Listener,
  operations: Promise<Listener | null>,
  observe: Observe,
): { readonly ended: Promise<number>; readonly stop: (signal: string) => Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<number>()
  let firstMs: number | null = null
  const end = (status: number): void => {
    observe({ kind: 'stopped', inOrder: status === FINE })
    resolve(status)
  }
  const stop = async (signal: string): Promise<void> => {
    const nowMs = systemTime.now().monotonicMs
    if (firstMs !== null) {
      if (nowMs - firstMs >= SECOND_SIGNAL_MS) end(ANSWER_IS_NO)
      return
    }
    firstMs = nowMs
    // `/ready` says no from now on. The operations listener closes last, so that it can be asked until the end.
    running.stopping = true
    const { drainMs } = running.configuration.limits
    observe({ kind: 'stopping', signal, drainMs })
    await listener.stop(drainMs)
    running.isEnding = true
    await running.marquee.reading.stop()
    await (await operations)?.stop(LAST_ANSWERS_MS)
    end(FINE)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal))
  return { ended: promise, stop }
}
