import { daysFromCivil, daysInMonth } from './civil.ts'
import { type Wall, isDigit } from './date-time.ts'
import { trimWhiteSpace } from './white-space.ts'

/** A parsed date format, for example `DD.MM.YYYY hh:mm`. */
export interface DateFormat {
  readonly written: string
  readonly parts: readonly DatePart[]
  readonly hasTime: boolean
}

/**
 * A literal text, or a number in the order of `NUMBER_LETTERS`. A single letter takes one or two digits, a doubled one
 * exactly two.
 */
type DatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly at: number; readonly least: number; readonly most: number }
  /** AM or PM, in any case. */
  | { readonly kind: 'half' }

/** `problem` completes a sentence that begins with the format: `has no year`. */
export class BadDateFormat {
  readonly problem: string

  constructor(problem: string) {
    this.problem = problem
  }
}

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

/**
 * Parses a date format. Each letter counts once; a repeated letter and any other text are literals. Beside other
 * letters, only doubled letters count, and only in a run that begins with one: words contain format letters too.
 *
 * @example parseDateFormat('DD.MM.YYYY hh.mm Uhr')
 */
export function parseDateFormat(written: string): DateFormat | BadDateFormat {
  const parts: DatePart[] = []
  const seen = new Set<string>()
  for (const [run] of written.matchAll(/[A-Za-z]+|[^A-Za-z]+/g)) {
    const isAlone = ALONE.test(run)
    if (!isAlone && !NUMBER.test(run)) {
      addText(run, parts)
      continue
    }
    if (/(?:hh|mm|ss)Z$/.test(run)) return new BadDateFormat('has Z: such dates are read in crm.timeZone, not as UTC')
    for (const [letters] of run.matchAll(/(.)\1*/g)) {
      const fault = isAlone || letters.length > 1 ? addLetters(letters, parts, seen) : addText(letters, parts)
      if (fault !== null) return fault
    }
  }
  const needed = ['Y', 'M', 'D'].find((letter) => !seen.has(letter))
  if (needed !== undefined) return new BadDateFormat(`has no ${{ Y: 'year', M: 'month', D: 'day' }[needed] ?? ''}`)
  for (const [letter, other] of ['mh', 'sm', 'Ah']) {
    if (letter !== undefined && other !== undefined && seen.has(letter) && !seen.has(other)) {
      return new BadDateFormat(`has ${letter} without ${other}`)
    }
  }
  const isLoose = parts.some((part, index) => isOpen(part) && parts[index + 1]?.kind === 'number')
  if (isLoose) return new BadDateFormat('has a single letter directly before another number; double it')
  return { written, parts, hasTime: seen.has('h') }
}

function isOpen(part: DatePart): boolean {
  return part.kind === 'number' && part.least !== part.most
}

function addText(text: string, parts: DatePart[]): null {
  parts.push({ kind: 'text', text })
  return null
}

function addLetters(letters: string, parts: DatePart[], seen: Set<string>): BadDateFormat | null {
  const letter = letters.charAt(0)
  const strange = STRANGE.get(letter)
  if (strange !== undefined) return new BadDateFormat(`has ${letters}: ${strange}`)
  if (seen.has(letter) || !/[YMDhmsA]/.test(letter)) return addText(letters, parts)
  seen.add(letter)
  if (letter === 'A') {
    parts.push({ kind: 'half' })
    return letters.length > 1 ? addText(letters.slice(1), parts) : null
  }
  if (letter === 'Y' && letters.length < 4) return new BadDateFormat('has a year of fewer than four digits; write YYYY')
  if (letter === 'M' && letters.length > 2)
    return new BadDateFormat('has a month in words, which Marquee cannot read; write M or MM')
  const width = letter === 'Y' ? 4 : Math.min(letters.length, 2)
  parts.push({ kind: 'number', at: NUMBER_LETTERS.indexOf(letter), least: width, most: Math.max(width, 2) })
  // `19h30` is written `hhhmm`: the third h is a literal.
  return letters.length > width ? addText(letters.slice(width), parts) : null
}

const NUMBER_LETTERS: readonly string[] = ['Y', 'M', 'D', 'h', 'm', 's']
/** Scratch space for `parseByFormat`, reused for every text. */
const NUMBERS = new Int32Array(NUMBER_LETTERS.length)

/**
 * Returns the wall time of a text in a given format. A date without a time is midnight. `null` if the text does not fit
 * the format.
 */
export function parseByFormat(text: string, { parts }: DateFormat): Wall | null {
  const bare = trimWhiteSpace(text)
  NUMBERS.fill(0)
  let half: 'AM' | 'PM' | null = null
  let at = 0
  for (const part of parts) {
    if (part.kind === 'text') {
      if (!bare.startsWith(part.text, at)) return null
      at += part.text.length
    } else if (part.kind === 'half') {
      const word = bare.slice(at, at + 2).toUpperCase()
      if (word !== 'AM' && word !== 'PM') return null
      half = word
      at += 2
    } else {
      let number = 0
      const from = at
      while (at - from < part.most && isDigit(bare.charCodeAt(at))) number = number * 10 + bare.charCodeAt(at++) - 0x30
      if (at - from < part.least) return null
      NUMBERS[part.at] = number
    }
  }
  return at === bare.length ? wallOf(half) : null
}

function wallOf(half: 'AM' | 'PM' | null): Wall | null {
  const [Y, M, D] = [NUMBERS[0] ?? 0, NUMBERS[1] ?? 0, NUMBERS[2] ?? 0]
  const [h, m, s] = [NUMBERS[3] ?? 0, NUMBERS[4] ?? 0, NUMBERS[5] ?? 0]
  if (Y < 1 || M < 1 || M > 12 || D < 1 || D > daysInMonth(Y, M)) return null
  if (h > 23 || m > 59 || s > 59 || (half !== null && (h < 1 || h > 12))) return null
  const hour = half === null ? h : (h % 12) + (half === 'PM' ? 12 : 0)
  return { seconds: daysFromCivil(Y, M, D) * 86_400 + hour * 3600 + m * 60 + s, ticks: 0 }
}
