// The operations listener: health for probes; status, metrics, the dashboard and explanations for people.
// In: the lists and the counts, which it only reads. Out: JSON, Prometheus' text format, and the files in page/.
// CRM content is shown here but never trusted.
import { type Context, Hono } from 'hono'
import { type Explanation, type ExplainOptions, explainId } from './explanation.ts'
import { type MetricsOptions, expose, metricsOf } from './metrics.ts'
import {
  type WithheldQuery,
  recordsChangedLately,
  recordsNamed,
  SearchQueue,
  searchWithheld,
  withheldQuery,
} from './record-search.ts'
import {
  type ReadingStatus,
  type Status,
  type StatusOptions,
  bridgedUntil,
  isReady,
  mayAnswer,
  statusOf,
} from './status.ts'
import type { Telemetry } from '../observe/telemetry.ts'
import type { RefreshSettings } from '../sync/served-list.ts'
import { createHash, timingSafeEqual } from 'node:crypto'
import { getMimeType } from 'hono/utils/mime'
import { canonicalHost, isLoopback } from '../domain/host.ts'
import { readPageFile } from './page/read-page-file.ts'
import type { Time } from '../time/time.ts'

/** A running service, as this listener sees it. */
export interface OperationsSource
  extends
    Omit<MetricsOptions, 'isReady' | 'snapshot' | 'snapshotError' | 'cluster'>,
    Pick<ExplainOptions, 'idsOf' | 'venueText' | 'textKeyFor'>,
    Pick<StatusOptions, 'connector' | 'watched'> {
  readonly settings: () => RefreshSettings
  readonly reading: () => ReadingStatus
  readonly history: Pick<Telemetry['history'], 'reads' | 'ignoredColumns'>
  readonly state: () => Pick<StatusOptions, 'page' | 'refused' | 'stopping' | 'hasLists'>
}

/** Creates the answers of the listener, and begins to take samples. A search gives `null` if too many are waiting. */
export function operationsOf(source: OperationsSource) {
  const { served, settings, reading, state, requests, reads, history, time } = source
  const startedAt = new Date(time.now().wallMs).toISOString()
  const isReadyNow = (): boolean => !state().stopping && isReady(served(), settings(), time.now())
  const metrics = metricsOf({
    ...source,
    isReady: isReadyNow,
    snapshot: () => reading().snapshot,
    snapshotError: () => reading().snapshotError,
    cluster: () => reading().cluster,
  })
  const queue = new SearchQueue()
  const sampling = new Sampling(() => {
    const { events, venues } = served()
    const ages = [events, venues].map((list) => list.ageMs(time.now()))
    const ended = [...reads.lists.values()].flatMap(({ byOutcome }) => [...byOutcome.values()])
    return {
      ageMs: ages.includes(null) ? null : Math.max(...ages.map((age) => age ?? 0)),
      reads: ended.reduce((sum, count) => sum + count, 0),
      requests: requests.durations.counts.reduce((sum, count) => sum + count, 0),
    }
  }, time)
  sampling.start()
  return {
    isReady: isReadyNow,
    /** Returns the seconds until the next read that may make the service ready. */
    retryAfterS(): number {
      const { events, venues } = served()
      const silent = [events, venues].filter((list) => !mayAnswer(list, settings(), time.now()))
      return Math.max(1, ...silent.map(({ nextTryInMs }) => Math.ceil(nextTryInMs / 1000)))
    },
    status(): Status {
      const { snapshot, snapshotError, cluster } = reading()
      return statusOf({
        ...source,
        ...state(),
        lists: served(),
        settings: settings(),
        now: time.now(),
        startedAt,
        waiting: source.waiting(),
        snapshot,
        snapshotError,
        readyBodies: source.readyBodies(),
        cluster: cluster?.status ?? null,
        webhooks: source.webhooks?.status() ?? [],
        ignoredColumns: (list) => history.ignoredColumns(list),
      })
    },
    explain: (id: string, signal: AbortSignal): Promise<Explanation | null> =>
      queue.run(() => {
        const now = time.now()
        const lists = served()
        const cluster = reading().cluster?.status
        return explainId(id, {
          ...source,
          lists,
          now,
          readBy: cluster?.role === 'follower' ? cluster.leader : null,
          mayAnswer: (list) => mayAnswer(lists[list], settings(), now),
          bridgedUntil: (list) => bridgedUntil(lists[list], settings(), now),
          hasLists: state().hasLists,
          signal,
        })
      }),
    withheld: (query: WithheldQuery, signal: AbortSignal): Promise<unknown> =>
      queue.run(() =>
        searchWithheld(served()[query.list].list.withheldRows(), query, signal, undefined, source.textKeyFor),
      ),
    find: (text: string, signal: AbortSignal): Promise<unknown> =>
      queue.run(() => recordsNamed(served(), text, time.now(), signal)),
    changes: (signal: AbortSignal): Promise<unknown> =>
      queue.run(() => recordsChangedLately(served(), time.now(), signal)),
    samples: (): unknown => sampling.samples,
    reads: (): unknown => history.reads,
    metrics: () => expose(metrics),
  }
}

