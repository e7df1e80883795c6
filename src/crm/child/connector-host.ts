// The process in which a user's connector runs. module-crm.ts starts it and sends everything to its standard
// input: the file, the settings, and one message for each batch that it requests. The answers have a channel of their
// own, because a connector and the programs that it starts may print to the standard output at any time.

import { createHash } from 'node:crypto'
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type LoadedFiles, digestOfCode } from './code-digest.ts'
import type { ListName } from '../../domain/field.ts'
import { type ConnectorRun, nameOfThrown, runConnector, whereThrown } from '../context/connector-run.ts'
import { systemTime } from '../../time/time.ts'
import { yieldToEventLoop } from '../../time/waiting.ts'
import { type OpenHttpClient, trustingHttpClient } from '../web/http-client.ts'
import { tracedClient } from '../web/trace-requests.ts'
import { LONGEST_SENTENCE, type SentSettings } from '../context/given-settings.ts'
import { eachLine } from './each-line.ts'
import { type FromHost, type ToHost, CHANNEL } from './host-messages.ts'

/** Runs a connector in this process until its standard input ends. */
export function runConnectorHost(openHttpClient: OpenHttpClient, noteLoadedFiles: () => LoadedFiles): void {
  const channel = createWriteStream('', { fd: CHANNEL })
  // The service has ended.
  channel.on('error', () => process.exit(0))
  endBeforeTheService()
  const host = new ConnectorHost(openHttpClient, noteLoadedFiles, (bytes) => void channel.write(bytes))
  process.on('unhandledRejection', (cause) => {
    const what = nameOfThrown(cause)
    process.stderr.write(`${whereThrown(cause, host.name)}: a rejected promise that was not awaited (${what})\n`)
  })
  process.on('uncaughtException', (cause) => {
    process.stderr.write(`${whereThrown(cause, host.name)} threw ${cause.name} outside of a read\n`)
    process.exit(1)
  })
  const take = eachLine(Number.POSITIVE_INFINITY, (line) => host.take(JSON.parse(line.toString('utf8'))))
  process.stdin.on('data', take)
  // The service has ended.
  process.stdin.on('end', () => process.exit(0))
}

/** Makes the kernel end this process rather than the service if the machine runs out of memory. */
function endBeforeTheService(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '500')
  } catch {
    // Only Linux has this file.
  }
}

interface OpenRead {
  readonly rows: ReturnType<ConnectorRun['rows']>
  readonly controller: AbortController
}

type Start = Extract<ToHost, { do: 'start' }>

const LINE_FEED = Buffer.from('\n')

class ConnectorHost {
  /** The connector's name in messages. */
  name = 'the connector'
  readonly #openHttpClient: OpenHttpClient
  readonly #noteLoadedFiles: () => LoadedFiles
  readonly #write: (bytes: Buffer) => void
  readonly #reads = new Map<number, OpenRead>()
  readonly #secrets = new Set<string>()
  #run: ConnectorRun | null = null

  constructor(openHttpClient: OpenHttpClient, noteLoadedFiles: () => LoadedFiles, write: (bytes: Buffer) => void) {
    this.#openHttpClient = openHttpClient
    this.#noteLoadedFiles = noteLoadedFiles
    this.#write = write
  }

