import { howMany, printable } from '../domain/printable.ts'
import type { ComparisonEnd } from './comparison.ts'
import type { Class } from './difference.ts'
import type { Question } from './questions.ts'
import type { ComparisonTally } from './tally.ts'

/** What a report says besides the tally. */
export interface Subject {
  /** The addresses for `curl`, without a slash at the end. */
  readonly old: string
  readonly new: string
  /** The file of header fields for the old service; `null` if there is none. */
  readonly headerFile: string | null
  readonly total: number
  readonly ending: ComparisonEnd
  /** Whether the questions come from an access log. */
  readonly isLog: boolean
}

/** Says in one sentence how alike the services are. */
export function verdictOf(tally: ComparisonTally, { total, ending, isLog }: Subject): string {
  const { counts, comparisons } = tally
  const parts: string[] = []
  if (ending.kind !== 'complete')
    parts.push(`Not finished, ${count(comparisons)} of ${count(total)} comparisons made: `)
  const rest = [
    `${count(counts.sameBytes)} the same to the byte`,
    `${count(counts.sameMeaning)} the same in meaning`,
    `${count(counts.intended)} different as intended`,
    `${count(counts.changing)} changing`,
  ].join(', ')
  const [most] = tally.groups()
  if (counts.different === 0) parts.push(`nothing is different in ${howMany(comparisons, 'answer')} (${rest})`)
  else {
    const share = `${count(counts.different)} of ${howMany(comparisons, 'answer')}`
    const example = most === undefined ? '' : `, most often ${most.what} at ${most.at}`
    parts.push(`${share} ${counts.different === 1 ? 'is' : 'are'} different${example} (${rest})`)
  }
  if (isLog) parts.push(`; ${percent(tally.alike, tally.requests)} of the requests in the log get the same answer`)
  const sentence = printable(`${parts.join('')}.`)
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`
}

export function count(number: number): string {
  return number.toLocaleString('en')
}

/** Rounds down, so that only all are 100%. */
export function percent(part: number, whole: number): string {
  return whole === 0 ? '0%' : `${Math.floor((part / whole) * 10_000) / 100}%`
}

const LONGEST_SHORT = 80

/** A value in a line; an empty text if there is none. */
export function shortText(text: string | null): string {
  return text === null ? '' : printable(text, LONGEST_SHORT)
}

/** The command that asks a service the question. Names the file with credentials, and not what is in it. */
export function curlOf(address: string, { method, path, accept }: Question, headerFile: string | null): string {
  const words = ['curl', method === 'HEAD' ? '-sI' : '-si', ...(headerFile === null ? [] : ['-H', `@${headerFile}`])]
  return [...words, '-H', `Accept: ${accept}`, `${address}${path}`].map(quoted).join(' ')
}

function quoted(word: string): string {
  return /^[\w@/.:-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** @example titleOf('sameBytes') // same bytes */
export function titleOf(kind: Class): string {
  return kind.replace(/[A-Z]/, (letter) => ` ${letter.toLowerCase()}`)
}

/** The header fields that only one service sends. */
export function fieldLines({ fields: { onlyOld, onlyNew } }: ComparisonTally): readonly string[] {
  const sides = [['the old service', onlyOld] as const, ['Marquee', onlyNew] as const]
  return sides
    .filter(([, names]) => names.length > 0)
    .map(([who, names]) => printable(`Headers that only ${who} sends: ${names.toSorted().join(', ')}.`))
}
