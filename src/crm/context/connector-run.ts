import type { ListName } from '../../domain/field.ts'
import type { FailureKind } from '../../observe/observation.ts'
import { failed } from '../../sync/port.ts'
import { type Time, systemTime } from '../../time/time.ts'
import type { Connector, Context } from '../connector/marquee-connector.d.ts'
import type { ConnectorOutline, RowsEnd, Way, WayArgument } from '../connector/row-host.ts'
import type { CrmLimits } from '../kit/crm-limits.ts'
import type { HttpClient } from '../web/http-client.ts'
import { budgetOf, settingsFor } from './declared-settings.ts'
import { FetchFault } from './fetch-fault.ts'
import { LONGEST_SENTENCE, type SentSettings } from './given-settings.ts'
import { HttpRequests } from './http-context.ts'
import { type RowFrame, isConnector, outlineOf, runCheck, runStream } from './run-stream.ts'

export interface RunParts {
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

  private constructor(connector: Connector, outline: ConnectorOutline, name: string, parts: Started) {
    this.#connector = connector
    this.outline = outline
    this.#name = name
    this.#settings = parts.settings
    this.#http = parts.http
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
    return new ConnectorRun(given, { ...outline, budget: budget.budget }, name, { settings: checked.settings, http })
  }

  /** Replaces the settings, after secrets have changed. */
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
      const context = this.#context(signal)
      const isCheck = way === 'check'
      const rows = isCheck
        ? runCheck(this.#connector, context)
        : runStream(this.#connector[list], way, argument, context)
      return { ok: true, cursor: yield* rows }
    } catch (cause) {
      // Only faults that the kit or the connector explained are shown. The message of any other error may contain a
      // row, so only its place is shown.
      if (cause instanceof FetchFault)
        return failed(cause.kind, cause.message.slice(0, LONGEST_SENTENCE), cause.retryAfterMs)
      return failed('internal', `${whereThrown(cause, this.#name)} threw ${nameOfThrown(cause)}`)
    }
  }

  /** Starts a list's `watch`, if it has one. */
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

const FAIL_KINDS: ReadonlyMap<string, FailureKind> = new Map([
  ['refused', 'refused'],
  ['throttled', 'throttled'],
  ['broken', 'broken'],
  ['misconfigured', 'misconfigured'],
  ['expired', 'cursor-refused'],
])

interface Started {
  readonly settings: Context['settings']
  readonly http: HttpRequests
}

const LONGEST_NAME = 80

/** The class of an error. Its message may contain a row, so it is not shown. */
export function nameOfThrown(cause: unknown): string {
  // A connector can set the name to anything.
  const name: unknown = cause instanceof Error ? cause.name : null
  return typeof name === 'string' ? name.slice(0, LONGEST_NAME) : 'something that is no Error'
}

/** The line of the connector's own file in an error's stack. */
export function whereThrown(cause: unknown, name: string): string {
  // Either may be anything: a connector can set them.
  const [given, message]: readonly unknown[] = cause instanceof Error ? [cause.stack, cause.message] : []
  const stack = typeof given === 'string' ? given.replace(typeof message === 'string' ? message : '', '') : ''
  const at = stack.indexOf(`${name}:`)
  const line = at === -1 ? null : /^:(\d+)/.exec(stack.slice(at + name.length))
  return line === null ? name : `${name}:${line[1]}`
}
