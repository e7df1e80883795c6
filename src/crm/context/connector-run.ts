// What a connector's methods get, and how they are called. In: a connector, its settings, an HTTP client. Out: a
// ConnectorRun, in which whatever a method throws becomes a failure; a Crm, if the connector ships (shipped-crm.ts).
import type { ListName } from '../../domain/field.ts'
import type { FailureKind } from '../../observe/observation.ts'
import { failed } from '../../sync/port.ts'
import type { Connector, Context, Stream } from '../connector/marquee-connector.d.ts'
import {
  ReadFault,
  type ConnectorOutline,
  type Hint,
  type ListOutline,
  type RowHost,
  type RowsEnd,
  type StreamBatch,
  type Way,
  type WayArgument,
} from '../connector/row-host.ts'
import { LONGEST_CURSOR } from '../kit/crm-limits.ts'
import { LONGEST_ID, framesOf, idPair, misspeltIn, givenBatch, plainBatch } from './given-batches.ts'
import { type SentSettings, LONGEST_SENTENCE, budgetOf, settingsFor } from './given-settings.ts'
import { FetchFault, broken, misconfigured } from './json-answer.ts'
import { type HttpSettings, HttpRequests } from './http-context.ts'

interface RunParts extends Omit<HttpSettings, 'origins' | 'atOnce' | 'budget'> {
  /** The connector's name in messages, for example its file. */
  readonly name: string
  readonly settings: SentSettings
  /** Whether rows are taken as they are, with the objects of cells/cell.ts in them. Only of a connector that ships. */
  readonly givesCells?: boolean
  /** Tells the operator a sentence of the connector. */
  readonly onNotice: (list: ListName, sentence: string) => void
}

/** A connector that runs in this process. Whatever its methods throw becomes a failure. */
export interface ConnectorRun {
  readonly outline: ConnectorOutline
  readonly rows: RowHost['rows']
  /** Takes the settings again, after secrets have changed. */
  take(sent: SentSettings): void
  watch(list: ListName, hint: (hint: Hint) => void, signal: AbortSignal): void
  /** Aborts all reads, and closes what the connector has opened. */
  close(): Promise<void>
}

/** Checks a module's exports and the settings for it. Returns a sentence if either is wrong. */
export function runConnector(
  connector: unknown,
  { name, settings: sent, givesCells = false, onNotice, ...web }: RunParts,
): ConnectorRun | string {
  if (!isConnector(connector)) return `${name} ${NO_CONNECTOR}`
  const outline = outlineOf(connector)
  if (typeof outline === 'string') return `${name} ${outline}`
  const checked = settingsFor(connector, sent)
  if (typeof checked === 'string') return checked
  const limit = budgetOf(connector)
  if (typeof limit === 'string') return `${name}: ${limit}`
  const { origins } = checked
  const requests = new HttpRequests({ ...web, ...limit, origins })
  let { settings } = checked
  const reads = new Set<AbortController>()
  const notices = new Notices(onNotice)

  return {
    outline: {
      ...outline,
      budget: limit.budget,
      ...(typeof connector.close === 'function' ? { closes: true as const } : {}),
    },
    take(changed) {
      const again = settingsFor(connector, changed)
      if (typeof again !== 'string') ({ settings } = again)
    },
    async *rows(list, way, argument, signal, purpose = 'refresh') {
      let count = 0
      const reading = new AbortController()
      const abort = (): void => reading.abort()
      if (signal.aborted) abort()
      signal.addEventListener('abort', abort)
      reads.add(reading)
      const readNotices = notices.begin(list, way)
      const http = requests.bind(reading.signal, () => count++)
      const context = { settings, http, signal: reading.signal, purpose, notice: readNotices.notice, fail }
      try {
        const ended =
          way === 'check'
            ? yield* runCheck(connector, context)
            : yield* runStream(connector[list], way, argument, context, givesCells)
        readNotices.end()
        return { ok: true, ...ended, requests: count }
      } catch (cause) {
        // Only faults that the kit or the connector explained are shown. The message of any other error may contain a
        // row, so only its place is shown.
        if (cause instanceof ReadFault) return { ok: false, failure: cause.failure }
        if (cause instanceof FetchFault)
          return failed(cause.kind, cause.message.slice(0, LONGEST_SENTENCE), cause.retryAfterMs)
        return failed('internal', `${whereThrown(cause, name)} threw ${nameOfThrown(cause)}`)
      } finally {
        signal.removeEventListener('abort', abort)
        reads.delete(reading)
      }
    },
    watch(list, hint, signal) {
      const { notice } = notices.begin(list, 'watch')
      const context = { settings, http: requests.bind(signal), signal, purpose: 'refresh', notice, fail } as const
      const end = connector[list].watch?.(context, (argument) => hint(hintOf(argument)))
      if (typeof end === 'function') signal.addEventListener('abort', end, { once: true })
    },
    async close() {
      for (const reading of reads) reading.abort()
      await connector.close?.()
    },
  }
}

