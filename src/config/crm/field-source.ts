import { z } from 'zod'
import type { Zone } from '../../domain/zone.ts'
import { openZone } from '../../domain/zone.ts'
import { valueAt } from '../peel-schema.ts'

/** Where a field's value comes from, as the operator wrote it. */
export type FieldSource = ColumnSource | ValueSource
export type CountSource = FieldSource | SubtractSource
export type DateSource = ValueSource | (ColumnSource & { readonly wallTimeIn: WallTimeSource | null })

export interface ColumnSource {
  readonly kind: 'column'
  readonly column: string
  readonly whenBlank: string | null
  readonly label: boolean
}

interface ValueSource {
  readonly kind: 'value'
  readonly value: string
}

interface SubtractSource {
  readonly kind: 'subtract'
  readonly columns: readonly string[]
}

type WallTimeSource =
  | { readonly kind: 'zone'; readonly zone: Zone }
  | { readonly kind: 'column'; readonly column: string }

/** Whether the CRM has words for its codes, so that a column may be taken by its `label`. */
export type Labels = readonly ['label'] | readonly []

const COLUMN = 'a column, { column: NAME, whenBlank: TEXT } or { value: TEXT }'

/** A field that one column, or a fixed text, gives. */
export function fieldSource(labels: Labels): z.ZodType<FieldSource> {
  return source(COLUMN, (raw) => valueSource(raw) ?? columnSource(raw, labels))
}

/** A number that may be a difference. */
export function countSource(labels: Labels): z.ZodType<CountSource> {
  return source(
    `${COLUMN}, or { subtract: [COLUMN, COLUMN] }`,
    (raw) => subtractSource(raw) ?? valueSource(raw) ?? columnSource(raw, labels),
  )
}

/** A date, whose column may hold the wall time of a place. */
export function dateSource(labels: Labels): z.ZodType<DateSource> {
  return source(`${COLUMN}, a column with wallTimeIn: an IANA zone or { column: NAME }`, (raw) => {
    const value = valueSource(raw)
    if (value !== null) return value
    const column = columnSource(raw, [...labels, 'wallTimeIn'])
    if (column === null) return null
    const written = valueAt(raw, 'wallTimeIn')
    if (written === undefined) return { ...column, wallTimeIn: null }
    const wallTimeIn = wallTimeSource(written)
    return wallTimeIn === null ? null : { ...column, wallTimeIn }
  })
}

/** One column alone, as the id's. */
export function columnOnly(): z.ZodType<ColumnSource> {
  return source('a column', (raw) => (typeof raw === 'string' ? columnSource(raw, []) : null))
}

function source<Value>(allowed: string, read: (raw: unknown) => Value | null): z.ZodType<Value> {
  return z
    .unknown()
    .transform((raw, context): Value => {
      const value = read(raw)
      if (value !== null) return value
      context.issues.push({ code: 'custom', message: `must be ${allowed}`, params: {}, input: null })
      return z.NEVER
    })
    .meta({ allowed })
}

function columnSource(raw: unknown, further: readonly string[]): ColumnSource | null {
  if (isColumnName(raw)) return { kind: 'column', column: raw, whenBlank: null, label: false }
  if (!hasOnly(raw, ['column', 'whenBlank', ...further])) return null
  const column = valueAt(raw, 'column')
  const whenBlank = valueAt(raw, 'whenBlank') ?? null
  const label = valueAt(raw, 'label') ?? false
  if (!isColumnName(column) || typeof label !== 'boolean') return null
  return whenBlank === null || typeof whenBlank === 'string' ? { kind: 'column', column, whenBlank, label } : null
}

function valueSource(raw: unknown): ValueSource | null {
  const value = hasOnly(raw, ['value']) ? valueAt(raw, 'value') : null
  return typeof value === 'string' ? { kind: 'value', value } : null
}

function subtractSource(raw: unknown): SubtractSource | null {
  const columns: unknown = hasOnly(raw, ['subtract']) ? valueAt(raw, 'subtract') : null
  return Array.isArray(columns) && columns.length >= 2 && columns.every(isColumnName)
    ? { kind: 'subtract', columns }
    : null
}

function wallTimeSource(raw: unknown): WallTimeSource | null {
  if (typeof raw === 'string') {
    const zone = openZone(raw.trim())
    return zone === null ? null : { kind: 'zone', zone }
  }
  const column = hasOnly(raw, ['column']) ? valueAt(raw, 'column') : null
  return isColumnName(column) ? { kind: 'column', column } : null
}

function hasOnly(raw: unknown, keys: readonly string[]): boolean {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return false
  const given = Object.keys(raw)
  return given.length > 0 && given.every((key) => keys.includes(key))
}

function isColumnName(raw: unknown): raw is string {
  return typeof raw === 'string' && raw !== '' && !raw.includes('\0')
}
