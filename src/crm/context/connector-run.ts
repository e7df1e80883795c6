// What a connector's methods get, and how they are called. In: a connector, its settings, an HTTP client. Out: a
// ConnectorRun, in which whatever a method throws becomes a failure; a Crm, if the connector ships (shipped-crm.ts).
import type { ListName } from '../../domain/field.ts'
import { nearestName } from '../../domain/nearest-name.ts'
import type { FailureKind } from '../../observe/observation.ts'
import { failed } from '../../sync/port.ts'
import { type Time, systemTime } from '../../time/time.ts'
import type { Connector, Context, Http, Stream, Value } from '../connector/marquee-connector.d.ts'
import type { ConnectorOutline, ListOutline, RowsEnd, StreamBatch, Way, WayArgument } from '../connector/row-host.ts'
import { type CrmLimits, LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import type { HttpClient } from '../web/http-client.ts'
import { type SentSettings, LONGEST_SENTENCE, budgetOf, settingsFor } from './given-settings.ts'
import { FetchFault } from './json-answer.ts'
import { HttpRequests } from './http-context.ts'

interface RunParts {
  /** The connector's name in messages, for example its file. */
  readonly name: string
  readonly settings: SentSettings
  readonly web: HttpClient
  readonly limits: Pick<CrmLimits, 'requestTimeoutMs' | 'longestPauseMs'>
  readonly allowInsecure: boolean
  readonly time?: Time
  /** Called when requests have to wait because the CRM or its budget says so. */
  readonly onWait: (forMs: number, why: string) => void
}

/** A connector that runs in this process. Whatever its methods throw becomes a failure. */
export class ConnectorRun {
  readonly outline: ConnectorOutline
  readonly #connector: Connector
  readonly #http: HttpRequests
  readonly #name: string
  #settings: Context['settings']

  private constructor(
    connector: Connector,
    outline: ConnectorOutline,
    name: string,
    settings: Context['settings'],
    http: HttpRequests,
  ) {
    this.#connector = connector
    this.outline = outline
    this.#name = name
    this.#settings = settings
    this.#http = http
  }

  /** Checks a module's exports and the settings for it. Returns a sentence if either is wrong. */
  static start(
    given: unknown,
    { name, settings, web, limits, allowInsecure, time = systemTime, onWait }: RunParts,
  ): ConnectorRun | string {
    const outline = outlineOf(given)
    if (typeof outline === 'string') return `${name} ${outline}`
    if (!isConnector(given)) return `${name} is not a connector`
    const checked = settingsFor(given, settings)
    if (typeof checked === 'string') return checked
    const budget = budgetOf(given)
    if (typeof budget === 'string') return `${name}: ${budget}`
    const { origins } = checked
    const http = new HttpRequests({ web, time, limits, origins, allowInsecure, ...budget, onWait })
    return new ConnectorRun(given, { ...outline, budget: budget.budget }, name, checked.settings, http)
  }

  take(sent: SentSettings): void {
    const checked = settingsFor(this.#connector, sent)
    if (typeof checked !== 'string') this.#settings = checked.settings
  }

  async *rows(
    list: ListName,
    way: Way,
    argument: WayArgument,
    signal: AbortSignal,
  ): AsyncGenerator<RowFrame, RowsEnd, void> {
    try {
      let requests = 0
      const bound = this.#context(signal)
      const context = { ...bound, http: countingHttp(bound.http, () => requests++) }
      const connector = this.#connector
      const rows = way === 'check' ? runCheck(connector, context) : runStream(connector[list], way, argument, context)
      const cursor = yield* rows
      return { ok: true, cursor, requests }
    } catch (cause) {
      // Only faults that the kit or the connector explained are shown. The message of any other error may contain a
      // row, so only its place is shown.
      if (cause instanceof FetchFault)
        return failed(cause.kind, cause.message.slice(0, LONGEST_SENTENCE), cause.retryAfterMs)
      return failed('internal', `${whereThrown(cause, this.#name)} threw ${nameOfThrown(cause)}`)
    }
  }

  watch(list: ListName, hint: () => void, signal: AbortSignal): void {
    const end = this.#connector[list].watch?.(this.#context(signal), hint)
    if (typeof end === 'function') signal.addEventListener('abort', end, { once: true })
  }

  #context(signal: AbortSignal): Context {
    return {
      settings: this.#settings,
      http: this.#http.bind(signal),
      signal,
      fail(kind, sentence) {
        // Connectors in JavaScript may pass anything.
        const known = FAIL_KINDS.get(kind)
        const said: unknown = sentence
        const told =
          typeof said === 'string' && said !== ''
            ? said
            : `the connector called fail(${JSON.stringify(kind)}) without a sentence`
        throw new FetchFault(known ?? 'broken', told)
      },
    }
  }
}

/** Counts the requests for rows. A form, which has a text as its body, asks for a token that later reads use as well. */
function countingHttp(http: Http, count: () => void): Http {
  return {
    get(url, options) {
      count()
      return http.get(url, options)
    },
    post(url, options) {
      if (typeof options.body !== 'string') count()
      return http.post(url, options)
    },
    async *pages(url, options) {
      for await (const batch of http.pages(url, options)) {
        count()
        yield batch
      }
    },
  }
}

/** The kind of failure for each kind that a connector can name. */
export const FAIL_KINDS: ReadonlyMap<string, FailureKind> = new Map([
  ['refused', 'refused'],
  ['throttled', 'throttled'],
  ['broken', 'broken'],
  ['misconfigured', 'misconfigured'],
  ['expired', 'cursor-refused'],
])

const LONGEST_NAME = 80

/** The class of an error. Its message may contain a row, so it is not shown. */
export function nameOfThrown(cause: unknown): string {
  // A connector can set the name to anything.
  const name: unknown = cause instanceof Error ? cause.name : null
  return typeof name === 'string' ? name.slice(0, LONGEST_NAME) : 'something that is no Error'
}

export function whereThrown(cause: unknown, name: string): string {
  // Either may be anything: a connector can set them.
  const [given, message]: readonly unknown[] = cause instanceof Error ? [cause.stack, cause.message] : []
  const stack = typeof given === 'string' ? given.replace(typeof message === 'string' ? message : '', '') : ''
  const at = stack.indexOf(`${name}:`)
  const line = at === -1 ? null : /^:(\d+)/.exec(stack.slice(at + name.length))
  return line === null ? name : `${name}:${line[1]}`
}

/** Rows as JSON texts, on their way to the service. */
type RowFrame = Omit<StreamBatch, 'rows'> & { readonly rows: readonly string[] }

const FRAME_ROWS = 1000
const FRAME_CHARS = 1024 * 1024
/** A longer row is cut to this length, which is still too large to be served. */
const LONGEST_ROW = LARGEST_ROW_BYTES + 1
const LONGEST_ID = 256

async function* runCheck(connector: Connector, context: Context): AsyncGenerator<RowFrame, null, void> {
  const said: unknown = await connector.check?.(context)
  if (!Array.isArray(said) || !said.every((one) => typeof one === 'string'))
    throw new FetchFault('broken', 'check returned something that is not a list of texts')
  yield { ...plainBatch([]), rows: said.map((one) => JSON.stringify(one)), goesOn: false }
  return null
}

/** Runs one method of a list and yields its rows in frames. Returns the cursor of `changes`. */
async function* runStream(
  stream: Stream,
  way: Way,
  argument: unknown,
  context: Context,
): AsyncGenerator<RowFrame, string | null, void> {
  if (way === 'changes') {
    const changes = started(stream.changes?.(context, typeof argument === 'string' ? argument : null), way)
    try {
      let next = await changes.next()
      for (; next.done !== true; next = await changes.next()) yield* framesOf(partsOf(next.value, way))
      const cursor: unknown = next.value
      if (typeof cursor === 'string' && cursor !== '') return cursor
      throw new FetchFault('broken', 'changes returned no cursor')
    } finally {
      await changes.return('')
    }
  }
  for await (const batch of started(rowsOf(stream, way, argument, context), way)) {
    const parts = partsOf(batch, way)
    yield* framesOf(way === 'ids' ? { ...parts, rows: parts.rows.map(idPair) } : parts)
  }
  return null
}

function rowsOf(stream: Stream, way: Way, argument: unknown, context: Context): AsyncIterable<unknown> | undefined {
  if (way === 'full') return stream.full(context)
  if (way === 'ids') return stream.ids?.(context)
  if (way === 'since') return stream.since?.(context, String(argument))
  if (way === 'availability') return stream.availability?.(context)
  return stream.byId?.(context, Array.isArray(argument) ? argument.map(String) : [])
}

function started<Rows>(rows: Rows | undefined, way: Way): Rows {
  const given: unknown = rows
  const isIterable = typeof given === 'object' && given !== null && Symbol.asyncIterator in given
  if (rows !== undefined && isIterable) return rows
  throw new FetchFault(
    'misconfigured',
    `${way} does not return an async iterable; it must be an async generator or return http.pages(…)`,
  )
}

type Parts = Omit<StreamBatch, 'rows' | 'goesOn'> & { readonly rows: readonly unknown[] }

function plainBatch(rows: readonly unknown[]): Parts {
  return { rows, deleted: [], total: null, lagMs: 0, full: false, stable: false }
}

function partsOf(batch: unknown, way: Way): Parts {
  if (Array.isArray(batch)) return plainBatch(batch)
  const of = (name: string): unknown =>
    typeof batch === 'object' && batch !== null ? Reflect.get(batch, name) : undefined
  const [rows, deleted] = [of('rows'), of('deleted') ?? []]
  const [total, lagMs] = [numberIn(of('total'), 'total', way), numberIn(of('lagMs'), 'lagMs', way)]
  if (!Array.isArray(rows) || !Array.isArray(deleted)) {
    throw new FetchFault('broken', `${way} yielded something that is neither a list of rows nor { rows }`)
  }
  const misspelt = misspeltIn(batch, BATCH_MEMBERS)
  if (misspelt !== null) throw new FetchFault('broken', `${way} yielded ${misspelt}`)
  return {
    rows,
    deleted: deleted.map((id) => deletedId(id, way)),
    total: total !== null && total >= 0 ? total : null,
    lagMs: Math.min(Math.max(lagMs ?? 0, 0), 24 * 3_600_000),
    full: of('full') === true,
    stable: of('stable') === true,
  }
}

const BATCH_MEMBERS = ['rows', 'deleted', 'total', 'lagMs', 'full', 'stable']

/** Finds a member whose name is almost a known one: it would be ignored. Other members may be the connector's own. */
function misspeltIn(given: unknown, known: readonly string[]): string | null {
  if (typeof given !== 'object' || given === null) return null
  for (const name of Object.keys(given)) {
    const meant = known.includes(name) ? null : nearestName(name, known)
    if (meant !== null) return `${name}; did you mean ${meant}?`
  }
  return null
}

function numberIn(said: unknown, name: 'total' | 'lagMs', way: Way): number | null {
  if (said === undefined || said === null) return null
  if (typeof said === 'number' && Number.isFinite(said)) return said
  const found = typeof said === 'number' ? String(said) : `a ${typeof said}`
  throw new FetchFault('broken', `${way} yielded ${name} as ${found}; it must be a number, such as ${name}: 250`)
}

function deletedId(id: unknown, way: Way): string {
  if (typeof id === 'string' || typeof id === 'number') return String(id).slice(0, LONGEST_ID)
  throw new FetchFault('broken', `${way} yielded a deleted id that is neither a text nor a number`)
}

function idPair(pair: unknown): readonly Value[] {
  if (!Array.isArray(pair) || pair.length !== 2)
    throw new FetchFault('broken', 'ids yielded something that is not [id, updatedAt]')
  return pair.map((cell: unknown) => {
    if (typeof cell === 'string' || typeof cell === 'number') return cell
    if (cell === null || cell === undefined) return null
    throw new FetchFault('broken', 'ids yielded something that is not [id, updatedAt], each a text or a number')
  })
}

function* framesOf({ rows, deleted, ...about }: Parts): Generator<RowFrame, void> {
  let texts: string[] = []
  let chars = 0
  let left = deleted
  const frame = (goesOn: boolean): RowFrame => {
    const made = { ...about, rows: texts, deleted: left.slice(0, FRAME_ROWS), goesOn }
    ;[texts, chars, left] = [[], 0, left.slice(FRAME_ROWS)]
    return made
  }
  for (const row of rows) {
    if (texts.length === FRAME_ROWS || chars > FRAME_CHARS) yield frame(true)
    const text = textOf(row)
    texts.push(text)
    chars += text.length
  }
  while (left.length > FRAME_ROWS) yield frame(true)
  yield frame(false)
}

function textOf(row: unknown): string {
  if (row === undefined) throw new FetchFault('broken', 'a row is undefined')
  const odd = oddIn(row, '', 0)
  if (odd !== null) throw new FetchFault('broken', `a row holds ${odd}`)
  const text = JSON.stringify(row)
  return text.length > LONGEST_ROW ? text.slice(0, LONGEST_ROW) : text
}

const DEEPEST = 64

/** Describes a value that JSON would change or lose, with its column; null if there is none. */
function oddIn(value: unknown, column: string, depth: number): string | null {
  const where = column === '' ? 'a row that' : column
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return null
  // JSON omits it, which is right.
  if (value === undefined) return null
  if (typeof value === 'number') return Number.isFinite(value) ? null : `${where}, which is ${value}`
  if (typeof value !== 'object') return `${where}, which is a ${typeof value}: write it as a text`
  if (depth > DEEPEST) return `${where}, which is nested too deeply`
  if (Array.isArray(value)) {
    for (const inner of value) {
      const odd = oddIn(inner, column, depth + 1)
      if (odd !== null) return odd
    }
    return null
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    const kind = value instanceof Date ? 'a Date: use toISOString()' : 'an instance of a class'
    return `${where}, which is ${kind}`
  }
  for (const name of Object.keys(value)) {
    const odd = oddIn(Reflect.get(value, name), column === '' ? name : `${column}.${name}`, depth + 1)
    if (odd !== null) return odd
  }
  return null
}

const MEMBERS = ['api', 'settings', 'requests', 'events', 'venues', 'check']
const OPTIONAL: readonly Exclude<Way, 'full' | 'check'>[] = ['changes', 'since', 'ids', 'byId', 'availability']

const LIST_MEMBERS = ['fields', 'active', 'showOnWeb', 'updatedAt', 'full', 'watch', ...OPTIONAL]

/** Describes a module's default export, or explains what is wrong with it, as the rest of a sentence. */
export function outlineOf(connector: unknown): ConnectorOutline | string {
  if (!isConnector(connector)) return 'has no default export with api: 1, events and venues; see docs/crm/your-own.md'
  const [events, venues] = [listOutline(connector.events), listOutline(connector.venues)]
  if (typeof events === 'string') return `events ${events}`
  if (typeof venues === 'string') return `venues ${venues}`
  const misspelt = misspeltIn(connector, MEMBERS)
  if (misspelt !== null) return `has ${misspelt}`
  const isChecked = typeof connector.check === 'function'
  return { venues, events: isChecked ? { ...events, ways: [...events.ways, 'check'] } : events }
}

function isConnector(given: unknown): given is Connector {
  if (typeof given !== 'object' || given === null) return false
  return 'api' in given && given.api === 1 && 'events' in given && 'venues' in given
}

function listOutline(stream: unknown): ListOutline | string {
  if (typeof stream !== 'object' || stream === null) return 'is not an object with full and fields'
  const has = (name: string): boolean => typeof Reflect.get(stream, name) === 'function'
  if (!has('full')) return 'has no method full'
  const ways = OPTIONAL.filter(has)
  if (ways.includes('ids') && !ways.includes('since')) return 'has ids without since'
  const misspelt = misspeltIn(stream, LIST_MEMBERS)
  if (misspelt !== null) return `has ${misspelt}`
  const said: Record<string, unknown> = {}
  for (const name of ['fields', 'active', 'showOnWeb', 'updatedAt']) {
    const value: unknown = Reflect.get(stream, name)
    if (value !== undefined) said[name] = value
  }
  if (said['fields'] === undefined) return 'has no fields'
  if (ways.includes('since') && said['updatedAt'] === undefined) return 'has since without updatedAt'
  return { ways: ['full', ...ways], said }
}
