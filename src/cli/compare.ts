import { closeSync, openSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { assembleAlone } from '../app/assemble.ts'
import { type CommandContext, ANSWER_IS_NO, FINE, VERSION, WRONG_USAGE } from '../app/command-context.ts'
import { type AskService, type Reply, askRemote, rateOf } from '../compare/remote-service.ts'
import { reportHtml, reportJson, reportLines } from '../compare/report.ts'
import { type QuestionSource, runComparison } from '../compare/run-comparison.ts'
import { type ConfigurationOptions, readConfiguration, standOf } from '../config/read-configuration.ts'
import type { Configuration } from '../config/configuration.ts'
import { type HttpClient, proxyOf } from '../crm/web/http-client.ts'
import { isPlain } from '../domain/host.ts'
import { howMany, printable } from '../domain/printable.ts'
import { codeOf } from '../domain/system-error.ts'
import { MEDIA_TYPES } from '../formats/media-types.ts'
import { pathnameOfUrl } from '../runtime/listener.ts'
import { readSmallFile, readText } from '../time/read-text.ts'
import { systemTime } from '../time/time.ts'

export interface CompareOptions extends ConfigurationOptions {
  readonly all?: boolean
  readonly ids?: string
  readonly log?: string
  readonly against?: string
  readonly accept?: readonly string[]
  readonly rate?: string
  readonly seed?: number
  readonly report?: string
  readonly json?: boolean
  readonly resume?: string
  readonly headerFile?: string
}

/** Compares a service of the same contract with this one, and reports what differs. */
export async function compare(old: string, options: CompareOptions, context: CommandContext): Promise<number> {
  const { error } = context
  const refuse = (message: string): number => {
    error(printable(message))
    return WRONG_USAGE
  }
  const at = (file: string): string => resolve(standOf(context.env, context.cwd), file)
  const { all = false, ids, log, against, report, resume, headerFile, json = false } = options
  if ([all, ids !== undefined, log !== undefined].filter(Boolean).length !== 1)
    return refuse('name what to ask: one of --all, --ids FILE or --log FILE; see `./marquee compare --help`')
  const addresses = [old, ...(against === undefined ? [] : [against])].map(addressOf)
  const wrong = addresses.find((address) => 'problem' in address)
  if (wrong !== undefined && 'problem' in wrong) return refuse(wrong.problem)
  const [oldUrl = '', newUrl = ''] = addresses.map((address) => ('url' in address ? address.url : ''))
  const perSecond = rateOf(options.rate ?? USUAL_RATE)
  if (perSecond === null) return refuse(`--rate ${options.rate ?? ''}: a rate such as 5/s or 30/min is expected`)
  const headers = headerFile === undefined ? {} : await headersIn(at(headerFile))
  if (typeof headers === 'string') return refuse(headers)
  if (headerFile !== undefined && isPlain(oldUrl))
    error(`warning: ${oldUrl} is plain http: the header fields of --header-file can be read on the way`)
  if (report !== undefined) {
    try {
      // Found out now, not after hours.
      closeSync(openSync(at(report), 'a'))
    } catch (cause) {
      return refuse(`${at(report)} cannot be written (${codeOf(cause) ?? 'unknown reason'})`)
    }
  }

  const interruption = new AbortController()
  const stop = (): void => interruption.abort()
  const { openHttpClient } = await import('../runtime/outgoing.ts')
  const open = (): HttpClient => {
    return openHttpClient({ ca: [], proxyOf: (url) => proxyOf(url, { configured: null, env: context.env }) })
  }
  const [oldWeb, newWeb] = [open(), open()]
  let own: OwnService | null = null
  const bar = new ProgressBar()
  // A second signal ends the process at once.
  for (const signal of SIGNALS) process.once(signal, stop)
  try {
    if (against === undefined || all) {
      const read = await readConfiguration(options, context)
      if (read === null) return WRONG_USAGE
      own = await openOwnService(read.configuration)
      for (const failure of own.failures) error(printable(failure))
      if (own.failures.length > 0) return own.isMisconfigured ? WRONG_USAGE : ANSWER_IS_NO
    }
    const agent = { 'user-agent': `Marquee/${VERSION} (compare)` }
    const askNew: AskService =
      against === undefined && own !== null
        ? own.ask
        : askRemote({ web: newWeb, address: newUrl, headers: agent, time: systemTime })
    const first = await askNew({ method: 'HEAD', path: '/api/events/x', accept: '*/*', weight: 1 }, interruption.signal)
    if (first.status === 0) {
      error(printable(`--against: ${first.problem ?? 'no answer'}`))
      return ANSWER_IS_NO
    }
    const askOld = askRemote({
      web: oldWeb,
      address: oldUrl,
      headers: { ...agent, ...headers },
      time: systemTime,
      perSecond,
      onPause: (status, ms) =>
        bar.say(error, `${oldUrl} answered ${status}: the next request is sent in ${Math.ceil(ms / 1000)} s`),
    })
    const source: QuestionSource =
      log !== undefined
        ? { kind: 'log', path: at(log), basePath: new URL(oldUrl).pathname.replace(/\/$/, '') }
        : ids !== undefined
          ? { kind: 'ids', path: at(ids) }
          : { kind: 'all', ids: own?.ids() ?? [] }
    const result = await runComparison({
      source,
      types: options.accept ?? MEDIA_TYPES,
      seed: options.seed ?? 1,
      resume: resume === undefined ? null : at(resume),
      about: `${oldUrl} with ${against === undefined ? 'the configured CRM' : newUrl}`,
      askOld,
      askNew,
      time: systemTime,
      signal: interruption.signal,
      onNote: (sentence) => bar.say(error, sentence),
      onProgress: (tally, total) => bar.draw(tally.comparisons, total, tally.counts.different),
    })
    bar.clear()
    if (!result.ok) return refuse(result.message)
    const { tally, ending } = result
    const headerPath = headerFile ?? null
    const subject = {
      ...result,
      old: oldUrl,
      new: own?.address ?? newUrl,
      headerFile: headerPath,
      isLog: log !== undefined,
    }
    if (ending.kind === 'unusable') error(printable(unusable(oldUrl, ending.last, headerPath !== null)))
    if (ending.kind !== 'complete' && resume !== undefined)
      error(`The same command goes on from here (--resume ${printable(resume)}).`)
    if (report !== undefined) writeFileSync(at(report), await reportHtml(tally, subject))
    if (!json) for (const line of reportLines(tally, subject)) context.out(line)
    else if (!(await context.answer(reportJson(tally, subject)))) return ANSWER_IS_NO
    return ending.kind === 'complete' && tally.counts.different === 0 ? FINE : ANSWER_IS_NO
  } finally {
    for (const signal of SIGNALS) process.removeListener(signal, stop)
    oldWeb.close()
    newWeb.close()
    await own?.stop()
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
const USUAL_RATE = '5/s'

function unusable(address: string, last: string, hasHeaders: boolean): string {
  const remedy = hasHeaders
    ? 'are the header fields of --header-file right?'
    : 'does it need credentials (--header-file)?'
  return `Stopped: 20 answers of ${address} in a row could not be used (${last}). Is the service well, and ${remedy}`
}

/** Reads the address of a service, without a slash at the end. */
function addressOf(text: string): { readonly url: string } | { readonly problem: string } {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    return { problem: 'the address of a service is expected, such as https://old.example.org' }
  if (url.username !== '' || url.password !== '')
    return {
      problem: `the address of ${url.host} holds credentials: write them to a file, and name it with --header-file`,
    }
  if (url.search !== '' || url.hash !== '')
    return { problem: `${url.origin}${url.pathname} is expected, without a query` }
  return { url: `${url.origin}${url.pathname}`.replace(/\/$/, '') }
}

/** Fields that Marquee sets. */
const RESERVED: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'transfer-encoding',
])

/** Reads header fields, one a line, or returns what is wrong. Never shows a value. */
async function headersIn(path: string): Promise<Readonly<Record<string, string>> | string> {
  const read = await readText(path, readSmallFile)
  if (!read.ok) return `${path} ${read.message} (named by --header-file)`
  const headers: Record<string, string> = {}
  for (const [index, line] of read.text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const [, name = '', value = ''] = /^([\w!#$%&'*+.^`|~-]+):\s*([\x20-\x7e]*?)\s*$/.exec(line) ?? []
    const where = `${path}, line ${index + 1}`
    if (name === '') return `${where}: a header field is expected, such as Authorization: Bearer ...`
    if (RESERVED.has(name.toLowerCase())) return `${where}: ${name} cannot be set`
    headers[name.toLowerCase()] = value
  }
  return headers
}

interface OwnService {
  readonly ask: AskService
  /** The address at which `serve` would answer. */
  readonly address: string
  /** Why the lists could not be read. */
  readonly failures: readonly string[]
  readonly isMisconfigured: boolean
  /** The ids of all rows, served or withheld. */
  ids(): Iterable<string>
  stop(): Promise<void>
}

/** Reads the configured CRM and keeps it up to date, without a listener. */
async function openOwnService(configuration: Configuration): Promise<OwnService> {
  const { listen } = configuration
  const basePath = listen.basePath === '/' ? '' : listen.basePath
  // Each body is asked for once or twice, so none is kept.
  const limits = { ...configuration.limits, readyBodiesBytes: 0 }
  const { reading, service } = await assembleAlone({ ...configuration, limits, describe: false }, systemTime, () => {})
  reading.start()
  await reading.untilRead()
  const { replica } = reading
  const failed = (['events', 'venues'] as const).flatMap((name) => {
    const failure = replica[name].isLoaded ? null : replica[name].lastFailure
    return failure === null ? [] : [{ name, failure }]
  })
  return {
    async ask({ method, path, accept }) {
      const target = `${basePath}${path}`
      const header = (name: string): string | null => (name === 'accept' ? accept : null)
      const { status, fields, etag, body } = await service.answer({
        method,
        target,
        pathname: pathnameOfUrl(target),
        header,
      })
      const named = Object.entries(fields.values).map(([name, value]) => [name.toLowerCase(), value] as const)
      const headers: Reply['headers'] = { ...Object.fromEntries(named), ...(etag === '' ? {} : { etag }) }
      const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : (body ?? new Uint8Array())
      return { status, problem: null, headers, body: method === 'HEAD' ? new Uint8Array() : bytes }
    },
    address: `http://127.0.0.1:${listen.port === 0 ? 8080 : listen.port}${basePath}`,
    failures: failed.map(({ name, failure }) => `the ${name} could not be read: ${failure.message}`),
    isMisconfigured: failed.some(({ failure }) => failure.kind === 'misconfigured'),
    *ids() {
      for (const { shards } of [replica.lists.events, replica.lists.venues])
        for (const shard of shards) yield* shard.keys()
    },
    stop: () => reading.stop(),
  }
}

const BAR_WIDTH = 24
const REDRAW_MS = 200

/** One line on the terminal that shows how far the comparison is. Nothing if standard error is no terminal. */
class ProgressBar {
  readonly #isShown = process.stderr.isTTY
  readonly #begunMs = performance.now()
  #drawnMs = Number.NEGATIVE_INFINITY
  #first: number | null = null

  draw(done: number, total: number, different: number): void {
    const nowMs = performance.now()
    this.#first ??= done
    if (!this.#isShown || nowMs - this.#drawnMs < REDRAW_MS) return
    this.#drawnMs = nowMs
    const filled = Math.round((done / total) * BAR_WIDTH)
    const eachMs = (nowMs - this.#begunMs) / Math.max(1, done - this.#first)
    const left = minutesText(((total - done) * eachMs) / 60_000)
    const text = `${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)} ${howMany(done, 'answer')} of ${total}, ${different} different, ${left} left`
    process.stderr.write(`\r\u001b[K${text.slice(0, (process.stderr.columns || 80) - 1)}`)
  }

  /** Prints a line in place of the bar. */
  say(print: (line: string) => void, line: string): void {
    this.clear()
    print(printable(line))
  }

  clear(): void {
    if (this.#isShown) process.stderr.write('\r\u001b[K')
  }
}

function minutesText(minutes: number): string {
  if (minutes < 1) return 'less than a minute'
  return minutes < 90 ? `${Math.ceil(minutes)} min` : `${Math.round(minutes / 6) / 10} h`
}
