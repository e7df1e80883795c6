import type { Zone } from '../../domain/zone.ts'
import { openZone } from '../../domain/zone.ts'
import { WINDOWS_ZONES } from './windows-zones.ts'

const MOST = 1000
const opened = new Map<string, Zone>()

/** The zone of an IANA or a Windows name; null for what is neither. Asked once a row, so zones are kept. */
export function openNamedZone(name: string): Zone | null {
  const known = opened.get(name)
  if (known !== undefined) return known
  const zone = openZone(WINDOWS_ZONES.get(name) ?? name)
  // No CRM has more; one that spells a name in a thousand ways must not fill the memory.
  if (zone !== null && opened.size < MOST) opened.set(name, zone)
  return zone
}
