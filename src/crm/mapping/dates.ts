import type { FieldSource, LastingSource } from '../../config/crm/sources.ts'
import { type DateFormat, parseByFormat, parseDateFormat, parseDayBefore } from '../../domain/date-format.ts'
import { type DateTime, type DateTimeText, type Instant, type Wall, parseDateTimeText } from '../../domain/date-time.ts'
import { daysOfRange, parseDayTimes, sidesOf } from '../../domain/time-range.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import { type Zone, instantOfWall, showInstant, zoneNamedBy } from '../../domain/zone.ts'
import { type Cell, type CellObject, type Reader, CellFault, LateTime, cellAt, isBlank } from '../cells/cell.ts'
import { dayPart, hasOffsetApart, isTimeAlone, spacedDate } from '../../domain/date-parts.ts'
import { type Expected, RowFault } from '../../domain/withheld.ts'

const YEAR_1_TO_9999: Expected = { kind: 'year-1-to-9999' }
const ZONE: Expected = { kind: 'zone' }

/**
 * A date as it is written: `day` is a day without a time, at its midnight, which the whole column may tell
 * (`isInferred`); `days` are several; `range` has a time at which it ends.
 */
type WrittenDate =
  | DateTimeText
  | { readonly kind: 'day'; readonly wall: Wall; readonly isInferred?: true }
  | { readonly kind: 'range' | 'days'; readonly wall: Wall; readonly until: Wall }

export interface DateRules {
  readonly expected: Expected
  readonly parse: (text: string) => WrittenDate | null
  /** Parses a range of days. */
  readonly parseDays: (text: string) => WrittenDate | null
}

/** Returns rules that try the formats of days first, then ISO 8601, then the other formats, then usual times of day. */
export function dateRules(formats: readonly DateFormat[]): DateRules {
  const days = formats.filter(({ hasTime }) => !hasTime)
  const times = formats.filter(({ hasTime }) => hasTime)
  const asWritten: DateRules['parse'] = (text) => {
    for (const format of days) {
      const wall = parseByFormat(text, format)
      if (wall !== null) return { kind: 'day', wall }
    }
    const parsed = isoDate(text)
    if (parsed !== null) return parsed
    for (const format of times) {
      const wall = parseByFormat(text, format)
      if (wall !== null) return { kind: 'wall', wall }
    }
    return null
  }
  return {
    expected: { kind: 'date-time', formats: formats.map((format) => format.written) },
    parse: (text) => asWritten(text) ?? parseTimesOfDay(text, formats, asWritten),
    parseDays(text) {
      const [wall = null, last = null] = daysOfRange(text)?.map((day) => dayIn(day, formats)) ?? []
      if (wall === null || last === null || last.seconds < wall.seconds) return null
      return { kind: 'days', wall, until: endOfDay(last) }
    },
  }
}

function dayIn(text: string, formats: readonly DateFormat[]): Wall | null {
  for (const format of [ISO_DAY, ...formats]) {
    const found = typeof format === 'string' ? null : parseDayBefore(text, format)
    if (found?.rest === '') return found.wall
  }
  return null
}

const HYPHEN = 0x2d

function isoDate(text: string): DateTimeText | null {
  const parsed = parseDateTimeText(text)
  // An offset directly after the minutes may be the end of a range.
  if (parsed !== null && (parsed.kind === 'wall' || text.charCodeAt(MINUTE_LENGTH) !== HYPHEN)) return parsed
  const spaced = spacedDate(text)
  return spaced === text ? parsed : parseDateTimeText(spaced)
}

const MINUTE_LENGTH = '2027-03-01 10:00'.length
const ISO_DAY = parseDateFormat('YYYY-MM-DD')

/** Returns the rules of a Finish, of which an ISO day alone is a day too. */
export function finishRules(rules: DateRules): DateRules {
  return {
    ...rules,
    parse(text) {
      const parsed = rules.parse(text)
      if (parsed !== null || typeof ISO_DAY === 'string') return parsed
      const wall = parseByFormat(text, ISO_DAY)
      return wall === null ? null : { kind: 'day', wall }
    },
  }
}

/** Returns the rules of a column whose texts may be several days: Start is the first of them, and Finish the last. */
export function rulesOfBoth(rules: DateRules): DateRules {
  return { ...rules, parse: (text) => rules.parse(text) ?? rules.parseDays(text) }
}

/** Returns the rules of a column that is at midnight in every row: it has days, in whatever zone their midnight is. */
export function dayRules(rules: DateRules): DateRules {
  return {
    ...rules,
    parse(text) {
      const parsed = rules.parse(text)
      const local = parsed?.kind === 'instant' ? rules.parse(text.replace(OFFSET, '')) : parsed
      const isMidnight = local?.kind === 'wall' && local.wall.seconds % DAY_SECONDS === 0
      return isMidnight ? { kind: 'day', wall: local.wall, isInferred: true } : parsed
    },
  }
}

