import { hasWord } from '../domain/state-words.ts'
import { bareName, MONTH_NAMES } from './field-names.ts'
import { daysFromCivil } from '../domain/civil.ts'
import { parseDateTimeText } from '../domain/date-time.ts'
import { isDayName } from '../domain/day-names.ts'
import { type DayTimes, daysOfRange, parseDayTimes, sidesOf } from '../domain/time-range.ts'
import { dayPart, timePart } from '../domain/date-parts.ts'

/** A text that begins with a day in numbers. */
interface DayText {
  /** The day's format with single letters; `?` for day and month if only other texts can tell their order. */
  readonly shape: string
  readonly isPadded: boolean
  /** The numbers in their order. */
  readonly numbers: readonly [number, number, number]
  /** What follows the day. */
  readonly rest: string
}

const DAY =
  /^(?:(?<name>\p{L}+)(?<mark>\.?,?)\s*)?(?<first>\d{4}|\d{1,2})(?<sign>[./-])\s?(?<second>\d{1,2})\k<sign>\s?(?<third>\d{4}|\d{1,2})(?!\d)(?<rest>.*)$/u

function dayText(text: string): DayText | null {
  const {
    name,
    mark = '',
    first = '',
    sign = '',
    second = '',
    third = '',
    rest = '',
  } = DAY.exec((daysOfRange(text)?.[0] ?? text).trim())?.groups ?? {}
  if (first === '' || (name !== undefined && !isDayName(name))) return null
  const before = name === undefined ? '' : `ddd${mark.replace('.', '')} `
  const numbers = [Number(first), Number(second), Number(third)] as const
  const [, month] = numbers
  if (first.length === 4) {
    const isPadded = second.length === 2 && third.length === 2
    const isDay = third.length < 4 && month <= 12 && numbers[2] <= 31
    return isDay ? { shape: `${before}YYYY${sign}M${sign}D`, isPadded, numbers, rest } : null
  }
  const [least, most] = [Math.min(numbers[0], month), Math.max(numbers[0], month)]
  if (third.length === 1 || least < 1 || least > 12 || most > 31 || (sign !== '/' && month > 12)) return null
  const letters = sign === '/' ? '?/?' : `D${sign}M`
  const isPadded = first.length === 2 && second.length === 2
  return { shape: `${before}${letters}${sign}${'Y'.repeat(third.length)}`, isPadded, numbers, rest }
}

/** Returns the day of a text that is a day alone or at midnight, as it is written; `null` for any other text. */
export function dayAlone(text: string): string | null {
  const bare = text.trim()
  return dayText(dayPart(bare))?.rest === '' && timePart(bare) === bare ? dayPart(bare) : null
}

/** Returns the text of a day and a time in two columns, as it is read. */
export function dayWithTime(day: string, time: string): string {
  return `${dayPart(day.trim())} ${timePart(time.trim())}`
}

/** Matches a time of day that is no number: 12.50 is one, unless its column is named like a time. */
const SURE = /\d\s?[:hu]|\d\s?[ap]\.?\s?(?:m\b|(?!\p{L}))|\d\s?uhr|^\D+\d/iu

/** Tells whether a text is a time of day or a range of such. @param isNamed whether its column is named like a time */
export function isTime(text: string, isNamed: boolean): boolean {
  const bare = timePart(text.trim())
  return (isNamed || SURE.test(bare)) && parseDayTimes(bare) !== null
}

/** Matches what may stand between a day and its times. */
const AFTER_DAY = /^(?:T(?=\d)|[\s,;:|)]+|\s+[-–—]\s+)+/

function timesAfter({ rest }: DayText): DayTimes | null {
  return parseDayTimes(rest.replace(AFTER_DAY, ''))
}

/** Whether a text is a range of days, or of times after a day. */
export function hasRange(text: string): boolean {
  if (daysOfRange(text) !== null) return true
  const day = dayText(text)
  return day !== null && (timesAfter(day)?.to ?? null) !== null
}

const WORDED =
  /^(?:\p{L}+\.?,?\s+)?(?:\d{1,2}(?:\.|st|nd|rd|th|er|º|°)?\s*(?:de\s+)?(\p{L}{3,10})|(\p{L}{3,10})\.?\s+\d{1,2}(?!\d))/iu

/** Whether a text begins with a day whose month is a word, which no format reads: `March 5, 2027`. */
export function isWordedDay(text: string): boolean {
  const [, after, before = ''] = WORDED.exec(text.trim()) ?? []
  return hasWord(MONTH_NAMES, bareName(after ?? before))
}

/** The formats of texts that ISO 8601 does not read. */
export interface Formats {
  /** The most frequent first. */
  readonly written: readonly string[]
  /** The same with month and day swapped, if the texts allow both. */
  readonly swapped: readonly string[]
}

const CLOCK_FORMAT =
  /^(?<before>\D*)(?<hours>\d{1,2})(?:(?<sign>[:.h])\d\d(?:(?<colon>[:.])\d\d)?)?(?<half>\s?[AP]M)?(?<word>\s?(?:Uhr|h))?$/i

