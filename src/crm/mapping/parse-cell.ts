import type { Cell } from './cell.ts'
import { NumberText } from './cell.ts'
import type { FragileNumber } from './fragile-numbers.ts'
import { findFragileNumbers } from './fragile-numbers.ts'

export type ParsedCell =
  | { readonly ok: true; readonly cell: Cell }
  | { readonly ok: false; readonly reason: 'syntax' | 'depth' }

/** Reads JSON without losing a digit: what a float would not keep as written becomes a `NumberText`. Never throws. */
export function parseCell(text: string): ParsedCell {
  try {
    const fragile = findFragileNumbers(text)
    if (fragile === 'anywhere') return { ok: true, cell: asCell(JSON.parse(text, keepDigits)) }
    const cell = asCell(JSON.parse(text))
    if (fragile.length > 0) restoreDigits(cell, fragile)
    return { ok: true, cell }
  } catch (cause) {
    // Node walks the tree recursively to call `keepDigits`.
    if (cause instanceof RangeError) return { ok: false, reason: 'depth' }
    if (cause instanceof SyntaxError) return { ok: false, reason: 'syntax' }
    throw new Error('JSON cannot be read', { cause })
  }
}

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value
  return numberCell(value, context.source)
}

function restoreDigits(row: Cell, fragile: readonly FragileNumber[]): void {
  for (const { name, source } of fragile) {
    Object.defineProperty(row, name, { value: numberCell(Number(source), source) })
  }
}

function numberCell(value: number, source: string): number | NumberText {
  return Number.isSafeInteger(value) && String(value) === source ? value : new NumberText(source)
}

function asCell(parsed: unknown): Cell {
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- JSON holds nothing else
  return parsed as Cell
}