  take(message: unknown): void {
    if (!isToHost(message)) return
    if (message.do === 'start') {
      this.#start(message).catch((cause: unknown) => {
        // The message of an import error may be shown: it concerns code, not rows.
        const first = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : ''
        const what = nameOfThrown(cause)
        this.#unusable(
          `${whereThrown(cause, this.name)} cannot be loaded: ${`${what}: ${first}`.slice(0, LONGEST_SENTENCE)}`,
        )
      })
    } else if (message.do === 'open') this.#open(message)
    else if (message.do === 'next') void this.#next(message.read)
    else if (message.do === 'close') this.#close(message.read)
    else if (message.do === 'end') void this.#end()
    else if (message.do === 'ping') this.#send({ is: 'pong', residentBytes: process.memoryUsage.rss() })
    else {
      this.#noteSecrets(message.settings)
      this.#run?.take(message.settings)
    }
  }

  async #end(): Promise<never> {
    await this.#run?.close().catch((cause: unknown) => {
      process.stderr.write(`${whereThrown(cause, this.name)}: close threw ${nameOfThrown(cause)}\n`)
    })
    process.exit(0)
  }

  #send(head: FromHost, rows: readonly Buffer[] = []): void {
    const lines = [Buffer.from(JSON.stringify(head)), ...rows].flatMap((line) => [line, LINE_FEED])
    this.#write(Buffer.concat(lines))
  }

  #unusable(message: string): void {
    this.#send({ is: 'unusable', message })
  }

  async #start({ path, digest, settings, limits, ca, proxy, env, ...start }: Start): Promise<void> {
    this.#noteSecrets(settings)
    const name = basename(path)
    this.name = name
    if (createHash('sha256').update(readFileSync(path)).digest('hex') !== digest) {
      return this.#unusable(`${name} has changed since the service was started: restart Marquee to use the new file`)
    }
    const loadedFiles = this.#noteLoadedFiles()
    this.#send({ is: 'loading' })
    // The message must be out before the import, which may never let the event loop go on.
    await yieldToEventLoop()
    const imported: unknown = await import(pathToFileURL(path).href)
    const connector =
      typeof imported === 'object' && imported !== null && 'default' in imported ? imported.default : null
    const run = runConnector(connector, {
      name,
      settings,
      web: trustingHttpClient(start.isTraced ? this.#tracedClient() : this.#openHttpClient, ca, {
        configured: proxy,
        env,
      }),
      limits: () => limits,
      allowInsecure: start.allowInsecure,
      time: systemTime,
      onWait: (forMs, why) => this.#send({ is: 'waiting', forMs, why }),
      onNotice: (list, sentence) => this.#send({ is: 'notice', list, sentence }),
    })
    if (typeof run === 'string') return this.#unusable(run)
    this.#run = run
    this.#send({ is: 'ready', ...run.outline, code: digestOfCode(loadedFiles()) })
    for (const list of ['events', 'venues'] as const) this.#watch(run, list)
  }

  /** Starts a list's `watch`. Without its hints, changes are seen at the next refresh. */
  #watch(run: ConnectorRun, list: ListName): void {
    try {
      run.watch(list, (hint) => this.#send({ is: 'hint', list, hint }), new AbortController().signal)
    } catch (cause) {
      process.stderr.write(`${whereThrown(cause, this.name)}: watch of the ${list} threw ${nameOfThrown(cause)}\n`)
    }
  }

  #tracedClient(): OpenHttpClient {
    return tracedClient(
      this.#openHttpClient,
      () => this.#secrets,
      (line) => this.#send({ is: 'traced', line }),
    )
  }

  #noteSecrets(settings: SentSettings): void {
    for (const { value, isReference } of Object.values(settings)) if (isReference) this.#secrets.add(String(value))
  }

  #open({ read, list, way, argument, purpose }: Extract<ToHost, { do: 'open' }>): void {
    if (this.#run === null) return
    const controller = new AbortController()
    this.#reads.set(read, { rows: this.#run.rows(list, way, argument, controller.signal, purpose), controller })
  }

  async #next(read: number): Promise<void> {
    const next = await this.#reads.get(read)?.rows.next()
    if (next === undefined) return
    if (next.done !== true) {
      const { rows, at, ...rest } = next.value
      const places = at === undefined ? {} : { places: rows.map((_, index) => at(index)) }
      return this.#send(
        { is: 'batch', read, ...rest, ...places, rows: rows.length },
        rows.filter((row) => Buffer.isBuffer(row)),
      )
    }
    this.#reads.delete(read)
    const ended = next.value
    this.#send(ended.ok ? { is: 'end', read, ...ended } : { is: 'failed', read, ...ended.failure })
  }

  #close(read: number): void {
    const reading = this.#reads.get(read)
    this.#reads.delete(read)
    reading?.controller.abort()
    // Whether a read that was given up fails interests nobody.
    reading?.rows.return({ ok: true, cursor: null }).catch(() => {})
  }
}

function isToHost(message: unknown): message is ToHost {
  return typeof message === 'object' && message !== null && 'do' in message
}
