import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { CrmSettings } from '../../config/configuration.ts'
import type { ListName } from '../../domain/field.ts'
import { codeOf } from '../../domain/system-error.ts'
import { type Crm, type Failed, failed } from '../../sync/port.ts'
import { TIMED_OUT, withTimeout } from '../../time/waiting.ts'
import { connectorCrm } from '../connector/connector-crm.ts'
import type { ConnectorOutline, RowHost, Rows, Way, WayArgument } from '../connector/row-host.ts'
import { GivenSettings } from '../context/given-settings.ts'
import { ChildPrints, killGroup, residentBytes, spawnBare, tooMuchMemory, watchEvery } from './child-watch.ts'
import { CommandOutput } from './command-output.ts'
import type { ProcessContext } from './module-crm.ts'

/** How many request time limits may pass without output. */
const PATIENCE = 3
const LONGEST_TRACED = 2048
const SETTLING_MS = 2000

/** Opens a connector that is a command. Each read starts the command once. */
export function openCommandCrm(settings: CrmSettings<'command'>, context: ProcessContext): Promise<Crm> {
  const { events, venues } = settings
  const host = new CommandHost(settings, context)
  // The configuration has the whole mapping: a command declares none.
  return connectorCrm(host, { ...settings, events, venues }, context)
}

class CommandHost implements RowHost {
  readonly name: string
  readonly #settings: CrmSettings<'command'>
  readonly #context: ProcessContext
  readonly #outline: ConnectorOutline
  readonly given: GivenSettings
  readonly #prints: ChildPrints
  readonly #running = new Set<ChildProcess>()
  readonly #unknownWords = new Set<string>()
  /** The digests of files, with their sizes and times. */
  readonly #hashed = new Map<string, { readonly state: string; readonly digest: string }>()
  #isClosed = false

  constructor(settings: CrmSettings<'command'>, context: ProcessContext) {
    const { words, files } = settings.run
    const { events, venues } = settings
    this.name = basename(files[0]?.file ?? words[0] ?? 'the command')
    this.#settings = settings
    this.#context = context
    this.#outline = { events: { ways: events.ways, said: {} }, venues: { ways: venues.ways, said: {} } }
    this.given = new GivenSettings(settings.settings)
    this.#prints = new ChildPrints(this.name, this.given, context.observe, context.time)
  }

