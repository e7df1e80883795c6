import type { Link } from '../../domain/link.ts'
import type { Cell } from './cell.ts'
import { isList, isObject } from './cell.ts'
import { isBlank } from './is-blank.ts'
import { Misfit } from './misfit.ts'
import { parseCell } from './parse-cell.ts'

const NONE: readonly Link[] = []
const EXPECTED = 'a list of links, each with a text for Rel and for Href, and a text or null for Title'

/** The further links of a row (contract §2.1), none where the cell is null. */
export function toLinks(cell: Cell): readonly Link[] | Misfit {
  if (cell === null) return NONE
  if (!isList(cell)) return new Misfit(EXPECTED, cell)
  const links: Link[] = []
  for (const item of cell) {
    const link = toLink(item)
    if (link === null) return new Misfit(EXPECTED, item)
    links.push(link)
  }
  return links
}

/** As `toLinks`, for sources without lists: there a text holds them as JSON. */
export function toLinksOfText(cell: Cell): readonly Link[] | Misfit {
  if (typeof cell !== 'string') return toLinks(cell)
  if (isBlank(cell)) return NONE
  const parsed = parseCell(cell)
  return parsed.ok ? toLinks(parsed.cell) : new Misfit(`JSON, ${EXPECTED}`, cell)
}

function toLink(cell: Cell): Link | null {
  if (!isObject(cell)) return null
  const { Rel, Href, Title = null } = cell
  if (typeof Rel !== 'string' || isBlank(Rel) || typeof Href !== 'string' || isBlank(Href)) return null
  return Title === null || typeof Title === 'string' ? { Rel, Href, Title } : null
}
