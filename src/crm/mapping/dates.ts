import type { FieldSource } from '../../config/crm/sources.ts'
import type { Expected } from '../../domain/withheld.ts'
import { type DateFormat, parseByFormat } from '../../domain/date-format.ts'
import { type DateTime, type DateTimeText, type Instant, parseDateTimeText } from '../../domain/date-time.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import { type Zone, instantOfWall, showInstant } from '../../domain/zone.ts'
import { type Cell, type Reader, type RowAccess, CellFault, LateTime, isBlank } from '../cells/cell.ts'
import { RowFault } from '../../domain/withheld.ts'

/** The expectation of a cell that must contain a date-time but contains nothing. */
export const ANY_DATE_TIME: Expected = { kind: 'any-date-time' }
const YEAR_1_TO_9999: Expected = { kind: 'year-1-to-9999' }

export interface DateRules {
  readonly expected: Expected
  readonly parse: (text: string) => DateTimeText | null
}

const ISO: DateRules = { expected: { kind: 'date-time', formats: [] }, parse: parseDateTimeText }

/** Returns rules that try ISO 8601 first, then the formats in their order. */
export function dateRules(formats: readonly DateFormat[]): DateRules {
  if (formats.length === 0) return ISO
  return {
    expected: { kind: 'date-time', formats: formats.map((format) => format.written) },
    parse(text) {
      const parsed = parseDateTimeText(text)
      if (parsed !== null) return parsed
      for (const format of formats) {
        const wall = parseByFormat(text, format)
        if (wall !== null) return { kind: 'wall', wall }
      }
      return null
    },
  }
}

/** Notes about the dates of one field: how many lacked an offset, and the last date's epoch seconds. */
export interface DateNotes {
  /** The CRM's name for the column. */
  readonly column: string
  wallTimes: number
  epochSeconds: number
  /** Called for a wall time that the clocks skipped. */
  readonly seeSkipped: (cell: Cell) => void
}

export function dateNotes(column: string, seeSkipped: DateNotes['seeSkipped'] = () => {}): DateNotes {
  return { column, wallTimes: 0, epochSeconds: 0, seeSkipped }
}

/**
 * The date-time of a cell, shown in the zone `showIn`; `null` if the cell is blank. A date without an offset is a wall
 * time in `wallZone`. With `hasZone`, a trailing `Z` is ignored as well: some CRMs write one behind wall times. Other
 * offsets always count.
 */
export function toDateTime(
  cell: Cell,
  wallZone: Zone,
  showIn: Zone,
  rules = ISO,
  notes = dateNotes(''),
  hasZone = false,
): DateTime | null | CellFault {
  if (isBlank(cell)) return null
  const parsed = parseDate(cell, rules, hasZone)
  if (parsed instanceof CellFault) return parsed
  noteWallTime(parsed, notes, hasZone)
  return shown(instantOf(parsed, wallZone, notes, cell), showIn, notes, cell)
}

function parseDate(cell: Cell, rules: DateRules, hasZone: boolean): DateTimeText | CellFault {
  if (cell instanceof LateTime) {
    const parsed = parseDate(cell.text, rules, hasZone)
    return parsed instanceof CellFault ? new CellFault(parsed.expected, cell) : laterBy(parsed, cell.days)
  }
  const { parse, expected } = rules
  const parsed = typeof cell === 'string' ? parse(cell) : null
  if (typeof cell !== 'string' || parsed === null) return new CellFault(expected, cell)
  if (parsed.kind === 'wall' || !hasZone || !trimWhiteSpace(cell).endsWith('Z')) return parsed
  const { epochSeconds: seconds, ticks } = parsed.instant
  return { kind: 'wall', wall: { seconds, ticks } }
}

function laterBy(parsed: DateTimeText, days: number): DateTimeText {
  const seconds = days * 86_400
  if (parsed.kind === 'wall') return { kind: 'wall', wall: { ...parsed.wall, seconds: parsed.wall.seconds + seconds } }
  const { instant } = parsed
  return { kind: 'instant', instant: { ...instant, epochSeconds: instant.epochSeconds + seconds } }
}

/** Counts a date that has neither an offset nor a zone of its own, so the list's zone decides. */
function noteWallTime({ kind }: DateTimeText, notes: DateNotes, hasZone: boolean): void {
  if (kind === 'wall' && !hasZone) notes.wallTimes++
}

/**
 * Returns the instant of a date.
 * @param notes the notes of the cell's own field; absent when the date is read for another field
 */
function instantOf(parsed: DateTimeText, wallZone: Zone, notes?: DateNotes, cell: Cell = null): Instant {
  if (parsed.kind !== 'wall') return parsed.instant
  const instant = instantOfWall(parsed.wall, wallZone)
  const { epochSeconds } = instant
  const isSkipped = epochSeconds + wallZone.offsetSecondsAt(epochSeconds) !== parsed.wall.seconds
  if (isSkipped) notes?.seeSkipped(cell)
  return instant
}

function shown(instant: Instant, showIn: Zone, notes: DateNotes, cell: Cell): DateTime | CellFault {
  notes.epochSeconds = instant.epochSeconds
  return showInstant(instant, showIn) ?? new CellFault(YEAR_1_TO_9999, cell)
}

/** Returns a reader of the zone of a row's wall times: the field's own zone, else `zone`. */
export function wallZoneOf<Row>(
  source: FieldSource | null,
  access: RowAccess<Row>,
  zone: Zone,
): (row: Row) => Zone | CellFault {
  const wallTimeIn = source?.kind === 'column' || source?.kind === 'join' ? source.wallTimeIn : undefined
  if (wallTimeIn === undefined) return () => zone
  if (wallTimeIn.kind === 'zone') return () => wallTimeIn.zone
  const { column } = wallTimeIn
  const cellOf = access.cell(column)
  const expected: Expected = { kind: 'zone', column }
  return (row) => {
    const cell = cellOf(row)
    return access.zoneOf(cell) ?? new CellFault(expected, cell)
  }
}

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
