import type { z } from 'zod'
import type { Guid } from '../../domain/guid.ts'
import { parseGuid } from '../../domain/guid.ts'
import { leaf } from './leaf.ts'

export function guid(): z.ZodType<Guid> {
  return leaf('a UUID that is not all zeros', ({ value }) => (typeof value === 'string' ? parseGuid(value) : null))
}
