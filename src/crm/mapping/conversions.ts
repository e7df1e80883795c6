import type { Expected, ExpectedNumber } from '../../domain/withheld.ts'
import { type Decimal, parseDecimal, parseInt32, ZERO } from '../../domain/number.ts'
import type { Link } from '../../domain/field.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import { type Cell, CellFault, isBlank, isList, isObject, plainText, shownText } from '../cells/cell.ts'
import { parseShallow } from '../cells/parse-cell.ts'

export const TEXT: Expected = { kind: 'text' }
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

/** The tags of a list cell. Null items are dropped, and a null cell is an empty list (contract §2). */
export function toTags(cell: Cell): readonly string[] | CellFault {
  if (cell === null) return NO_TAGS
  if (!isList(cell)) return new CellFault(TEXTS, cell)
  const tags: string[] = []
  for (const item of cell) {
    const tag = toText(item)
    if (tag instanceof CellFault) return new CellFault(TEXTS, cell)
    if (tag !== null) tags.push(tag)
  }
  return tags
}

/** As `toTags`, for sources without lists: one text holds all tags, separated by semicolons. */
export function toTagsOfText(cell: Cell): readonly string[] | CellFault {
  return typeof cell === 'string' ? splitTags(cell, ';') : toTags(cell)
}

/** Splits a text into trimmed tags and drops blank ones. */
export function splitTags(text: string, separator: string): readonly string[] {
  const tags: string[] = []
  for (let from = 0; from <= text.length;) {
    const end = text.indexOf(separator, from)
    const to = end === -1 ? text.length : end
    // Blank tags are skipped without a copy: there may be any number of them.
    const tag = to === from ? '' : trimWhiteSpace(text.slice(from, to))
    if (tag !== '') tags.push(tag)
    from = to + separator.length
  }
  return tags
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
