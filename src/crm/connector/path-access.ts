import { type Cell, type CellObject, type RowAccess, isList, isObject } from '../cells/cell.ts'
import { zoneNamedBy } from '../../domain/named-zone.ts'

/** Reads cells of JSON rows by path. Also finds a column whose name contains a point. */
export const PATH_ACCESS: RowAccess<CellObject> = {
  cell: cellAt,
  label: cellAt,
  isThere: (path) => (row) => whereIs(row, path) !== 'nowhere',
  zoneOf: zoneNamedBy,
}

/**
 * Returns the cell of a path such as `place.id` or `geo.0`; null if there is none. `categories.*.name` is the list of
 * what every item of a list has there, without blanks.
 */
export function cellAt(path: string): (row: CellObject) => Cell {
  const steps = path.split('.')
  if (steps.length === 1) return (row) => ownCell(row, path)
  return (row) => {
    if (Object.hasOwn(row, path)) return row[path] ?? null
    return cellOf(row, steps)
  }
}

function cellOf(from: Cell, steps: readonly string[]): Cell {
  let cell = from
  for (const [at, step] of steps.entries()) {
    if (step === '*') {
      const rest = steps.slice(at + 1)
      return isList(cell) ? cell.map((item) => cellOf(item, rest)).filter((item) => item !== null) : null
    }
    cell = inside(cell, step)
  }
  return cell
}

function ownCell(row: CellObject, name: string): Cell {
  return Object.hasOwn(row, name) ? (row[name] ?? null) : null
}

function inside(cell: Cell, step: string): Cell {
  if (isList(cell)) return /^\d{1,6}$/.test(step) ? (cell[Number(step)] ?? null) : null
  return isObject(cell) ? ownCell(cell, step) : null
}

/**
 * Returns whether a row has a path; `unknown` if a part of the path is null, or an item of a list that is too short.
 */
export function whereIs(row: CellObject, path: string): 'there' | 'unknown' | 'nowhere' {
  if (Object.hasOwn(row, path)) return 'there'
  return whereBelow(row, path.split('.'))
}

function whereBelow(cell: Cell, [step, ...rest]: readonly string[]): 'there' | 'unknown' | 'nowhere' {
  if (step === undefined) return 'there'
  if (cell === null) return 'unknown'
  if (isList(cell)) {
    const found = (step === '*' ? cell : cell.slice(Number(step), Number(step) + 1)).map((item) =>
      whereBelow(item, rest),
    )
    if (found.includes('there')) return 'there'
    return found.includes('unknown') || found.length === 0 ? 'unknown' : 'nowhere'
  }
  return isObject(cell) && Object.hasOwn(cell, step) ? whereBelow(cell[step] ?? null, rest) : 'nowhere'
}

const DEEPEST = 3
const MOST_PATHS = 500

/** Lists the paths of a row, for proposals. */
export function rowPaths(row: CellObject): readonly string[] {
  const found: string[] = []
  function collect(cell: CellObject, before: string, depth: number): void {
    for (const [name, inner] of Object.entries(cell)) {
      if (found.length >= MOST_PATHS) return
      found.push(`${before}${name}`)
      const item = isList(inner) ? (inner[0] ?? null) : null
      if (depth < DEEPEST && isObject(inner)) collect(inner, `${before}${name}.`, depth + 1)
      if (depth < DEEPEST && isObject(item)) collect(item, `${before}${name}.*.`, depth + 1)
    }
  }
  collect(row, '', 1)
  return found
}
