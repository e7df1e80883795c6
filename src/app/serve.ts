// Puts the parts together. In: a configuration. Out: a service that runs, reloads and stops.

import type { Configuration } from '../config/configuration.ts'
import { listSuspicions } from '../crm/mapping/suspicions.ts'
import type { Observe } from '../observe/observation.ts'
import { systemTime } from '../time/time.ts'
import { withTimeout, yieldToEventLoop } from '../time/waiting.ts'
import { type Listener, type PublicListener, addressOf } from '../runtime/listener.ts'
import { type Runtime, loadRuntime } from '../runtime/runtime.ts'
import { assemble } from './assemble.ts'
import { type ConfigurationOptions, readConfiguration } from '../config/read-configuration.ts'
import type { Running } from './operations.ts'
import { onHangUp } from './reload.ts'
import { type Watched, OutageWatch } from './outage-watch.ts'
import { OverWatch } from './over-watch.ts'
import { SuspicionWatch } from './suspicion-watch.ts'
import { type Supervisor, supervisorOf } from './supervisor.ts'
import { type CommandContext, ANSWER_IS_NO, FINE, WRONG_USAGE } from './command-context.ts'
import { OTHERS, STOPS } from './early-signals.ts'
import { type RequestWatch, traceIdOf } from '../http/call.ts'
import { Telemetry } from '../observe/telemetry.ts'

/** How long the first log line waits for a record to name. A large list continues loading after it. */
const FIRST_READ_MS = 2000
/** How long the operations listener waits for the first read before it opens. Probes soon need it. */
const ASIDE_AFTER_MS = 100

/** A part of the running service. The parts start in order and stop in reverse. */
interface Part {
  /** Returns why the service cannot run; `null` if it can. */
  start(): string | null | Promise<string | null>
  stop(): void | Promise<void>
}

/** What a stop must end: nothing before the configuration is read. */
interface Started {
  running: Running | null
  readonly parts: Part[]
  isStopping: boolean
  readonly supervisor: Supervisor
}

/** Runs the service until a signal ends it; resolves with the exit status. */
export async function serve(options: ConfigurationOptions, context: CommandContext): Promise<number> {
  const { out, isTerminal } = context
  const telemetry = new Telemetry({ out, isTerminal, now: () => Date.now() }, false)
  const supervisor = supervisorOf(context.env, context.error)
  const started: Started = { running: null, parts: [], isStopping: false, supervisor }
  const stopping = untilSignal(started, telemetry, context)
  // A start that hangs does not hold up a stop.
  return Promise.race([stopping.ended, run(options, context, telemetry, started, stopping)])
}

async function run(
  options: ConfigurationOptions,
  context: CommandContext,
  telemetry: Telemetry,
  started: Started,
  { ended, stop }: ReturnType<typeof untilSignal>,
): Promise<number> {
  const read = await readConfiguration(options, context)
  if (read === null) return WRONG_USAGE
  const { configuration, from } = read
  telemetry.logsRequests = configuration.log.requests
  const observers: Observe[] = [telemetry.observe]
  const observe: Observe = (observation) => {
    for (const note of observers) note(observation)
  }
  const suspicions = listSuspicions()
  const runtime = await loadRuntime()
  const reserve = runtime.openReserve()
  const marquee = await assemble(configuration, systemTime, observe, { watch: watchOf(telemetry), reserve, suspicions })
  const { current, reading } = marquee
  const watched = new SuspicionWatch(configuration, suspicions, telemetry.observe)
  const over = new OverWatch(reading.lists, telemetry.observe, systemTime, yieldToEventLoop)
  const running: Running = {
    current,
    from,
    marquee,
    telemetry,
    watched,
    over,
    address: '',
    stopping: started.isStopping,
    refused: null,
  }
  started.running = running
  const isStopping = (): boolean => running.stopping
  const outages = new OutageWatch(() => watchedNow(running), telemetry.observe, systemTime)
  observers.push(
    (observation) => watched.note(observation, reading.lists()),
    (observation) => outages.note(observation),
    (observation) => over.note(observation),
  )
  const firstReads = Promise.withResolvers<void>()
  const operations = operationsSide(running, firstReads.promise, runtime.listenFetch, context)
  const reads: Part = {
    start() {
      reading.start()
      void reading.untilRead().then(firstReads.resolve)
      return null
    },
    stop: () => reading.stop(),
  }
  const listener = publicSide(running, runtime.listen, context)
  // The operations listener stops last, so that it can be asked until the end.
  const calls = marquee.webhooks === null ? [] : [marquee.webhooks]
  const parts: readonly Part[] = [operations, reads, ...calls, listener, outages, over]
  for (const part of parts) {
    if (isStopping()) break
    started.parts.push(part)
    const why = await part.start()
    if (why === null || isStopping()) continue
    context.error(why)
    await stopAll(started.parts.slice(0, -1))
    return ANSWER_IS_NO
  }
  if (isStopping()) return ended
  const listenedAtMs = Date.now()
  const hungUp = onHangUp(running, options, context, observe, (next) => listener.keepLimits(next))
  // Everything else waits briefly for the lists.
  const opened = await operations.opened
  await marquee.service.ready()
  await withTimeout(systemTime, FIRST_READ_MS, firstReads.promise)
  const { startUp } = await import('./start-up.ts')
  if (isStopping()) return ended
  const { address } = running
  const atMs = Math.min(listenedAtMs, telemetry.firstAtMs)
  const addresses = { address, operations: opened === null ? null : `${addressOf(opened)}/` }
  startUp({ from, marquee, option: options.config, atMs, ...addresses }, context)
  telemetry.log.begin()
  started.supervisor.ready()
  takeSignals(running, context, observe, hungUp, stop)
  return ended.finally(() => void stopAll([outages, over]))
}

