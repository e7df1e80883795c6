import type { ReadKind } from '../../src/replica/port.ts'
import type { ReadReport } from '../../src/observe/observation.ts'

export interface LoggedRead {
  readonly list: string
  readonly kind: ReadKind
  readonly begunMs: number
  /** The largest lag of a page. */
  lagMs: number
}

/** A full read that was believed: what had happened before `sourceMs` is known since `endedMs`. */
export interface Audit {
  readonly sourceMs: number
  readonly endedMs: number
}

/** What the CRM was asked, and how the replica took it. */
export class ReadLog {
  /** Beginnings and ends of reads, counted. */
  readonly marks: Record<string, number> = { events: 0, venues: 0 }
  readonly open: Set<LoggedRead> = new Set()
  readonly audits: Record<string, Audit[]> = { events: [], venues: [] }
  readonly endedMs: Record<string, number> = { events: 0, venues: 0 }
  /** Since when a list is not believed. */
  readonly brakedMs: Map<string, number> = new Map()
  /** Reads of the list that failed. */
  readonly failed: Record<string, number> = { events: 0, venues: 0 }

  readonly #sweeps: boolean

  /** `sweeps`: a read of changes mentions every row. */
  constructor(sweeps: boolean) {
    this.#sweeps = sweeps
  }

  begin(list: string, kind: ReadKind, begunMs: number): LoggedRead {
    const read: LoggedRead = { list, kind, begunMs, lagMs: 0 }
    this.marks[list] = (this.marks[list] ?? 0) + 1
    this.open.add(read)
    return read
  }

  /** The replica reports that a read of its own has ended; `nowMs` is the true time. */
  end({ list, kind, outcome, durationMs }: ReadReport, nowMs: number): void {
    this.marks[list] = (this.marks[list] ?? 0) + 1
    this.endedMs[list] = nowMs
    const began = (read: LoggedRead): number => Math.abs(nowMs - durationMs - read.begunMs)
    const [read] = [...this.open]
      .filter((candidate) => candidate.list === list && (candidate.kind === kind || kind === 'addition'))
      .toSorted((left, right) => began(left) - began(right))
    if (read !== undefined) this.open.delete(read)
    if (outcome === 'braked') this.brakedMs.set(list, this.brakedMs.get(list) ?? nowMs)
    if (outcome === 'ok' && (kind === 'full' || (kind === 'changes' && this.#sweeps))) this.brakedMs.delete(list)
    if (outcome !== 'ok') this.failed[list] = (this.failed[list] ?? 0) + 1
    if (kind !== 'full' || outcome !== 'ok' || read === undefined) return
    this.audits[list]?.push({ sourceMs: read.begunMs - read.lagMs, endedMs: nowMs })
  }

  /** Whether a read is under way, or has ended this moment. */
  isReading(list: string, nowMs: number): boolean {
    return (this.endedMs[list] ?? 0) > nowMs - 1 || [...this.open].some((read) => read.list === list)
  }

  /** When the first full read that saw what happened at `ms` had ended. */
  auditedAt(list: string, ms: number): number {
    const audits = this.audits[list] ?? []
    for (let index = 0; index < audits.length; index++) {
      const audit = audits[index]
      if (audit !== undefined && audit.sourceMs >= ms) return audit.endedMs
    }
    return Number.POSITIVE_INFINITY
  }
}
