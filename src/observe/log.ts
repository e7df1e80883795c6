import { lostLine } from './line-sink.ts'
import type { Observation, ReadReport, RequestReport, ClusterChange } from './observation.ts'
import { howMany, printable } from '../domain/printable.ts'
import { unreachable } from '../domain/unreachable.ts'
import { isOnPurpose } from '../domain/withheld.ts'
import type { WithheldCount } from '../domain/fault-counts.ts'

export interface LogOptions {
  readonly out: (line: string) => void
  /** Whether a person reads the log, not a program. */
  readonly isTerminal: boolean
  /** The wall clock, ms. */
  readonly now: () => number
}

const MOST_HELD = 1000

/** Writes observations as JSON lines for programs or as sentences for people. Minor observations are left out. */
export class Log {
  readonly #options: LogOptions
  readonly #repetition = new Repetition()
  /** Lines before `begin`; `null` afterwards. */
  #held: string[] | null = []
  /** The number of lines that did not fit into `#held`. */
  #unheld = 0

  constructor(options: LogOptions) {
    this.#options = options
  }

  /** Starts writing, with the lines so far first. */
  begin(): void {
    const held = this.#held ?? []
    this.#held = null
    const { out, isTerminal, now } = this.#options
    for (const line of held) out(line)
    if (this.#unheld > 0) out(lostLine(this.#unheld, !isTerminal, now()))
  }

  write(observation: Observation): void {
    const nowMs = this.#options.now()
    const alone = logLine(observation)
    const said = observation.kind === 'read-ended' ? this.#repetition.filter(observation.read, alone, nowMs) : alone
    if (said === null || (observation.kind === 'read-paused' && this.#repetition.hasSaid(observation, nowMs))) return
    const line = this.#render(observation.kind, said, new Date(nowMs).toISOString())
    if (this.#held === null) this.#options.out(line)
    else if (this.#held.length < MOST_HELD) this.#held.push(line)
    else this.#unheld++
  }

  #render(event: string, { level, message, fields }: LogLine, time: string): string {
    if (this.#options.isTerminal) return printable(`  ${time}  ${level.padEnd(5)}  ${message}`)
    return JSON.stringify({ time, level, event, message: printable(message), ...fields })
  }
}

const SAY_AGAIN_MS = 600_000

/** A series of failed reads of one list. */
interface Trouble {
  readonly sinceMs: number
  /** Failures of every kind of read. */
  failures: number
  /** The last logged failure of each kind of read that has not succeeded since. */
  readonly said: Map<Failing, { readonly what: string; atMs: number }>
}

/** A kind of read that fails. A full read that is no audit takes the place of a read of changes. */
type Failing = ReadReport['kind'] | 'audit'

/** The kinds of reads whose failures are over when a read of the given kind succeeds. */
const PROVES: Readonly<Record<ReadReport['kind'], readonly Failing[]>> = {
  full: ['audit', 'full', 'changes', 'addition'],
  changes: ['full', 'changes', 'addition'],
  availability: ['availability'],
  addition: ['addition'],
}

/**
 * Keeps a long outage from filling the log. The same failure of a list is logged once, then every ten
 * minutes; the end of all failures of a list is logged once. Waiting for a file is logged once, too.
 */
class Repetition {
  readonly #troubles = new Map<string, Trouble>()
  readonly #waiting = new Set<string>()
  /** The last logged pause of each list. */
  readonly #pauses = new Map<string, { readonly atMs: number; readonly forMs: number }>()

  /** Returns true if a pause of the list, at least half as long, was logged within ten minutes. */
  hasSaid({ list, forMs }: Observed<'read-paused'>, nowMs: number): boolean {
    const last = this.#pauses.get(list)
    if (last !== undefined && nowMs - last.atMs < SAY_AGAIN_MS && forMs <= 2 * last.forMs) return true
    this.#pauses.set(list, { atMs: nowMs, forMs })
    return false
  }

  /** Returns the line to write for a finished read, given the line it would have by itself; `null` for none. */
  filter(read: ReadReport, line: LogLine | null, nowMs: number): LogLine | null {
    const { list, kind, isAudit, outcome, message } = read
    if (outcome === 'waiting') {
      const isSaid = this.#waiting.has(list)
      this.#waiting.add(list)
      return isSaid ? null : line
    }
    this.#waiting.delete(list)
    if (message === null) return this.#ended(read, line, nowMs)
    // The messages of pauses differ in their length alone.
    return this.#failed(list, isAudit ? 'audit' : kind, outcome === 'throttled' ? outcome : message, line, nowMs)
  }

  #ended({ list, kind }: ReadReport, line: LogLine | null, nowMs: number): LogLine | null {
    const trouble = this.#troubles.get(list)
    if (trouble === undefined) return line
    for (const proved of PROVES[kind]) trouble.said.delete(proved)
    if (trouble.said.size > 0) return line
    this.#troubles.delete(list)
    const lasted = `after ${howMany(trouble.failures, 'failed read')} in ${seconds(nowMs - trouble.sinceMs)} s`
    const message = `the ${list} are read again, ${lasted}${line === null ? '' : `; ${line.message}`}`
    return { level: 'info', message, fields: { ...line?.fields, list, failures: trouble.failures } }
  }

  #failed(list: string, kind: Failing, what: string, line: LogLine | null, nowMs: number): LogLine | null {
    const trouble: Trouble = this.#troubles.get(list) ?? { sinceMs: nowMs, failures: 0, said: new Map() }
    this.#troubles.set(list, trouble)
    trouble.failures++
    const said = trouble.said.get(kind)
    if (said?.what !== what) {
      // A restart reads changes, and then in full: both fail in the same way.
      const before = trouble.said.values().find((other) => other.what === what)
      trouble.said.set(kind, before ?? { what, atMs: nowMs })
      return before === undefined ? line : null
    }
    if (nowMs - said.atMs < SAY_AGAIN_MS || line === null) return null
    said.atMs = nowMs
    const lasted = `${howMany(trouble.failures, 'failed read')} in ${seconds(nowMs - trouble.sinceMs)} s`
    return { ...line, message: `still: ${line.message} (${lasted})` }
  }
}

function seconds(ms: number): number {
  return Math.round(ms / 1000)
}

type Level = 'info' | 'warn' | 'error'

type Observed<Kind> = Extract<Observation, { readonly kind: Kind }>

interface LogLine {
  readonly level: Level
  /** The sentence for people. */
  readonly message: string
  /** The same facts for programs. */
  readonly fields: Readonly<Record<string, unknown>>
}

const MOST_COLUMNS = 20
const LONGEST_COLUMN = 60

/** Returns the log line of an observation; `null` if it is not worth a line. */
function logLine(seen: Observation): LogLine | null {
  if (seen.kind === 'request-answered') return requestLine(seen.request)
  const { kind: _, ...facts } = seen
  const line = (level: Level, message: string, fields: LogLine['fields'] = facts): LogLine => ({
    level,
    message,
    fields,
  })
  switch (seen.kind) {
    case 'read-ended':
      return readLine(seen.read)
    case 'crm-request':
    case 'changes-published':
      // Counted as metrics only: they would produce a line for every refresh.
      return null
    case 'read-paused': {
      const { list, why, forMs } = seen
      return line('warn', `the read of the ${list} waits for ${Math.ceil(forMs / 1000)} s: ${why}`)
    }
    case 'shrunk':
      return line('error', shrunkText(seen))
    case 'answers-stopped': {
      const { list, why, ageMs } = seen
      const since =
        ageMs === null
          ? 'no read has confirmed them since the start'
          : `they were last confirmed ${seconds(ageMs)} s ago`
      return line('error', `callers get 502 for the ${list}: ${since}; ${printable(why)}`)
    }
    case 'answers-resumed':
      return line('info', `callers get the ${seen.list} again, after ${seconds(seen.lastedMs)} s of 502`)
    case 'shorter-accepted':
      return line('warn', `the operator accepted the shorter list of ${seen.lists.join(' and ')}`)
    case 'drift-found': {
      const byColumn = JSON.stringify(seen.byColumn)
      return line('warn', `the CRM did not report changes of its ${seen.list}, by column: ${byColumn}`)
    }
    case 'columns-ignored': {
      const columns = seen.columns.slice(0, MOST_COLUMNS).map((column) => printable(column, LONGEST_COLUMN))
      const more = seen.columns.length - columns.length
      const names = `${columns.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
      return line('warn', `the ${seen.list} have columns that Marquee does not use: ${names}`, { ...facts, columns })
    }
    case 'suspicious': {
      const { list, what, count, where } = seen
      const column = printable(seen.column, LONGEST_COLUMN)
      const first = where === null ? '' : `, first at ${where}`
      const fact = `${column} ${printable(what)} (${count} ${count === 1 ? 'row' : 'rows'}${first})`
      return line('warn', `suspicious in the ${list}: ${fact}`, { ...facts, column })
    }
    case 'all-over': {
      const fact = seen.count === 1 ? 'the only event is over' : `all ${howMany(seen.count, 'event')} are over`
      return line('warn', `${fact}: the last one ended at ${seen.since}. Check the export, and this machine's clock`)
    }
    case 'wall-times': {
      const fact = `${seen.count} dates of the ${seen.list} have no offset and are read as ${seen.zone}`
      if (seen.isSet) return line('info', fact)
      return line('warn', `${fact}, because timeZone is not set. Set it, for example to Europe/London`)
    }
    case 'crm-noticed':
      return line('warn', seen.message, {})
    case 'snapshot-read': {
      const [ageMs, durationMs] = [Math.round(seen.ageMs), Math.round(seen.durationMs)]
      const loaded = `${howMany(seen.rows, 'row')} ${seen.rows === 1 ? 'was' : 'were'} loaded in ${durationMs} ms`
      const message = `${loaded} from a snapshot that is ${seconds(seen.ageMs)} s old: served once the changes since then are known`
      return line('info', message, { ...facts, ageMs, durationMs })
    }
    case 'snapshot-ignored':
      return line('warn', `the snapshot is not used and the lists are read in full: ${seen.reason}`)
    case 'snapshot-written': {
      const size = `${howMany(seen.rows, 'row')} was written (${howMany(seen.bytes, 'byte')})`
      const fields = { ...facts, durationMs: Math.round(seen.durationMs) }
      return line('info', `a snapshot of ${size}, for the next start`, fields)
    }
    case 'snapshot-not-written': {
      const { reason, keptAgeMs } = seen
      const kept = keptAgeMs === null ? null : Math.round(keptAgeMs)
      const result = kept === null ? 'reads the lists in full' : `continues from the one that is ${seconds(kept)} s old`
      const fields = { reason, keptAgeMs: kept }
      return line('warn', `the snapshot cannot be written: ${reason}. The next start ${result}`, fields)
    }
    case 'cluster-changed':
      return clusterLine(seen.what, seen.detail)
    case 'webhook-changed': {
      const [level, words] = WEBHOOK_LINES[seen.what]
      return line(level, `${seen.webhook} ${words}: ${printable(seen.detail)}`)
    }
    case 'stopping': {
      const until = `requests in progress have ${seen.drainMs / 1000} s to finish`
      return line('info', `${seen.signal}: the service is stopping; ${until}`)
    }
    case 'stopped':
      return seen.inOrder
        ? line('info', 'the service has stopped', {})
        : line('warn', 'the service has stopped at the second signal and has cut off requests', {})
    case 'signal-ignored': {
      const known = 'SIGHUP reloads the configuration, SIGTERM and SIGINT stop the service'
      return line('warn', `${seen.signal} is always ignored: ${known}`)
    }
    case 'reloaded': {
      const what = seen.changed.length === 0 ? 'nothing has changed' : `${seen.changed.join(', ')} took effect`
      const later = seen.later.length === 0 ? '' : `; ${seen.later.join(', ')} takes effect at the next start`
      return line('info', `SIGHUP: the configuration was read again; ${what}${later}`)
    }
    case 'reload-refused':
      return line('warn', `SIGHUP: the configuration was not applied: ${seen.problems.join('; ')}`)
    case 'internal-error':
      return line('error', `internal error: ${seen.message}`, {})
    default:
      return unreachable(seen)
  }
}

type WebhookChange = Observed<'webhook-changed'>['what']

const WEBHOOK_LINES: Readonly<Record<WebhookChange, readonly [level: Level, words: string]>> = {
  failing: ['warn', 'did not take a call, and is called again'],
  'failed-for-a-day': ['error', 'has taken no call for a day, and is called once an hour'],
  gone: ['warn', 'wants no calls and gets none until a reload or a restart'],
  recovered: ['info', 'takes calls again'],
}

function shrunkText({ list, absent, unreadable, records, faults, until }: Observed<'shrunk'>): string {
  const missing = absent === 0 ? '' : `${absent} of ${records} ${list} are missing from the CRM's list`
  const worst = faults[0] === undefined ? '' : ` (most: ${countText(faults[0])})`
  const broken = unreadable === 0 ? '' : `${unreadable} of ${records} ${list} became unreadable${worst}`
  const what = [missing, broken].filter((part) => part !== '').join(' and ')
  if (until !== null) {
    const held = `Marquee does not believe this, and serves the old list until ${until}; then callers get 502`
    return `${what}. ${held}. If the CRM is right, run \`./marquee accept\``
  }
  const why = 'because its age is unknown after the restart: callers get 502'
  const todo = 'If the CRM is right, run `./marquee accept`; otherwise correct its list'
  return `${what}. Marquee does not believe this, and cannot serve the old list, ${why}. ${todo}`
}

function requestLine({ method, path, status, type, durationMs: took, traceId, route }: RequestReport): LogLine {
  const durationMs = Math.round(took * 1000) / 1000
  const fields = { method, path, route, status, type, durationMs, ...(traceId === null ? {} : { traceId }) }
  return { level: 'info', message: `${method} ${path} ${status} ${type} ${durationMs} ms`, fields }
}

function sumOf(counts: readonly WithheldCount[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0)
}

function countText({ column, fault, count }: WithheldCount): string {
  return `${column === null ? '' : `${printable(column, LONGEST_COLUMN)} `}${fault} (${count})`
}

/** A proxy answers like this while the CRM restarts, so only a person can tell a mistake from an outage. */
const MISCONFIGURED =
  ' Marquee tries again; if this lasts, correct the CRM or the configuration: `./marquee check` says what is missing'

/** More rows than these rarely leave a list empty by intent. */
const MOST_LEFT_SILENTLY = 10

function readLine(read: ReadReport): LogLine | null {
  const { list, kind, outcome, rows, changed, served, withheld } = read
  const durationMs = Math.round(read.durationMs)
  const fields = { list, read: kind, outcome, durationMs, rows, changed, served, withheld }
  if (outcome === 'waiting') {
    return { level: 'warn', message: `the ${list} stay as they are: ${read.message}`, fields }
  }
  if (read.message !== null) {
    const end = read.message.endsWith('?') ? '' : '.'
    const todo = outcome === 'misconfigured' ? `${end}${MISCONFIGURED}` : ''
    return { level: 'warn', message: `the ${list} could not be read (${outcome}): ${read.message}${todo}`, fields }
  }
  const mistakes = read.newlyWithheld.filter((count) => !isOnPurpose(count))
  if (read.servesNothing || mistakes.length > 0) {
    const counts = (read.servesNothing ? read.newlyWithheld : mistakes).map(countText).join(', ')
    const nothing = `no ${list} are served: ${withheld === 1 ? 'the only row is' : `all ${withheld} rows are`} withheld`
    const more = `${howMany(sumOf(mistakes), 'more row')} of the ${list} ${sumOf(mistakes) === 1 ? 'is' : 'are'} withheld because of mistakes, ${withheld} in all; ${served} ${served === 1 ? 'is' : 'are'} served`
    const fact = read.servesNothing ? nothing : more
    const message = `${fact}${counts === '' ? '' : `; new: ${counts}`}. \`./marquee check\` lists all mistakes`
    return { level: 'warn', message, fields: { ...fields, newlyWithheld: read.newlyWithheld } }
  }
  if (changed === 0) return null
  const took = `${howMany(rows, 'row')} in ${durationMs} ms (${kind})`
  const message = `${list}: ${served} served, ${withheld} withheld, ${changed} changed; read ${took}`
  // The shrink guard never holds deletions that the CRM names, so a list that they emptied is warned of here.
  const level = served + withheld === 0 && changed > MOST_LEFT_SILENTLY ? 'warn' : 'info'
  return { level, message, fields }
}

const CLUSTER_LINES: Readonly<Record<ClusterChange, readonly [Level, string]>> = {
  'became-leader': ['info', 'this instance is now the leader and reads the CRM for all'],
  'lost-leadership': ['warn', 'this instance is no longer the leader'],
  'reads-alone': ['warn', 'there are no heartbeats of a leader: this instance reads the CRM on its own'],
  'store-lost': ['error', 'the cluster store cannot be used; Marquee keeps trying'],
  'store-found': ['info', 'the cluster store can be used'],
  'loads-again': ['warn', 'this instance loads the rows in the store again, beside those it serves'],
  'rows-unusable': ['warn', 'the rows in the store cannot be used; the leader is asked for others'],
  refills: ['warn', 'the leader stores all rows again'],
  'max-age-too-short': ['warn', 'freshness.maxAge is too short on this instance'],
  unencrypted: [
    'warn',
    'cluster.url is on another machine and is used without TLS: who listens in can read and change what is served',
  ],
  unfit: ['warn', 'this instance could not read the CRM if it became the leader'],
}

function clusterLine(what: ClusterChange, detail: string | null): LogLine {
  const [level, message] = CLUSTER_LINES[what]
  if (detail === null) return { level, message, fields: {} }
  return { level, message: `${message}: ${printable(detail)}`, fields: { detail: printable(detail) } }
}
