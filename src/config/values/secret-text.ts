import type { z } from 'zod'
import { Secret } from '../secret.ts'
import { leaf, Refusal } from './leaf.ts'

/** A secret, which never stands in the file itself. */
export function secretText(allowed: string, accepts: (text: string) => boolean): z.ZodType<Secret> {
  return leaf(`${allowed}, given as { env: NAME } or { file: PATH }`, ({ reference }) => {
    if (reference === null) {
      return new Refusal('must not be written in the file; give { env: NAME } or { file: PATH }', true)
    }
    return accepts(reference.text) ? new Secret(reference.text, reference) : null
  })
}
