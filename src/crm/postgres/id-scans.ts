import { RepeatedNotice } from '../../domain/repeated-notice.ts'
import { type Moment, elapsedMs } from '../../time/time.ts'
import type { KnownTable } from './known-table.ts'
import type { UpdatedAtWindow } from './updated-at.ts'

/**
 * The part of the interval after which an id scan is due: it runs with a refresh slightly early rather than wait for
 * the next.
 */
const DUE_EARLY = 0.95

/** Decides when to compare all rows with the rows in memory. */
export class IdScanSchedule {
  readonly #everyMs: () => number
  #comparedAt: Moment | null = null
  /**
   * When the last id scan ended, successfully or not, and how long it took. Requested id scans must not take all the
   * time.
   */
  #lastIdScan: { readonly endedAt: Moment; readonly tookMs: number } | null = null

  constructor(everyMs: () => number) {
    this.#everyMs = everyMs
  }

  /**
   * Returns true if an id scan is due: its interval is over, or one is requested and the last one ended at least its
   * own duration ago.
   */
  isDue(now: Moment, isAskedFor: boolean): boolean {
    if (this.#comparedAt === null || elapsedMs(this.#comparedAt, now) >= this.#everyMs() * DUE_EARLY) return true
    const last = this.#lastIdScan
    return isAskedFor && (last === null || elapsedMs(last.endedAt, now) >= last.tookMs)
  }

  /** Records that all rows were compared as of `begunAt`. */
  compared(begunAt: Moment): void {
    this.#comparedAt = begunAt
  }

  /** Records an id scan that ended, complete or not. */
  scanned(begunAt: Moment, endedAt: Moment): void {
    this.#lastIdScan = { endedAt, tookMs: elapsedMs(begunAt, endedAt) }
  }
}

/** The number of consecutive id scans that must find late rows before it is reported. */
const USUAL_AFTER = 3

/** Reports stray rows to the operator: once, and again when their number has doubled. */
export class StrayNotices {
  readonly #tell: (message: string) => void
  readonly #idScansEveryMs: () => number
  readonly #ahead = new RepeatedNotice()
  #lateIdScans = 0

  constructor(idScansEveryMs: () => number, tell: (message: string) => void) {
    this.#idScansEveryMs = idScansEveryMs
    this.#tell = tell
  }

  scanned(window: UpdatedAtWindow, known: KnownTable<unknown>): void {
    this.readInFull(window, known)
    const { count, id, byMicros } = window.behind
    this.#lateIdScans = count === 0 ? 0 : this.#lateIdScans + 1
    if (this.#lateIdScans !== USUAL_AFTER) return
    this.#tell(
      `${known.placeOf(id)} and other rows changed with an older ${known.updatedAtColumn} than rows that were already read (by ${duration(byMicros)}), so ${this.#until}; set it when the row is written, with clock_timestamp() of one clock${this.#zone(known)}`,
    )
  }

  readInFull({ ahead: { count, id, byMicros } }: UpdatedAtWindow, known: KnownTable<unknown>): void {
    if (!this.#ahead.isNew(count, id)) return
    const others = count === 1 ? '' : ` and ${count - 1} more`
    this.#tell(
      `${known.placeOf(id)}${others}: ${known.updatedAtColumn} is in the future (${Number.isFinite(byMicros) ? `by ${duration(byMicros)}` : 'infinity'}), so ${this.#until}${this.#zone(known)}`,
    )
  }

  get #until(): string {
    return `its changes are seen only when all rows are compared, every ${this.#idScansEveryMs() / 1000} s`
  }

  #zone({ zone, list }: KnownTable<unknown>): string {
    return zone === null
      ? ''
      : `. It is read as local time in ${zone}; if its zone is another one, set crm.${list.name}.updatedAtIn`
  }
}

function duration(micros: number): string {
  const seconds = Math.ceil(micros / 1_000_000)
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`
}
