import type { Zone } from '../../domain/zone.ts'
import { Misfit } from './misfit.ts'
import type { DateSetting } from './mapping-settings.ts'
import type { RowAccess } from './row-access.ts'

/** What a row's date is the wall time of: what its field says, else `zone`. */
export function wallZoneOf<Row>(
  setting: DateSetting | null,
  access: RowAccess<Row>,
  zone: Zone,
): (row: Row) => Zone | Misfit {
  const wallTimeIn = setting?.kind === 'column' ? setting.wallTimeIn : null
  if (wallTimeIn === null) return () => zone
  if (wallTimeIn.kind === 'zone') return () => wallTimeIn.zone
  const { column } = wallTimeIn
  const cellOf = access.cell(column)
  return (row) => {
    const cell = cellOf(row)
    return access.zoneOf(cell) ?? new Misfit(`in ${column} the name of a time zone such as Europe/London`, cell)
  }
}
