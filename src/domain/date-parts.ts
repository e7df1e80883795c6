// The parts of a date whose day and time are in two columns, as databases and spreadsheets write them.

/** Matches the midnight after a day that has no time. */
const MIDNIGHT = /(?:T|\s+)(?:0?0:00(?::00(?:[.,]0+)?)?|12:00(?::00)?\s?AM)\s?(?:Z|[+-]\d\d:?\d\d)?$/i

/** Returns the day of a text that is at midnight, in any spelling; any other text as it is. */
export function dayPart(text: string): string {
  return text.includes(':') ? text.replace(MIDNIGHT, '') : text
}

/** Matches the day that a database, a spreadsheet or a framework writes with a time of day. */
const ZERO_DAY =
  /^(?:(?:0001-01-01|1899-12-3[01]|1900-01-0[01]|1904-01-01|1970-01-01|2000-01-01)(?:T|\s+)|(?:(?:30|31)[./-]12|12[./-](?:30|31))[./-](?:18)?99\s+|0?[01][./-]0?[01][./-](?:1900|1904|1970)\s+)(?=\d{1,2}:\d\d)/
/** Matches a time of day with an offset, which says nothing without a day. */
const CLOCK_WITH_OFFSET =
  /^(\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?)\s?(?:Z|\+\d\d(?::?\d\d)?|(?<=:\d\d:.*)-\d\d(?::?\d\d)?)$/
/** Matches a range that would be an offset after a day: `12:00-13:00`. */
const RANGE = /^(\d{1,2}:\d\d)\s?-(\d{1,2}(?::\d\d)?)$/
/** Matches a day and what may be a range or an offset. */
const RANGE_OR_OFFSET = /^(\d{4}-\d\d-\d\d \d\d:\d\d)-(\d\d(?::\d\d)?)$/
/** Matches an offset that is apart. In one with a minus, the hours are few enough for it to be no range. */
const OFFSET_APART = /\s+(?:\+\d\d|-(?:0\d|1[0-2])):?\d\d$/

/** Returns the time of day in a text beside a day, without the day and the offset that are no part of it. */
export function timePart(text: string): string {
  if (text.length <= CLOCK_LENGTH) return text
  return text.replace(ZERO_DAY, '').replace(CLOCK_WITH_OFFSET, '$1').replace(RANGE, '$1 - $2')
}

const CLOCK_LENGTH = '19:30'.length

/**
 * Returns a date as ISO 8601 writes it, if only blanks are wrong: an offset may be apart, and `2027-03-01 10:00-12:00` is
 * a range, as no clock is 12 hours behind UTC. A range that does not run forward is an offset, and so is what follows
 * midnight.
 */
export function spacedDate(text: string): string {
  const bare = text.trim()
  const [, from, to = ''] = RANGE_OR_OFFSET.exec(bare) ?? []
  if (from !== undefined) return to > from.slice(-CLOCK_LENGTH) && !from.endsWith('00:00') ? `${from} - ${to}` : bare
  return hasOffsetApart(bare) ? bare.replace(/\s+(?=\S+$)/, '') : bare
}

/** Whether a text ends with an offset after a blank, as .NET and SQL Server write it. */
export function hasOffsetApart(text: string): boolean {
  return OFFSET_APART.test(text)
}

const DAY_SECONDS = 86_400
/** 1899-12-30 and 31, 1900-01-01 and 1904-01-01, in days from 1970. */
const ZERO_DAYS: ReadonlySet<number> = new Set([-25_569, -25_568, -25_567, -24_107])
const LAST_OF_1899 = -25_568

/** Whether a text is a time of day with the day that a program writes for none. */
export function hasZeroDay(text: string): boolean {
  return ZERO_DAY.test(text)
}

/** Whether a date, in seconds from 1970, is a time of day with the day that a database writes for none. */
export function isTimeAlone(seconds: number): boolean {
  // A cheap test first: nearly every date is later.
  if (seconds >= DAY_SECONDS) return false
  const day = Math.floor(seconds / DAY_SECONDS)
  if (day !== 0 && !ZERO_DAYS.has(day)) return false
  return day <= LAST_OF_1899 || seconds !== day * DAY_SECONDS
}
