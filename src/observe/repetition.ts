import type { LogLine } from './log-line.ts'
import type { ReadReport } from './observation.ts'

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
export class Repetition {
  readonly #troubles = new Map<string, Trouble>()

  /** The line to write for a read that ended, given the one it would have alone. */
  filter(read: ReadReport, line: LogLine | null, nowMs: number): LogLine | null {
    const key = `${read.list} ${read.kind}`
    const trouble = this.#troubles.get(key)
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
