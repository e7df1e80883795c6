// What a connector's methods get, and how they are called. In: a connector, its settings, an HTTP client. Out: a
// ConnectorRun, in which whatever a method throws becomes a failure; a Crm, if the connector ships (shipped-crm.ts).
import type { ListName } from '../../domain/field.ts'
import { nearestName } from '../../domain/nearest-name.ts'
import type { FailureKind } from '../../observe/observation.ts'
import { failed } from '../../sync/port.ts'
import type { Connector, Context, Stream, Value } from '../connector/marquee-connector.d.ts'
import type { ConnectorOutline, ListOutline, RowHost, StreamBatch, Way, WayArgument } from '../connector/row-host.ts'
import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import { type SentSettings, LONGEST_SENTENCE, budgetOf, settingsFor } from './given-settings.ts'
import { FetchFault, broken, misconfigured } from './json-answer.ts'
import { type HttpSettings, HttpRequests } from './http-context.ts'

interface RunParts extends Omit<HttpSettings, 'origins' | 'atOnce' | 'budget'> {
  /** The connector's name in messages, for example its file. */
  readonly name: string
  readonly settings: SentSettings
}

/** A connector that runs in this process. Whatever its methods throw becomes a failure. */
export interface ConnectorRun {
  readonly outline: ConnectorOutline
  readonly rows: RowHost['rows']
  /** Takes the settings again, after secrets have changed. */
  take(sent: SentSettings): void
  watch(list: ListName, hint: () => void, signal: AbortSignal): void
}

/** Checks a module's exports and the settings for it. Returns a sentence if either is wrong. */
export function runConnector(connector: unknown, { name, settings: sent, ...http }: RunParts): ConnectorRun | string {
  if (!isConnector(connector)) return `${name} ${NO_CONNECTOR}`
  const outline = outlineOf(connector)
  if (typeof outline === 'string') return `${name} ${outline}`
  const checked = settingsFor(connector, sent)
  if (typeof checked === 'string') return checked
  const limit = budgetOf(connector)
  if (typeof limit === 'string') return `${name}: ${limit}`
  const { origins } = checked
  const requests = new HttpRequests({ ...http, ...limit, origins })
  let { settings } = checked

  function contextOf(signal: AbortSignal, onRequest?: () => void): Context {
    return { settings, http: requests.bind(signal, onRequest), signal, fail }
  }

  return {
    outline: { ...outline, budget: limit.budget },
    take(changed) {
      const again = settingsFor(connector, changed)
      if (typeof again !== 'string') ({ settings } = again)
    },
    async *rows(list, way, argument, signal) {
      let count = 0
      const context = contextOf(signal, () => count++)
      try {
        const rows = way === 'check' ? runCheck(connector, context) : runStream(connector[list], way, argument, context)
        const cursor = yield* rows
        return { ok: true, cursor, requests: count }
      } catch (cause) {
        // Only faults that the kit or the connector explained are shown. The message of any other error may contain a
        // row, so only its place is shown.
        if (cause instanceof FetchFault)
          return failed(cause.kind, cause.message.slice(0, LONGEST_SENTENCE), cause.retryAfterMs)
        return failed('internal', `${whereThrown(cause, name)} threw ${nameOfThrown(cause)}`)
      }
    },
    watch(list, hint, signal) {
      const end = connector[list].watch?.(contextOf(signal), hint)
      if (typeof end === 'function') signal.addEventListener('abort', end, { once: true })
    },
  }
}