function watchOf(telemetry: Telemetry): RequestWatch {
  return (route, call, { status, fields }, durationMs) => {
    const contentType = fields.values['Content-Type']
    telemetry.requests.count(route, status, contentType, durationMs)
    if (!telemetry.logsRequests) return
    const { method, pathname: path } = call
    const traceId = traceIdOf(call.header('traceparent'))
    telemetry.logRequest({ method, route, path, status, durationMs, traceId }, contentType)
  }
}

async function stopAll(parts: readonly Part[]): Promise<void> {
  for (const part of parts.toReversed()) await part.stop()
}

function watchedNow({ stopping, marquee: { current, reading } }: Running): Watched | null {
  if (stopping) return null
  const { freshness, limits } = current.configuration
  const cluster: Watched['cluster'] = () => reading.status().cluster?.status ?? null
  return { lists: reading.lists(), settings: freshness, waitForMs: limits.waitForMs, cluster }
}

function publicSide(running: Running, listen: Runtime['listen'], { error }: CommandContext) {
  let listener: PublicListener | null = null
  return {
    async start(): Promise<string | null> {
      const { configuration } = running.current
      const { host, port } = configuration.listen
      const { idleMs } = configuration.limits
      try {
        listener = await listen({ host, port, idleMs, answer: (call) => running.marquee.service.answer(call) })
      } catch (cause) {
        return whyNotListening(cause, { host, port }, 'listen')
      }
      running.address = addressOf(listener)
      this.keepLimits(configuration)
      return null
    },
    async stop(drainMs: number = running.current.configuration.limits.drainMs): Promise<void> {
      running.marquee.stopWaiting()
      await listener?.stop(drainMs)
    },
    /** Applies the limits, and warns of those that the runtime or the system cannot keep. */
    keepLimits({ limits }: Configuration): void {
      const idleMs = listener?.keepIdle(limits.idleMs) ?? limits.idleMs
      if (idleMs < limits.idleMs) {
        const least = `${limits.idleMs / 1000} s, and this runtime keeps an idle connection for no more than ${idleMs / 1000} s`
        error(`warning: limits.idle is ${least}: set the idle time of the load balancer below that, or run on Node`)
      }
      const descriptors = listener?.descriptors ?? Infinity
      if (descriptors < 2 * limits.waiting) {
        const few = `only ${descriptors} file descriptors may be open, and limits.waiting: ${limits.waiting} needs twice as many`
        error(`warning: ${few}: raise them (LimitNOFILE, ulimit -n), or lower limits.waiting`)
      }
    },
  }
}

/**
 * The operations listener. It opens after the first reads, or soon, because probes need it. If its port is taken, the
 * service runs without it.
 */
function operationsSide(
  running: Running,
  firstReads: Promise<void>,
  listenFetch: Runtime['listenFetch'],
  context: CommandContext,
) {
  const { promise: opened, resolve } = Promise.withResolvers<Listener | null>()
  let isStopped = false
  const open = async (): Promise<Listener | null> => {
    const { operations } = running.current.configuration
    if (operations === null || isStopped) return null
    try {
      const { openOperations } = await import('./operations.ts')
      return await openOperations(running, operations, context, listenFetch)
    } catch (cause) {
      const why = whyNotListening(cause, operations, 'operations')
      context.error(`warning: serving without the operations listener: ${why}`)
      return null
    }
  }
  return {
    opened,
    start(): null {
      void withTimeout(systemTime, ASIDE_AFTER_MS, firstReads).then(open).then(resolve)
      return null
    },
    async stop(): Promise<void> {
      isStopped = true
      await (await opened)?.stop(LAST_ANSWERS_MS)
    },
  }
}

/** Handles the signals that have arrived since the process began, and all further ones. */
function takeSignals(
  running: Running,
  { signals }: CommandContext,
  observe: Observe,
  hungUp: () => Promise<boolean>,
  stop: (signal: string) => Promise<void>,
): void {
  const ignored = new Set<string>()
  signals?.handTo(OTHERS, (signal) => {
    if (signal === 'SIGHUP') {
      void hungUp().then((isAlone) => (isAlone && !running.stopping ? stop(signal) : null))
    } else if (!ignored.has(signal)) {
      ignored.add(signal)
      observe({ kind: 'signal-ignored', signal })
    }
  })
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

const LAST_ANSWERS_MS = 1000

/** Signals within this time count as one: a terminal and npm both send Ctrl-C. */
const SECOND_SIGNAL_MS = 1000

/** Stops in order at the first signal, also during the start, and immediately at one that follows a second or more later. */
function untilSignal(
  started: Started,
  { log, observe }: Telemetry,
  { signals }: CommandContext,
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
    started.isStopping = true
    started.supervisor.stopping()
    // During the start, the lines so far are still held back.
    log.begin()
    const { running, parts } = started
    if (running !== null) {
      // From now on `/ready` answers 503.
      running.stopping = true
      observe({ kind: 'stopping', signal, drainMs: running.current.configuration.limits.drainMs })
    }
    await stopAll(parts)
    end(FINE)
  }
  signals?.handTo(STOPS, (signal) => void stop(signal))
  return { ended: promise, stop }
}
