// The words for faults. In: why rows are withheld, and which values are suspicious. Out: sentences, remedies and groups
// for check, explain, the dashboard and the log.

import { EVENT_STATUSES } from '../domain/event-status.ts'
import {
  type Expected,
  type FoundSuspicion,
  type RowFault,
  type Suspicion,
  type SuspicionCode,
  type Withheld,
  type WithheldFault,
  type ExpectedNumber,
  isOnPurpose,
} from '../domain/withheld.ts'
import { unreachable } from '../domain/unreachable.ts'
import { type FaultCount, FaultCounts } from '../domain/fault-counts.ts'
import type { RecordList } from '../records/record-list.ts'
import { parseDateTimeText } from '../domain/date-time.ts'
import { daysOfRange } from '../domain/time-range.ts'
import { hasZeroDay } from '../domain/date-parts.ts'
import { isNo, isYes } from '../domain/flag-words.ts'
import { isFree, isSoldOut } from '../domain/zero-words.ts'
import type { TextKeyFor } from '../proposal/text-keys.ts'

/** Joins the names of columns that are read together. */
export const JOINT = ' + '

interface WithheldWords {
  /** Why the row is not served: a sentence without its subject. */
  readonly reason: string
  readonly remedy: string
}

/**
 * Explains to an admin why a row is withheld. Contains the value found, as JSON, so it must not go to a log.
 * @param keyFor finds the key that would make the value readable; absent if the CRM's kind has none
 */
export function withheldWords({ also = [], ...first }: Withheld, keyFor?: TextKeyFor): WithheldWords {
  const words = [first, ...also].map((fault) => faultWords(fault, keyFor))
  return {
    reason: words.map(({ reason }) => reason).join(', and '),
    remedy: words.map(({ remedy }) => remedy).join(' '),
  }
}

/** As `withheldWords`, for a single fault. */
export function faultWords({ fault, column, expected, found }: RowFault, keyFor?: TextKeyFor): WithheldWords {
  const name = column ?? 'the row'
  const what = expected === null ? null : expectedWords(expected)
  const shown = found === null ? '' : `; found ${found}`
  switch (fault) {
    case 'no-id':
      return {
        reason: `has no valid id in ${name}${shown}`,
        remedy: expected?.kind === 'id' ? `Give it an id in ${name}.` : `Give it an id: ${what ?? 'a GUID'}.`,
      }
    case 'duplicate-id':
      return {
        reason: `has the id of another row in ${name}${shown}`,
        remedy: 'Remove one of the two rows, or give one of them another id.',
      }
    case 'unreadable': {
      if (expected?.kind === 'json')
        return {
          reason: `is not valid JSON (${found ?? 'its fault is not known'})`,
          remedy: 'Correct it there; an unknown value is null in JSON.',
        }
      const order = found === null || name.includes(JOINT) ? null : insteadOf(textFound(found), expected)
      const key = found === null || expected === null ? null : (keyFor?.([textFound(found)], expected) ?? null)
      return {
        reason: `has a value in ${name} that cannot be read${what === null ? '' : `: expected ${what}`}${shown}`,
        remedy: `Correct ${name}${order === null ? '' : `: ${order}`}${key === null ? '' : `, or ${key}`}.`,
      }
    }
    case 'missing':
      return { reason: `has nothing in ${name}`, remedy: `Fill in ${name}${what === null ? '' : `: ${what}`}.` }
    case 'inactive':
      return { reason: `is not active${because(column, shown)}`, remedy: 'Activate it, if it should be on the web.' }
    case 'not-shown':
      return {
        reason: `is not marked to be shown on the web${because(column, shown)}`,
        remedy: 'Mark it to be shown, if it should be on the web.',
      }
    case 'too-large':
      return {
        reason: 'is larger than 256 KB',
        remedy: 'Remove everything from it that is not a field, such as a document.',
      }
    default:
      return unreachable(fault)
  }
}

function because(column: string | null, shown: string): string {
  return column === null ? '' : ` (${column}${shown})`
}

type HeldFaults = Pick<RecordList<unknown>, 'faults' | 'unidentified'>

/** Counts the faults of a list's withheld rows: mistakes first, then by number of rows. */
export function faultCounts({ faults, unidentified }: HeldFaults): readonly FaultCount[] {
  const all = new FaultCounts()
  all.addAll(faults)
  all.addAll(unidentified.faults)
  return [...all].toSorted(byGravity)
}

