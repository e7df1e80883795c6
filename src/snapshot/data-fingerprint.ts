import { createHash } from 'node:crypto'
import type { Configuration } from '../config/configuration.ts'
import { RECORDS } from '../crm/mapping/map-row.ts'
import { ZONE_DATA_VERSION } from '../domain/zone-data.ts'
import type { Crm } from '../sync/port.ts'
import { SNAPSHOT_FORMAT } from './snapshot-lines.ts'

/**
 * Identifies the records that a configuration makes, as 12 hexadecimal digits. If it or one of the versions changes,
 * stored records are not used. Of the representation only further fields count; credentials and limits do not.
 */
export function dataFingerprintOf(
  { crm, timeZone, representation: { further } }: Pick<Configuration, 'crm' | 'timeZone' | 'representation'>,
  versions: readonly (number | string)[],
  mapping?: unknown,
): string {
  // Omitted if there are none, so the records of earlier releases remain usable.
  const declared = further.events.length + further.venues.length === 0 ? [] : [further]
  const inForce = mapping === undefined ? [] : [mapping]
  const shaping = canonical([...versions, timeZone, crm.shaping(), ...declared, ...inForce])
  return createHash('sha256').update(shaping).digest('hex').slice(0, 12)
}

/** JSON with sorted keys, because the order of keys in a file makes no difference. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).toSorted(([left], [right]) => (left < right ? -1 : 1)))
  })
}

/**
 * Identifies the records that a configuration makes with the mapping in force. Each fingerprint has its own snapshot and
 * its own cluster log. `null` while the connector has not declared its mapping.
 */
export function dataFingerprint(configuration: Configuration, { mapping }: Pick<Crm, 'mapping'>): string | null {
  return mapping === null
    ? null
    : dataFingerprintOf(configuration, [SNAPSHOT_FORMAT, RECORDS, ZONE_DATA_VERSION], mapping)
}
