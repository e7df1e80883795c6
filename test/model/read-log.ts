import type { ReadKind } from '../../src/sync/port.ts'
import type { ReadReport } from '../../src/observe/observation.ts'

export interface LoggedRead {
  readonly list: string
  readonly kind: ReadKind
  readonly begunMs: number
  /** The largest lag of a page. */
  lagMs: number
  /** It has mentioned every row; it has told all changes. */
  isComplete: boolean
  confirms: boolean
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
  /** Since when a list is not believed; and those lists of which a read that named all rows was not. */
  readonly shrunkMs: Map<string, number> = new Map()
  readonly #wasComplete = new Set<string>()
  /** The same of the last time, which may wait for an audit though an id scan was believed. */
  readonly lastShrunkMs: Map<string, number> = new Map()
  /** When the last read of changes that ended well began, in its source's time; and the last one that named all rows. */
  readonly toldMs: Map<string, number> = new Map()
  readonly completeMs: Map<string, number> = new Map()
  /** When reads that told all changes began and ended. */
  readonly told: Record<string, { readonly begunMs: number; readonly endedMs: number }[]> = { events: [], venues: [] }
  /** When it was last believed again. */
  readonly releasedMs: Map<string, number> = new Map()
  /** Reads of the list that failed, and when the last one did. */
  readonly failed: Record<string, number> = { events: 0, venues: 0 }
  readonly failedMs: Map<string, number> = new Map()

  begin(list: string, kind: ReadKind, begunMs: number): LoggedRead {
    const read: LoggedRead = { list, kind, begunMs, lagMs: 0, isComplete: false, confirms: false }
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
    if (outcome === 'shrunk') {
      this.shrunkMs.set(list, this.shrunkMs.get(list) ?? nowMs)
      this.lastShrunkMs.set(list, this.shrunkMs.get(list) ?? nowMs)
      if (read?.isComplete === true) this.#wasComplete.add(list)
    }
    if (outcome === 'ok' && read !== undefined) {
      const sourceMs = read.begunMs - read.lagMs
      if (read.confirms && kind !== 'addition') this.told[list]?.push({ begunMs: read.begunMs, endedMs: nowMs })
      if (kind === 'changes') this.toldMs.set(list, sourceMs)
      if (read.isComplete && kind !== 'addition') this.completeMs.set(list, read.begunMs)
      const isProof = read.isComplete || (kind === 'changes' && !this.#wasComplete.has(list))
      if (isProof && kind !== 'addition' && this.shrunkMs.delete(list)) {
        this.#wasComplete.delete(list)
        this.releasedMs.set(list, nowMs)
      }
    }
    if (outcome !== 'ok') {
      this.failed[list] = (this.failed[list] ?? 0) + 1
      this.failedMs.set(list, nowMs)
    }
    if (kind !== 'full' || outcome !== 'ok' || read === undefined) return
    this.audits[list]?.push({ sourceMs: read.begunMs - read.lagMs, endedMs: nowMs })
  }

  /** How many reads are under way that could find rows absent. */
  openOf(list: string): number {
    return [...this.open].filter((read) => read.list === list && read.kind !== 'availability').length
  }

  /** Whether the replica has had the chance to know how the list was between two times. */
  wasToldWithin(list: string, fromMs: number, toMs: number): boolean {
    const last = this.told[list]?.findLast(({ endedMs }) => endedMs <= toMs)
    return last !== undefined && last.begunMs >= fromMs
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
