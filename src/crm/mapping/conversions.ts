import type { Expected, ExpectedNumber } from '../../domain/withheld.ts'
import { type Decimal, ZERO, parseDecimal, parseInt32 } from '../../domain/number.ts'
import type { Link } from '../../domain/field.ts'
import { beginsWithWord } from '../../domain/event-status.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import { type Cell, CellFault, DecimalText, isBlank, isList, isObject, plainText, shownText } from '../cells/cell.ts'
import { parseShallow, writtenList } from '../cells/parse-cell.ts'
import type { ColumnSource, FieldSource, TextSettings } from '../../config/crm/sources.ts'
import { type Guid, EMPTY_GUID, parseGuid, parseGuidOrEmpty } from '../../domain/guid.ts'
import { crmIds, remembered } from '../../domain/named-ids.ts'
import { type DateRules, dateRules } from './dates.ts'
import type { HtmlText } from './html-text.ts'

const TEXT: Expected = { kind: 'text' }
const TEXTS: Expected = { kind: 'texts' }
const FLAG: Expected = { kind: 'flag', words: null }
const INTEGER: ExpectedNumber = { kind: 'integer', sign: null, currency: [] }
const DECIMAL: ExpectedNumber = { kind: 'decimal', sign: null, currency: [] }

/** The text of a cell, unchanged; for a number, the text that its source wrote. */
export function toText(cell: Cell): string | null | CellFault {
  return cell === null ? null : (shownText(cell) ?? new CellFault(TEXT, cell))
}

/** The 32-bit integer of a cell; a blank cell is 0 (contract §2). */
export function toInt32(cell: Cell): number | CellFault {
  if (typeof cell === 'number' && (cell | 0) === cell) return cell
  if (isBlank(cell)) return 0
  const text = plainText(cell)
  return (text === null ? null : parseInt32(text)) ?? new CellFault(INTEGER, cell)
}

/** The decimal of a cell, with the digits and scale that its source wrote; a blank cell is 0 (contract §2). */
export function toDecimal(cell: Cell): Decimal | CellFault {
  if (isBlank(cell)) return ZERO
  const text = plainText(cell)
  return (text === null ? null : parseDecimal(text)) ?? new CellFault(DECIMAL, cell)
}

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['0', false],
])

/** The boolean of a cell; `null` if the cell is blank. */
export function toFlag(cell: Cell): boolean | null | CellFault {
  if (typeof cell === 'boolean') return cell
  if (isBlank(cell)) return null
  const word = plainText(cell)
  const flag = word === null ? undefined : FLAGS.get(trimWhiteSpace(word).toLowerCase())
  return flag ?? new CellFault(FLAG, cell)
}

const NO_TAGS: readonly string[] = []

/**
 * The tags of a list cell, or of a list written as text. Null items are dropped, and a null cell is an empty list
 * (contract §2).
 */
export function toTags(cell: Cell): readonly string[] | CellFault {
  if (cell === null) return NO_TAGS
  const list = typeof cell === 'string' ? writtenList(cell) : cell
  if (list === null || !isList(list)) return new CellFault(TEXTS, cell)
  const tags = list.map(toText)
  if (tags.some((tag) => tag instanceof CellFault)) return new CellFault(TEXTS, cell)
  return tags.filter((tag) => typeof tag === 'string')
}

/** Splits a text into trimmed tags and drops blank ones. */
function splitTags(text: string, separator: string): readonly string[] {
  return text
    .split(separator)
    .map(trimWhiteSpace)
    .filter((tag) => tag !== '')
}

const NO_LINKS: readonly Link[] = []
const LINKS: Expected = { kind: 'links', asJson: false }
const LINKS_AS_JSON: Expected = { kind: 'links', asJson: true }

/** The additional links of a row (contract §2.1); empty if the cell is null. */
export function toLinks(cell: Cell): readonly Link[] | CellFault {
  if (cell === null) return NO_LINKS
  if (!isList(cell)) return new CellFault(LINKS, cell)
  const links: Link[] = []
  for (const item of cell) {
    const link = toLink(item)
    if (link === null) return new CellFault(LINKS, item)
    links.push(link)
  }
  return links
}

/** As `toLinks`, for sources without lists: a text holds the links as JSON. */
export function toLinksOfText(cell: Cell): readonly Link[] | CellFault {
  if (typeof cell !== 'string') return toLinks(cell)
  if (isBlank(cell)) return NO_LINKS
  const parsed = parseShallow(cell)
  return parsed.ok ? toLinks(parsed.cell) : new CellFault(LINKS_AS_JSON, cell)
}