/** What the routes answer with, and who may ask. */
export interface OperationsOptions extends ReturnType<typeof operationsOf> {
  /** Accepts shorter lists. Resolves with the names of the lists that the guard held; `null` if no leader answers. */
  readonly accept: () => Promise<readonly string[] | null>
  /** Called with a bug. The listener continues. */
  readonly onFailure: (cause: unknown) => void
  /** The token to ask for. If `null`, only requests with a local Host are answered. */
  readonly token: string | null
  readonly host: string
}

const HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  // The page shows CRM text: only our own script files may run, and no script may turn text into HTML.
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
} as const

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Creates the operations listener. Health needs no token; everything else does, if there is one. */
export function createOperations(options: OperationsOptions): Hono {
  const { token, host } = options
  const app = new Hono()
  app.use(async (context, next) => {
    if (token !== null || isLocalHost(context.req.header('host'), host)) await next()
    else
      context.res = context.text(
        'operations.token is not set, so only requests with a loopback Host are answered\n',
        403,
      )
    for (const [name, value] of Object.entries(HEADERS)) context.res.headers.set(name, value)
  })
  app.get('/live', (context) => context.text('live\n'))
  app.get('/ready', (context) => {
    if (options.isReady()) return context.text('ready\n')
    return context.text('not ready\n', 503, { 'Retry-After': String(options.retryAfterS()) })
  })
  app.use(async (context, next) => {
    if (token === null || holdsToken(context.req.header('authorization'), token)) return next()
    const sent = 'send it as Authorization: Bearer, or as the password of Basic\n'
    const challenge = { 'WWW-Authenticate': challengeFor(context.req.header('accept')) }
    return context.text(`operations.token is needed: ${sent}`, 401, challenge)
  })
  addRoutes(app, options)
  app.notFound((context) => context.text('not found\n', 404))
  app.onError((cause, context) => {
    options.onFailure(cause)
    return context.text('the operations listener failed\n', 500)
  })
  return app
}

function addRoutes(app: Hono, options: OperationsOptions): void {
  for (const name of PAGE_FILES) {
    let text: string | null = null
    app.get(name === 'index.html' ? '/' : `/${name}`, (context) => {
      text ??= readPageFile(name)
      return context.body(text, 200, { 'Content-Type': getMimeType(name) ?? 'text/plain' })
    })
  }
  app.get('/status', (context) => {
    const now = options.status()
    return now.ready ? context.json(now) : context.json(now, 503, { 'Retry-After': String(options.retryAfterS()) })
  })
  app.get('/metrics', (context) => context.body(options.metrics(), 200, { 'Content-Type': METRICS_TYPE }))
  app.get('/reads', (context) => context.json(options.reads()))
  app.get('/samples', (context) => context.json(options.samples()))
  app.get('/changes', async (context) => answerFound(context, await options.changes(context.req.raw.signal)))
  app.get('/find', async (context) =>
    answerFound(context, await options.find(context.req.query('q') ?? '', context.req.raw.signal)),
  )
  app.get('/withheld', async (context) => {
    const query = withheldQuery((name) => context.req.query(name))
    if (query === null) return context.text('list must be events or venues, and offset a whole number\n', 400)
    return answerFound(context, await options.withheld(query, context.req.raw.signal))
  })
  // An id may contain anything, including line feeds, which `.` does not match.
  app.get('/explain/:id{[^]+}', async (context) =>
    answerFound(context, await options.explain(context.req.param('id'), context.req.raw.signal)),
  )
  app.post('/accept', async (context) => {
    if (isSameSite(context.req.header('origin'), context.req.header('host'))) {
      const accepted = await options.accept()
      if (accepted !== null) return context.json({ accepted })
      return context.text('no leader answered within 10 s; a leader that comes back may still accept the list\n', 503)
    }
    return context.text('only the dashboard of this listener may request this\n', 403)
  })
}