  ready(): Promise<ConnectorOutline> {
    return Promise.resolve(this.#outline)
  }

  async *rows(list: ListName, way: Way, argument: WayArgument, signal: AbortSignal): Rows {
    const changed = await this.#changedFile()
    if (changed !== null || this.#isClosed || signal.aborted) return changed ?? failed('internal', 'the CRM is closed')
    const { words } = this.#settings.run
    const [program = '', ...first] = words
    const last = argument === null ? [] : typeof argument === 'string' ? [argument] : argument
    this.#trace(`> ${[...words, list, way, ...last].join(' ')}`)
    const child = this.#spawn(program, [...first, list, way, ...last])
    if ('failure' in child) return child
    this.#running.add(child)
    const { promise: closed, resolve } = Promise.withResolvers<string | null>()
    child.on('error', (cause) => resolve(whyNotStarted(cause, program)))
    child.on('close', (code, by) => resolve(code === 0 ? null : `ended with ${by ?? `status ${code}`}`))
    const { stdin, stdout, stderr } = child
    const plain = Object.entries(this.given.sent).map(([name, { value }]) => [name, value])
    stdin?.on('error', () => {}).end(`${JSON.stringify(Object.fromEntries(plain))}\n`)
    this.#prints.follow(stderr)
    const giveUp = (): void => killGroup(child)
    signal.addEventListener('abort', giveUp, { once: true })
    let killed: Failed | null = null
    const stopWatch = watchEvery(this.#context.time, () => {
      const bytes = residentBytes(child) ?? 0
      if (bytes <= this.#settings.memoryBytes) return
      killed = { ok: false, failure: tooMuchMemory(this.name, bytes) }
      killGroup(child)
    })
    try {
      if (stdout === null) return failed('internal', `${this.name} has no output`)
      return yield* this.#rowsIn(child, stdout, closed, way, () => killed)
    } finally {
      stopWatch()
      signal.removeEventListener('abort', giveUp)
      this.#running.delete(child)
      killGroup(child)
    }
  }

  #spawn(program: string, args: readonly string[]): ChildProcess | Failed {
    try {
      return spawnBare(program, args, this.#settings.run.folder)
    } catch (cause) {
      return failed('internal', `${this.name} ${whyNotStarted(cause, program)}`)
    }
  }

  async *#rowsIn(
    child: ChildProcess,
    stdout: AsyncIterable<Buffer>,
    closed: Promise<string | null>,
    way: Way,
    whyKilled: () => Failed | null,
  ): Rows {
    const { time, limits } = this.#context
    const patienceMs = limits().requestTimeoutMs * PATIENCE
    const output = new CommandOutput(this.name, way, (word) => this.#tellUnknown(word))
    const chunks = stdout[Symbol.asyncIterator]()
    const silent = (): Failed => {
      const isOver = child.exitCode !== null || child.signalCode !== null
      const how = isOver ? 'has ended, but a program that it started keeps its output open' : 'was ended'
      return failed('timeout', `${this.name} printed nothing for ${patienceMs / 1000} s, and ${how}`)
    }
    let isBroken = false
    for (let isFirst = true; ; isFirst = false) {
      // Bun breaks the output of a program that could not be started; `closed` tells why.
      const next = await withTimeout(
        time,
        patienceMs,
        chunks.next().catch(() => null),
      )
      if (next === TIMED_OUT) return silent()
      isBroken = next === null
      if (next === null || next.done === true) break
      if (isFirst) this.#trace(`< ${wholeLines(next.value.toString())}`)
      yield* output.take(next.value)
      if (output.failure !== null) return output.failure
    }
    const how = await withTimeout(time, patienceMs, closed)
    if (how === TIMED_OUT) return silent()
    yield* output.end()
    if (output.failure !== null) return output.failure
    if (how !== null || isBroken)
      return whyKilled() ?? failed('internal', `${this.name} ${how ?? 'closed its output too early'}`)
    return output.outcome
  }

  /** Traces the command line and the beginning of its output: Marquee does not see the command's requests. */
  #trace(text: string): void {
    this.#context.trace?.(this.given.shown(text, LONGEST_TRACED))
  }

  #tellUnknown(word: string): void {
    if (this.#unknownWords.has(word) || this.#unknownWords.size > 20) return
    this.#unknownWords.add(word)
    this.#prints.notice(`${this.name} printed the unknown control line #${word}, which is ignored`)
  }

  /** Fails if the program has changed since the start: only the original one is run. */
  async #changedFile(): Promise<Failed | null> {
    for (const { file, sha256 } of this.#settings.run.files) {
      const name = basename(file)
      const digest = await this.#digestOf(file).catch(() => null)
      if (digest === null) return failed('misconfigured', `${name} cannot be read any more`)
      if (digest !== sha256) {
        const sentence = `${name} has changed since the service was started: restart Marquee to use the new file`
        return failed('misconfigured', sentence)
      }
    }
    return null
  }

  /** Hashes a program, which may have hundreds of megabytes, unless it is as it was when it was last hashed. */
  async #digestOf(file: string): Promise<string> {
    const { size, mtimeNs, ctimeNs, ino } = await stat(file, { bigint: true })
    const state = [size, mtimeNs, ctimeNs, ino].join(' ')
    const known = this.#hashed.get(file)
    if (known?.state === state) return known.digest
    const hash = createHash('sha256')
    await pipeline(createReadStream(file), hash)
    const digest = hash.digest('hex')
    // A change soon after another may leave its times as they are.
    const isSettled = this.#context.time.now().wallMs - Number(ctimeNs / 1_000_000n) > SETTLING_MS
    if (isSettled) this.#hashed.set(file, { state, digest })
    return digest
  }

  onHint(): () => void {
    return () => {}
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const child of this.#running) killGroup(child)
  }
}

/** Explains why a program could not be started, and what to check, as the rest of a sentence. */
function whyNotStarted(cause: unknown, program: string): string {
  const code = codeOf(cause) ?? 'unknown reason'
  const check = CHECKS.get(code)
  return `could not be started (${code})${check === undefined ? '' : `: check that ${program}, the first word of crm.run, ${check}`}`
}

const IN_PATH = 'is a program in PATH that Marquee may execute'
/** What to check, by the error's code. Other errors, such as EMFILE, are not the program's fault. */
const CHECKS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', IN_PATH],
  ['EACCES', IN_PATH],
  ['ENOEXEC', 'is a program, or begins with #! and the program that runs it'],
])

/** Omits the last line if it is incomplete: it may end within a secret. */
function wholeLines(text: string): string {
  return text.endsWith('\n') ? text : `${text.slice(0, text.lastIndexOf('\n') + 1)}…`
}
