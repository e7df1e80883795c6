import { z } from 'zod'
import { peelSchema, shapeOf } from './peel-schema.ts'
import { Referenced, Reported } from './reference.ts'

/**
 * The values with `{}` or `[]` where a section is named and nothing follows, as when all its keys are commented out; a
 * section that may be null (`operations`) is left, since null means something there.
 */
export function fillEmpty(raw: unknown, schema: z.core.$ZodType): unknown {
  if (raw instanceof Referenced || raw instanceof Reported) return raw
  const { core, isNullable } = peelSchema(schema)
  if (raw === null && !isNullable) {
    if (core instanceof z.ZodArray) return []
    if (core instanceof z.ZodObject || core instanceof z.ZodDiscriminatedUnion) return {}
  }
  const shape = shapeOf(core, raw)
  if (shape === null || typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw
  const filled: Record<string, unknown> = { __proto__: null }
  for (const [key, value] of Object.entries(raw)) {
    const inner = Object.hasOwn(shape, key) ? shape[key] : undefined
    filled[key] = inner === undefined ? value : fillEmpty(value, inner)
  }
  return filled
}
