import { civilFromDays } from './civil.ts'
import type { DateTime, Wall } from './date-time.ts'

const SECONDS_PER_DAY = 86_400
const FIRST_SECOND = -62_135_596_800 // 0001-01-01T00:00:00
const LAST_SECOND = 253_402_300_799 // 9999-12-31T23:59:59

/** The canonical text of a wall time and its offset; null where the year is not one of 1 to 9999 (contract §2). */
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
  const digits = String(ticks).padStart(7, '0')
  let end = digits.length
  while (digits.charCodeAt(end - 1) === 0x30) end--
  return `.${digits.slice(0, end)}`
}

function asDateTime(text: string): DateTime {
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- the one place
  return text as DateTime
}
