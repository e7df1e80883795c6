import { daysFromCivil, daysInMonth } from './civil.ts'
import { type Wall, isDigit } from './date-time.ts'
import { isDayName } from './day-names.ts'
import { trimWhiteSpace } from './white-space.ts'

/** A parsed date format, for example `DD.MM.YYYY hh:mm`. */
export interface DateFormat {
  readonly written: string
  readonly parts: readonly DatePart[]
  /** A format of days has no time; it may have a midnight, such as `00:00:00`, as a literal. */
  readonly hasTime: boolean
}

/** A literal text, or the number of one of `LETTERS` with this many digits, to which `adds` is added. */
type DatePart =
  | string
  | { readonly letter: number; readonly least: number; readonly most: number; readonly adds: number }

/** Letters of other programs' formats, with what to write instead. */
const STRANGE: ReadonlyMap<string, string> = new Map([
  ['H', 'hours are h or hh, also on a 24-hour clock'],
  ['y', 'the year is YYYY or YY'],
  ['d', "days are D or DD, and a day's name is ddd"],
  ['a', 'AM and PM are A'],
])

/** Matches the runs of a format: a day's name, whose dot does not count, letters, blanks, and other signs. */
const RUNS = /d{3,4}(?![A-Za-z])\.?|[A-Za-z]+|\s+|[^A-Za-z\s]+/g
/** Matches a run of format letters alone, as in `YYYYMMDD`, and a letter of another program. */
const ALONE = /^[YMDhmsA]+$|^([Hyda])\1*$/
/** Matches the beginning of a run that begins with a number, and so is no word: `DDThhmmss`, `mmUhr`. */
const NUMBER = /^(?:YY(?:YY)?|yyyy|([MDhmsHd])\1)/
/** Matches a format that ends with midnight on a 12-hour clock. */
const MIDNIGHT = /^(.*\D)(12:00(?::00)?)(\s*)(AM)$/

/** The numbers of a date; `A` is AM or PM, in any case. */
const LETTERS = 'YMDhmsA'
const DAY = LETTERS.indexOf('D')
const HALF = LETTERS.indexOf('A')
const DAY_NAME = 'ddd'
const BLANK = ' '

/**
 * Parses a date format. A single letter takes one or two digits, a doubled one exactly two; `YY` is a year from 2000 to
 * 2099, and `ddd` a day's name. Each letter counts once; a repeated letter and any other text are literals. Beside other
 * letters, only doubled letters count, and only in a run that begins with one: words contain format letters too. Blanks
 * only separate. If it is no format, returns why: the rest of a sentence that begins with it.
 *
 * @example parseDateFormat('DD.MM.YYYY hh.mm Uhr')
 */
export function parseDateFormat(written: string): DateFormat | string {
  const [, day = written, ...midnight] = MIDNIGHT.exec(written) ?? []
  const found: DatePart[] = []
  const seen = new Set<string>()
  for (const [run] of day.matchAll(RUNS)) {
    if (/^d{3,4}\.?$/.test(run)) {
      found.push(DAY_NAME)
      continue
    }
    const isAlone = ALONE.test(run)
    if (!isAlone && !NUMBER.test(run)) {
      found.push(run)
      continue
    }
    if (/(?:hh|mm|ss)Z$/.test(run)) return 'has Z: such dates are read in crm.timeZone, not as UTC'
    for (const [letters, letter = ''] of run.matchAll(/(.)\1*/g)) {
      const isNew = (isAlone || letters.length > 1) && !seen.has(letter)
      const problem = isNew ? problemOf(letters) : null
      if (problem !== null) return problem
      const isNumber = isNew && LETTERS.includes(letter)
      if (isNumber) seen.add(letter)
      found.push(...(isNumber ? partsOf(letters) : [letters]))
    }
  }
  const needed = ['Y', 'M', 'D'].find((letter) => !seen.has(letter))
  if (needed !== undefined) return `has no ${{ Y: 'year', M: 'month', D: 'day' }[needed] ?? ''}`
  for (const [letter = '', other = ''] of ['mh', 'sm', 'Ah']) {
    if (seen.has(letter) && !seen.has(other)) return `has ${letter} without ${other}`
  }
  const parts = withoutBlanks([...found, ...midnight])
  const isLoose = parts.some((part, index) => {
    const next = parts[index + 1]
    return typeof part === 'object' && part.least < part.most && typeof next === 'object' && next.letter !== HALF
  })
  if (isLoose) return 'has a single letter directly before another number; double it'
  return { written, parts, hasTime: seen.has('h') }
}

function problemOf(letters: string): string | null {
  const strange = STRANGE.get(letters.charAt(0))
  if (strange !== undefined) return `has ${letters}: ${strange}`
  if (letters === 'Y' || letters === 'YYY') return `has the year ${letters}; write YYYY, or YY for two digits`
  return letters.startsWith('MMM') ? 'has a month in words, which Marquee cannot read; write M or MM' : null
}

/** A number, and what follows it as a literal: `19h30` is written `hhhmm`. */
function partsOf(letters: string): readonly DatePart[] {
  const letter = LETTERS.indexOf(letters.charAt(0))
  const isYear = letter === 0
  const least = letter === HALF ? 1 : isYear && letters.length > 2 ? 4 : Math.min(letters.length, 2)
  const rest = letters.slice(least)
  const most = letter === HALF ? 1 : Math.max(least, 2)
  return [{ letter, least, most, adds: isYear && least === 2 ? 2000 : 0 }, ...(rest === '' ? [] : [rest])]
}

