import { isDayName } from './day-names.ts'

/** Times of day, in seconds since midnight: when something begins and ends, or begins alone. */
export interface DayTimes {
  /** At most 24:00, which is the midnight that ends the day. */
  readonly from: number
  /** Before `from` if it is on the next day; `null` if the text is no range. */
  readonly to: number | null
}

/** A clock: an hour, then perhaps minutes and seconds (`19`, `19:30`, `19.30`, `19h30`, `20u30`), or a word. */
const CLOCK = String.raw`(?:(\d{1,2})(?:(?:[:.]|\s?(?:h|u|uhr)\s?)(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?)?|(?:12\s)?(?:(noon|midday|mittags?|midi|mediod[ií]a|mezzogiorno)|(midnight|mitternachts?|minuit|medianoche|middernacht|mezzanotte)))`
/** What may follow it: AM and PM, also as `p` and `p.m.`, or the word for hours. */
const UNIT = String.raw`\s?(?:([ap])(?:\.?\s?m)?\.?(?!\p{L})|(uhr|h(?:rs|eures?|oras)?|u(?:ur)?|ore)(?!\p{L})\.?)?`
/** What may stand before a time: `from`, `ab`, `a las`, `alle ore`. */
const BEFORE = String.raw`((?:(?:from|at|von|ab|um|ca\.?|de|des|desde|las?|les|à|a|às|ore|dalle|alle|van|vanaf|om)\s+|h\.?\s?(?=\d))*)`
const BETWEEN = String.raw`\s*(?:[-–—−‒~]|to|until|till?|through|bis|à|a|au|jusqu['’]à|al|alle|fino\s+a(?:lle)?|hasta|até|às|tot(?:\s+en\s+met)?|t\/m)\s*`
const SIDE = BEFORE + CLOCK + UNIT

const TIMES = new RegExp(String.raw`^${SIDE}(?:${BETWEEN}${SIDE})?$`, 'iu')
const SPLIT = new RegExp(`^(.{1,20}?)${BETWEEN}(.{1,20})$`, 'iu')
/** A longer text holds more than times, and is not searched. */
const LONGEST = 60
const MINUTE = 60
const HOUR = 3600
const HALF_DAY = 12 * HOUR
const DAY = 24 * HOUR

interface Side {
  readonly seconds: number
  /** `a` and `p` for AM and PM; `h` if the hour counts from midnight; `null` if the text does not say. */
  readonly half: 'a' | 'p' | 'h' | null
  /** Whether it is more than a lone number, which may be anything. */
  readonly isSure: boolean
}

/**
 * Parses a time of day in a usual spelling (`19h`, `19.30 Uhr`, `7:30 p.m.`), or a range of two (`7–9 PM`, `10p-2a`,
 * `18:30 bis 20:00`, `from 7 to 9 pm`, `de 10 a 13`). A side without AM or PM takes the other's if the range then runs
 * forward, and else the opposite; without either, `9-5` is no range. A lone number is a time only within a range. `null`
 * for any other text.
 */
export function parseDayTimes(text: string): DayTimes | null {
  const bare = text.trim()
  if (bare.length > LONGEST) return null
  const match = TIMES.exec(bare)
  if (match === null) return null
  const [first, last] = [sideOf(match.slice(1, 9), true), sideOf(match.slice(9, 17), false)]
  if (first === 'wrong' || last === 'wrong' || first === null) return null
  if (last === null) return first.isSure ? { from: first.seconds, to: null } : null
  const [from, to] = [onClockOf(first, last, true), onClockOf(last, first, false)]
  // From 9 to 5 is a working day to some, and a night to others.
  const isOpen = to < from && first.half === null && last.half === null
  return isOpen ? null : { from, to }
}

/** Splits a text into what may be the two sides of a range; `null` if it has no sign or word between them. */
export function sidesOf(text: string): readonly [string, string] | null {
  const [, from, to] = SPLIT.exec(text.trim()) ?? []
  return from === undefined || to === undefined ? null : [from, to]
}

function sideOf(groups: readonly (string | undefined)[], isFirst: boolean): Side | 'wrong' | null {
  const [before, hours, minutes, seconds = '0', noon, midnight, half, unit] = groups
  if (noon !== undefined) return { seconds: HALF_DAY, half: 'h', isSure: true }
  // As a start, midnight may be the one before the day or the one after it.
  if (midnight !== undefined) return isFirst ? 'wrong' : { seconds: DAY, half: 'h', isSure: true }
  if (hours === undefined) return null
  const [hour, minute, second] = [Number(hours), Number(minutes ?? '0'), Number(seconds)]
  const inHour = minute * MINUTE + second
  if (minute > 59 || second > 59 || hour * HOUR + inHour > DAY) return 'wrong'
  const isSure = [minutes, half, unit].some((part) => part !== undefined) || before !== ''
  if (half === undefined) {
    // 07:00 and 13 are on a clock of 24 hours; so is 19 h, but 7 h may be said beside PM.
    const isWhole = hour > 12 || hour === 0 || unit !== undefined || hours.startsWith('0')
    return { seconds: hour * HOUR + inHour, half: isWhole ? 'h' : null, isSure }
  }
  if (hour < 1 || hour > 12) return 'wrong'
  const isAfternoon = half.toLowerCase() === 'p'
  return { seconds: (hour % 12) * HOUR + inHour + (isAfternoon ? HALF_DAY : 0), half: isAfternoon ? 'p' : 'a', isSure }
}

/** Returns the seconds of one side. A side without AM or PM may take the AM or PM of the other. */
function onClockOf(side: Side, other: Side, isFirst: boolean): number {
  if (side.half !== null || (other.half !== 'a' && other.half !== 'p')) return side.seconds
  const inHalf = side.seconds % HALF_DAY
  const same = inHalf + (other.half === 'p' ? HALF_DAY : 0)
  const isForward = isFirst ? same < other.seconds : same > other.seconds
  return isForward ? same : (same + HALF_DAY) % DAY
}

/** Matches two days, perhaps with names. The first may lack what the second says: `Fr 7. – So 10.5.2027`. */
const DAYS = new RegExp(
  String.raw`^(?:(\p{L}+)[.,]?\s+)?(\d{1,4}(?:([./-])\d{1,2}(?:\3\d{1,4})?)?)[./]?,?${BETWEEN}(?:(?<!\p{L})(\p{L}+)[.,]?\s+)?(\d{1,4}([./-])\d{1,2}\6\d{1,4})$`,
  'iu',
)
const BEFORE_DAYS = /^(?:from|v[oa]m|von|du|des?|del|dal|van)$/i

/** Returns both days of a range in one text, each with its month and year; `null` for any other text. */
export function daysOfRange(text: string): readonly [first: string, last: string] | null {
  // A cheap test first: the shortest is 1-2.3.27.
  if (text.length > LONGEST || text.length < 8) return null
  const bare = text.trim().replaceAll(/(?<=\d[./-])\s+(?=\d)/g, '')
  const [, before = '', first = '', , name = '', last = ''] = DAYS.exec(bare) ?? []
  if (last === '' || (before !== '' && !isDayName(before) && !BEFORE_DAYS.test(before))) return null
  if (name !== '' && !isDayName(name)) return null
  const lacking = new RegExp(String.raw`^(?:\d{1,2}[./-]){${first.split(/[./-]/).length}}`).exec(last)?.[0]
  if (/\d[./-]\d+[./-]/.test(first)) return [first, last]
  return lacking === undefined ? null : [`${first}${last.slice(lacking.length - 1)}`, last]
}
