import { type LogLine, logLine } from './log-line.ts'
import { lostLine } from './line-sink.ts'
import type { Observation, ReadReport } from './observation.ts'
import { printable } from './printable.ts'

export interface LogOptions {
  readonly out: (line: string) => void
  /** A person reads along. */
  readonly isTerminal: boolean
  /** The wall clock in ms. */
  readonly now: () => number
}

const MOST_HELD = 1000

/** Writes observations: JSON lines to a machine, sentences to a person. What is not worth a line is left out. */
export class Log {
  readonly #options: LogOptions
  readonly #repetition = new Repetition()
  /** The lists whose brake is engaged and was told: each read that is not believed engages it again. */
  readonly #braked = new Set<string>()
  /** What came before the first line was out. */
  #held: string[] | null = []
  /** And what there was no room for. */
  #unheld = 0

  constructor(options: LogOptions) {
    this.#options = options
  }

  /** Lets lines out; those that came before come first. */
  begin(): void {
    const held = this.#held ?? []
    this.#held = null
    const { out, isTerminal, now } = this.#options
    for (const line of held) out(line)
    if (this.#unheld > 0) out(lostLine(this.#unheld, !isTerminal, now()))
  }

  write(observation: Observation): void {
    const nowMs = this.#options.now()
    if (this.#isToldBrake(observation)) return
    const alone = logLine(observation)
    const said = observation.kind === 'read-ended' ? this.#repetition.filter(observation.read, alone, nowMs) : alone
    if (said === null) return
    const line = this.#render(observation.kind, said, new Date(nowMs).toISOString())
    if (this.#held === null) this.#options.out(line)
    else if (this.#held.length < MOST_HELD) this.#held.push(line)
    else this.#unheld++
  }

  #isToldBrake(observation: Observation): boolean {
    if (observation.kind === 'read-ended' && observation.read.kind === 'full' && observation.read.outcome === 'ok') {
      this.#braked.delete(observation.read.list)
    }
    if (observation.kind !== 'brake-engaged') return false
    const isTold = this.#braked.has(observation.list)
    this.#braked.add(observation.list)
    return isTold
  }

  #render(event: string, { level, message, fields }: LogLine, time: string): string {
    if (this.#options.isTerminal) return printable(`  ${time}  ${level.padEnd(5)}  ${message}`)
    return JSON.stringify({ time, level, event, message: printable(message), ...fields })
  }
}

const SAY_AGAIN_MS = 600_000

interface Trouble {
  readonly message: string
  readonly sinceMs: number
  saidAtMs: number
  failures: number
}

/**
 * Keeps a night's outage from filling the log: the same failure of the same read is said once, then every ten minutes, and
 * its end once.
 */
class Repetition {
  readonly #troubles = new Map<string, Trouble>()
  /** The reads that wait for a file to be finished. */
  readonly #waiting = new Set<string>()

  /** The line to write for a read that ended, given the one it would have alone. */
  filter(read: ReadReport, line: LogLine | null, nowMs: number): LogLine | null {
    const key = `${read.list} ${read.kind}`
    const trouble = this.#troubles.get(key)
    if (read.outcome === 'waiting') {
      const isSaid = this.#waiting.has(key)
      this.#waiting.add(key)
      return isSaid ? null : line
    }
    this.#waiting.delete(key)
    if (read.message === null) {
      if (trouble === undefined) return line
      this.#troubles.delete(key)
      const lasted = `after ${trouble.failures} failed reads in ${seconds(nowMs - trouble.sinceMs)} s`
      const message = `the ${read.list} are read again, ${lasted}${line === null ? '' : `; ${line.message}`}`
      return { level: 'info', message, fields: { ...line?.fields, list: read.list, failures: trouble.failures } }
    }
    if (trouble?.message !== read.message) {
      const { sinceMs = nowMs, failures = 0 } = trouble ?? {}
      this.#troubles.set(key, { message: read.message, sinceMs, saidAtMs: nowMs, failures: failures + 1 })
      return line
    }
    trouble.failures++
    if (nowMs - trouble.saidAtMs < SAY_AGAIN_MS || line === null) return null
    trouble.saidAtMs = nowMs
    const lasted = `${trouble.failures} failed reads in ${seconds(nowMs - trouble.sinceMs)} s`
    return { ...line, message: `still: ${line.message} (${lasted})` }
  }
}

function seconds(ms: number): number {
  return Math.round(ms / 1000)
}
