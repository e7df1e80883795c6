import { RowFault } from '../../domain/withheld.ts'
import type { DateTime, DateTimeText, Instant } from '../../domain/date-time.ts'
import type { Zone } from '../../domain/zone.ts'
import { type Cell, type Reader, CellFault, isBlank } from '../cells/cell.ts'
import { ANY_DATE_TIME, type DateNotes, type DateRules, instantOf, noteWallTime, parseDate, shown } from './dates.ts'

/** The source of a date, and how it is parsed. */
export interface DateOrigin<Row> {
  readonly column: string
  readonly cell: (row: Row) => Cell
  readonly wallZone: (row: Row) => Zone | CellFault
  /** Whether the field names the zone of its dates. */
  readonly hasZone: boolean
  readonly rules: DateRules
  readonly notes: DateNotes
}

const DAY_SECONDS = 86_400

/**
 * Returns a reader of Finish that may depend on Start.
 * @param lastingMs the duration of an event without a Finish, in ms; `null` if such an event is withheld
 * @param isJoined whether the day comes from another column: a Finish before Start on the same day then means the next
 * day
 */
export function finishReader<Row>(
  finish: DateOrigin<Row>,
  start: DateOrigin<Row>,
  lastingMs: number | null,
  isJoined: boolean,
  showIn: Zone,
): Reader<Row, DateTime> {
  const missing = new RowFault('missing', finish.column, { expected: ANY_DATE_TIME, found: null })
  const startMissing = new RowFault('missing', start.column, { expected: ANY_DATE_TIME, found: null })

  function finishOf(row: Row, cell: Cell): Instant | RowFault {
    const zone = finish.wallZone(row)
    if (zone instanceof CellFault) return new RowFault('unreadable', finish.column, zone)
    const parsed = parseDate(cell, finish.rules, finish.hasZone)
    if (parsed instanceof CellFault) return new RowFault('unreadable', finish.column, parsed)
    noteWallTime(parsed, finish.notes, finish.hasZone)
    if (!isJoined || parsed.kind !== 'wall') return instantOf(parsed, zone, finish.notes, cell)
    const begun = startOf(start, row)
    const meant = begun === null || begun instanceof RowFault ? parsed : nextDay(parsed, begun.parsed)
    return instantOf(meant, zone, finish.notes, cell)
  }

  return (row) => {
    const cell = finish.cell(row)
    let instant: Instant | RowFault
    if (!isBlank(cell)) instant = finishOf(row, cell)
    else if (lastingMs === null) return missing
    else {
      const begun = startOf(start, row)
      // Such a Finish has no column to fill in.
      if (begun === null) return startMissing
      instant = begun instanceof RowFault ? begun : later(instantOf(begun.parsed, begun.zone), lastingMs)
    }
    if (instant instanceof RowFault) return instant
    const value = shown(instant, showIn, finish.notes, cell)
    return value instanceof CellFault ? new RowFault('unreadable', finish.column, value) : value
  }
}

function startOf<Row>({ column, cell, wallZone, hasZone, rules }: DateOrigin<Row>, row: Row) {
  const found = cell(row)
  if (isBlank(found)) return null
  const parsed = parseDate(found, rules, hasZone)
  if (parsed instanceof CellFault) return new RowFault('unreadable', column, parsed)
  const zone = wallZone(row)
  if (zone instanceof CellFault) return new RowFault('unreadable', column, zone)
  return { parsed, zone }
}

function nextDay(finish: Extract<DateTimeText, { kind: 'wall' }>, start: DateTimeText): DateTimeText {
  if (start.kind !== 'wall') return finish
  const { seconds, ticks } = finish.wall
  const isOneDay = Math.floor(seconds / DAY_SECONDS) === Math.floor(start.wall.seconds / DAY_SECONDS)
  return isOneDay && seconds < start.wall.seconds
    ? { kind: 'wall', wall: { seconds: seconds + DAY_SECONDS, ticks } }
    : finish
}

function later({ epochSeconds, ticks }: Instant, ms: number): Instant {
  return { epochSeconds: epochSeconds + ms / 1000, ticks }
}
