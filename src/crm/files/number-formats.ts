// What Excel shows for a number, by the number format of its cell (ECMA-376 part 1, 18.8.30 and 18.8.31).

import { format as formatted, getFormatDateInfo } from 'numfmt'
import { civilFromDays } from '../../domain/civil.ts'

/** The kind of value that a number format shows. `by-value`: a date, a time or both, depending on the number. */
type NumberKind = 'number' | MomentKind | 'by-value'

type MomentKind = 'date' | 'time' | 'date-time' | 'hours'

/** A number format, as far as it matters for cells. */
export interface NumberFormat {
  /** The format's code; `null` if what it shows depends on the computer. */
  readonly code: string | null
  readonly kind: NumberKind
  /** Whether it shows all digits of an integer, with zeros or signs around them: `00000`, `"D-"00000`, `00\-000`. */
  readonly isCode: boolean
}

export const GENERAL_FORMAT: NumberFormat = { code: null, kind: 'number', isCode: false }

/** The codes of formats with fixed numbers that are the same everywhere. */
const BUILT_IN: Readonly<Record<number, string>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  37: '#,##0_);(#,##0)',
  38: '#,##0_);(#,##0)',
  39: '#,##0.00_);(#,##0.00)',
  40: '#,##0.00_);(#,##0.00)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
}

/** Formats whose code is another one in each country; from 27 on they are those of East Asia, and of Thailand. */
const COUNTRIES: readonly (readonly [from: number, to: number, kind: NumberKind])[] = [
  [14, 17, 'date'],
  [22, 22, 'date-time'],
  [27, 36, 'by-value'],
  [50, 58, 'by-value'],
  [71, 81, 'by-value'],
]

/** Returns a format by its number. @param own the codes that the workbook defines */
export function formatNumbered(id: number, own: ReadonlyMap<number, string>): NumberFormat {
  const code = own.get(id) ?? BUILT_IN[id]
  if (code !== undefined) return formatOf(code)
  const kind = COUNTRIES.find(([from, to]) => id >= from && id <= to)?.[2]
  return kind === undefined ? GENERAL_FORMAT : { code: null, kind, isCode: false }
}

/** The library keeps each code for ever, so only so many are given to it. No workbook has as many. */
const MOST_CODES = 1000
const known = new Map<string, NumberFormat>()

function formatOf(code: string): NumberFormat {
  const found = known.get(code)
  if (found !== undefined) return found
  // The library keeps codes in an object that has these names already.
  if (known.size >= MOST_CODES || code in Object.prototype) return GENERAL_FORMAT
  const format = parsed(code)
  known.set(code, format)
  return format
}

function parsed(code: string): NumberFormat {
  const { year, month, day, hours, minutes, seconds } = dateInfo(code)
  const isTime = hours || minutes || seconds
  // The library takes the minutes of `mm:ss` for months.
  const isDate = year || day || (month && !isTime)
  // Without literal texts, signs that only align, and conditions.
  const plain = code.replaceAll(/"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
  if (!isDate && !isTime) {
    const isCode = code !== '0' && /0/.test(plain) && !/[.,%e/?]|general/i.test(plain)
    return { code: /^(?:general|@)$/i.test(code) ? null : code, kind: 'number', isCode }
  }
  const kind = isDate ? (isTime ? 'date-time' : 'date') : /^[^;]*\[(?:h+|m+|s+)\]/i.test(plain) ? 'hours' : 'time'
  // Names of days and months are in the computer's language, unless the code says which.
  const isLocal = /\[\$-(?:f[48]00|x-sys)/i.test(code) || (/m{3}|d{3}/i.test(plain) && !/\[\$-/.test(code))
  return { code: isLocal ? null : code, kind, isCode: false }
}

const NO_DATE = { year: false, month: false, day: false, hours: false, minutes: false, seconds: false }

function dateInfo(code: string): typeof NO_DATE {
  try {
    return getFormatDateInfo(code)
  } catch {
    return NO_DATE
  }
}

/** Formatting may take 1.5 µs for each character of the code. No format that Excel offers is longer. */
const LONGEST_SHOWN = 100

/**
 * Returns the text that Excel shows for a number; `null` if that depends on the computer.
 * @param isComma whether a comma is the decimal sign, as in most of Europe
 */
export function shownNumber(
  value: number,
  { code, kind }: NumberFormat,
  is1904: boolean,
  isComma: boolean,
): string | null {
  if (code === null || code.length > LONGEST_SHOWN) return null
  const number = is1904 && kind !== 'number' ? value + DAYS_TO_1904 : Number(value.toPrecision(15))
  try {
    return formatted(code, number, isComma ? { locale: 'de' } : {}).trim()
  } catch {
    return null
  }
}

const DAY_SECONDS = 86_400
/** Days from 1970-01-01 to day 0 of Excel. */
const EPOCH_DAYS = -25_569
/** Days from day 0 of Excel to that of old Macintosh workbooks. */
const DAYS_TO_1904 = 1462

/** The most hours that Excel treats as a time; a larger number is a date. */
const MOST_HOURS = 9999

/** Returns the whole days in a number shown as hours: 1 for `25:30`. `null` if it is a date, not a time. */
export function daysOfHours(serial: number): number | null {
  const days = Math.floor(Math.round(serial * DAY_SECONDS) / DAY_SECONDS)
  return days >= 0 && days * 24 <= MOST_HOURS ? days : null
}

/** The first number after 9999-12-31, which is the last date of Excel. */
export const END_OF_DATES = 2_958_466

/**
 * Returns the text of a number shown as a date or time, to the second: `2026-12-24`, `19:30:00` or `2026-12-24
 * 19:30:00`. `null` if there is no such date.
 */
export function serialText(serial: number, kind: MomentKind, is1904: boolean): string | null {
  if (!(serial >= 0 && serial < END_OF_DATES)) return null
  const total = Math.round(serial * DAY_SECONDS)
  const secondOfDay = total % DAY_SECONDS
  const time = [secondOfDay / 3600, (secondOfDay / 60) % 60, secondOfDay % 60]
    .map((part) => two(Math.floor(part)))
    .join(':')
  if (kind === 'time' || kind === 'hours') return time
  const days = (total - secondOfDay) / DAY_SECONDS
  // Excel counts a 29 February 1900, which did not exist.
  const sinceEpoch = EPOCH_DAYS + days + (is1904 ? DAYS_TO_1904 : days < 60 ? 1 : 0)
  const { year, month, day } = civilFromDays(sinceEpoch)
  const date = `${year}-${two(month)}-${two(day)}`
  return kind === 'date' && secondOfDay === 0 ? date : `${date} ${time}`
}

function two(number: number): string {
  return String(number).padStart(2, '0')
}