/** @param sentence connectors in JavaScript may pass anything */
function fail(kind: string, sentence: unknown): never {
  const isSaid = typeof sentence === 'string' && sentence !== ''
  const told = isSaid ? sentence : `the connector called fail(${JSON.stringify(kind)}) without a sentence`
  throw new FetchFault(FAIL_KINDS.get(kind) ?? 'broken', told)
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

const FRAME_ROWS = 1000
const FRAME_BYTES = 1024 * 1024
/** A longer row is cut to this length, which is still too large to be served. */
const LONGEST_ROW = LARGEST_ROW_BYTES + 1
const LONGEST_ID = 256

async function* runCheck(connector: Connector, context: Context): AsyncGenerator<StreamBatch, null, void> {
  const said: unknown = await connector.check?.(context)
  if (!Array.isArray(said) || !said.every((one) => typeof one === 'string'))
    throw broken('check returned something that is not a list of texts')
  yield* framesOf(plainBatch(said))
  return null
}

/** Runs one method of a list and yields its rows in frames. Returns the cursor of `changes`. */
async function* runStream(
  stream: Stream,
  way: Way,
  argument: WayArgument,
  context: Context,
): AsyncGenerator<StreamBatch, string | null, void> {
  const batches = started(batchesOf(stream, way, argument, context), way)[Symbol.asyncIterator]()
  let cursor: unknown = null
  // `for await` closes the batches only if it must, and keeps the error that ended it; but it drops the cursor.
  const noted: AsyncIterator<unknown> = {
    async next() {
      const next = await batches.next()
      if (next.done === true) cursor = next.value
      return next
    },
    async return() {
      await batches.return?.()
      return { done: true, value: null }
    },
  }
  for await (const batch of { [Symbol.asyncIterator]: () => noted }) {
    const parts = partsOf(batch, way)
    yield* framesOf(way === 'ids' ? { ...parts, rows: parts.rows.map(idPair) } : parts)
  }
  if (way !== 'changes') return null
  if (typeof cursor === 'string' && cursor !== '') return cursor
  throw broken('changes returned no cursor')
}

function batchesOf(stream: Stream, way: Way, argument: WayArgument, context: Context): unknown {
  if (way === 'full') return stream.full(context)
  if (way === 'changes') return stream.changes?.(context, typeof argument === 'string' ? argument : null)
  if (way === 'ids') return stream.ids?.(context)
  if (way === 'since') return stream.since?.(context, String(argument))
  if (way === 'availability') return stream.availability?.(context)
  return stream.byId?.(context, Array.isArray(argument) ? argument.map(String) : [])
}

function started(batches: unknown, way: Way): AsyncIterable<unknown> {
  if (isAsyncIterable(batches)) return batches
  throw misconfigured(`${way} does not return an async iterable; it must be an async generator or return http.pages(…)`)
}

function isAsyncIterable(given: unknown): given is AsyncIterable<unknown> {
  return typeof given === 'object' && given !== null && Symbol.asyncIterator in given
}

type Parts = Omit<StreamBatch, 'rows' | 'goesOn'> & { readonly rows: readonly unknown[] }

function plainBatch(rows: readonly unknown[]): Parts {
  return { rows, deleted: [], total: null, lagMs: 0, full: false, stable: false }
}

function partsOf(batch: unknown, way: Way): Parts {
  if (Array.isArray(batch)) return plainBatch(batch)
  // They may be getters of a class.
  const given = typeof batch === 'object' && batch !== null ? batch : {}
  const [rows, deleted, total, lagMs, full, stable] = BATCH_MEMBERS.map((name): unknown => Reflect.get(given, name))
  const gone = deleted ?? []
  if (!Array.isArray(rows) || !Array.isArray(gone))
    throw broken(`${way} yielded something that is neither a list of rows nor { rows }`)
  const misspelt = misspeltIn(given, BATCH_MEMBERS)
  if (misspelt !== null) throw broken(`${way} yielded ${misspelt}`)
  const count = numberIn(total, 'total', way)
  return {
    rows,
    deleted: gone.map((id) => deletedId(id, way)),
    total: count !== null && count >= 0 ? count : null,
    lagMs: Math.min(Math.max(numberIn(lagMs, 'lagMs', way) ?? 0, 0), 24 * 3_600_000),
    full: full === true,
    stable: stable === true,
  }
}

const BATCH_MEMBERS = ['rows', 'deleted', 'total', 'lagMs', 'full', 'stable']

/**
 * Finds a member whose name is almost that of a known one that is absent: it would be ignored. Other members may be the
 * connector's own, or those of an answer that it passes on.
 */
function misspeltIn(given: object, known: readonly string[]): string | null {
  const absent = known.filter((name) => !(name in given))
  for (const name of Object.keys(given)) {
    const meant = known.includes(name) ? null : nearestName(name, absent)
    if (meant !== null) return `${name}; did you mean ${meant}?`
  }
  return null
}

function numberIn(said: unknown, name: 'total' | 'lagMs', way: Way): number | null {
  if (said === undefined || said === null) return null
  if (typeof said === 'number' && Number.isFinite(said)) return said
  const found = typeof said === 'number' ? String(said) : `a ${typeof said}`
  throw broken(`${way} yielded ${name} as ${found}; it must be a number, such as ${name}: 250`)
}

function deletedId(id: unknown, way: Way): string {
  if (typeof id === 'string' || typeof id === 'number') return String(id).slice(0, LONGEST_ID)
  throw broken(`${way} yielded a deleted id that is neither a text nor a number`)
}

function idPair(pair: unknown): readonly Value[] {
  if (!Array.isArray(pair) || pair.length !== 2) throw broken('ids yielded something that is not [id, updatedAt]')
  return pair.map((cell: unknown) => {
    if (typeof cell === 'string' || typeof cell === 'number') return cell
    if (cell === null || cell === undefined) return null
    throw broken('ids yielded something that is not [id, updatedAt], each a text or a number')
  })
}

function* framesOf({ rows, deleted, ...about }: Parts): Generator<StreamBatch, void> {
  let texts: Buffer[] = []
  let bytes = 0
  let left = deleted
  const frame = (goesOn: boolean): StreamBatch => {
    const made = { ...about, rows: texts, deleted: left.slice(0, FRAME_ROWS), goesOn }
    ;[texts, bytes, left] = [[], 0, left.slice(FRAME_ROWS)]
    return made
  }
  for (const row of rows) {
    if (texts.length === FRAME_ROWS || bytes > FRAME_BYTES) yield frame(true)
    const text = textOf(row)
    texts.push(text)
    bytes += text.length
  }
  while (left.length > FRAME_ROWS) yield frame(true)
  yield frame(false)
}

function textOf(row: unknown): Buffer {
  if (row === undefined) throw broken('a row is undefined')
  const odd = oddIn(row, '', 0)
  if (odd !== null) throw broken(`a row holds ${odd}`)
  return Buffer.from(JSON.stringify(row).slice(0, LONGEST_ROW))
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

const NO_CONNECTOR = 'has no default export with api: 1, events and venues; see docs/crm/your-own.md'

/** Describes a connector, or explains what is wrong with it, as the rest of a sentence. */
export function outlineOf(connector: Connector): ConnectorOutline | string {
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
