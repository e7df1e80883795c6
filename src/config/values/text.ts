import type { z } from 'zod'
import { leaf, Refusal } from './leaf.ts'

/** Text that `accepts` takes; numbers and booleans must be quoted, so that `007` and `on` stay what they are. */
export function text(allowed: string, accepts: (text: string) => boolean): z.ZodType<string> {
  return leaf(allowed, ({ value }) => {
    if (typeof value !== 'string') return new Refusal(`must be ${allowed}, in quotes`)
    return accepts(value) ? value : null
  })
}
