import type { ReadKind } from '../../src/sync/port.ts'
import type { ReadReport } from '../../src/observe/observation.ts'

export interface LoggedRead {
  readonly list: string
  readonly kind: ReadKind
  readonly begunMs: number
  /** The largest lag of a page, ms. */
  lagMs: number
  /** `isComplete`: the read mentioned every row. `confirms`: it reported all changes. */
  isComplete: boolean
  confirms: boolean
}

/** A full read that was believed: everything before `sourceMs` is known since `endedMs`. */
export interface Audit {
  readonly sourceMs: number
  readonly endedMs: number
}

/** The requests to the CRM, and the replica's reports about them. */
export class ReadLog {
  /** The number of beginnings and ends of reads. */
  readonly progress: Record<string, number> = { events: 0, venues: 0 }
  readonly open: Set<LoggedRead> = new Set()
  readonly audits: Record<string, Audit[]> = { events: [], venues: [] }
  readonly endedMs: Record<string, number> = { events: 0, venues: 0 }
  /** Since when a list is not believed; and the lists for which a complete read was not believed. */
  readonly shrunkMs: Map<string, number> = new Map()
  readonly #wasComplete = new Set<string>()
  /** The previous start of disbelief. An audit may still have to end it after an id scan was believed. */
  readonly lastShrunkMs: Map<string, number> = new Map()
  /** When the last successful read of changes began, in its source's time; and the last one that named all rows. */
  readonly toldMs: Map<string, number> = new Map()
  readonly completeMs: Map<string, number> = new Map()
  /** The beginnings and ends of reads that reported all changes of the details. */
  readonly told: Record<string, { readonly begunMs: number; readonly endedMs: number }[]> = { events: [], venues: [] }
  /** When the list was last believed again. */
  readonly releasedMs: Map<string, number> = new Map()
  /** The number of failed reads of the list, and when the last one failed. */
  readonly failed: Record<string, number> = { events: 0, venues: 0 }
  readonly failedMs: Map<string, number> = new Map()

  begin(list: string, kind: ReadKind, begunMs: number): LoggedRead {
    const read: LoggedRead = { list, kind, begunMs, lagMs: 0, isComplete: false, confirms: false }
    this.progress[list] = (this.progress[list] ?? 0) + 1
    this.open.add(read)
    return read
  }

  /** Records that the list is not believed. The read that showed it may not have ended. */
  hold(list: string, nowMs: number): void {
    this.shrunkMs.set(list, this.shrunkMs.get(list) ?? nowMs)
    this.lastShrunkMs.set(list, this.shrunkMs.get(list) ?? nowMs)
  }

  /** Records that a read has ended, as reported by the replica. `nowMs` is the true time. */
  end({ list, kind, outcome, durationMs }: ReadReport, nowMs: number): void {
    this.progress[list] = (this.progress[list] ?? 0) + 1
    this.endedMs[list] = nowMs
    const began = (read: LoggedRead): number => Math.abs(nowMs - durationMs - read.begunMs)
    const [read] = [...this.open]
      .filter((candidate) => candidate.list === list && (candidate.kind === kind || kind === 'addition'))
      .toSorted((left, right) => began(left) - began(right))
    if (read !== undefined) this.open.delete(read)
    if (outcome === 'shrunk') {
      this.hold(list, nowMs)
      if (read?.isComplete === true) this.#wasComplete.add(list)
    }
    if (outcome === 'ok' && read !== undefined) {
      const sourceMs = read.begunMs - read.lagMs
      if (read.confirms && (kind === 'full' || kind === 'changes'))
        this.told[list]?.push({ begunMs: read.begunMs, endedMs: nowMs })
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

  /** Returns how many reads are running that could find rows absent. */
  openOf(list: string): number {
    return [...this.open].filter((read) => read.list === list && read.kind !== 'availability').length
  }

  /** Returns true if the replica could have learnt the state of the list between two times. */
  wasToldWithin(list: string, fromMs: number, toMs: number): boolean {
    const last = this.told[list]?.findLast(({ endedMs }) => endedMs <= toMs)
    return last !== undefined && last.begunMs >= fromMs
  }

  /** Returns true if a read is running or has just ended. */
  isReading(list: string, nowMs: number): boolean {
    return (this.endedMs[list] ?? 0) > nowMs - 1 || [...this.open].some((read) => read.list === list)
  }

  /** Returns when the first full read that saw what happened at `ms` had ended. */
  auditedAt(list: string, ms: number): number {
    const audits = this.audits[list] ?? []
    for (let index = 0; index < audits.length; index++) {
      const audit = audits[index]
      if (audit !== undefined && audit.sourceMs >= ms) return audit.endedMs
    }
    return Number.POSITIVE_INFINITY
  }
}
