import { trimWhiteSpace } from '../../domain/white-space.ts'
import type { Cell } from './cell.ts'
import { sourceDigits } from './cell.ts'
import { isBlank } from './is-blank.ts'
import { Misfit } from './misfit.ts'

const WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['0', false],
])

/** The boolean of a cell, null where it is left blank. */
export function toFlag(cell: Cell): boolean | null | Misfit {
  if (typeof cell === 'boolean') return cell
  if (isBlank(cell)) return null
  const word = typeof cell === 'string' ? trimWhiteSpace(cell).toLowerCase() : sourceDigits(cell)
  return (word === null ? undefined : WORDS.get(word)) ?? new Misfit('true or false, yes or no, 1 or 0', cell)
}