/** Returns the format of a day with the midnight that a text has; `null` if the formats do not find one. */
export function formatOfDay(text: string, { expected }: DateRules): string | null {
  const formats = expected.kind === 'date-time' ? expected.formats : []
  for (const written of ['YYYY-MM-DD', ...formats]) {
    const format = parseDateFormat(written)
    const rest = typeof format === 'string' ? undefined : parseDayBefore(text, format)?.rest
    if (rest === undefined || dayPart(text) === text || /[+-]\d\d:?\d\d$/.test(rest)) continue
    const day = written.slice(0, 1 + Math.max(...Array.from('YMD', (letter) => written.lastIndexOf(letter))))
    const found = parseDateFormat(`${day}${rest}`)
    return typeof found === 'string' || found.hasTime ? null : found.written
  }
  return null
}

const OFFSET = /\s*(?:Z|[+-]\d\d(?::?\d\d)?)\s*$/

/** Reads a day in some format, and after it a time that no format describes, or a range of such. */
function parseTimesOfDay(text: string, formats: readonly DateFormat[], parse: DateRules['parse']): WrittenDate | null {
  for (const format of [ISO_DAY, ...formats]) {
    const found = typeof format === 'string' ? null : parseDayBefore(text, format)
    if (found === null) continue
    const { wall, rest } = found
    if (hasOffsetApart(rest)) return null
    const at = (seconds: number): Wall => ({ seconds: wall.seconds + seconds, ticks: 0 })
    const times = parseDayTimes(rest.replace(AFTER_DAY, ''))
    if (times !== null && times.to !== null) return { kind: 'range', wall: at(times.from), until: at(times.to) }
    // After a T, ISO 8601 alone says what a time is.
    if (times !== null) return rest.startsWith('T') ? null : { kind: 'wall', wall: at(times.from) }
    const day = text.slice(0, text.length - rest.length)
    const [from, to] = (sidesOf(rest) ?? []).map((side) => parse(`${day} ${side}`))
    if (from?.kind === 'wall' && to?.kind === 'wall') return { kind: 'range', wall: from.wall, until: to.wall }
  }
  return null
}

/** Matches what may stand between a day and its times. */
const AFTER_DAY = /^(?:T(?=\d)|[\s,;:|)]+|\s+[-–—]\s+)+/

/** Notes about the dates of one field. */
export interface DateNotes {
  /** The CRM's name for the column. */
  readonly column: string
  /** Whether the current row's date has neither an offset nor a zone of its own, so the list's zone decides. */
  isWallTime: boolean
  /** The number of rows with such dates. */
  wallTimes: number
  /** The last date. */
  epochSeconds: number
  /** Whether the current row's date is at midnight, and no format of days says that this is no time. */
  isMidnight: boolean
  /** Whether the current row's date is a day: as an end, or because the time that is joined to it is blank. */
  isDay: boolean
  /** Whether the column is at midnight in every row, so its dates are read as days. */
  areDays: boolean
  /** The first date at midnight, as it is written. */
  midnight: string | null
  /** Returns the format that reads such a date as a day; absent if the CRM's kind has no formats. */
  formatOfDay: ((midnight: string) => string | null) | null
  /** Called for a wall time that the clocks skipped. */
  readonly seeSkipped: (cell: Cell) => void
}

function parseDate(cell: Cell, reading: Reading): WrittenDate | CellFault {
  if (cell instanceof LateTime) {
    const parsed = parseDate(cell.text, reading)
    return parsed instanceof CellFault ? new CellFault(parsed.expected, cell) : later(parsed, cell.days)
  }
  const { rules, hasZone } = reading
  if (typeof cell !== 'string') return new CellFault(rules.expected, cell)
  const parsed = rules.parse(cell)
  if (parsed === null || isTimeAlone(secondsOf(parsed))) return new CellFault(rules.expected, cell)
  if (parsed.kind !== 'instant' || !hasZone || !trimWhiteSpace(cell).endsWith('Z')) return parsed
  const { epochSeconds: seconds, ticks } = parsed.instant
  return { kind: 'wall', wall: { seconds, ticks } }
}

/** Returns the seconds of a date: on its own clock, or from 1970 for an instant. */
export function secondsOf(written: WrittenDate): number {
  return written.kind === 'instant' ? written.instant.epochSeconds : written.wall.seconds
}

const DAY_SECONDS = 86_400

/** Returns the last second of the day of a wall time. */
function endOfDay({ seconds }: Wall): Wall {
  return { seconds: (Math.floor(seconds / DAY_SECONDS) + 1) * DAY_SECONDS - 1, ticks: 0 }
}

