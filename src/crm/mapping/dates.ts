import type { FieldSource } from '../../config/crm/sources.ts'
import type { DateTime, Instant } from '../../domain/date-time.ts'
import { parseDateTimeText } from '../../domain/date-time.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import type { Zone } from '../../domain/zone.ts'
import { instantOfWall, openZone, showInstant } from '../../domain/zone.ts'
import type { Cell, RowAccess } from './cell.ts'
import { Misfit, isBlank } from './cell.ts'
import { WINDOWS_ZONES } from './windows-zones.ts'

// Spreadsheets write 12/07/2026 19:30, which is July to some and December to others: it is never guessed.
const EXPECTED = 'a date-time with the year first, such as 2026-07-12 19:30 or 2026-07-12T19:30:00+01:00'

/** What is noted of the dates of one column: how many were wall times that the list's zone decided, and when the last one was. */
export interface DateNotes {
  wallTimes: number
  epochSeconds: number
}

/**
 * The date-time of a cell as `showIn`'s clocks show it, null where it is left blank; without an offset it is read as
 * `wallZone`'s wall time.
 */
export function toDateTime(
  cell: Cell,
  wallZone: Zone,
  showIn: Zone,
  notes: DateNotes = { wallTimes: 0, epochSeconds: 0 },
): DateTime | null | Misfit {
  return read(cell, wallZone, showIn, notes, false)
}

/**
 * As `toDateTime`, for a field that is known to hold wall times: some CRMs write a `Z` behind them that means nothing. Any
 * other offset does mean something.
 */
export function toWallDateTime(
  cell: Cell,
  wallZone: Zone,
  showIn: Zone,
  notes: DateNotes = { wallTimes: 0, epochSeconds: 0 },
): DateTime | null | Misfit {
  return read(cell, wallZone, showIn, notes, true)
}

function read(
  cell: Cell,
  wallZone: Zone,
  showIn: Zone,
  notes: DateNotes,
  isWallTime: boolean,
): DateTime | null | Misfit {
  if (isBlank(cell)) return null
  const parsed = typeof cell === 'string' ? parseDateTimeText(cell) : null
  if (typeof cell !== 'string' || parsed === null) {
    return new Misfit(EXPECTED, cell)
  }
  let instant: Instant
  if (parsed.kind === 'wall') {
    if (!isWallTime) notes.wallTimes++
    instant = instantOfWall(parsed.wall, wallZone)
  } else if (isWallTime && trimWhiteSpace(cell).endsWith('Z')) {
    instant = instantOfWall({ seconds: parsed.instant.epochSeconds, ticks: parsed.instant.ticks }, wallZone)
  } else instant = parsed.instant
  notes.epochSeconds = instant.epochSeconds
  return showInstant(instant, showIn) ?? new Misfit('a date-time of the years 1 to 9999', cell)
}

/** What a row's date is the wall time of: what its field says, else `zone`. */
export function wallZoneOf<Row>(
  source: FieldSource | null,
  access: RowAccess<Row>,
  zone: Zone,
): (row: Row) => Zone | Misfit {
  const wallTimeIn = source?.kind === 'column' ? source.wallTimeIn : undefined
  if (wallTimeIn === undefined) return () => zone
  if (wallTimeIn.kind === 'zone') return () => wallTimeIn.zone
  const { column } = wallTimeIn
  const cellOf = access.cell(column)
  return (row) => {
    const cell = cellOf(row)
    return access.zoneOf(cell) ?? new Misfit(`in ${column} the name of a time zone such as Europe/London`, cell)
  }
}

const MOST_NAMES = 1000
const opened = new Map<string, Zone>()

/** The zone of an IANA or a Windows name; null for what is neither. Asked once a row, so zones are kept. */
export function openNamedZone(name: string): Zone | null {
  const known = opened.get(name)
  if (known !== undefined) return known
  const zone = openZone(WINDOWS_ZONES.get(name) ?? name)
  // No CRM has more; one that spells a name in a thousand ways must not fill the memory.
  if (zone !== null && opened.size < MOST_NAMES) opened.set(name, zone)
  return zone
}
