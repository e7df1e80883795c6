import { z } from 'zod'
import { Referenced, Reported } from '../reference.ts'

/** One value as it stands in the file, or as `{ env }` or `{ file }` gave it. */
export interface Scalar {
  readonly value: string | number | boolean
  /** Null where the value is written in the file itself. */
  readonly reference: Referenced | null
}

/** Why a value was refused: the rest of a sentence, such as `must be at least 10ms`. */
export class Refusal {
  readonly message: string
  /** True where the value must not be shown. */
  readonly hidden: boolean

  constructor(message: string, hidden = false) {
    this.message = message
    this.hidden = hidden
  }
}

/** The schema of one value; `allowed` completes `must be …`, in problems and in the documentation. */
export function leaf<Value>(allowed: string, read: (scalar: Scalar) => Value | Refusal | null): z.ZodType<Value> {
  return z
    .unknown()
    .transform((raw, context): Value => {
      const refused = (message: string, params: Record<string, unknown>): never => {
        context.issues.push({ code: 'custom', message, params, input: null })
        return z.NEVER
      }
      if (raw instanceof Reported) return refused('', { reported: true })
      const scalar = scalarOf(raw)
      if (scalar === null) return refused(`must be ${allowed}`, {})
      const value = read(scalar)
      if (value === null) return refused(`must be ${allowed}`, {})
      return value instanceof Refusal ? refused(value.message, { hidden: value.hidden }) : value
    })
    .meta({ allowed })
}

function scalarOf(raw: unknown): Scalar | null {
  if (raw instanceof Referenced) return { value: raw.text, reference: raw }
  if (typeof raw === 'string' || typeof raw === 'number' || typeof raw === 'boolean')
    return { value: raw, reference: null }
  return null
}
