import type { z } from 'zod'
import { leaf } from './leaf.ts'

const WORDS: ReadonlyMap<string, boolean> = new Map([
  ['on', true],
  ['true', true],
  ['off', false],
  ['false', false],
])

/** A switch; YAML 1.2 reads `on` and `off` as text, so both spellings are taken. */
export function flag(): z.ZodType<boolean> {
  return leaf('on, off, true or false', ({ value }) => {
    if (typeof value === 'boolean') return value
    return typeof value === 'string' ? (WORDS.get(value.trim().toLowerCase()) ?? null) : null
  })
}