type CountedFault = Pick<FaultCount, 'fault' | 'count'>

/** Orders mistakes before what the CRM intends, and then by number of rows. */
export function byGravity(left: CountedFault, right: CountedFault): number {
  return Number(isOnPurpose(left)) - Number(isOnPurpose(right)) || right.count - left.count
}

/** Counts a list's withheld rows by their first fault. */
export function countWithheld(list: HeldFaults): Readonly<Record<WithheldFault, number>> {
  const counts = {
    inactive: 0,
    'not-shown': 0,
    missing: 0,
    unreadable: 0,
    'no-id': 0,
    'duplicate-id': 0,
    'too-large': 0,
  }
  for (const { fault, first } of faultCounts(list)) counts[fault] += first
  return counts
}

/** Returns the text that `showCell` shows as JSON; other values are returned unchanged. */
export function textFound(shown: string): string {
  if (!/^"(?:[^"\\]|\\.)*"$/.test(shown)) return shown
  return String(JSON.parse(shown))
}

/** Expectations without details. */
const PLAIN = {
  id: 'an id',
  text: 'a text',
  texts: 'a list of texts',
  scalar: 'a text, a number, true or false',
  blank: 'a blank cell',
  'any-date-time': 'a date-time',
  'year-1-to-9999': 'a date-time of the years 1 to 9999',
  zone: 'a time zone, such as Europe/London or UTC+2',
  json: 'JSON',
  object: 'an object',
  'shallow-object': 'lists and objects that are nested less deeply',
} as const

/** Returns the end of a sentence: `a date-time with the year first, such as 2026-07-12 19:30`. */
export function expectedWords(expected: Expected): string {
  if (expected.kind === 'guid') return expected.mayBeBlank ? 'a GUID, or nothing' : 'a GUID that is not all zeros'
  if (expected.kind === 'decimal' || expected.kind === 'integer') return numberWords(expected)
  if (expected.kind === 'flag') {
    const others = expected.words === null ? '' : `, or one of ${expected.words.join(', ')} (crm.texts)`
    return `true or false, yes or no, 1 or 0${others}`
  }
  if (expected.kind === 'links') {
    return `${expected.asJson ? 'JSON, ' : ''}a list of links, each with a text for Rel and for Href, and a text or null for Title`
  }
  if (expected.kind === 'date-time') return dateWords(expected.formats)
  if (expected.kind === 'one-of') return `${expected.values.length === 1 ? '' : 'one of '}${expected.values.join(', ')}`
  if (expected.kind === 'none-of') return `none of ${expected.values.join(', ')}`
  return expected.kind === 'stored' ? STORED[expected.instead] : PLAIN[expected.kind]
}

const STORED = {
  'of-formula': 'a value that Excel stored with the formula',
  'of-index': 'a text that the workbook contains',
  'of-error': 'a value in place of the error',
  'of-money': 'a type that is written alike everywhere: cast the column in the view, such as price::numeric',
} as const

// 12/07/2026 is July to some and December to others. Marquee never guesses.
function dateWords(formats: readonly string[]): string {
  if (formats.length === 0)
    return 'a date-time with the year first, such as 2026-07-12 19:30 or 2026-07-12T19:30:00+01:00'
  return `a date-time that fits ${formats.join(' or ')} (crm.texts.dates), or one with the year first, such as 2026-07-12 19:30`
}

const SIGNS = {
  ',': { name: 'comma', integer: '1.250', decimal: '1.250,00' },
  '.': { name: 'point', integer: '1,250', decimal: '1,250.00' },
} as const

function numberWords({ kind, sign, currency }: ExpectedNumber): string {
  const what = kind === 'decimal' ? 'a number' : 'a whole number'
  const number =
    sign === null
      ? `${what} without separators, such as ${kind === 'decimal' ? '12.50' : '250'}`
      : `${what}${kind === 'decimal' ? ` with a decimal ${SIGNS[sign].name}` : ''}, such as ${SIGNS[sign][kind]} (crm.texts.decimal)`
  return currency.length === 0 ? number : `${number}, with or without ${currency.join(' or ')} (crm.texts.currency)`
}

/** Whether a word means 0: "frei" is a price of 0, but says of seats that some are left. */
export function isNothing(text: string, kind: ExpectedNumber['kind']): boolean {
  return kind === 'decimal' ? isFree(text) : isSoldOut(text)
}