/** Drops blanks, but for one that alone separates two numbers, and joins literals. */
function withoutBlanks(found: readonly DatePart[]): readonly DatePart[] {
  const parts: DatePart[] = []
  let isApart = false
  for (const part of found) {
    const before = parts.at(-1)
    if (typeof part === 'string' && part.trim() === '') isApart = true
    else {
      const isNeeded = isApart && before !== undefined && endsInDigit(before) && beginsWithDigit(part)
      const isJoined = !isApart && isLiteral(before) && isLiteral(part)
      if (isJoined) parts[parts.length - 1] = `${before}${part}`
      else parts.push(...(isNeeded ? [BLANK, part] : [part]))
      isApart = false
    }
  }
  return parts
}

function isLiteral(part: DatePart | undefined): part is string {
  return typeof part === 'string' && part !== DAY_NAME
}

function endsInDigit(part: DatePart): boolean {
  return typeof part === 'string' ? /\d$/.test(part) : part.letter !== HALF
}

function beginsWithDigit(part: DatePart): boolean {
  return typeof part === 'string' ? /^\d/.test(part) : part.letter !== HALF
}

/** Scratch space for `parseByFormat`, reused for every text. */
const NUMBERS = new Int32Array(LETTERS.length)

/** Which half of the day the last text said, `A` or `P`; blank if none. */
let half = ''

/**
 * Returns the wall time of a text in a given format. A date without a time is midnight. Blanks may stand between its
 * parts, and may lack where no number follows a number. `null` if the text does not fit the format.
 */
export function parseByFormat(text: string, { parts }: DateFormat): Wall | null {
  const bare = trimWhiteSpace(text)
  return endOf(bare, parts, parts.length) === bare.length ? wallOf() : null
}

/** The day at the beginning of a text, and the text after it; `null` if the text does not begin with the format's day. */
export function parseDayBefore(
  text: string,
  { parts }: DateFormat,
): { readonly wall: Wall; readonly rest: string } | null {
  const count = 1 + parts.findLastIndex((part) => part === DAY_NAME || (typeof part === 'object' && part.letter <= DAY))
  const begins = parts.findIndex((part) => typeof part === 'object' && part.letter > DAY)
  if (begins !== -1 && begins < count) return null
  const bare = trimWhiteSpace(text)
  const end = endOf(bare, parts, count)
  if (end === -1 || isDigit(bare.charCodeAt(end))) return null
  const wall = wallOf()
  return wall === null ? null : { wall, rest: bare.slice(end) }
}

/** Reads the first parts of a format into `NUMBERS`; returns where they end in the text, or -1. */
function endOf(bare: string, parts: readonly DatePart[], count: number): number {
  NUMBERS.fill(0)
  half = ''
  let at = 0
  for (let index = 0; index < count; index++) {
    const part = parts[index] ?? BLANK
    const from = at
    while (isBlankAt(bare, at)) at++
    if (part === BLANK) {
      if (at === from) return -1
    } else if (part === DAY_NAME) {
      at = dayNameEnd(bare, at)
      if (at === -1) return -1
    } else if (typeof part === 'string') {
      if (!bare.startsWith(part, at)) return -1
      at += part.length
    } else if (part.letter === HALF) {
      HALF_DAY.lastIndex = at
      const [written, letter] = HALF_DAY.exec(bare) ?? []
      if (written === undefined || letter === undefined) return -1
      half = letter.toUpperCase()
      at += written.length
    } else {
      let number = 0
      const first = at
      while (at - first < part.most && isDigit(bare.charCodeAt(at))) number = number * 10 + bare.charCodeAt(at++) - 0x30
      if (at - first < part.least) return -1
      NUMBERS[part.letter] = number + part.adds
    }
  }
  return at
}

function isBlankAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  // Within digits and signs, any test of Unicode's white space would be slower than this one for the usual blanks.
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0 || code === 0x2009 || code === 0x202f
}

/** Matches AM and PM, also `a.m.` and `p. m.`. */
const HALF_DAY = /([ap])\.?\s?m(?!\p{L})\.?/iuy
const WORD = /\p{L}+\.?/uy

/** Returns the end of the day's name that begins at `at`; -1 if there is none. */
function dayNameEnd(text: string, at: number): number {
  WORD.lastIndex = at
  const word = WORD.exec(text)?.[0]
  return word !== undefined && isDayName(word) ? at + word.length : -1
}

function wallOf(): Wall | null {
  const [Y, M, D] = [NUMBERS[0] ?? 0, NUMBERS[1] ?? 0, NUMBERS[2] ?? 0]
  const [h, m, s] = [NUMBERS[3] ?? 0, NUMBERS[4] ?? 0, NUMBERS[5] ?? 0]
  if (Y < 1 || M < 1 || M > 12 || D < 1 || D > daysInMonth(Y, M)) return null
  if (h > 23 || m > 59 || s > 59 || (half !== '' && (h < 1 || h > 12))) return null
  const hour = half === '' ? h : (h % 12) + (half === 'P' ? 12 : 0)
  return { seconds: daysFromCivil(Y, M, D) * 86_400 + hour * 3600 + m * 60 + s, ticks: 0 }
}
