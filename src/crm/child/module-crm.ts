// Connectors that users write, each in a separate process. In: the settings of crm.kind module or command. Out: a CRM
// whose rows come from that process. The service continues if the process fails.

import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { CrmSettings } from '../../config/configuration.ts'
import type { ListName } from '../../domain/field.ts'
import { type Crm, type Failure, failed, failureOf } from '../../sync/port.ts'
import { type Moment, earlierBy, elapsedMs, laterOf } from '../../time/time.ts'
import { connectorCrm } from '../connector/connector-crm.ts'
import type {
  ConnectorOutline,
  Hint,
  Purpose,
  RowHost,
  Rows,
  RowsEnd,
  StreamBatch,
  Way,
  WayArgument,
} from '../connector/row-host.ts'
import { withTimeout } from '../../time/waiting.ts'
import { GivenSettings } from '../context/given-settings.ts'
import type { ConnectorContext } from '../kit/crm-limits.ts'
import { Pauses } from '../kit/throttle.ts'
import { ChildPrints, killGroup, residentBytes, spawnBare, tooMuchMemory, watchEvery } from './child-watch.ts'
import { type Frame, type ToHost, CHANNEL, eachFrame } from './host-messages.ts'

export interface ProcessContext extends ConnectorContext {
  readonly env: Readonly<Record<string, string | undefined>>
}

export function openModuleCrm(settings: CrmSettings<'module'>, context: ProcessContext): Promise<Crm> {
  return connectorCrm(new ModuleHost(settings, context), settings, context)
}

/** The next batch of a read, or its end. */
type Step = IteratorResult<StreamBatch, RowsEnd>

interface Waiting {
  readonly since: Moment
  readonly settle: (step: Step) => void
}

interface Alive {
  readonly child: ChildProcess
  readonly ready: Promise<ConnectorOutline | Failure>
  readonly settleReady: (outcome: ConnectorOutline | Failure) => void
  readonly waiting: Map<number, Waiting>
  /** Whether the connector's file is being imported. */
  isLoading: boolean
  /** Whether the connector has something to close. */
  closes: boolean
  pingedAt: Moment | null
  residentBytes: number
  /** The end of a pause that the CRM or the budget requires. During the pause, silence is normal. */
  pausedUntil: Moment
  /** Why the service ended the process; `null` if it did not. */
  why: Failure | null
  /** How the process has ended; `null` while it runs. */
  ended: Failure | null
}

/** How long the process may block its event loop. */
const LOOP_HELD_MS = 5000
/** How many request time limits a batch may take. */
const PATIENCE = 3
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000
const START_MS = 20_000
/** How long a connector may take to close. */
const CLOSE_MS = 1000
/** How long to wait for the rest of the output after the process has ended. */
const STRAY_MS = 1000

/**
 * Runs a user's connector in a process: starts it when needed, watches it, and ends it with all its child processes.
 */
class ModuleHost implements RowHost {
  readonly name: string
  readonly #settings: CrmSettings<'module'>
  readonly #context: ProcessContext
  readonly given: GivenSettings
  readonly #prints: ChildPrints
  readonly pauses: Pauses = new Pauses()
  readonly #hints: Record<ListName, Set<(hint: Hint) => void>> = { events: new Set(), venues: new Set() }
  #alive: Alive | null = null
  /** What the connector declared when it was first started. */
  #outline: string | null = null
  #reads = 0
  /** How many times the process has ended without a successful read. */
  #deaths = 0
  #died: { readonly at: Moment; readonly failure: Failure } | null = null
  #isClosed = false

  constructor(settings: CrmSettings<'module'>, context: ProcessContext) {
    this.name = basename(settings.path.file)
    this.#settings = settings
    this.#context = context
    this.given = new GivenSettings(settings.settings)
    this.#prints = new ChildPrints(this.name, this.given, context.observe, context.time)
  }

  /** Starts the process if none is running. Returns what the connector declares about its lists. */
  async ready(): Promise<ConnectorOutline | Failure> {
    const alive = this.#process()
    return 'message' in alive ? alive : alive.ready
  }

  /** Returns the process, which is started if none is running; a failure if none may be started now. */
  #process(): Alive | Failure {
    if (this.#isClosed) return failureOf('internal', 'the CRM is closed')
    const paused = this.#alive === null ? this.#paused : null
    if (paused !== null) return paused
    this.#alive ??= this.#start()
    return this.#alive
  }

