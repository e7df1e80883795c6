import { type Column, countOf, isMost } from './column.ts'
import { activeOf, showOnWebOf } from './condition-columns.ts'
import { EVENT_NAMES, isNamed, named, namedAnywhere } from './field-names.ts'
import { type FurtherProposal, furtherColumns } from './further-columns.ts'
import { type VenueLink, idField, idLine, venueIdOf } from './id-columns.ts'
import { type Line, byName, counted, example, lineOf, OPEN, quoted } from './line.ts'
import type { ListName } from '../domain/field.ts'
import { howMany } from '../domain/printable.ts'
import { datesOf } from './moments.ts'
import type { Table } from './table.ts'
import { textLines } from './text-keys.ts'

/** What is proposed for a list. */
export interface ListProposal {
  readonly list: ListName
  readonly table: Table
  readonly id: Column | null
  readonly fields: readonly Line[]
  readonly more: readonly Line[]
  readonly texts: readonly Line[]
  /** The columns that a field or a condition reads. */
  readonly taken: ReadonlySet<Column>
  /** Further fields that columns could be. */
  readonly further: readonly FurtherProposal[]
}

type EventField = Exclude<keyof typeof EVENT_NAMES, 'Sold' | 'ShowOnWeb'>

const QUESTIONS = {
  Name: 'Which column is the title? Name it here, or write null for none',
  TicketCapacity: 'Which column is the total number of tickets? Name it here, or write null: every event then has 0',
  TicketsAvailable:
    'Which column is the number of tickets left? Name it here, or write null: all events are then sold out',
  Price: 'Which column is the price? Name it here, or write null: every price is then 0',
}

/** Proposes the fields of events: by the contents of columns first, by their names second. */
export function eventsOf(table: Table, link: VenueLink | null, venuesAreKnown: boolean): ListProposal {
  const { columns } = table
  const id = idField(columns)
  const taken = new Set(
    [id, link?.from, ...besides(link, columns)].filter((column) => column !== null && column !== undefined),
  )
  const fields = [idLine(id, columns)]
  const ask = (field: keyof typeof QUESTIONS): void => {
    fields.push({ key: field, value: OPEN, evidence: `${QUESTIONS[field]}.${meantFor(field, columns, taken)}` })
  }
  const take = (field: EventField, among: readonly Column[], evidence: (found: Column) => string): Column | null => {
    const own = named(among, EVENT_NAMES[field], taken)
    // A name within an inner object is most likely not the event's.
    const column = own ?? (field === 'Name' ? null : namedAnywhere(among, EVENT_NAMES[field], taken))
    if (column === null) return null
    taken.add(column)
    fields.push(lineOf(field, column, evidence(column)))
    return column
  }
  const texts = columns.filter(({ kind, filled }) => kind === 'text' && filled > 0)
  if (take('Name', texts, byName) === null) ask('Name')
  const venueId = venueIdOf(columns, link, venuesAreKnown)
  if (venueId !== null) fields.push(venueId)
  const dates = datesOf(columns, taken)
  fields.push(...dates.lines)
  const numbers = columns.filter(({ kind, filled }) => kind === 'number' && filled > 0)
  const capacity = take('TicketCapacity', numbers, fits)
  const available = take('TicketsAvailable', numbers, fits)
  const sold = available === null && capacity !== null ? named(numbers, EVENT_NAMES.Sold, taken) : null
  if (capacity !== null && sold !== null) {
    taken.add(sold)
    const value = `{ subtract: [${quoted(capacity.name)}, ${quoted(sold.name)}] }`
    fields.push({ key: 'TicketsAvailable', value, evidence: fits(sold) })
  } else if (available === null) {
    if (capacity === null) ask('TicketCapacity')
    ask('TicketsAvailable')
  }
  if (take('Price', numbers, fits) === null) ask('Price')
  const tags = take('Tags', texts, (column) => `${howMany(column.texts.length, 'different text')}; ${example(column)}`)
  const read = numbers.filter((column) => taken.has(column))
  return {
    list: 'events',
    table,
    id,
    fields,
    more: [showOnWebOf(columns, taken), activeOf(table, taken, 'event')],
    texts: textLines(table, read, dates, tags),
    taken,
    further: furtherColumns('events', columns, taken),
  }
}

/** The other columns of the object with the event's venue, such as `venue.city`: the venues have their own. */
function besides(link: VenueLink | null, columns: readonly Column[]): readonly Column[] {
  const [object = '', ...within] = link?.from.name.split('.') ?? []
  return link === null || within.length === 0 ? [] : columns.filter(({ name }) => name.startsWith(`${object}.`))
}

/** Mentions the column that has the field's name but unsuitable contents. */
function meantFor(field: EventField, columns: readonly Column[], taken: ReadonlySet<Column>): string {
  const column = named(
    columns.filter(({ filled }) => filled > 0),
    EVENT_NAMES[field],
    taken,
  )
  return column === null ? '' : ` Is it ${column.name} (${example(column)}${whyNot(column)})?`
}

/** Explains why no field reads a column, if that is evident, to follow an example of it. */
export function whyNot(column: Column): string {
  if (isShortYear(column)) return '; years must have four digits'
  const number = (['Price', 'TicketCapacity', 'TicketsAvailable'] as const).find((field) =>
    isNamed(column, EVENT_NAMES[field]),
  )
  return number === undefined || column.kind === 'number'
    ? ''
    : `; ${number} needs numbers, and some values are not numbers`
}

/** Returns true if most of the column is dates with two-digit years, which no format reads. */
function isShortYear({ texts, filled }: Column): boolean {
  return isMost(
    countOf(texts, (text) => /^\d{1,2}([./-])\d{1,2}\1\d\d(?!\d)/.test(text)),
    filled,
  )
}

function fits(column: Column): string {
  return `${counted(column.fit)} of ${counted(column.filled)} ${column.fit === 1 ? 'is a number' : 'are numbers'}; ${example(column)}`
}