function toLink(cell: Cell): Link | null {
  if (!isObject(cell)) return null
  const { Rel, Href, Title = null } = cell
  if (typeof Rel !== 'string' || isBlank(Rel) || typeof Href !== 'string' || isBlank(Href)) return null
  return Title === null || typeof Title === 'string' ? { Rel, Href, Title } : null
}

/** Returns the value of a cell, or why it is not one. */
export type Convert<Value> = (cell: Cell) => Value | CellFault

/**
 * Returns the conversion of a field's cells to text: of HTML to plain text, and only then by `values`.
 * @param isStatus whether a text that begins with a value counts as it, and is not translated before
 */
export function textConversion(
  source: FieldSource | null,
  htmlText: HtmlText | undefined,
  isStatus = false,
): Convert<string | null> {
  if (source?.kind !== 'column' || (source.html !== true && !isStatus)) return toText
  const read = source.html === true ? fromHtml(htmlText) : toText
  if (source.values === undefined) return read
  const translate = isStatus ? beginningTranslation(source.values) : translation(source.values, false)
  return (cell) => {
    const text = typeof cell === 'boolean' ? cell : read(cell)
    return text instanceof CellFault ? text : toText(translate(text))
  }
}

function fromHtml(htmlText: HtmlText | undefined): Convert<string | null> {
  if (htmlText === undefined) throw new Error('a field is read from HTML, and the parser is not loaded')
  return (cell) => {
    const text = toText(cell)
    return typeof text === 'string' ? (htmlText(text) ?? new CellFault(TEXT, cell)) : text
  }
}

/**
 * Returns a function that replaces a cell by the value configured for its text, and each item of a list. Others stay as
 * they are.
 * @param toNumbers whether values are numbers, which `crm.texts` does not apply to
 */
export function translation(values: NonNullable<ColumnSource['values']>, toNumbers: boolean): (cell: Cell) => Cell {
  const cells = new Map(
    Array.from(values, ([from, to]): readonly [string, Cell] => [from, toNumbers ? numberAsCell(to) : to]),
  )
  const translate = (cell: Cell): Cell => {
    if (isList(cell)) return cell.map(translate)
    // A CRM's yes and no may be translated too.
    const found = typeof cell === 'boolean' ? String(cell) : shownText(cell)
    const value = found === null ? undefined : cells.get(trimWhiteSpace(found).toLowerCase())
    return value === undefined ? cell : value
  }
  return translate
}

/** As `translation`, of texts that begin with a value: `verlegt auf 21.02.` counts as `verlegt`. The longest one counts. */
function beginningTranslation(values: NonNullable<ColumnSource['values']>): (cell: Cell) => Cell {
  const longestFirst = values.toSorted(([left], [right]) => right.length - left.length)
  return (cell) => {
    const found = typeof cell === 'boolean' ? String(cell) : shownText(cell)
    const text = trimWhiteSpace(found ?? '').toLowerCase()
    const value = longestFirst.find(([from]) => (from === '' ? text === '' : beginsWithWord(text, from)))
    return value === undefined ? cell : value[1]
  }
}

function numberAsCell(text: string | null): Cell {
  return text !== null && parseDecimal(text) !== null ? new DecimalText(text) : text
}

/** Returns the conversion to tags that then translates each tag. */
export function translatedTags(convert: Conversions['tags'], source: FieldSource | null): Conversions['tags'] {
  if (source?.kind !== 'column' || source.values === undefined) return convert
  const translate = translation(source.values, false)
  return (cell) => {
    const tags = convert(cell)
    return tags instanceof CellFault ? tags : toTags(tags.map(translate))
  }
}

const GUID: Expected = { kind: 'guid', mayBeBlank: false }
const GUID_OR_NOTHING: Expected = { kind: 'guid', mayBeBlank: true }
const ID: Expected = { kind: 'id' }

/** Converts a cell to a row's id. The empty GUID is not an id (contract §1.1). */
export function toId(cell: Cell): Guid | CellFault {
  return (typeof cell === 'string' ? parseGuid(cell) : null) ?? new CellFault(GUID, cell)
}

/**
 * Converts a cell to the id of an event's venue. A blank cell or the empty GUID means that no venue is assigned yet.
 */
export function toVenueId(cell: Cell): Guid | CellFault {
  if (isBlank(cell)) return EMPTY_GUID
  return (typeof cell === 'string' ? parseGuidOrEmpty(cell) : null) ?? new CellFault(GUID_OR_NOTHING, cell)
}

/** Returns a function that converts a cell with an id that is not a GUID to a UUID in `namespace`. */
export function toNamedId(namespace: Guid, from: string): (cell: Cell) => Guid | CellFault {
  const idOf = crmIds(namespace, from)
  return (cell) => {
    const text = isBlank(cell) ? null : shownText(cell)
    return text === null ? new CellFault(ID, cell) : idOf(text)
  }
}

