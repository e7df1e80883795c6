const PATTERN = /^(\d{4,6})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?(?:\+00)?( BC)?$/

/** No row of ours has it, so that a NULL that becomes a stamp is a change. */
const NONE = -1

/**
 * A `timestamp` or `timestamptz` in UTC as its number of microseconds since 1970, exact until the year 2255; a fixed
 * number for NULL, infinite for `infinity`.
 */
export function microsOf(text: string | null): number {
  if (text === null) return NONE
  const day = isCommon(text) ? text.slice(0, 10) : null
  if (day === null) return parse(text)
  // A sweep reads the stamps of all rows, and many are of one day.
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
