import { type LogLine, logLine } from './log-line.ts'
import { lostLine } from './line-sink.ts'
import type { Observation, ReadReport } from './observation.ts'
import { howMany, printable } from '../domain/printable.ts'

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
    if (said === null) return
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
  /** The last logged message of each kind of read that has not succeeded since. */
  readonly said: Map<Failing, { readonly message: string; atMs: number }>
}

/** A kind of read that fails. `full`: in place of a read of changes. */
type Failing = ReadReport['kind'] | 'audit'

/** The kinds of reads whose failures are over when a read of the given kind succeeds. */
const PROVES: Readonly<Record<ReadReport['kind'], readonly Failing[]>> = {
  full: ['audit', 'full', 'changes', 'addition'],
  changes: ['full', 'changes', 'addition'],
  availability: ['availability'],
  addition: ['addition'],
}

/**
 * Keeps a long outage from filling the log. The same failure of the same kind of read is logged once, then every ten
 * minutes; the end of all failures of a list is logged once. Waiting for a file is logged once, too.
 */
class Repetition {
  readonly #troubles = new Map<string, Trouble>()
  readonly #waiting = new Set<string>()

  /** Returns the line to write for a finished read, given the line it would have by itself; `null` for none. */
  filter(read: ReadReport, line: LogLine | null, nowMs: number): LogLine | null {
    const { list, kind, isAudit, outcome, message } = read
    if (outcome === 'waiting') {
      const isSaid = this.#waiting.has(list)
      this.#waiting.add(list)
      return isSaid ? null : line
    }
    this.#waiting.delete(list)
    return message === null
      ? this.#ended(read, line, nowMs)
      : this.#failed(list, isAudit ? 'audit' : kind, message, line, nowMs)
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

  #failed(list: string, kind: Failing, message: string, line: LogLine | null, nowMs: number): LogLine | null {
    const trouble: Trouble = this.#troubles.get(list) ?? { sinceMs: nowMs, failures: 0, said: new Map() }
    this.#troubles.set(list, trouble)
    trouble.failures++
    const said = trouble.said.get(kind)
    if (said?.message !== message) {
      trouble.said.set(kind, { message, atMs: nowMs })
      return line
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
