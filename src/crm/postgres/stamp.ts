import { type Cursor, cursorOf } from '../../sync/port.ts'
import { Fault } from './fault.ts'

const PATTERN = /^(\d{4,6})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?(?:\+00)?( BC)?$/

/** No row of ours has it, and a NULL that becomes a stamp is a change. */
const NONE = -1

/**
 * A `timestamp` or `timestamptz` in UTC as its number of microseconds since 1970, exact until the year 2255; a fixed
 * number for NULL, infinite for `infinity`.
 */
export function microsOf(text: string | null): number {
  if (text === null) return NONE
  const day = isCommon(text) ? text.slice(0, 10) : null
  if (day === null) return parse(text)
  // An id scan reads the stamps of all rows, and many are of one day.
  if (day !== lastDay) [lastDay, lastDayMicros] = [day, parse(day)]
  const seconds = digitsAt(text, 11) * 3600 + digitsAt(text, 14) * 60 + digitsAt(text, 17)
  return (
    lastDayMicros + seconds * 1_000_000 + digitsAt(text, 20) * 10_000 + digitsAt(text, 22) * 100 + digitsAt(text, 24)
  )
}

let lastDay = ''
let lastDayMicros = 0

/** Whether the text is of the form `2026-11-21 02:58:17.123456+00`, as nearly all are. */
function isCommon(text: string): boolean {
  return (
    text.length === 29 && text.charCodeAt(19) === DOT && text.charCodeAt(26) === PLUS && text.charCodeAt(10) === SPACE
  )
}

const DOT = 0x2e
const PLUS = 0x2b
const SPACE = 0x20
const ZERO = 0x30

function digitsAt(text: string, at: number): number {
  return (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO
}

function parse(text: string): number {
  const match = PATTERN.exec(text)
  if (match === null) return text === 'infinity' ? Infinity : text === '-infinity' ? -Infinity : NONE
  const [, year = '', month, day, hour = '0', minute = '0', second = '0', fraction = '', era] = match
  const date = new Date(0)
  date.setUTCFullYear(era === undefined ? Number(year) : 1 - Number(year), Number(month) - 1, Number(day))
  date.setUTCHours(Number(hour), Number(minute), Number(second))
  return date.getTime() * 1000 + Number(fraction.padEnd(6, '0'))
}

/** The text PostgreSQL reads as that moment, as a `timestamp` or as a `timestamptz`. */
export function stampOf(micros: number): string {
  if (!Number.isFinite(micros)) return micros > 0 ? 'infinity' : '-infinity'
  const ms = Math.floor(micros / 1000)
  const date = new Date(ms)
  // Before the year 1 nothing was changed in a database.
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() < 1 || date.getUTCFullYear() > 9999) return '-infinity'
  const rest = String(micros - ms * 1000).padStart(3, '0')
  return `${date.toISOString().slice(0, 23).replace('T', ' ')}${rest}+00`
}

/**
 * A read of changes goes back this far behind the newest stamp, for transactions that commit later than others that began
 * after them, and for stamps of whole seconds. What is later still is found by the sweep.
 */
const OVERLAP_MICROS = 5_000_000
/** The clocks of those who write may be this much ahead of the server's. What is stamped later than that is the id-scan's. */
const AHEAD_MICROS = 5_000_000
/** Stream that many rows again with each refresh costs nothing worth avoiding. */
const FEW_ROWS = 200

/** The stamps that one read of changes looks at, and what it came across: where the next one has to begin. */
export class StampWindow {
  /** Stamps behind this one, and up to and with `last`, in microseconds. */
  readonly after: number
  readonly last: number
  /** What the server's clock shows to whoever stamps a row. */
  readonly now: number
  /** The newest stamps, of each row one, and which were too many to be kept. */
  #newest: number[] = []
  #floor = -Infinity

  constructor(after: number, now: number) {
    // The clock was put back, or shows an hour for the second time: what is stamped now is behind what is known.
    this.after = after <= now ? after : now - OVERLAP_MICROS
    this.last = now + AHEAD_MICROS
    this.now = now
  }

  /** A row with that stamp was read. One from the future tells nothing of what has been committed by now. */
  add(stamp: number): void {
    if (!(stamp > this.#floor && stamp <= this.now)) return
    this.#newest.push(stamp)
    if (this.#newest.length > FEW_ROWS * 2) this.#trim()
  }

  /**
   * Behind which stamp the next read begins: some seconds back, but of so many rows as an import or one large change gives
   * the same few seconds, or one and the same stamp, none is read again.
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

/** How far the changes of a list are known. */
export interface Position {
  /** Which server said so: on another one it means nothing. */
  readonly server: string
  /** The next read of changes begins behind this stamp, in microseconds. */
  readonly after: number
}

export function serverOf(startedAt: string, process: string, connection: number): string {
  return `${startedAt} #${process}.${connection}`
}

/**
 * How what was known over one connection stands to another: the same; of an earlier process, and so of the same server, though it
 * may have been set back meanwhile; or of a server that this may not be, as when a connection was lost.
 */
export function kinshipOf(before: string, now: string): 'same' | 'earlier' | 'other' {
  if (before === now) return 'same'
  const [[startedAt, process], [startedNow, processNow]] = [partsOf(before), partsOf(now)]
  return startedAt === startedNow && startedAt !== '' && process !== processNow ? 'earlier' : 'other'
}

function partsOf(server: string): readonly [startedAt: string, process: string] {
  const [startedAt = '', connection = ''] = server.split(' #')
  return [startedAt, connection.slice(0, connection.indexOf('.'))]
}

export function cursorAt({ server, after }: Position): Cursor {
  // Infinity is no number of JSON.
  return cursorOf(JSON.stringify([server, Number.isFinite(after) ? after : null]))
}

export function positionOf(cursor: Cursor): Position | null {
  const parsed: unknown = JSON.parse(cursor)
  if (!isList(parsed)) return null
  const [server, after] = parsed
  if (typeof server !== 'string') return null
  return { server, after: typeof after === 'number' ? after : -Infinity }
}

/** Why nothing is read from a position that cannot be read, or is another server's. */
export function otherServer(): Fault {
  const message = 'another connection may be another server, so the list is read in full'
  return new Fault('cursor-refused', message, null, false)
}

function isList(parsed: unknown): parsed is readonly unknown[] {
  return Array.isArray(parsed)
}
