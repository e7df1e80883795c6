import type { Cursor } from '../../sync/port.ts'

const WRITTEN = /^(\d{4}-\d\d-\d\d)([T ])(\d\d:\d\d(?::\d\d)?)([.,]\d+)?\s*(Z|[+-]\d\d:?\d\d)?$/i

/**
 * Returns the time of a stamp, in wall-clock ms: a date-time, or a number of seconds or milliseconds since 1970. No
 * offset means UTC. `NaN` if it is not a time.
 */
export function stampMs(text: string): number {
  if (/^\d{10}$/.test(text)) return Number(text) * 1000
  if (/^\d{13}$/.test(text)) return Number(text)
  const match = WRITTEN.exec(text)
  if (match === null) return Number.NaN
  const [, day = '', , time = '', fraction = '', zone = 'Z'] = match
  const offset = /^[+-]\d{4}$/.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase()
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
/** A time further ahead of this machine's clock is a mistake in the row, not a difference between clocks. */
const MOST_AHEAD_MS = 24 * 3_600_000
/** Reading this many rows again at each refresh costs little. */
const FEW_ROWS = 200

/** Decides where the next read by `since` begins. */
export class LookBack {
  /** The number of rows with a readable time, and the first time that could not be read. */
  read = 0
  unreadable: string | null = null
  /** The number of rows with a time in the future, and the id of one of them. */
  ahead = 0
  aheadId: string | null = null
  readonly #after: string | null
  readonly #now: number
  #newest: { readonly ms: number; readonly text: string }[] = []
  #floor = -Infinity

  /** @param after the time from which this read asked for rows; `null` for a read of all rows */
  constructor(after: string | null, nowWallMs: number) {
    this.#after = after
    this.#now = nowWallMs
  }

  add(text: string, id: string | null): void {
    const ms = stampMs(text)
    if (Number.isNaN(ms)) {
      this.unreadable ??= text
      return
    }
    this.read++
    if (ms > this.#now + MOST_AHEAD_MS) {
      this.ahead++
      this.aheadId ??= id
    } else if (ms > this.#floor) {
      this.#newest.push({ ms, text })
      if (this.#newest.length > FEW_ROWS * 2) this.#trim()
    }
  }

  /** A minute before the newest row, or less if more than 200 rows would repeat, for example after an import. */
  get next(): string {
    this.#trim()
    const [newest] = this.#newest
    if (newest === undefined) return this.#after ?? writeStamp(0, null)
    const tooMany = this.#newest[FEW_ROWS]?.ms ?? -Infinity
    const afterMs = stampMs(this.#after ?? '')
    const before = Number.isNaN(afterMs) ? -Infinity : afterMs
    // A row from a clock that is ahead must not make later reads skip the rows of other writers.
    const newestMs = Math.min(newest.ms, this.#now)
    return writeStamp(Math.max(before, newestMs - LOOK_BACK_MS, Math.min(tooMany, this.#now)), newest.text)
  }

  #trim(): void {
    this.#newest = this.#newest.toSorted((left, right) => right.ms - left.ms).slice(0, FEW_ROWS + 1)
    this.#floor = this.#newest[FEW_ROWS]?.ms ?? -Infinity
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
