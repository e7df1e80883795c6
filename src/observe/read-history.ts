import type { Observation, ReadReport } from './observation.ts'

/** One read, or several equal ones of one list in a row. */
export interface PastReads {
  /** ISO 8601: when the first and the last of them ended. */
  readonly from: string
  readonly until: string
  readonly times: number
  readonly read: ReadReport
}

const MOST = 50
const MOST_COLUMNS = 100

/**
 * Remembers the last reads for the dashboard. Equal reads without changes share an entry, which keeps faults and
 * changes visible longer.
 */
export class ReadHistory {
  readonly #past: PastReads[] = []
  readonly #ignored = new Map<string, Set<string>>()

  note(observation: Observation, nowMs: number): void {
    if (observation.kind === 'read-ended') this.#remember(observation.read, new Date(nowMs).toISOString())
    if (observation.kind !== 'columns-ignored') return
    const columns = this.#ignored.get(observation.list) ?? new Set<string>()
    this.#ignored.set(observation.list, columns)
    for (const column of observation.columns) if (columns.size < MOST_COLUMNS) columns.add(column)
  }

  /** The remembered reads, newest first. */
  get reads(): readonly PastReads[] {
    return this.#past.toReversed()
  }

  /** The unused columns of a list that were seen since the start. */
  ignoredColumns(list: string): readonly string[] {
    return [...(this.#ignored.get(list) ?? [])]
  }

  #remember(read: ReadReport, at: string): void {
    const last = this.#past.findLastIndex((past) => past.read.list === read.list)
    const before = this.#past[last]
    if (before === undefined || !isAlike(before.read, read)) this.#past.push({ from: at, until: at, times: 1, read })
    else {
      this.#past.splice(last, 1)
      this.#past.push({ from: before.from, until: at, times: before.times + 1, read })
    }
    if (this.#past.length > MOST) this.#past.shift()
  }
}

function isAlike(before: ReadReport, after: ReadReport): boolean {
  const names = ['kind', 'outcome', 'message', 'served', 'withheld'] as const
  return before.changed === 0 && after.changed === 0 && names.every((name) => before[name] === after[name])
}
