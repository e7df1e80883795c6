import { civilFromDays, daysFromCivil, daysInMonth } from './civil.ts'
import { trimWhiteSpace } from './white-space.ts'

declare const dateTime: unique symbol

/** A date-time in canonical text, as shown in the configured zone: `2026-07-12T19:30:00.5+01:00` (contract §2). */
export type DateTime = string & { readonly [dateTime]: true }

/** A point in time; `ticks` are units of 100 ns, always forward from the second. */
export interface Instant {
  readonly epochSeconds: number
  readonly ticks: number
}

/** The reading of a wall clock. `seconds` are counted from 1970-01-01T00:00:00 on the same clock. */
export interface Wall {
  readonly seconds: number
  readonly ticks: number
}

/** A parsed date-time: an instant if the text has an offset, else the reading of a wall clock. */
export type DateTimeText =
  | { readonly kind: 'instant'; readonly instant: Instant }
  | { readonly kind: 'wall'; readonly wall: Wall }

/**
 * Parses ISO 8601's extended format strictly: a full date, `T` or one space, hours and minutes, then optionally
 * seconds, a fraction after `.` or `,`, and an offset. Letters are upper-case. Fraction digits beyond the seventh are
 * cut (contract §2). `null` for any other text.
 *
 * @example parseDateTimeText('2026-07-12 19:30+01:00') // an instant; without the offset a wall time
 */
export function parseDateTimeText(text: string): DateTimeText | null {
  const bare = trimWhiteSpace(text)
  const minuteSeconds = secondsToMinute(bare)
  if (minuteSeconds === null) return null
  const hasSeconds = bare.charCodeAt(16) === COLON
  const second = hasSeconds ? digitsAt(bare, 17, 2) : 0
  if (second < 0 || second > 59) return null
  const fractionAt = hasSeconds ? 19 : 16
  const end = hasSeconds ? fractionEnd(bare, fractionAt) : fractionAt
  if (end === null) return null
  const ticks = end === fractionAt ? 0 : ticksAt(bare, fractionAt + 1, end)
  const seconds = minuteSeconds + second
  if (end === bare.length) return { kind: 'wall', wall: { seconds, ticks } }
  const offsetSeconds = offsetSecondsAt(bare, end)
  if (offsetSeconds === null) return null
  return { kind: 'instant', instant: { epochSeconds: seconds - offsetSeconds, ticks } }
}

/**
 * Returns a canonical date-time as HAL XML shows it: the wall clock as `M/d/yyyy h:mm:ss tt`, without the fraction
 * (contract §3).
 *
 * @example clockText('0001-01-01T00:00:00+00:00') // '1/1/0001 12:00:00 AM'
 */
export function clockText(canonical: string): string {
  const hour = Number(canonical.slice(11, 13))
  const date = `${Number(canonical.slice(5, 7))}/${Number(canonical.slice(8, 10))}/${canonical.slice(0, 4)}`
  return `${date} ${hour % 12 === 0 ? 12 : hour % 12}${canonical.slice(13, 19)} ${hour < 12 ? 'AM' : 'PM'}`
}

const ZERO = 0x30
const COLON = 0x3a
const HYPHEN = 0x2d
const SPACE = 0x20
const LETTER_T = 0x54
const LETTER_Z = 0x5a

// No zone has been further from UTC than Manila's 15:56, so a larger offset is a typing error. .NET's own limit of
// 14:00 would refuse historical local mean times.
const MAX_OFFSET_MINUTES = 18 * 60

/** Returns the wall-clock seconds of `YYYY-MM-DD?hh:mm` at the start of the text. */
function secondsToMinute(text: string): number | null {
  const separator = text.charCodeAt(10)
  if (separator !== LETTER_T && separator !== SPACE) return null
  if (text.charCodeAt(4) !== HYPHEN || text.charCodeAt(7) !== HYPHEN || text.charCodeAt(13) !== COLON) return null
  const year = digitsAt(text, 0, 4)
  const month = digitsAt(text, 5, 2)
  const day = digitsAt(text, 8, 2)
  const hour = digitsAt(text, 11, 2)
  const minute = digitsAt(text, 14, 2)
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return null
  return daysFromCivil(year, month, day) * 86_400 + hour * 3600 + minute * 60
}

