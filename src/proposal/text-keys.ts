import type { Expected, ExpectedNumber } from '../domain/withheld.ts'
import { type Column, countedTexts } from './column.ts'
import { CENTRAL, USUAL } from './encodings.ts'
import { isNo, isYes } from '../domain/flag-words.ts'
import { type Line, example, listed, OPEN, quoted } from './line.ts'
import { daysOfRange } from '../domain/time-range.ts'
import { howMany } from '../domain/printable.ts'
import type { Table } from './table.ts'
import { formatsOf } from './written-dates.ts'
import { currenciesIn, currenciesOf, decimalSign, isNumber, pricesIn } from './written-numbers.ts'

export type TextKeyFor = (found: readonly string[], expected: Expected) => string | null

/**
 * Returns the `crm.texts` key that would make such texts readable, as the end of a sentence; `null` if there is none.
 */
export const textKeyFor: TextKeyFor = (found, expected) => {
  if (expected.kind === 'flag') {
    const isSet = expected.words !== null
    return joined(keyOf('yes', found.filter(isYes), isSet), keyOf('no', found.filter(isNo), isSet))
  }
  if (expected.kind === 'texts') return "set crm.texts.tags to the signs that separate them, such as [';']"
  if (expected.kind === 'date-time') {
    // The texts already fit a configured format: they name days that do not exist, and another format would not help.
    if (areWrittenAs(found, expected.formats) || found.every((text) => daysOfRange(text) !== null)) return null
    const { written, swapped } = formatsOf(countedTexts(found))
    if (written.length === 0) return null
    const other = swapped.length === 0 ? '' : ` or ${formatList(swapped)}, whichever is meant,`
    return `add ${formatList(written)}${other} to crm.texts.dates`
  }
  if (expected.kind === 'integer') return decimalKey(found, expected)
  if (expected.kind !== 'decimal') return null
  const currencies = currenciesOf(found).filter((currency) => !expected.currency.includes(currency))
  return joined(decimalKey(found, expected), keyOf('currency', currencies, expected.currency.length > 0))
}

/** Formats as the configuration lists them: one with a comma needs quotes. */
function formatList(formats: readonly string[]): string {
  return formats.map((format) => (format.includes(',') ? quoted(format) : format)).join(', ')
}

function areWrittenAs(found: readonly string[], formats: readonly string[]): boolean {
  const shapes = formats.map(shapeOf)
  return found.every((value) => shapes.some((shape) => shape.test(value.trim())))
}

/** Matches the texts of a format, whatever their numbers are. A run of its letters may also be a part of a word. */
function shapeOf(format: string): RegExp {
  const literal = format.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  const written = literal.replaceAll(/([YMDhms])\1*/g, (run) => {
    const digits = run.length === 1 ? '{1,2}' : `{${run.length}}`
    return `(?:\\d${digits}|${run})`
  })
  return new RegExp(`^${written}$`)
}

function joined(...keys: readonly (string | null)[]): string | null {
  return keys.filter((key) => key !== null).join(' and ') || null
}

/** @param isSet whether the key is set already: its present values must stay */
function keyOf(key: string, words: readonly string[], isSet: boolean): string | null {
  if (words.length === 0) return null
  const list = words.map(quoted).join(', ')
  return isSet ? `add ${list} to crm.texts.${key}` : `set crm.texts.${key}: [${list}]`
}

function decimalKey(found: readonly string[], { kind, sign: set }: ExpectedNumber): string | null {
  const { sign } = decimalSign(found)
  if (set !== null || sign === null) return null
  // The numbers alone do not tell. A whole number with one separator groups thousands.
  if (sign === 'both') return kind === 'decimal' ? 'set crm.texts.decimal to the decimal sign of these texts' : null
  // A decimal point needs no key, unless commas group thousands.
  const isNews = sign === ',' || found.some((value) => value.includes(','))
  return isNews ? `set crm.texts.decimal: '${sign}'` : null
}

/** Proposes the `texts` of a list. */
export function textLines(
  table: Table,
  numbers: readonly Column[],
  dates: Line | null,
  tags: Column | null,
): readonly Line[] {
  const lines: Line[] = []
  const add = (key: string, value: string, evidence: string): void => void lines.push({ key, value, evidence })
  const { columns, delimiter, encoding, headerRow } = table
  if (delimiter !== null) {
    const evidence = `${howMany(columns.length, 'column')} in ${howMany(table.rows, 'row')}`
    add('delimiter', delimiter === '\t' ? 'tab' : `'${delimiter}'`, evidence)
  }
  const { sure, candidates } = encoding
  if (sure === null) {
    const shown = candidates.map(({ label, word }) => `${label} gives ${word}`).join(', ')
    const names = `The names of columns below are written as ${USUAL} gives them.`
    add('encoding', OPEN, `The bytes are not UTF-8. Which is right: ${shown}? ${names}`)
  } else if (delimiter !== null || sure !== 'utf-8') {
    const same = `the bytes are not UTF-8; ${CENTRAL} gives the same text`
    add('encoding', sure, sure === USUAL ? same : 'all bytes are valid')
  }
  const texts = numbers.flatMap((column) => column.texts.flatMap(({ text, isText }) => (isText ? [text] : [])))
  const written = texts.flatMap((text) => (isNumber(text) ? [text] : pricesIn(text)))
  const { sign: decimal, example: shown } = decimalSign(written)
  if (decimal === 'both') {
    add('decimal', OPEN, `Is ${shown} written with a decimal comma (',') or a decimal point ('.')?`)
  } else if (decimal !== null) {
    add('decimal', quoted(decimal), `${/[.,]/.test(shown) ? '' : 'blanks group thousands; '}e.g. ${shown}`)
  }
  const currencies = [...new Set([...currenciesOf(written), ...texts.flatMap(currenciesIn)])]
  if (currencies.length > 0) add('currency', listed(currencies), 'written next to numbers, and ignored')
  if (headerRow !== 1) {
    const names = columns.slice(0, 4).map(({ name }) => name)
    add('headerRow', String(headerRow), names.join(', '))
  }
  if (dates !== null) lines.push(dates)
  // A list that is written in a text has its own separators. A slash is as often a part of a tag.
  const separator = [';', '|', ','].find((sign) =>
    tags?.texts.some(({ text, isText }) => isText && text.includes(sign) && !/^\s*\[.*\]\s*$/.test(text)),
  )
  if (separator !== undefined) add('tags', listed([separator]), example(tags ?? { texts: [] }))
  return lines
}
