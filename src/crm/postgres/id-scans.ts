import { type Moment, elapsedMs } from '../../time/time.ts'
import type { KnownTable } from './known-table.ts'
import type { StampWindow } from './stamp.ts'

/** An id scan that comes due a moment after a refresh would otherwise wait for the next. */
const DUE_EARLY = 0.95

/** When all rows are to be compared with what is held. */
export class IdScanSchedule {
  readonly #everyMs: () => number
  #comparedAt: Moment | null = null
  /** When the last sweep ended, well or not, and how long it took: those that are asked for must not fill all the time. */
  #lastIdScan: { readonly endedAt: Moment; readonly tookMs: number } | null = null

  constructor(everyMs: () => number) {
    this.#everyMs = everyMs
  }

  /** Whether it is time: by the interval, or because some rows may be gone and as long as the last sweep took has passed since. */
  isDue(now: Moment, isAskedFor: boolean): boolean {
    if (this.#comparedAt === null || elapsedMs(this.#comparedAt, now) >= this.#everyMs() * DUE_EARLY) return true
    const last = this.#lastIdScan
    return isAskedFor && (last === null || elapsedMs(last.endedAt, now) >= last.tookMs)
  }

  /** All rows were compared as of `begunAt`. */
  compared(begunAt: Moment): void {
    this.#comparedAt = begunAt
  }

  /** An id scan ended, whether or not it came to an end. */
  swept(begunAt: Moment, endedAt: Moment): void {
    this.#lastIdScan = { endedAt, tookMs: elapsedMs(begunAt, endedAt) }
  }
}

/** Rows whose stamp lies outside of the window of reads of changes, as one complete read finds them. */
export class Strays {
  /** Stamped later than the window reaches: whether or not they changed. */
  readonly ahead: Tally = new Tally()
  /** Changed, and stamped earlier than others that were read before. */
  readonly behind: Tally = new Tally()
  readonly #window: StampWindow

  constructor(window: StampWindow) {
    this.#window = window
  }

  /** A row is there. */
  look(stamp: number, id: string | null): void {
    if (stamp > this.#window.last) this.ahead.add(stamp - this.#window.now, id)
  }

  /** A row has another stamp than the one that is held, though the changes were read. */
  found(stamp: number, id: string): void {
    // Of a row without a stamp nothing else was to be expected.
    if (stamp > 0 && stamp <= this.#window.after) this.behind.add(this.#window.after - stamp, id)
  }
}

class Tally {
  count = 0
  id: string | null = null
  byMicros = -1

  add(byMicros: number, id: string | null): void {
    this.count++
    // The one that is furthest out: the same again and again, in whatever order rows come.
    if (byMicros <= this.byMicros) return
    this.byMicros = byMicros
    this.id = id
  }
}

/** So many sweeps in a row have to find rows that came too late before it is no accident. */
const USUAL_AFTER = 3

/** Says what an operator should know of strays: once, and again when they have become twice as many. */
export class StrayNotices {
  readonly #tell: (message: string) => void
  readonly #idScansEveryMs: () => number
  #ahead = 0
  #lateIdScans = 0

  constructor(idScansEveryMs: () => number, tell: (message: string) => void) {
    this.#idScansEveryMs = idScansEveryMs
    this.#tell = tell
  }

  /** All rows were compared with what is held. */
  swept(strays: Strays, known: KnownTable<unknown>): void {
    this.readInFull(strays, known)
    const { count, id, byMicros } = strays.behind
    this.#lateIdScans = count === 0 ? 0 : this.#lateIdScans + 1
    if (this.#lateIdScans !== USUAL_AFTER) return
    this.#tell(
      `${known.placeOf(id)} and others change with a ${known.stampColumn} that is older than what was read before (by ${duration(byMicros)}), so ${this.#until}; stamp rows as they are written, with clock_timestamp() and by one clock${this.#zone(known)}`,
    )
  }

  /** All rows were looked at. */
  readInFull({ ahead: { count, id, byMicros } }: Strays, known: KnownTable<unknown>): void {
    if (count === 0) this.#ahead = 0
    if (count < Math.max(1, this.#ahead * 2)) return
    this.#ahead = count
    const others = count === 1 ? '' : ` and ${count - 1} more`
    this.#tell(
      `${known.placeOf(id)}${others}: ${known.stampColumn} lies in the future (${Number.isFinite(byMicros) ? `by ${duration(byMicros)}` : 'infinity'}), so ${this.#until}${this.#zone(known)}`,
    )
  }

  get #until(): string {
    return `its changes are seen only when all rows are compared, every ${this.#idScansEveryMs() / 1000} s`
  }

  #zone({ zone, list }: KnownTable<unknown>): string {
    return zone === null
      ? ''
      : `. It is taken for wall time in ${zone}: if it is another zone's, name that in crm.${list.name}.updatedAtIn`
  }
}

function duration(micros: number): string {
  const seconds = Math.ceil(micros / 1_000_000)
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`
}