/** Whether a text has amounts and words, or several amounts: `ab 12,50 €`, `10/8 EUR`. */
export function isAmountInWords(text: string): boolean {
  const bare = text.replaceAll(CURRENCY, ' ')
  return /\d/.test(bare) && /\p{L}|\d\s*[-–—/]\s*\d/u.test(bare)
}

const CURRENCY = /\p{Sc}|\b(?:EUR|USD|GBP|CHF)\b/gu

/** Returns what to write instead of an unreadable value, as an instruction; `null` if that is not evident. */
export function insteadOf(found: string, expected: Expected | null): string | null {
  const text = found.trim()
  const kind = expected?.kind
  if (kind === 'flag') {
    if (isYes(text)) return 'write yes'
    return isNo(text) ? 'write no' : null
  }
  if (kind === 'date-time' || kind === 'any-date-time' || kind === 'year-1-to-9999') return insteadOfDate(text)
  if (expected?.kind !== 'decimal' && expected?.kind !== 'integer') return null
  if (!isNothing(text, expected.kind)) return insteadOfNumber(text, expected)
  // That all tickets are sold is no number of tickets sold.
  return expected.subtractedFrom === undefined ? 'write 0' : null
}

function insteadOfDate(text: string): string | null {
  if (hasZeroDay(text))
    return 'this is a time of day alone, so read it with the column of its day: { join: [DAY, TIME] }'
  if (daysOfRange(text) !== null)
    return 'these are several days, so read both Start and Finish from this column, or give Finish a duration, and name the format of a day in crm.texts.dates'
  // Dates with dots always have the day first. Dates with slashes are ambiguous.
  const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?:[ ,]+(\d{1,2}:\d{2}(?::\d{2})?))?$/.exec(text)
  const [, day = '', month = '', year = '', time = ''] = dotted ?? []
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  const iso = dotted === null ? text : `${date}${time && ` ${time.padStart(5, '0')}`}`
  if (/^\d{4}-\d\d-\d\d$/.test(iso)) {
    return isThere(`${iso} 00:00`) ? `write the time too, such as ${iso} 19:30` : NOT_THERE
  }
  if (/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?$/.test(iso)) return isThere(iso) ? `write ${iso}` : NOT_THERE
  return /\d/.test(text) ? 'format the column as yyyy-mm-dd hh:mm' : null
}

const NOT_THERE = 'write a day and a time that exist'

function isThere(text: string): boolean {
  return parseDateTimeText(text) !== null
}

