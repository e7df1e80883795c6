import { daysFromCivil, daysInMonth } from './civil.ts'
import { type Wall, isDigit } from './date-time.ts'
import { trimWhiteSpace } from './white-space.ts'

/** A parsed date format, for example `DD.MM.YYYY hh:mm`. */
export interface DateFormat {
  readonly written: string
  readonly parts: readonly DatePart[]
  readonly hasTime: boolean
}

/** A literal text, or the number of one of `LETTERS` with this many digits. */
type DatePart = string | { readonly letter: number; readonly least: number; readonly most: number }

/** Letters of other programs' formats, with what to write instead. */
const STRANGE: ReadonlyMap<string, string> = new Map([
  ['H', 'hours are h or hh, also on a 24-hour clock'],
  ['y', 'the year is YYYY'],
  ['d', 'days are D or DD'],
  ['a', 'AM and PM are A'],
])

/** Matches a run of format letters alone, as in `YYYYMMDD`, and a letter of another program. */
const ALONE = /^[YMDhmsA]+$|^([Hyda])\1*$/
/** Matches the beginning of a run that begins with a number, and so is no word: `DDThhmmss`, `mmUhr`. */
const NUMBER = /^(?:YYYY|yyyy|([MDhmsHd])\1)/

/** The numbers of a date; `A` is AM or PM, in any case. */
const LETTERS = 'YMDhmsA'
const HALF = LETTERS.indexOf('A')

/**
 * Parses a date format. A single letter takes one or two digits, a doubled one exactly two. Each letter counts once; a
 * repeated letter and any other text are literals. Beside other letters, only doubled letters count, and only in a run
 * that begins with one: words contain format letters too. If it is no format, returns why: the rest of a sentence that
 * begins with it.
 *
 * @example parseDateFormat('DD.MM.YYYY hh.mm Uhr')
 */
export function parseDateFormat(written: string): DateFormat | string {
  const parts: DatePart[] = []
  const seen = new Set<string>()
  for (const [run] of written.matchAll(/[A-Za-z]+|[^A-Za-z]+/g)) {
    const isAlone = ALONE.test(run)
    if (!isAlone && !NUMBER.test(run)) {
      parts.push(run)
      continue
    }
    if (/(?:hh|mm|ss)Z$/.test(run)) return 'has Z: such dates are read in crm.timeZone, not as UTC'
    for (const [letters, letter = ''] of run.matchAll(/(.)\1*/g)) {
      const isNew = (isAlone || letters.length > 1) && !seen.has(letter)
      const problem = isNew ? problemOf(letters) : null
      if (problem !== null) return problem
      const isNumber = isNew && LETTERS.includes(letter)
      if (isNumber) seen.add(letter)
      parts.push(...(isNumber ? partsOf(letters) : [letters]))
    }
  }
  const needed = ['Y', 'M', 'D'].find((letter) => !seen.has(letter))
  if (needed !== undefined) return `has no ${{ Y: 'year', M: 'month', D: 'day' }[needed] ?? ''}`
  for (const [letter = '', other = ''] of ['mh', 'sm', 'Ah']) {
    if (seen.has(letter) && !seen.has(other)) return `has ${letter} without ${other}`
  }
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
  if (/^Y{1,3}$/.test(letters)) return 'has a year of fewer than four digits; write YYYY'
  return letters.startsWith('MMM') ? 'has a month in words, which Marquee cannot read; write M or MM' : null
}

/** A number, and what follows it as a literal: `19h30` is written `hhhmm`. */
function partsOf(letters: string): readonly DatePart[] {
  const letter = LETTERS.indexOf(letters.charAt(0))
  const least = letter === HALF ? 1 : Math.min(letters.length, letter === 0 ? 4 : 2)
  const rest = letters.slice(least)
  return [{ letter, least, most: letter === HALF ? 1 : Math.max(least, 2) }, ...(rest === '' ? [] : [rest])]
}

/** Scratch space for `parseByFormat`, reused for every text. */
const NUMBERS = new Int32Array(LETTERS.length)

/**
 * Returns the wall time of a text in a given format. A date without a time is midnight. `null` if the text does not fit
 * the format.
 */
export function parseByFormat(text: string, { parts }: DateFormat): Wall | null {
  const bare = trimWhiteSpace(text)
  NUMBERS.fill(0)
  let half = ''
  let at = 0
  for (const part of parts) {
    if (typeof part === 'string') {
      if (!bare.startsWith(part, at)) return null
      at += part.length
    } else if (part.letter === HALF) {
      half = bare.slice(at, at + 2).toUpperCase()
      if (half !== 'AM' && half !== 'PM') return null
      at += 2
    } else {
      let number = 0
      const from = at
      while (at - from < part.most && isDigit(bare.charCodeAt(at))) number = number * 10 + bare.charCodeAt(at++) - 0x30
      if (at - from < part.least) return null
      NUMBERS[part.letter] = number
    }
  }
  return at === bare.length ? wallOf(half) : null
}

function wallOf(half: string): Wall | null {
  const [Y, M, D] = [NUMBERS[0] ?? 0, NUMBERS[1] ?? 0, NUMBERS[2] ?? 0]
  const [h, m, s] = [NUMBERS[3] ?? 0, NUMBERS[4] ?? 0, NUMBERS[5] ?? 0]
  if (Y < 1 || M < 1 || M > 12 || D < 1 || D > daysInMonth(Y, M)) return null
  if (h > 23 || m > 59 || s > 59 || (half !== '' && (h < 1 || h > 12))) return null
  const hour = half === '' ? h : (h % 12) + (half === 'PM' ? 12 : 0)
  return { seconds: daysFromCivil(Y, M, D) * 86_400 + hour * 3600 + m * 60 + s, ticks: 0 }
}