  /** How the process ended, if it is too early to start it again; `null` if it may be started. */
  get #paused(): Failure | null {
    if (this.#died === null || this.#deaths < 2) return null
    const { at, failure } = this.#died
    const forMs = Math.min(FIRST_PAUSE_MS * 2 ** (this.#deaths - 2), LONGEST_PAUSE_MS)
    const leftMs = forMs - elapsedMs(at, this.#context.time.now())
    if (leftMs <= 0) return null
    return failureOf(failure.kind, `${failure.message}; the next try is in ${Math.ceil(leftMs / 1000)} s`, leftMs)
  }

  async *rows(
    list: ListName,
    way: Way,
    argument: WayArgument,
    signal: AbortSignal,
    purpose: Purpose = 'refresh',
  ): Rows {
    const alive = this.#process()
    if ('message' in alive) return { ok: false, failure: alive }
    const ready = await alive.ready
    if ('message' in ready) return { ok: false, failure: ready }
    if (signal.aborted) return failed('internal', 'the read was given up')
    const read = ++this.#reads
    tell(alive, { do: 'open', read, list, way, argument, purpose })
    const giveUp = (): void => giveUpRead(alive, read)
    signal.addEventListener('abort', giveUp, { once: true })
    let isOver = false
    try {
      for (;;) {
        const step = await this.#next(alive, read)
        isOver = step.done === true
        if (step.done !== true) yield step.value
        else {
          // After a success, the next start need not wait.
          if (step.value.ok) this.#deaths = 0
          return step.value
        }
      }
    } finally {
      signal.removeEventListener('abort', giveUp)
      if (!isOver) giveUp()
    }
  }

  #next(alive: Alive, read: number): Promise<Step> {
    // A process that was started since does not know this read.
    if (alive.ended !== null) return Promise.resolve(endedBy(alive.ended))
    const { promise, resolve } = Promise.withResolvers<Step>()
    alive.waiting.set(read, { since: this.#context.time.now(), settle: resolve })
    tell(alive, { do: 'next', read })
    return promise
  }

  takeSecrets(): void {
    if (this.#alive !== null) tell(this.#alive, { do: 'settings', settings: this.given.sent })
  }

  onHint(list: ListName, callback: (hint: Hint) => void): () => void {
    this.#hints[list].add(callback)
    return () => this.#hints[list].delete(callback)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const alive = this.#alive
    if (alive === null) return
    if (alive.closes) {
      const { promise: closed, resolve } = Promise.withResolvers<void>()
      alive.child.once('close', () => resolve())
      tell(alive, { do: 'end' })
      await withTimeout(this.#context.time, CLOSE_MS, closed)
    }
    this.#kill(alive, failureOf('internal', 'the CRM is closed'))
  }

  #start(): Alive {
    const { limits, env, time, trace } = this.#context
    const { path, ca, proxy, allowInsecure } = this.#settings
    const { requestTimeoutMs, longestPauseMs } = limits()
    const child = spawnBare(process.execPath, hostArguments(), dirname(path.file), true)
    const { promise, resolve } = Promise.withResolvers<ConnectorOutline | Failure>()
    const alive: Alive = {
      child,
      ready: promise,
      settleReady(outcome) {
        alive.isLoading = false
        resolve(outcome)
      },
      waiting: new Map(),
      isLoading: false,
      closes: false,
      pingedAt: null,
      residentBytes: 0,
      pausedUntil: time.now(),
      why: null,
      ended: null,
    }
    const take = eachFrame((frame) => {
      if (frame !== null) this.#take(alive, frame)
      else this.#kill(alive, failureOf('broken', `${this.name} sent answers that cannot be parsed`))
    })
    const channel = child.stdio[CHANNEL]
    // An error is ignored: `close` reports the end.
    if (channel instanceof Readable) channel.on('data', take).on('error', () => {})
    this.#prints.follow(child.stdout)
    this.#prints.follow(child.stderr)
    // Ignored: writing to a process that has ended fails, and `close` reports the end.
    child.stdin?.on('error', () => {})
    const stopWatch = this.#watch(alive)
    const cancelStart = time.after(START_MS, () =>
      this.#kill(alive, failureOf('timeout', `${this.name} did not load within ${START_MS / 1000} s`)),
    )
    void promise.then(cancelStart)
    let isOver = false
    const ended = (how: string): void => {
      if (isOver) return
      isOver = true
      stopWatch()
      for (const stream of child.stdio) stream?.destroy()
      this.#ended(alive, how)
    }
    child.on('error', (cause) => ended(`could not be started (${'code' in cause ? String(cause.code) : cause.name})`))
    child.on('close', (code, signal) => ended(howEnded(code, signal)))
    // A program that it started may hold its output open for as long as that program runs.
    child.on('exit', (code, signal) => void time.after(STRAY_MS, () => ended(howEnded(code, signal))))
    const proxies = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()])
    const named = proxies.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]))
    const start: ToHost = {
      do: 'start',
      path: path.file,
      digest: path.sha256,
      settings: this.given.sent,
      limits: { requestTimeoutMs, longestPauseMs },
      isTraced: trace !== undefined,
      allowInsecure,
      ca,
      proxy: proxy?.reveal() ?? null,
      env: Object.fromEntries(named),
    }
    tell(alive, start)
    return alive
  }

