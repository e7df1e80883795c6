import { createHash } from 'node:crypto'
import type { Configuration } from '../config/configuration.ts'

/**
 * Identifies the records that a configuration makes, as 12 hexadecimal digits. If it or one of the numbers changes,
 * stored records are not used. Of the representation only further fields count; credentials and limits do not.
 */
export function dataFingerprintOf(
  { crm, timeZone, representation: { further } }: Pick<Configuration, 'crm' | 'timeZone' | 'representation'>,
  numbers: readonly number[],
): string {
  // Omitted if there are none, so the records of earlier releases remain usable.
  const declared = further.events.length + further.venues.length === 0 ? [] : [further]
  const shaping = canonical([...numbers, timeZone, crm.shaping(), ...declared])
  return createHash('sha256').update(shaping).digest('hex').slice(0, 12)
}

/** JSON with sorted keys, because the order of keys in a file makes no difference. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).toSorted(([left], [right]) => (left < right ? -1 : 1)))
  })
}
