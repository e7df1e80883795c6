import { civilFromDays } from '../../domain/civil.ts'

/** The kind of value that a number format of Excel shows (ECMA-376 part 1, 18.8.30 and 18.17.4). */
export type NumberShape = 'number' | MomentShape | ZeroPadded

type MomentShape = 'date' | 'time' | 'date-time' | 'hours'

/** A format of zeros, for example `00000`: an integer is shown with at least that many digits. */
interface ZeroPadded {
  readonly digits: number
}

/** Formats with fixed numbers; 27 to 36 and 50 to 58 are dates in East Asian languages. */
const BUILT_IN: readonly (readonly [from: number, to: number, shape: NumberShape])[] = [
  [14, 17, 'date'],
  [18, 21, 'time'],
  [22, 22, 'date-time'],
  [27, 36, 'date'],
  [45, 45, 'time'],
  [46, 46, 'hours'],
  [47, 47, 'time'],
  [50, 58, 'date'],
]

/** Returns the kind of value of a format by its number. @param own the formats that the workbook defines */
export function shapeOfFormat(id: number, own: ReadonlyMap<number, NumberShape>): NumberShape {
  const shape = own.get(id)
  if (shape !== undefined) return shape
  return BUILT_IN.find(([from, to]) => id >= from && id <= to)?.[2] ?? 'number'
}

/** @example shapeOfCode('dd/mm/yyyy\\ hh:mm') // 'date-time' */
export function shapeOfCode(code: string): NumberShape {
  // Only the first section counts, without literal texts, colours and locales. [h] counts hours beyond a day.
  if (/^0{2,}$/.test(code)) return { digits: code.length }
  const plain = code.replaceAll(/"[^"]*"|\\.|_.|\*./g, '')
  const bare = plain
    .replaceAll(/\[(h+|m+|s+)\]/gi, '$1')
    .replaceAll(/\[[^\]]*\]/g, '')
    .split(';', 1)
    .join('')
    .replaceAll(/am\/pm|a\/p/gi, 'h')
  if (/general/i.test(bare)) return 'number'
  const isTime = /[hs]/i.test(bare)
  // An m next to hours or seconds means minutes.
  const isDate = /[yd]/i.test(bare) || (!isTime && /m/i.test(bare))
  if (isDate) return isTime ? 'date-time' : 'date'
  if (!isTime) return 'number'
  return /^[^;]*\[(?:h+|m+|s+)\]/i.test(plain) ? 'hours' : 'time'
}

const DAY_SECONDS = 86_400
/** Days from 1970-01-01 to day 0 of Excel, and to day 0 of old Macintosh workbooks. */
const EPOCH_DAYS = -25_569
const EPOCH_DAYS_1904 = -24_107

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
export function serialText(serial: number, shape: MomentShape, is1904: boolean): string | null {
  if (!(serial >= 0 && serial < END_OF_DATES)) return null
  const total = Math.round(serial * DAY_SECONDS)
  const secondOfDay = total % DAY_SECONDS
  const time = [secondOfDay / 3600, (secondOfDay / 60) % 60, secondOfDay % 60]
    .map((part) => two(Math.floor(part)))
    .join(':')
  if (shape === 'time' || shape === 'hours') return time
  const days = (total - secondOfDay) / DAY_SECONDS
  // Excel counts a 29 February 1900, which did not exist.
  const sinceEpoch = is1904 ? days + EPOCH_DAYS_1904 : days + EPOCH_DAYS + (days < 60 ? 1 : 0)
  const { year, month, day } = civilFromDays(sinceEpoch)
  const date = `${year}-${two(month)}-${two(day)}`
  return shape === 'date' && secondOfDay === 0 ? date : `${date} ${time}`
}

function two(number: number): string {
  return String(number).padStart(2, '0')
}