function insteadOfNumber(text: string, { kind, sign }: ExpectedNumber): string | null {
  const bare = text.replaceAll(/^[\s\p{Sc}]+|[\s\p{Sc}]+$|\b(?:EUR|USD|GBP|CHF)\b/gu, '').trim()
  const hasCurrency = bare !== text
  if (sign !== null) {
    return hasCurrency && /^[+-]?\d[\d.,' \u00a0\u202f]*$/.test(bare) ? `write ${bare}, without the currency` : null
  }
  const [, mark = '', more = ''] = /^[+-]?\d{1,3}([.,' \u00a0\u202f])\d{3}((?:\1\d{3})*)$/.exec(bare) ?? []
  const mayBeDecimal = kind === 'decimal' && more === '' && (mark === ',' || mark === '.')
  if (mark !== '' && !(mayBeDecimal && /^[+-]?0/.test(bare))) {
    const thousands = `write ${bare.replaceAll(mark, '')}`
    return mayBeDecimal ? `${thousands} or ${bare.replace(',', '.')} (whichever is meant)` : thousands
  }
  if (/^[+-]?[\d. \u00a0']+,\d+$/.test(bare)) {
    return `write ${bare.replaceAll(/[. \u00a0']/g, '').replace(',', '.')}${hasCurrency ? ', without the currency' : ''}`
  }
  return hasCurrency && /^[+-]?\d+(?:\.\d+)?$/.test(bare) ? `write ${bare}, without the currency` : null
}

/** Words for each suspicion, as the rest of a sentence that begins with the column. @param of what they name */
const SUSPICIONS: Readonly<Record<SuspicionCode, string | ((of: string, column: string) => string)>> = {
  above: (of) => `is above ${of}`,
  before: (of) => `is before ${of}`,
  'blank-column': 'exists, but is blank in every row',
  'blank-price': 'is blank and served as 0, though other rows have a price',
  'blank-time': 'is blank in every row: updatedAt names it, and it never shows that a row has changed',
  contradicts: 'differs from the first row of this venue, which is served',
  coordinate: (of) => `is not between -${of} and ${of}`,
  fraction: (of) =>
    `ends in ${of}000 and is read as a decimal fraction (1${of}000 is 1); most likely a thousand is meant`,
  'hidden-row': 'is in a row that the workbook hides, and the row is served',
  html: 'contains HTML, which is served as it is: set html: true to read its text, or html: false to keep it',
  list: 'looks like a list, but is none in JSON or Python, and is served as text',
  long: (of) => `is more than 7 days after ${of}`,
  'midnight-days': 'is at midnight in every row: all events last until the end of that day',
  'midnight-finish': 'is at midnight in every row: all events end at 00:00',
  'midnight-start': 'is at midnight in every row: all events start at 00:00',
  negative: 'is negative',
  'no-address': 'is not an absolute http or https URL, and is served as it is: set prefix to complete it',
  'no-column': (of, column) =>
    `${column.includes(' and ') ? 'are' : 'is'} read from no column: ${effectOf(of, column)}`,
  'no-time': 'is a day without a time, so the event starts at 00:00, though it ends at a time of day',
  'skipped-time':
    'is a time that does not exist, because clocks go forward then, and is read as the time after the change',
  'sold-out': (of, column) =>
    `says that an event is sold out, but its ${of} is above 0, so it counts as available: add onlyWhere: { ${asKey(column)}: { not: [WORD] } } to TicketsAvailable`,
  status: (of) =>
    `${of === '' ? 'in other rows' : `with the value ${of}`} means none of ${EVENT_STATUSES.join(', ')}, and the event counts as scheduled: say in values of Status what it means`,
  'unread-cancelled': (_, column) =>
    `is read by no field, and says that an event is cancelled, which is served as scheduled: read ${column} as Status, or leave these events out with active: { ${asKey(column)}: { not: [WORD] } }`,
  'unread-sold-out': (of, column) =>
    `is read by no field, and says that an event is sold out, but its ${of} is above 0, so it counts as available: add onlyWhere: { ${asKey(column)}: { not: [WORD] } } to TicketsAvailable`,
  'unreadable-copy': 'cannot be read, and another row of this venue is served',
}

/** A column as a key of YAML. */
function asKey(column: string): string {
  return /^\p{L}[\p{L}\p{N} _-]*$/u.test(column) ? column : JSON.stringify(column)
}

const NOT_SERVED = 'no event can be served'

/** What follows if no column is read for a field. */
const EFFECTS: Readonly<Record<string, string>> = {
  'events Name': 'no event has a name',
  'events Start': NOT_SERVED,
  'events Finish': NOT_SERVED,
  'events TicketCapacity and TicketsAvailable': 'every event is sold out',
  'events TicketsAvailable': 'every event is sold out',
  'events Price': 'every price is 0',
  'venues Name': 'no venue has a name',
}

function effectOf(list: string, fields: string): string {
  return EFFECTS[`${list} ${fields}`] ?? `no ${list.slice(0, -1)} has it`
}

/** Says a suspicion in words. */
export function suspicionSaid(suspicion: FoundSuspicion): Suspicion {
  const { column, code, of = '', count, first } = suspicion
  const words = SUSPICIONS[code]
  const what = typeof words === 'string' ? words : words(of, column)
  if (first === null) return { column, what, count, example: remedyOf(suspicion), where: null }
  if ('id' in first) return { column, what, count, example: first.id, where: null }
  return { column, what, count, example: `${first.where}: ${column} is ${first.found}`, where: first.where }
}

/** What to do about a column as a whole. */
function remedyOf({ column, code, of }: FoundSuspicion): string {
  if (code === 'no-column') return columnRemedy(of ?? '', column)
  if (code === 'blank-column' || code === 'blank-time') return `${column} is blank`
  const times = 'if another column has the times, join both'
  if (of === undefined) return `${times}; if these are days, set wallTimeIn to their zone`
  return of === '' ? times : `${times}; if these are days, add '${of}' to crm.texts.dates`
}

function columnRemedy(list: string, fields: string): string {
  const effect = EFFECTS[`${list} ${fields}`]
  if (effect === undefined) return `add a column ${fields}, or remove it from representation.further.${list}`
  if (effect === NOT_SERVED) return `add a column ${fields}, or name the existing one in crm.${list}.fields`
  const keys = fields.split(' and ').map((field) => `${field}: null`)
  return `if this is intended, set crm.${list}.fields: { ${keys.join(', ')} }`
}
