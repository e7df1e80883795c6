import type { Cursor } from '../../sync/port.ts'

const WRITTEN = /^(\d{4}-\d\d-\d\d)([T ])(\d\d:\d\d(?::\d\d)?)([.,]\d+)?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/i

/**
 * Returns the time of a stamp, in wall-clock ms: a date-time, or a number of seconds or milliseconds since 1970. No
 * offset means UTC, and databases write `infinity` for a time that never comes. `NaN` if it is not a time.
 */
export function stampMs(text: string): number {
  if (/^\d{10}$/.test(text)) return Number(text) * 1000
  if (/^\d{13}$/.test(text)) return Number(text)
  const match = WRITTEN.exec(text)
  if (match === null) return text === 'infinity' ? Number.POSITIVE_INFINITY : Number.NaN
  const [, day = '', , time = '', fraction = '', zone = 'Z'] = match
  const offset = zone.length > 1 ? `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}` : 'Z'
  return Date.parse(`${day}T${time}${fraction.replace(',', '.').slice(0, 4)}${offset}`)
}

/** Writes a time in the CRM's format. `like` is a time that the CRM wrote. */
function writeStamp(ms: number, like: string | null): string {
  const iso = new Date(Math.max(0, ms)).toISOString()
  if (like === null) return iso
  if (/^\d{10}$/.test(like)) return String(Math.floor(Math.max(0, ms) / 1000))
  if (/^\d{13}$/.test(like)) return String(Math.floor(Math.max(0, ms)))
  const [, , between = 'T', , fraction = '', zone = ''] = WRITTEN.exec(like) ?? []
  const time = fraction === '' ? iso.slice(11, 19) : iso.slice(11, 23)
  const offset = zone === '' || /^z$/i.test(zone) ? zone : zone.includes(':') ? '+00:00' : '+0000'
  return `${iso.slice(0, 10)}${between}${time}${offset}`
}

const FAR_AHEAD_MS = 3 * 24 * 3_600_000

/** Returns a time in the far future, in the format of `like`, or in ISO 8601 if no time is known. */
export function farAheadLike(like: string | null, nowWallMs: number): string {
  return writeStamp(nowWallMs + FAR_AHEAD_MS, like)
}

/** Returns true if a row's time is certainly not earlier than another. */
export function isNotBefore(stamp: string | null, other: string): boolean {
  return stamp !== null && stampMs(stamp) >= stampMs(other)
}

/**
 * How far each read goes back: some APIs omit seconds, transactions commit out of order, and writers' clocks differ.
 */
const LOOK_BACK_MS = 60_000
/**
 * A time further ahead of this machine's clock is a mistake in the row, not a difference between clocks. A time without
 * an offset may be of any zone.
 */
const MOST_AHEAD_MS = 5 * 60_000
const MOST_AHEAD_IN_ANY_ZONE_MS = 24 * 3_600_000
/** Reading this many rows again at each refresh costs little. */
const FEW_ROWS = 200
/** The length of a time without its fraction and zone. */
const SECONDS = '2026-11-28 16:00:00'.length

/** Returns true if a time does not depend on a zone. */
function isInstant(text: string): boolean {
  return !WRITTEN.test(text) || /(?:Z|[+-]\d\d(?::?\d\d)?)$/i.test(text.slice(10))
}

/** The shortest time between two times that are written like this one, in ms. */
function unitOf(text: string): number {
  return /^\d{10}$/.test(text) || (WRITTEN.test(text) && !/[.,]/.test(text)) ? 1000 : 1
}

/** Decides where the next read by `since` begins. */
export class LookBack {
  /** The number of rows with a readable time, and the first time that could not be read. */
  read = 0
  unreadable: string | null = null
  /** The number of rows with a time in the future, and the id of one of them. */
  ahead = 0
  aheadId: string | null = null
  /** How far that time is in the future, in ms: the furthest of all. */
  aheadMs = 0
  readonly #after: string | null
  readonly #now: number
  #newest: { readonly ms: number; readonly text: string }[] = []
  #floor = -Infinity
  /** The beginning of a time at the floor, to the second, and its zone: earlier times need not be parsed. */
  #floorBegins = ''
  #floorEnds = ''
  #lastText = ''
  #lastMs = Number.NaN

  /** @param after the time from which this read asked for rows; `null` for a read of all rows */
  constructor(after: string | null, nowWallMs: number) {
    this.#after = after
    this.#now = nowWallMs
  }

  add(text: string, id: string | null): void {
    if (text < this.#floorBegins && text.length > SECONDS && text.endsWith(this.#floorEnds)) {
      this.read++
      return
    }
    // An import gives all rows one time.
    const ms = text === this.#lastText ? this.#lastMs : stampMs(text)
    ;[this.#lastText, this.#lastMs] = [text, ms]
    if (Number.isNaN(ms)) {
      this.unreadable ??= text
      return
    }
    this.read++
    if (ms > this.#now + MOST_AHEAD_MS && (isInstant(text) || ms > this.#now + MOST_AHEAD_IN_ANY_ZONE_MS)) {
      this.ahead++
      if (ms - this.#now <= this.aheadMs) return
      this.aheadMs = ms - this.#now
      this.aheadId = id
    } else if (ms > this.#floor) {
      this.#newest.push({ ms, text })
      if (this.#newest.length > FEW_ROWS * 2) this.#trim()
    }
  }

  /**
   * A minute before the newest row, or less if more than 200 rows would repeat, for example after an import. If as many
   * have the same time, it is just after that: comparisons find rows that get it later.
   */
  get next(): string {
    this.#trim()
    const [newest] = this.#newest
    if (newest === undefined) return this.#after ?? writeStamp(0, null)
    const tooMany = this.#newest[FEW_ROWS]
    const afterMany = tooMany === undefined ? -Infinity : tooMany.ms + unitOf(tooMany.text)
    const afterMs = stampMs(this.#after ?? '')
    const before = Number.isNaN(afterMs) ? -Infinity : afterMs
    // A row from a clock that is ahead must not make later reads skip the rows of other writers.
    const newestMs = Math.min(newest.ms, this.#now)
    return writeStamp(Math.max(before, newestMs - LOOK_BACK_MS, Math.min(afterMany, this.#now)), newest.text)
  }

  #trim(): void {
    this.#newest = this.#newest.toSorted((left, right) => right.ms - left.ms).slice(0, FEW_ROWS + 1)
    const floor = this.#newest[FEW_ROWS]
    if (floor === undefined) return
    this.#floor = floor.ms
    const [, day, between, time, , zone = ''] = WRITTEN.exec(floor.text) ?? []
    if (time?.length === 8) [this.#floorBegins, this.#floorEnds] = [`${day}${between}${time}`, zone]
  }
}

const SINCE = 'since '

/** Makes the cursor from which the next read by `since` goes on. */
export function sinceCursor(after: string): string {
  return `${SINCE}${after}`
}

/** Returns the time in a cursor; `null` if it is not a cursor of reads by `since`. */
export function sinceIn(cursor: Cursor): string | null {
  return cursor.startsWith(SINCE) ? cursor.slice(SINCE.length) : null
}
