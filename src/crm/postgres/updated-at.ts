import { type Cursor, cursorOf } from '../../sync/port.ts'

/** The number for NULL. No valid time has it, so a NULL that becomes a time counts as a change. */
const NONE = -1

/** Converts seconds since 1970, a double of PostgreSQL's, to microseconds: exact until the year 2106. */
export function microsOf(seconds: string | null): number {
  return seconds === null ? NONE : Math.round(Number(seconds) * 1_000_000)
}

/** The text that PostgreSQL parses as this time, for both `timestamp` and `timestamptz`. */
export function timestampText(micros: number): string {
  if (!Number.isFinite(micros)) return micros > 0 ? 'infinity' : '-infinity'
  const ms = Math.floor(micros / 1000)
  const date = new Date(ms)
  // No database has changes from before the year 1.
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() < 1 || date.getUTCFullYear() > 9999) return '-infinity'
  const rest = String(micros - ms * 1000).padStart(3, '0')
  return `${date.toISOString().slice(0, 23).replace('T', ' ')}${rest}+00`
}

/**
 * How far a read of changes goes back before the newest known updatedAt: transactions may commit out of order, and some
 * columns hold whole seconds. Id scans find rows that appear even later.
 */
const OVERLAP_MICROS = 5_000_000
/** How far writers' clocks may be ahead of the server's. Rows that are further ahead are found by id scans. */
const AHEAD_MICROS = 5_000_000
/** Reading this many rows again with each refresh costs too little to avoid. */
const FEW_ROWS = 200

class Tally {
  count = 0
  id: string | null = null
  byMicros = -1

  add(byMicros: number, id: string | null): void {
    this.count++
    // Keep the row that is furthest out, so the message names the same row whatever order rows come in.
    if (byMicros <= this.byMicros) return
    this.byMicros = byMicros
    this.id = id
  }
}

/**
 * The range of updatedAt that one read of changes covers, and the beginning of the next range. Collects the rows outside
 * it that a complete read finds.
 */
export class UpdatedAtWindow {
  /** The range in microseconds: `after` is exclusive, `last` inclusive. */
  readonly after: number
  readonly last: number
  /** The server's clock as the updatedAt column shows it, in microseconds. */
  readonly now: number
  /** Rows whose updatedAt is later than the window's end, changed or not. */
  readonly ahead: Tally = new Tally()
  /** Changed rows whose updatedAt is earlier than others that were already read. */
  readonly behind: Tally = new Tally()
  /** The newest times read, one per row; times up to `#floor` are no longer kept. */
  #newest: number[] = []
  #floor = -Infinity

  constructor(after: number, now: number) {
    // The clock was set back, or repeats an hour: new changes have times earlier than the known ones.
    this.after = after <= now ? after : now - OVERLAP_MICROS
    this.last = now + AHEAD_MICROS
    this.now = now
  }

  /** Notes a row that was read. Times in the future say nothing about what is committed by now. */
  add(time: number, id: string | null): void {
    this.look(time, id)
    if (!(time > this.#floor && time <= this.now)) return
    this.#newest.push(time)
    if (this.#newest.length > FEW_ROWS * 2) this.#trim()
  }

  /** Notes a row that is too far in the future. */
  look(time: number, id: string | null): void {
    if (time > this.last) this.ahead.add(time - this.now, id)
  }

  /** Notes a row that the id scan found changed though the read of changes had missed it. */
  found(time: number, id: string): void {
    // A change without an updatedAt is found by id scans only, as expected.
    if (time > 0 && time <= this.after) this.behind.add(this.after - time, id)
  }

  /**
   * Where the next read begins: a few seconds back, but never so far that it repeats more than 200 rows, for example
   * after an import.
   */
  get next(): number {
    this.#trim()
    const [newest] = this.#newest
    if (newest === undefined) return this.after
    const tooMany = this.#newest[FEW_ROWS] ?? -Infinity
    return Math.max(this.after, newest - OVERLAP_MICROS - 1, tooMany)
  }

  #trim(): void {
    this.#newest = this.#newest.toSorted((left, right) => right - left).slice(0, FEW_ROWS + 1)
    this.#floor = this.#newest[FEW_ROWS] ?? -Infinity
  }
}

export interface Position {
  /** The server that this position is valid on. */
  readonly server: string
  /** The next read of changes begins after this updatedAt, in microseconds. */
  readonly after: number
}

/** Names a connection: connections are numbered in each lane, a session of one process for one kind of read. */
export function serverOf(startedAt: string, lane: string, connection: number): string {
  return `${startedAt} #${lane}.${connection}`
}

/**
 * Compares the server of a cursor with the current one. `same`: the same connection. `earlier`: the same server, read
 * by an earlier process, which may have been restored since, or in another lane, as audits are. `other`: possibly
 * another server, for example after a lost connection.
 */
export function kinshipOf(before: string, now: string): 'same' | 'earlier' | 'other' {
  if (before === now) return 'same'
  const [[startedAt, lane], [startedNow, laneNow]] = [partsOf(before), partsOf(now)]
  return startedAt === startedNow && lane !== laneNow ? 'earlier' : 'other'
}

function partsOf(server: string): readonly [startedAt: string, lane: string] {
  const [startedAt = '', connection = ''] = server.split(' #')
  return [startedAt, connection.slice(0, connection.lastIndexOf('.'))]
}

export function cursorAt({ server, after }: Position): Cursor {
  // JSON cannot represent infinity.
  return cursorOf(JSON.stringify([server, Number.isFinite(after) ? after : null]))
}

export function positionOf(cursor: Cursor): Position | null {
  const parsed: unknown = JSON.parse(cursor)
  if (!isList(parsed)) return null
  const [server, after] = parsed
  if (typeof server !== 'string') return null
  return { server, after: typeof after === 'number' ? after : -Infinity }
}

function isList(parsed: unknown): parsed is readonly unknown[] {
  return Array.isArray(parsed)
}
