import type { DateTime, Instant } from '../../domain/date-time.ts'
import { parseDateTimeText } from '../../domain/date-time.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import type { Zone } from '../../domain/zone.ts'
import { instantOfWall, showInstant } from '../../domain/zone.ts'
import type { Cell } from './cell.ts'
import { isBlank } from './is-blank.ts'
import { Misfit } from './misfit.ts'

// Spreadsheets write 12/07/2026 19:30, which is July to some and December to others: it is never guessed.
const EXPECTED = 'a date-time with the year first, such as 2026-07-12 19:30 or 2026-07-12T19:30:00+01:00'

/**
 * The date-time of a cell as `showIn`'s clocks show it, null where it is left blank; without an offset it is read as
 * `wallZone`'s wall time.
 */
export function toDateTime(cell: Cell, wallZone: Zone, showIn: Zone): DateTime | null | Misfit {
  return read(cell, wallZone, showIn, false)
}

/**
 * As `toDateTime`, for a field that is known to hold wall times: some CRMs write a `Z` behind them that means nothing. Any
 * other offset does mean something.
 */
export function toWallDateTime(cell: Cell, wallZone: Zone, showIn: Zone): DateTime | null | Misfit {
  return read(cell, wallZone, showIn, true)
}

function read(cell: Cell, wallZone: Zone, showIn: Zone, ignoresZ: boolean): DateTime | null | Misfit {
  if (isBlank(cell)) return null
  const parsed = typeof cell === 'string' ? parseDateTimeText(cell) : null
  if (typeof cell !== 'string' || parsed === null) {
    return new Misfit(EXPECTED, cell)
  }
  let instant: Instant
  if (parsed.kind === 'wall') instant = instantOfWall(parsed.wall, wallZone)
  else if (ignoresZ && trimWhiteSpace(cell).endsWith('Z')) {
    instant = instantOfWall({ seconds: parsed.instant.epochSeconds, ticks: parsed.instant.ticks }, wallZone)
  } else instant = parsed.instant
  return showInstant(instant, showIn) ?? new Misfit('a date-time of the years 1 to 9999', cell)
}