function answerFound(context: Context, found: unknown): Response {
  if (found !== null) return context.json(found)
  return context.text('too many searches at once; try again\n', 503, { 'Retry-After': '1' })
}

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '::1']
const HOST = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::\d+)?$/i

/**
 * Returns true if a `Host` names this machine or the loopback address of the listener. Refuses names that an attacker's
 * DNS resolves to this machine (DNS rebinding).
 */
export function isLocalHost(host: string | undefined, listensOn: string): boolean {
  const [, bracketed, plain] = HOST.exec(host ?? '') ?? []
  const name = canonicalHost(bracketed ?? plain ?? '')
  return LOCAL_HOSTS.includes(name) || (isLoopback(listensOn) && name === listensOn)
}

/**
 * Returns true if an `Authorization` header has the token: as `Bearer`, or as the password of `Basic`, for browsers.
 * Takes the same time for every wrong token.
 */
export function holdsToken(authorization: string | undefined, token: string): boolean {
  const [, scheme = '', credentials = ''] = /^(bearer|basic) +(\S+)$/i.exec(authorization ?? '') ?? []
  const secret = scheme.toLowerCase() === 'basic' ? passwordOf(credentials) : credentials
  return timingSafeEqual(digest(secret), digest(token))
}

/** Browsers understand only the first challenge of a header, so browsers get Basic and programs get Bearer. */
export function challengeFor(accept: string | undefined): string {
  return accept?.includes('text/html') === true ? 'Basic realm="Marquee operations", charset="UTF-8"' : 'Bearer'
}

/** Returns true if a POST comes from this listener's page or from no page. Browsers send `Origin`. */
export function isSameSite(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined) return true
  // The scheme is not compared, because a proxy in front may use TLS.
  return /^https?:\/\/(.+)$/.exec(origin)?.[1]?.toLowerCase() === host?.toLowerCase()
}

/** Returns the password: the user name ends at the first colon (RFC 7617 §2). */
function passwordOf(credentials: string): string {
  const text = Buffer.from(credentials, 'base64').toString('utf8')
  return text.slice(text.indexOf(':') + 1)
}

/** Returns a digest. Its fixed length hides the token's length from timing. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** The dashboard's files. A fixed list, so that no request names a path. */
const PAGE_FILES = [
  'index.html',
  'dashboard.css',
  'icon.svg',
  'dashboard.js',
  'day.js',
  'element.js',
  'words.js',
  'lists.js',
  'reads.js',
  'withheld.js',
  'explain.js',
]

/** The state of the service at the end of a minute. */
export interface MinuteSample {
  /** The age of the older list, ms; `null` if one was never read in full. */
  readonly ageMs: number | null
  /** Counts since the start. */
  readonly reads: number
  readonly requests: number
}

const EVERY_MS = 60_000
const MOST = 24 * 60

/** Keeps a sample of each minute of the last day, for dashboards without Prometheus. */
export class Sampling {
  readonly #take: () => MinuteSample
  readonly #time: Time
  readonly #taken: MinuteSample[] = []

  constructor(take: () => MinuteSample, time: Time) {
    this.#take = take
    this.#time = time
  }

  start(): void {
    this.#taken.push(this.#take())
    // One more than is shown, because each minute is a difference of two samples.
    if (this.#taken.length > MOST + 1) this.#taken.shift()
    this.#time.after(EVERY_MS, () => this.start())
  }

  /** The samples, oldest first, with the reads and requests of each single minute. The current minute comes last. */
  get samples() {
    const all = [...this.#taken, this.#take()]
    const each = (of: (sample: MinuteSample) => number): readonly number[] =>
      all.slice(1).map((sample, index) => of(sample) - of(all[index] ?? sample))
    return {
      everyMs: EVERY_MS,
      ageMs: all.slice(1).map(({ ageMs }) => ageMs),
      reads: each(({ reads }) => reads),
      requests: each(({ requests }) => requests),
    }
  }
}
