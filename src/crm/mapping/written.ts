import type { TextSettings } from '../../config/crm/sources.ts'
import type { Expected, ExpectedNumber } from '../../domain/withheld.ts'
import type { Decimal } from '../../domain/number.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import { type Cell, CellFault, isBlank, plainText } from '../cells/cell.ts'
import { splitTags, toDecimal, toFlag, toInt32, toTags, toTagsOfText } from './conversions.ts'
import { type DateRules, dateRules } from './dates.ts'

/** The conversions from cells to the values of fields. */
export interface Conversions {
  readonly int32: (cell: Cell) => number | CellFault
  readonly decimal: (cell: Cell) => Decimal | CellFault
  readonly flag: (cell: Cell) => boolean | null | CellFault
  readonly tags: (cell: Cell) => readonly string[] | CellFault
  readonly dates: DateRules
}

/** Returns the conversions for the configured way of writing; without `texts`, for Marquee's own. */
export function conversionsOf(lists: 'native' | 'text', texts: TextSettings | null): Conversions {
  const usual = {
    int32: toInt32,
    decimal: toDecimal,
    flag: toFlag,
    tags: lists === 'text' ? toTagsOfText : toTags,
    dates: dateRules(texts?.dates ?? []),
  }
  if (texts === null) return usual
  const { decimal: sign, currency } = texts
  const int32 = sign === null ? toInt32 : withSign(toInt32, { kind: 'integer', sign, currency: [] })
  const decimal = sign === null ? toDecimal : withSign(toDecimal, { kind: 'decimal', sign, currency: [] })
  return {
    ...usual,
    int32,
    decimal: currency.length === 0 ? decimal : withCurrency(decimal, { kind: 'decimal', sign, currency }),
    flag: flagOf(texts),
    tags: tagsOf(texts.tags),
  }
}

type Convert<Value> = (cell: Cell) => Value | CellFault

/** Matches digits in groups of three with one kind of separator, then the fraction. No first group begins with 0. */
const NUMBERS = {
  ',': /^([+-]?(?:[1-9]\d{0,2}(?:([. \u00a0\u202f])\d{3}(?:\2\d{3})*)|\d+))(?:,(\d*))?$/,
  '.': /^([+-]?(?:[1-9]\d{0,2}(?:([, \u00a0\u202f])\d{3}(?:\2\d{3})*)|\d+))(?:\.(\d*))?$/,
} as const

function withSign<Value>(
  convert: Convert<Value>,
  expected: ExpectedNumber & { readonly sign: '.' | ',' },
): Convert<Value> {
  const { sign } = expected
  return (cell) => {
    if (typeof cell !== 'string' || isBlank(cell)) return convert(cell)
    const plain = sign === '.' ? cell : pointed(cell)
    const read = plain === null ? null : convert(plain)
    if (read !== null && !(read instanceof CellFault)) return read
    const match = NUMBERS[sign].exec(trimWhiteSpace(cell))
    if (match === null) return new CellFault(expected, cell)
    const [, digits = '', , fraction] = match
    const ungrouped = digits.replaceAll(/[^\d+-]/g, '')
    const value = convert(fraction === undefined ? ungrouped : `${ungrouped}.${fraction}`)
    return value instanceof CellFault ? new CellFault(value.expected, cell) : value
  }
}

/** Replaces the comma of a number without grouping by a point; `null` if that is no such number. Nearly all are. */
function pointed(text: string): string | null {
  const comma = text.indexOf(',')
  if (text.includes('.') || (comma !== -1 && text.includes(',', comma + 1))) return null
  return comma === -1 ? text : `${text.slice(0, comma)}.${text.slice(comma + 1)}`
}

function withCurrency<Value>(convert: Convert<Value>, expected: ExpectedNumber): Convert<Value> {
  const marks = expected.currency
  return (cell) => {
    if (typeof cell !== 'string') return convert(cell)
    const text = trimWhiteSpace(cell)
    const before = marks.find((mark) => text.startsWith(mark))
    const after = before === undefined ? marks.find((mark) => text.endsWith(mark)) : undefined
    const number = text.slice(before?.length ?? 0, text.length - (after?.length ?? 0))
    const isMarkAlone = number !== text && isBlank(number)
    const value = isMarkAlone ? null : convert(number === text ? cell : number)
    return value === null || value instanceof CellFault ? new CellFault(expected, cell) : value
  }
}

function flagOf({ yes, no }: TextSettings): Conversions['flag'] {
  const words = new Map([...yes.map((word) => [word, true] as const), ...no.map((word) => [word, false] as const)])
  if (words.size === 0) return toFlag
  const expected: Expected = { kind: 'flag', words: [...words.keys()] }
  return (cell) => {
    const text = plainText(cell)
    const flag = text === null ? undefined : words.get(trimWhiteSpace(text).toLowerCase())
    if (flag !== undefined) return flag
    const usual = toFlag(cell)
    return usual instanceof CellFault ? new CellFault(expected, cell) : usual
  }
}

function tagsOf(separators: readonly string[]): Conversions['tags'] {
  const [first, ...others] = separators
  if (first === undefined) return toTags
  if (first === ';' && others.length === 0) return toTagsOfText
  return (cell) => {
    if (typeof cell !== 'string') return toTags(cell)
    let text = cell
    for (const other of others) text = text.replaceAll(other, first)
    return splitTags(text, first)
  }
}