/** Returns the time that the text means for a date that begins or, with `isEnd`, ends. */
function meant(written: WrittenDate, { isEnd, isJoined }: Reading): DateTimeText {
  if (written.kind === 'instant' || written.kind === 'wall') return written
  if (!isEnd) return { kind: 'wall', wall: written.wall }
  if (written.kind === 'day') return { kind: 'wall', wall: endOfDay(written.wall) }
  if (written.kind === 'days') return { kind: 'wall', wall: written.until }
  const ends: DateTimeText = { kind: 'wall', wall: written.until }
  // Beside another day, only Start tells whether the range ends on the next one.
  return !isJoined && written.until.seconds < written.wall.seconds ? later(ends, 1) : ends
}

function later(parsed: WrittenDate, days: number): DateTimeText {
  const seconds = days * DAY_SECONDS
  if (parsed.kind !== 'instant')
    return { kind: 'wall', wall: { ...parsed.wall, seconds: parsed.wall.seconds + seconds } }
  const { instant } = parsed
  return { kind: 'instant', instant: { ...instant, epochSeconds: instant.epochSeconds + seconds } }
}

/** Returns a reader of the zone of a row's wall times: the field's own zone, else `zone`. */
export function wallZoneOf(source: FieldSource | null, zone: Zone): (row: CellObject) => Zone | RowFault {
  const wallTimeIn = source?.kind === 'column' || source?.kind === 'join' ? source.wallTimeIn : undefined
  if (wallTimeIn === undefined) return () => zone
  if (wallTimeIn.kind === 'zone') return () => wallTimeIn.zone
  const { column } = wallTimeIn
  const cellOf = cellAt(column)
  return (row) => {
    const cell = cellOf(row)
    return zoneNamedBy(cell, zone) ?? new RowFault('unreadable', column, new CellFault(ZONE, cell))
  }
}

/** How the text of a date is read. */
interface Reading {
  /** Whether the field names the zone of its dates. */
  readonly hasZone: boolean
  readonly rules: DateRules
  /** Whether the date ends an event: a day without a time then means the end of that day, a range its end. */
  readonly isEnd: boolean
  /** Whether the day and the time are in columns of their own. */
  readonly isJoined: boolean
}

/** The source of a date. */
export interface DateOrigin extends Reading {
  readonly column: string
  readonly cell: (row: CellObject) => Cell
  readonly wallZone: (row: CellObject) => Zone | RowFault
  /** The zone of dates that nothing else decides. It is compared by identity: a row may name the same zone. */
  readonly listZone: Zone
  readonly notes: DateNotes
  /** What is read if the cell is blank; `null` if nothing is. */
  readonly instead: DateOrigin | null
}

/** A date in a row, as it is written. */
interface FoundDate {
  readonly cell: Cell
  readonly parsed: DateTimeText
  /** The zone of the date if it has no offset. */
  readonly zone: Zone
  readonly isDay: boolean
  /** The end of the last of several days; `null` if it is one. */
  readonly lastsUntil: Wall | null
  /** Whether it says when something begins and when it ends: a day, or a range of times. */
  readonly spans: boolean
  /** Whether it is the midnight of a day, as its column tells or a format says; `null` if only the time tells. */
  readonly isMidnight: boolean | null
}

/** How the Finish of an event depends on its Start. */
export interface AfterStart {
  readonly start: DateOrigin
  /** How long an event without a Finish lasts; `null` if such an event is withheld. */
  readonly lastingMs: LastingSource['lastingMs'] | null
  /**
   * Whether Start is read from the same columns, and something else says when the event ends if they do not: a text that
   * says only when it begins is then no Finish.
   */
  readonly isShared: boolean
}

/** Returns a reader of a date that must not be blank. @param after absent if the date depends on no other */
export function dateReader(origin: DateOrigin, showIn: Zone, after?: AfterStart): Reader<DateTime> {
  const missing = missingIn(origin)
  return (row) => {
    const read = dateIn(origin, row)
    if (read instanceof RowFault) return read
    const isStart = after?.isShared === true && read?.spans === false
    const date = isStart ? insteadOf(origin, row) : read
    if (date instanceof RowFault) return date
    if (date !== null) {
      const begun = origin.isJoined && after !== undefined ? dateIn(after.start, row) : null
      return noted(origin, begun === null || begun instanceof RowFault ? date : onOrAfter(begun.parsed, date), showIn)
    }
    if (after === undefined || after.lastingMs === null) return missing
    // A Finish that is a duration after Start has no column of its own, so a fault names the column of Start.
    const begun = dateIn(after.start, row) ?? missingIn(after.start)
    if (begun instanceof RowFault) return begun
    const isDay = begun.isDay && after.start.isJoined
    origin.notes.isMidnight = false
    origin.notes.isDay = isDay
    // A day whose time is blank is a whole day, however long other events last.
    return shown(origin, endAfter(begun, isDay ? 'day' : after.lastingMs), showIn, null)
  }
}