/** The number of venue ids cached. */
const MOST_VENUES = 10_000

/** As `toNamedId`, for an event's venue. A blank cell means that no venue is assigned yet. */
export function toNamedVenueId(namespace: Guid, venuesFrom: string): (cell: Cell) => Guid | CellFault {
  const named = remembered(toNamedId(namespace, venuesFrom), MOST_VENUES)
  return (cell) => (isBlank(cell) ? EMPTY_GUID : named(cell))
}

export interface Conversions {
  readonly int32: Convert<number>
  readonly decimal: Convert<Decimal>
  readonly flag: Convert<boolean | null>
  readonly tags: Convert<readonly string[]>
  readonly dates: DateRules
}

/** Returns the conversions for the configured way of writing; without `texts`, for Marquee's own. */
export function conversionsOf(lists: 'native' | 'text', texts: TextSettings | null): Conversions {
  const { decimal: sign, currency, yes, no, tags, dates } = texts ?? { ...PLAIN, tags: lists === 'text' ? [';'] : [] }
  const int32 = sign === null ? toInt32 : withSign(toInt32, { kind: 'integer', sign, currency: [] })
  const decimal = sign === null ? toDecimal : withSign(toDecimal, { kind: 'decimal', sign, currency: [] })
  return {
    int32,
    decimal: currency.length === 0 ? decimal : withCurrency(decimal, { kind: 'decimal', sign, currency }),
    flag: flagOf(yes, no),
    tags: tagsOf(tags),
    dates: dateRules(dates),
  }
}

const PLAIN = { decimal: null, currency: [], yes: [], no: [], dates: [] } as const

/** Matches digits in groups of three with one kind of separator, then the fraction. No first group begins with 0. */
const NUMBERS = {
  ',': /^([+-]?(?:[1-9]\d{0,2}(?:([. '’\u00a0\u202f])\d{3}(?:\2\d{3})*)|\d+))(?:,(\d*))?$/,
  '.': /^([+-]?(?:[1-9]\d{0,2}(?:([, '’\u00a0\u202f])\d{3}(?:\2\d{3})*)|\d+))(?:\.(\d*))?$/,
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
    const match = NUMBERS[sign].exec(withoutDash(trimWhiteSpace(cell)))
    if (match === null) return new CellFault(expected, cell)
    const [, digits = '', , fraction] = match
    const ungrouped = digits.replaceAll(/[^\d+-]/g, '')
    const value = convert(fraction === undefined ? ungrouped : `${ungrouped}.${fraction}`)
    return value instanceof CellFault ? new CellFault(expected, cell) : value
  }
}

/** Replaces the comma of a number without grouping by a point; `null` if that is no such number. Nearly all are. */
function pointed(text: string): string | null {
  const comma = text.indexOf(',')
  if (text.includes('.') || (comma !== -1 && text.includes(',', comma + 1))) return null
  return comma === -1 ? text : `${text.slice(0, comma)}.${text.slice(comma + 1)}`
}

/** Drops the dash that stands for no cents: `18,-`, `18.–`. */
function withoutDash(text: string): string {
  return /[-–—]\s*$/.test(text) ? text.replace(/(\d)[.,] ?[-–—]{1,2}\s*$/, '$1') : text
}

function withCurrency<Value>(convert: Convert<Value>, expected: ExpectedNumber): Convert<Value> {
  const marks = expected.currency
  return (cell) => {
    if (typeof cell !== 'string') return convert(cell)
    const text = trimWhiteSpace(cell)
    const before = marks.find((mark) => text.startsWith(mark))
    const after = before === undefined ? marks.find((mark) => text.endsWith(mark)) : undefined
    const number = withoutDash(text.slice(before?.length ?? 0, text.length - (after?.length ?? 0)))
    const isMarkAlone = number !== text && isBlank(number)
    const value = isMarkAlone ? null : convert(number === text ? cell : number)
    return value === null || value instanceof CellFault ? new CellFault(expected, cell) : value
  }
}

function flagOf(yes: readonly string[], no: readonly string[]): Conversions['flag'] {
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

/** @param separators what separates the tags of a text; empty if the source has lists */
function tagsOf([first, ...others]: readonly string[]): Conversions['tags'] {
  if (first === undefined) return toTags
  return (cell) => {
    if (typeof cell !== 'string' || writtenList(cell) !== null) return toTags(cell)
    let text = cell
    for (const other of others) text = text.replaceAll(other, first)
    return splitTags(text, first)
  }
}
