import windowsZones from './windows-zones.json' with { type: 'json' }
import { type Zone, openZone } from './zone.ts'

/**
 * IANA time zones by the Windows registry's name, each the one for no particular territory. Generated from
 * windowsZones.json (territory 001) of Unicode CLDR 48, as in the npm package cldr-core 48.2.0: © 2004-2026 Unicode,
 * Inc., Unicode License v3 (windows-zones.LICENSE).
 */
export const WINDOWS_ZONES: ReadonlyMap<string, string> = new Map(Object.entries(windowsZones))

const MOST_NAMES = 1000
const opened = new Map<string, Zone>()

/** Returns the zone that a cell names; `null` if it names none. */
export function zoneNamedBy(cell: unknown): Zone | null {
  return typeof cell === 'string' ? openNamedZone(cell.trim()) : null
}

/** Opens the zone of an IANA or Windows name; `null` if it is neither. Zones are cached, as every row asks. */
export function openNamedZone(name: string): Zone | null {
  const known = opened.get(name)
  if (known !== undefined) return known
  const zone = openZone(WINDOWS_ZONES.get(name) ?? name)
  // No CRM has more zones; a CRM with a thousand spellings of a name must not fill the memory.
  if (zone !== null && opened.size < MOST_NAMES) opened.set(name, zone)
  return zone
}