interface ClockFormat {
  /** With a single letter for the hours. */
  readonly format: string
  readonly isPadded: boolean
}

/** The format of what follows a day; for a range, of its beginning. `null` if there is none. */
function clockFormat(rest: string, areDays: boolean): ClockFormat | null {
  if (rest === '' || (areDays && dayPart(`1${rest}`) === '1')) return { format: rest, isPadded: true }
  const isRange = (parseDayTimes(rest.replace(AFTER_DAY, ''))?.to ?? null) !== null
  const [from] = isRange ? (sidesOf(rest) ?? [rest]) : [rest]
  const { before = '', hours, sign, colon, half, word } = CLOCK_FORMAT.exec(from.trimEnd())?.groups ?? {}
  if (hours === undefined || (sign ?? half ?? word) === undefined) return null
  const isApart = sign === 'h' || word?.toLowerCase() === 'h'
  if (isApart && hours.length === 1) return null
  const minutes = sign === undefined ? '' : `${sign}mm${colon === undefined ? '' : `${colon}ss`}`
  const start = rest.startsWith(' ') && !before.startsWith(' ') ? ` ${before}` : before
  const format = `${start}${isApart ? 'hh' : 'h'}${minutes}${half?.replace(/\S+/, 'A') ?? ''}${word ?? ''}`
  return { format, isPadded: hours.length === 2 }
}

interface Tally {
  count: number
  hasPaddedDays: boolean
  hasPaddedHours: boolean
}

const MOST_FORMATS = 6

/**
 * Finds out in which formats texts are written.
 * @param areDays whether midnight is a part of the format, as only days are meant
 */
export function formatsOf(
  texts: readonly { readonly text: string; readonly count: number }[],
  areDays = false,
): Formats {
  const tallies = new Map<string, Tally>()
  let [first, second] = [0, 0]
  for (const { text, count } of texts) {
    const day = dayText(text)
    if (day === null || (parseDateTimeText(text) !== null && !areDays)) continue
    // Any time after a day is read if some format has the day. An ISO day needs none.
    const isUsual = !day.shape.startsWith('YYYY-') && timesAfter(day) !== null
    const clock = clockFormat(day.rest, areDays) ?? (isUsual ? { format: ' h:mm', isPadded: true } : null)
    if (clock === null) continue
    if (day.shape.includes('?')) {
      first = Math.max(first, day.numbers[0])
      second = Math.max(second, day.numbers[1])
    }
    const shape = `${day.shape}${clock.format}`
    const tally = tallies.get(shape) ?? { count: 0, hasPaddedDays: true, hasPaddedHours: true }
    tally.count += count
    tally.hasPaddedDays &&= day.isPadded
    tally.hasPaddedHours &&= clock.isPadded
    tallies.set(shape, tally)
  }
  const sorted = [...tallies].toSorted(([, one], [, other]) => other.count - one.count).slice(0, MOST_FORMATS)
  const inOrder = (day: string, month: string): readonly string[] =>
    sorted.map(([shape, { hasPaddedDays, hasPaddedHours }]) => {
      const ordered = shape.replace('?', day).replace('?', month)
      const padded = hasPaddedDays ? ordered.replace(/M/, 'MM').replace(/D/, 'DD') : ordered
      return hasPaddedHours ? padded.replace(/(?<!h)h(?!h)(?=[:.\s])/, 'hh') : padded
    })
  const [dayFirst, monthFirst] = [inOrder('D', 'M'), inOrder('M', 'D')]
  const isOpen = sorted.some(([shape]) => shape.includes('?'))
  if (!isOpen || (first > 12 && second <= 12)) return { written: dayFirst, swapped: [] }
  return first <= 12 && second > 12 ? { written: monthFirst, swapped: [] } : { written: dayFirst, swapped: monthFirst }
}

const NONE: Formats = { written: [], swapped: [] }

/** Whether a text is a moment in any format. */
export function isMomentText(text: string): boolean {
  return secondsIn(text, NONE) !== null
}

/** Returns the seconds of a moment on its own clock; for a range, of its beginning. `null` if it cannot be read. */
export function secondsIn(text: string, { written: [format = ''] }: Formats): number | null {
  const day = dayText(text)
  if (day === null) return null
  const iso = day.rest === '' ? null : parseDateTimeText(text)
  if (iso !== null) return iso.kind === 'wall' ? iso.wall.seconds : iso.instant.epochSeconds
  const times = dayAlone(text) === null ? timesAfter(day) : { from: 0 }
  if (times === null) return null
  const [one, two, three] = day.numbers
  const isMonthFirst = day.shape.includes('?') && format.indexOf('M') < format.indexOf('D')
  const [year, month, dayOfMonth] = one > 31 ? [one, two, three] : isMonthFirst ? [three, one, two] : [three, two, one]
  return daysFromCivil(year < 100 ? 2000 + year : year, month, dayOfMonth) * 86_400 + times.from
}