  #take(alive: Alive, { head, rows }: Frame): void {
    if (head.is === 'ready') return this.#takeOutline(alive, head)
    if (head.is === 'loading') {
      alive.isLoading = true
      return
    }
    if (head.is === 'hint') return this.#hints[head.list].forEach((hint) => hint(head.hint))
    if (head.is === 'notice') return this.#prints.notice(`${head.list}: ${head.sentence}`)
    if (head.is === 'traced') return this.#context.trace?.(this.given.shown(head.line, Number.POSITIVE_INFINITY))
    if (head.is === 'unusable') {
      const failure = failureOf('misconfigured', this.given.shown(head.message))
      alive.settleReady(failure)
      // End the process and try again later: the connector may work then, for example once a package is installed.
      return this.#kill(alive, failure)
    }
    if (head.is === 'pong') {
      alive.pingedAt = null
      alive.residentBytes = head.residentBytes
      return
    }
    if (head.is === 'waiting') {
      const until = earlierBy(this.#context.time.now(), -head.forMs)
      alive.pausedUntil = laterOf(alive.pausedUntil, until)
      return this.pauses.tell(head.forMs, this.given.shown(head.why))
    }
    const waiting = alive.waiting.get(head.read)
    alive.waiting.delete(head.read)
    if (head.is === 'failed') waiting?.settle(endedBy(head))
    else if (head.is === 'end') waiting?.settle({ done: true, value: head })
    else {
      const { places, ...batch } = head
      const at = places === undefined ? {} : { at: (index: number) => places[index] ?? '' }
      waiting?.settle({ done: false, value: { ...batch, ...at, rows } })
    }
  }

  #takeOutline(alive: Alive, outline: ConnectorOutline): void {
    const text = JSON.stringify(outline)
    this.#outline ??= text
    alive.closes = outline.closes === true
    if (this.#outline === text) return alive.settleReady(outline)
    // The records in memory and on disk belong to the first outline.
    const what = `${this.name}, or a file that it imports, has changed since the service was started`
    const failure = failureOf('misconfigured', `${what}: restart Marquee to use it`)
    alive.settleReady(failure)
    this.#kill(alive, failure)
  }

  #watch(alive: Alive): () => void {
    const { time, limits } = this.#context
    return watchEvery(time, () => {
      const now = time.now()
      const resident = residentBytes(alive.child) ?? alive.residentBytes
      if (resident > this.#settings.memoryBytes) this.#kill(alive, tooMuchMemory(this.name, resident))
      if (alive.pingedAt !== null && elapsedMs(alive.pingedAt, now) > LOOP_HELD_MS)
        this.#killSilent(alive, `held its event loop for more than ${LOOP_HELD_MS / 1000} s`)
      const patienceMs = limits().requestTimeoutMs * PATIENCE
      for (const { since } of alive.waiting.values()) {
        const silentMs = Math.min(elapsedMs(since, now), elapsedMs(alive.pausedUntil, now))
        if (silentMs > patienceMs) this.#killSilent(alive, `sent nothing for ${patienceMs / 1000} s`)
      }
      if (alive.pingedAt === null && (alive.waiting.size > 0 || alive.isLoading)) {
        alive.pingedAt = now
        tell(alive, { do: 'ping' })
      }
    })
  }

  #killSilent(alive: Alive, what: string): void {
    this.#kill(alive, failureOf('timeout', `${this.name} ${what}, and was ended`))
  }

  #kill(alive: Alive, why: Failure): void {
    if (alive.why !== null) return
    alive.why = why
    killGroup(alive.child)
  }

  #ended(alive: Alive, how: string): void {
    if (this.#alive === alive) this.#alive = null
    const failure = alive.why ?? failureOf('internal', `${this.name} ${how}`)
    alive.ended = failure
    alive.settleReady(failure)
    this.#deaths++
    this.#died = { at: this.#context.time.now(), failure }
    const wasIdle = alive.waiting.size === 0
    for (const { settle } of alive.waiting.values()) settle(endedBy(failure))
    alive.waiting.clear()
    if (wasIdle && alive.why?.kind !== 'misconfigured' && !this.#isClosed) {
      this.#prints.notice(`${failure.message}; it is started again for the next read`)
    }
  }
}

function tell({ child: { stdin } }: Alive, message: ToHost): void {
  if (stdin?.writable === true) stdin.write(`${JSON.stringify(message)}\n`)
}

function endedBy(failure: Failure): Step {
  return { done: true, value: { ok: false, failure } }
}

function giveUpRead(alive: Alive, read: number): void {
  const waiting = alive.waiting.get(read)
  alive.waiting.delete(read)
  waiting?.settle(endedBy(failureOf('internal', 'the read was given up')))
  tell(alive, { do: 'close', read })
}

function howEnded(code: number | null, signal: string | null): string {
  return signal === null ? `ended with status ${code}` : `was ended by ${signal}`
}

/** Returns the arguments that start the host: a file of the sources or the package, or a mode of the executable. */
function hostArguments(): readonly string[] {
  const hosts = ['ts', 'js'].map((ending) => new URL(`../../app/connector-main.${ending}`, import.meta.url))
  const host = hosts.find((url) => existsSync(url))
  if (host === undefined) return ['connector-host']
  // Bun would read .env files, even if the environment is empty.
  const options = process.versions['bun'] === undefined ? ['--disable-warning=ExperimentalWarning'] : ['--no-env-file']
  return [...options, fileURLToPath(host)]
}
