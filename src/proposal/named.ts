import type { Column } from './column.ts'
import { bareName } from './field-names.ts'

export function isNamed(column: Column, names: readonly string[] | undefined): boolean {
  return names?.includes(bareName(column.name)) === true
}

/** The first column that one of the names fits best and that is not taken. */
export function named(
  columns: readonly Column[],
  names: readonly string[] | undefined,
  taken: ReadonlySet<Column>,
): Column | null {
  for (const name of names ?? []) {
    const found = columns.find((column) => !taken.has(column) && bareName(column.name) === name)
    if (found !== undefined) return found
  }
  return (
    columns.find(
      (column) =>
        !taken.has(column) && names?.some((name) => name.length > 3 && bareName(column.name).startsWith(name)) === true,
    ) ?? null
  )
}