/** The sentences of a connector's `notice`: each is told once, and again after a read of its kind that lacked it. */
class Notices {
  readonly #tell: (list: ListName, sentence: string) => void
  readonly #lastTexts = new Map<string, ReadonlySet<string>>()

  constructor(tell: (list: ListName, sentence: string) => void) {
    this.#tell = tell
  }

  begin(list: ListName, way: Way | 'watch'): { readonly notice: Context['notice']; readonly end: () => void } {
    const kind = `${list} ${way}`
    const now = new Set<string>()
    return {
      notice: (sentence: unknown) => {
        const text = String(sentence).slice(0, LONGEST_SENTENCE)
        if (!now.has(text) && this.#lastTexts.get(kind)?.has(text) !== true && now.size < MOST_NOTICES)
          this.#tell(list, text)
        now.add(text)
      },
      end: () => void this.#lastTexts.set(kind, now),
    }
  }
}

const MOST_NOTICES = 20
const MOST_HINTED = 1000

/** @param argument connectors in JavaScript may pass anything */
function hintOf(argument: unknown): Hint {
  if (!Array.isArray(argument)) return argument === 'all' ? 'all' : null
  return argument.length > MOST_HINTED ? 'all' : argument.map((id) => String(id).slice(0, LONGEST_ID))
}

/** @param sentence connectors in JavaScript may pass anything */
function fail(kind: string, sentence: unknown): never {
  const isSaid = typeof sentence === 'string' && sentence !== ''
  const text = isSaid ? sentence : `the connector called fail(${JSON.stringify(kind)}) without a sentence`
  throw new FetchFault(FAIL_KINDS.get(kind) ?? 'broken', text)
}

/** The kind of failure for each kind that a connector can name. */
export const FAIL_KINDS: ReadonlyMap<string, FailureKind> = new Map([
  ['refused', 'refused'],
  ['throttled', 'throttled'],
  ['broken', 'broken'],
  ['misconfigured', 'misconfigured'],
  ['expired', 'cursor-refused'],
  ['waiting', 'waiting'],
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
  const [trace, message]: readonly unknown[] = cause instanceof Error ? [cause.stack, cause.message] : []
  const stack = typeof trace === 'string' ? trace.replace(typeof message === 'string' ? message : '', '') : ''
  const at = stack.indexOf(`${name}:`)
  const line = at === -1 ? null : /^:(\d+)/.exec(stack.slice(at + name.length))
  return line === null ? name : `${name}:${line[1]}`
}

type End = Omit<Extract<RowsEnd, { ok: true }>, 'ok'>

const NO_END: End = { cursor: null }

async function* runCheck(connector: Connector, context: Context): AsyncGenerator<StreamBatch, End, void> {
  const warnings: unknown = await connector.check?.(context)
  if (!Array.isArray(warnings) || !warnings.every((one) => typeof one === 'string'))
    throw broken('check returned something that is not a list of texts')
  yield* framesOf(plainBatch(warnings), false)
  return NO_END
}

/** Runs one method of a list and yields its rows in frames. Returns what the method returned. */
async function* runStream(
  stream: Stream,
  way: Way,
  argument: WayArgument,
  context: Context,
  givesCells: boolean,
): AsyncGenerator<StreamBatch, End, void> {
  if (way === 'version') return { cursor: textIn(await stream.version?.(context), 'version returned') }
  const batches = started(batchesOf(stream, way, argument, context), way)[Symbol.asyncIterator]()
  let end: unknown = null
  // `for await` closes the batches only if it must, and keeps the error that ended it; but it drops what they return.
  const noted: AsyncIterator<unknown> = {
    async next() {
      const next = await batches.next()
      if (next.done === true) end = next.value
      return next
    },
    async return() {
      await batches.return?.()
      return { done: true, value: null }
    },
  }
  for await (const batch of { [Symbol.asyncIterator]: () => noted }) {
    const parts = givenBatch(batch, way)
    yield* framesOf(way === 'ids' ? { ...parts, rows: parts.rows.map(idPair) } : parts, givesCells)
  }
  if (way === 'changes') return endOfChanges(end, argument)
  return way === 'full' ? endOfFull(end) : NO_END
}

function endOfChanges(end: unknown, cursor: WayArgument): End {
  // `full` returns it.
  if (end === null && cursor === null) return NO_END
  if (typeof end !== 'object' || end === null) return { cursor: cursorIn(end) }
  return { cursor: cursorIn(Reflect.get(end, 'cursor')), more: Reflect.get(end, 'more') === true }
}

function cursorIn(value: unknown): string {
  const cursor = textIn(value, 'changes returned a cursor')
  if (cursor === null) throw broken('changes returned no cursor')
  return cursor
}

function endOfFull(end: unknown): End {
  if (typeof end !== 'object' || end === null) return NO_END
  const version = textIn(Reflect.get(end, 'version'), 'full returned a version')
  const cursor = textIn(Reflect.get(end, 'cursor'), 'full returned a cursor')
  return { cursor, ...(version === null ? {} : { version }) }
}

/** Reads a cursor or a version; `null` if there is none. */
function textIn(value: unknown, what: string): string | null {
  if (value === undefined || value === null || value === '') return null
  if (typeof value !== 'string') throw broken(`${what} that is no text`)
  if (value.length <= LONGEST_CURSOR) return value
  throw broken(`${what} of more than ${LONGEST_CURSOR} characters`)
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

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

const MEMBERS = ['api', 'settings', 'requests', 'events', 'venues', 'check', 'close']
const OPTIONAL: readonly Exclude<Way, 'full' | 'check'>[] = [
  'version',
  'changes',
  'since',
  'ids',
  'byId',
  'availability',
]

const LIST_MEMBERS = ['fields', 'active', 'showOnWeb', 'updatedAt', 'repeats', 'full', 'watch', ...OPTIONAL]

const NO_CONNECTOR = 'has no default export with api: 2 (or 1), events and venues; see docs/crm/your-own.md'

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

function isConnector(value: unknown): value is Connector {
  if (typeof value !== 'object' || value === null) return false
  return 'api' in value && (value.api === 2 || value.api === 1) && 'events' in value && 'venues' in value
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
  const repeats: unknown = Reflect.get(stream, 'repeats')
  if (repeats !== undefined && !isRepeats(repeats)) return 'has repeats that is none of later, first and neither'
  return { ways: ['full', ...ways], said, ...(repeats === undefined ? {} : { repeats }) }
}

function isRepeats(value: unknown): value is NonNullable<ListOutline['repeats']> {
  return value === 'later' || value === 'first' || value === 'neither'
}
