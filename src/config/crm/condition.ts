import { z } from 'zod'

/** Each column must hold one of its values. */
export type Condition = readonly {
  readonly column: string
  readonly oneOf: readonly (string | number | boolean)[]
}[]

const ALLOWED = 'a mapping of columns to lists of values, such as { status: [1, 2] }'

/** What makes a row active, or shown on the web. */
export function condition(): z.ZodType<Condition> {
  return z
    .unknown()
    .transform((raw, context): Condition => {
      const read = conditionOf(raw)
      if (read !== null) return read
      context.issues.push({ code: 'custom', message: `must be ${ALLOWED}`, params: {}, input: null })
      return z.NEVER
    })
    .meta({ allowed: ALLOWED })
}

function conditionOf(raw: unknown): Condition | null {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return null
  const parts: { column: string; oneOf: readonly (string | number | boolean)[] }[] = []
  for (const [column, values] of Object.entries<unknown>({ ...raw })) {
    if (column === '' || column.includes('\0') || !isValues(values)) return null
    parts.push({ column, oneOf: values })
  }
  return parts.length === 0 ? null : parts
}

function isValues(values: unknown): values is readonly (string | number | boolean)[] {
  return (
    Array.isArray(values) &&
    values.length > 0 &&
    values.every((value) => ['string', 'number', 'boolean'].includes(typeof value))
  )
}
