import type { TextSettings } from '../../config/crm/texts.ts'
import type { Decimal } from '../../domain/number.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import type { Cell } from './cell.ts'
import { Misfit, isBlank, plainText } from './cell.ts'
import { splitTags, toDecimal, toFlag, toInt32, toTags, toTagsOfText } from './conversions.ts'
import type { DateRules } from './dates.ts'
import { dateRules } from './dates.ts'

/** How the cells of a list become values. */
export interface Conversions {
  readonly int32: (cell: Cell) => number | Misfit
  readonly decimal: (cell: Cell) => Decimal | Misfit
  readonly flag: (cell: Cell) => boolean | null | Misfit
  readonly tags: (cell: Cell) => readonly string[] | Misfit
  readonly dates: DateRules
}

/** As the texts of a list are written; without `texts` as they are for Marquee. */
export function conversionsOf(lists: 'native' | 'text', texts: TextSettings | null): Conversions {
  const usual = {
    int32: toInt32,
    decimal: toDecimal,
    flag: toFlag,
    tags: lists === 'text' ? toTagsOfText : toTags,
    dates: dateRules(texts?.dates ?? []),
  }
  if (texts === null) return usual
  return {
    ...usual,
    ...(texts.decimal === ','
      ? { int32: withComma(toInt32, 'a whole number'), decimal: withComma(toDecimal, 'a number') }
      : {}),
    flag: flagOf(texts),
    tags: tagsOf(texts.tags),
  }
}

/** Thousands by threes, all between the same sign; then the fraction. */
const COMMA_NUMBER = /^([+-]?(?:\d{1,3}(?:([. \u00a0\u202f])\d{3}(?:\2\d{3})*)|\d+))(?:,(\d*))?$/

function withComma<Value>(convert: (cell: Cell) => Value | Misfit, what: string): (cell: Cell) => Value | Misfit {
  const expected = `${what} with a decimal comma, such as ${what === 'a number' ? '1.250,00' : '1.250'} (crm.texts.decimal)`
  return (cell) => {
    if (typeof cell !== 'string' || isBlank(cell)) return convert(cell)
    const plain = pointed(cell)
    if (plain !== null) return convert(plain)
    const match = COMMA_NUMBER.exec(trimWhiteSpace(cell))
    if (match === null) return new Misfit(expected, cell)
    const [, whole = '', , fraction] = match
    const digits = whole.replaceAll(/[^\d+-]/g, '')
    const value = convert(fraction === undefined ? digits : `${digits}.${fraction}`)
    return value instanceof Misfit ? new Misfit(value.expected, cell) : value
  }
}

/** Digits with one comma among them, or none, as nearly all numbers are; null for all else. */
function pointed(text: string): string | null {
  let comma = -1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x2c && comma === -1 && at > 0) comma = at
    else if (code < 0x30 || code > 0x39) return null
  }
  return comma === -1 ? text : `${text.slice(0, comma)}.${text.slice(comma + 1)}`
}

function flagOf({ yes, no }: TextSettings): Conversions['flag'] {
  const words = new Map([...yes.map((word) => [word, true] as const), ...no.map((word) => [word, false] as const)])
  if (words.size === 0) return toFlag
  const expected = `true or false, yes or no, 1 or 0, or one of ${[...words.keys()].join(', ')} (crm.texts)`
  return (cell) => {
    const text = plainText(cell)
    const flag = text === null ? undefined : words.get(trimWhiteSpace(text).toLowerCase())
    if (flag !== undefined) return flag
    const usual = toFlag(cell)
    return usual instanceof Misfit ? new Misfit(expected, cell) : usual
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
