import { trimWhiteSpace } from '../../domain/white-space.ts'
import type { Cell } from './cell.ts'
import { isList } from './cell.ts'
import { Misfit } from './misfit.ts'
import { toText } from './to-text.ts'

const NONE: readonly string[] = []

/** The tags of a list; a null among them is dropped, and absent ones are an empty list (contract §2). */
export function toTags(cell: Cell): readonly string[] | Misfit {
  if (cell === null) return NONE
  if (!isList(cell)) return new Misfit('a list of texts', cell)
  const tags: string[] = []
  for (const item of cell) {
    const tag = toText(item)
    if (tag instanceof Misfit) return new Misfit('a list of texts', cell)
    if (tag !== null) tags.push(tag)
  }
  return tags
}

/** As `toTags`, for sources without lists: there one text holds all tags, between semicolons. */
export function toTagsOfText(cell: Cell): readonly string[] | Misfit {
  return typeof cell === 'string' ? splitTags(cell) : toTags(cell)
}

function splitTags(text: string): readonly string[] {
  return text
    .split(';')
    .map(trimWhiteSpace)
    .filter((tag) => tag !== '')
}