function endAfter(begun: FoundDate, lastingMs: LastingSource['lastingMs']): Instant {
  if (begun.lastsUntil !== null) return instantOfWall(begun.lastsUntil, begun.zone)
  const { epochSeconds, ticks } = instantOf(begun)
  if (lastingMs !== 'day') return { epochSeconds: epochSeconds + lastingMs / 1000, ticks }
  const seconds = epochSeconds + begun.zone.offsetSecondsAt(epochSeconds)
  return instantOfWall(endOfDay({ seconds, ticks }), begun.zone)
}

/** Returns a reader of a date that may be blank. A zone that cannot be read withholds the row all the same. */
export function optionalDateReader(origin: DateOrigin, showIn: Zone): Reader<DateTime | null> {
  return (row) => {
    const date = dateIn(origin, row)
    if (date instanceof RowFault) return date
    if (date !== null) return noted(origin, date, showIn)
    const zone = origin.wallZone(row)
    return zone instanceof RowFault ? zone : null
  }
}

function noted(origin: DateOrigin, date: FoundDate, showIn: Zone): DateTime | RowFault {
  const { notes, listZone } = origin
  notes.isWallTime = date.parsed.kind === 'wall' && date.zone === listZone
  const instant = instantOf(date, notes)
  notes.isDay = date.isDay && (origin.isEnd || origin.isJoined)
  notes.isMidnight = date.isMidnight ?? isAtMidnight(instant, showIn)
  if (notes.isMidnight && typeof date.cell === 'string') notes.midnight ??= date.cell
  return shown(origin, instant, showIn, date.cell)
}

/** Whether an instant is at midnight in UTC or in a zone. */
function isAtMidnight({ epochSeconds, ticks }: Instant, zone: Zone): boolean {
  if (ticks !== 0) return false
  return epochSeconds % DAY_SECONDS === 0 || (epochSeconds + zone.offsetSecondsAt(epochSeconds)) % DAY_SECONDS === 0
}

function missingIn({ column }: DateOrigin): RowFault {
  return new RowFault('missing', column, { expected: { kind: 'any-date-time' }, found: null })
}

/** Returns the date in a row; `null` if its cell is blank. */
function dateIn(origin: DateOrigin, row: CellObject): FoundDate | RowFault | null {
  const { column, cell: cellOf, wallZone } = origin
  const cell = cellOf(row)
  if (isBlank(cell)) return insteadOf(origin, row)
  const zone = wallZone(row)
  if (zone instanceof RowFault) return zone
  const written = parseDate(cell, origin)
  if (written instanceof CellFault) return new RowFault('unreadable', column, written)
  const isDay = written.kind === 'day' || written.kind === 'days'
  const isMidnight = isDay ? written.kind === 'day' && written.isInferred === true : null
  const lastsUntil = written.kind === 'days' ? written.until : null
  const spans = isDay || written.kind === 'range'
  return { cell, parsed: meant(written, origin), zone, isDay, lastsUntil, spans, isMidnight }
}

/** Returns the date that is read if the cell is blank. */
function insteadOf({ instead }: DateOrigin, row: CellObject): FoundDate | RowFault | null {
  return instead === null ? null : dateIn(instead, row)
}

/**
 * Returns the instant of a date.
 * @param notes the notes of the date's own field; absent when the date is read for another field
 */
function instantOf({ cell, parsed, zone, isDay }: FoundDate, notes?: DateNotes): Instant {
  if (parsed.kind !== 'wall') return parsed.instant
  const instant = instantOfWall(parsed.wall, zone)
  const { epochSeconds } = instant
  // A day whose midnight is skipped begins after it.
  const isSkipped = !isDay && epochSeconds + zone.offsetSecondsAt(epochSeconds) !== parsed.wall.seconds
  if (isSkipped) notes?.seeSkipped(cell)
  return instant
}

function shown({ column, notes }: DateOrigin, instant: Instant, showIn: Zone, cell: Cell): DateTime | RowFault {
  notes.epochSeconds = instant.epochSeconds
  return showInstant(instant, showIn) ?? new RowFault('unreadable', column, new CellFault(YEAR_1_TO_9999, cell))
}

/** Returns a Finish that was written for the day of Start: before Start, the next day is meant. */
function onOrAfter(start: FoundDate['parsed'], finish: FoundDate): FoundDate {
  const { parsed } = finish
  if (parsed.kind !== 'wall' || start.kind !== 'wall') return finish
  const [begins, ends] = [start.wall.seconds, parsed.wall.seconds]
  const isOneDay = Math.floor(ends / DAY_SECONDS) === Math.floor(begins / DAY_SECONDS)
  return isOneDay && ends < begins ? { ...finish, parsed: later(parsed, 1) } : finish
}