/** Returns the end of the fraction at `at`; `at` itself if there is no fraction, `null` if its digits are missing. */
function fractionEnd(text: string, at: number): number | null {
  const mark = text.charCodeAt(at)
  if (mark !== 0x2e && mark !== 0x2c) return at
  let end = at + 1
  while (isDigit(text.charCodeAt(end))) end++
  return end === at + 1 ? null : end
}

function ticksAt(text: string, from: number, end: number): number {
  const digits = Math.min(end - from, 7)
  return digitsAt(text, from, digits) * 10 ** (7 - digits)
}

/** Parses the offset at the end of a text: `Z`, `±hh:mm`, `±hhmm` (Salesforce) or `±hh`. */
function offsetSecondsAt(text: string, at: number): number | null {
  const sign = text.charCodeAt(at)
  const length = text.length - at
  if (sign === LETTER_Z) return length === 1 ? 0 : null
  if (sign !== HYPHEN && sign !== 0x2b) return null
  const isExtended = length === 6 && text.charCodeAt(at + 3) === COLON
  if (!isExtended && length !== 5 && length !== 3) return null
  const hours = digitsAt(text, at + 1, 2)
  const minutes = length === 3 ? 0 : digitsAt(text, isExtended ? at + 4 : at + 3, 2)
  if (hours < 0 || minutes < 0 || minutes > 59 || hours * 60 + minutes > MAX_OFFSET_MINUTES) return null
  const seconds = (hours * 60 + minutes) * 60
  return sign === HYPHEN ? -seconds : seconds
}

/** Returns the number of `count` digits; -1 if one of them is not a digit. */
function digitsAt(text: string, from: number, count: number): number {
  let number = 0
  for (let index = from; index < from + count; index++) {
    const code = text.charCodeAt(index)
    if (!isDigit(code)) return -1
    number = number * 10 + code - ZERO
  }
  return number
}

export function isDigit(code: number): boolean {
  return code >= ZERO && code <= 0x39
}

const SECONDS_PER_DAY = 86_400
const FIRST_SECOND = -62_135_596_800 // 0001-01-01T00:00:00
const LAST_SECOND = 253_402_300_799 // 9999-12-31T23:59:59

/** Returns the canonical text of a wall time with its offset; `null` outside the years 1 to 9999 (contract §2). */
export function writeDateTime(wall: Wall, offsetMinutes: number): DateTime | null {
  const { seconds, ticks } = wall
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND) return null
  const days = Math.floor(seconds / SECONDS_PER_DAY)
  const secondOfDay = seconds - days * SECONDS_PER_DAY
  const minuteOfDay = Math.floor(secondOfDay / 60)
  const time = `${two(Math.floor(minuteOfDay / 60))}:${two(minuteOfDay % 60)}:${two(secondOfDay % 60)}`
  return asDateTime(`${dateText(days)}T${time}${ticks === 0 ? '' : fraction(ticks)}${offsetText(offsetMinutes)}`)
}

const TWO_DIGITS: readonly string[] = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'))

function two(number: number): string {
  return TWO_DIGITS[number] ?? ''
}

function dateText(days: number): string {
  const { year, month, day } = civilFromDays(days)
  return `${two(Math.floor(year / 100))}${two(year % 100)}-${two(month)}-${two(day)}`
}

function offsetText(minutes: number): string {
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}

function fraction(ticks: number): string {
  return `.${String(ticks).padStart(7, '0').replace(/0+$/, '')}`
}

function asDateTime(text: string): DateTime {
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- the one place
  return text as DateTime
}

/** A point in time as two comparable numbers: epoch milliseconds, and units of 100 ns within the millisecond. */
export interface Tick {
  readonly ms: number
  readonly ticks: number
}

export const TICKS_PER_MS = 10_000

export function tickOf({ epochSeconds, ticks }: Instant): Tick {
  const ms = Math.floor(ticks / TICKS_PER_MS)
  return { ms: epochSeconds * 1000 + ms, ticks: ticks - ms * TICKS_PER_MS }
}

export function tickOfDateTime(canonical: DateTime): Tick {
  const read = parseDateTimeText(canonical)
  if (read?.kind !== 'instant') throw new Error('a canonical date-time has an offset')
  return tickOf(read.instant)
}

export function isBefore(left: Tick, right: Tick): boolean {
  return left.ms < right.ms || (left.ms === right.ms && left.ticks < right.ticks)
}
