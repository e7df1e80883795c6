import { type Column, ENOUGH, lookAtColumn } from './column.ts'
import { activeOf, showOnWebOf } from './conditions.ts'
import { EVENT_NAMES, isNamed, named, VENUE_NAMES } from './field-names.ts'
import { type Line, counted, example, OPEN, quoted } from './line.ts'
import { momentRole } from './moment-names.ts'
import { datesOf } from './moments.ts'
import type { Table } from './table.ts'
import { textLines } from './texts.ts'

export interface ListProposal {
  readonly table: Table
  /** What the file holds and nothing reads. */
  readonly leftOut: readonly string[]
  readonly fields: readonly Line[]
  readonly more: readonly Line[]
  readonly texts: readonly Line[]
}

export interface Proposal {
  readonly events: ListProposal | null
  readonly venues: ListProposal | null
  readonly needsNamespace: boolean
  /** Some dates have no offset. */
  readonly needsZone: boolean
  /** Files of which nothing is proposed. */
  readonly unused: readonly Table[]
}

/** The venues are those that the events name; else a file that was given for them, not any sheet beside the events. */
function venuesFor(events: Looked | null, looked: readonly Looked[]): readonly [Looked | null, Link | null] {
  const others = looked.filter((one) => one !== events)
  if (events === null) return [others[0] ?? null, null]
  const linked = others.flatMap((one) => {
    const link = linkOf(events, one)
    return link === null ? [] : [[one, link] as const]
  })
  const best = linked.find(([, link]) => link.isSure) ?? linked[0]
  return best ?? [others.find(({ table }) => table.path !== events.table.path) ?? null, null]
}

function saysStart(role: 'start' | 'date'): (one: Looked) => boolean {
  return ({ columns }) => columns.some((column) => isMoment(column) && momentRole(column.name) === role)
}

function isMoment({ kind }: Column): boolean {
  return kind === 'date' || kind === 'date-time'
}

/** Years of two digits, which no format takes. */
function isShortYear({ filled }: Column): boolean {
  const short = filled.filter((value) => /^\d{1,2}([./-])\d{1,2}\1\d\d(?!\d)/.test(value)).length
  return short > 0 && short >= filled.length * ENOUGH
}

interface Looked {
  readonly table: Table
  readonly columns: readonly Column[]
}

/** Proposes how files are read: by what is in them first, by what their columns are called second. */
export function propose(tables: readonly Table[]): Proposal {
  const looked = tables.map((table): Looked => {
    const valuesAt = (index: number) => table.rows.map((row) => row[index] ?? null)
    return { table, columns: table.header.map((name, index) => lookAtColumn(name, valuesAt(index))) }
  })
  const dated = looked.filter(({ columns }) => columns.some(isMoment))
  const events =
    dated.find(saysStart('start')) ??
    dated.find(saysStart('date')) ??
    dated[0] ??
    looked.find(({ columns }) => columns.some(isShortYear)) ??
    null
  const [venues, link] = venuesFor(events, looked)
  const ids = [idOf(events, null), idOf(venues, link?.id ?? null)]
  const dates = events?.columns.filter(isMoment) ?? []
  return {
    unused: looked.filter((one) => one !== events && one !== venues).map(({ table }) => table),
    events: events === null ? null : eventsOf(events, link, venues !== null),
    venues: venues === null ? null : venuesOf(venues, link),
    needsNamespace: ids.some((id) => id !== null && !id.isGuid),
    needsZone: dates.some(({ filled }) => filled.some((value) => !/(?:Z|[+-]\d\d:?\d\d)$/.test(value))),
  }
}

/** The column of the events that holds what one column of the venues holds once each. */
interface Link {
  readonly from: Column
  readonly id: Column
  /** How many of the events' values are a venue's, and how many would be without case and blanks. */
  readonly found: number
  readonly nearly: number
  /** Enough of them are. */
  readonly isSure: boolean
}

function linkOf(events: Looked, venues: Looked): Link | null {
  let best: Link | null = null
  let most = 0
  for (const id of venues.columns) {
    if (!id.isUnique || id.filled.length === 0) continue
    const values = new Set(id.filled)
    const loose = new Set(id.filled.map(loosely))
    for (const from of events.columns) {
      if (from.filled.length === 0 || isMoment(from) || from.kind === 'time') continue
      const isVenue = isNamed(from, EVENT_NAMES.VenueId)
      const found = from.filled.filter((value) => values.has(value)).length
      const nearly = from.filled.filter((value) => loose.has(loosely(value))).length
      const isSure = found > from.filled.length * 0.8
      // What a few rows share by chance says nothing without the name.
      if (!isSure && !isVenue) continue
      // A number may be in both by chance: a name of the venue says more.
      const share = (found + nearly / 1000) / from.filled.length
      const score = share * (from.kind === 'number' && !isVenue ? 0.5 : 1)
      if (score > most) [best, most] = [{ from, id, found, nearly, isSure }, score]
    }
  }
  return best
}

function loosely(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, '')
}

function venueIdOf(columns: readonly Column[], link: Link | null, venuesAreKnown: boolean): Line | null {
  const filled = columns.filter((column) => column.filled.length > 0)
  const from = link?.from ?? named(filled, EVENT_NAMES.VenueId)
  if (from === null || (link === null && !venuesAreKnown)) return null
  if (link?.isSure === true) {
    return lineOf('VenueId', from, `holds what ${link.id.name} of the venues holds; ${example(from.filled)}`)
  }
  const nearly =
    link === null || link.nearly === link.found
      ? ''
      : ` (${counted(link.nearly)} but for case and blanks, which an id has)`
  const held = `${counted(link?.found ?? 0)} of ${counted(from.filled.length)} rows have a venue of the venues file${nearly}`
  return { key: 'VenueId', value: OPEN, evidence: `is it ${from.name}? ${held}; name the column here, or null` }
}

function idOf(looked: Looked | null, linked: Column | null): Column | null {
  if (looked === null) return null
  const unique = looked.columns.filter(({ isUnique, filled }) => isUnique && filled.length > 0)
  return linked ?? unique.find(({ isGuid }) => isGuid) ?? named(unique, EVENT_NAMES.Id)
}

function idLine(id: Column | null): Line {
  if (id === null) {
    return { key: 'Id', value: OPEN, evidence: 'which column has another value in each row? Name it here' }
  }
  const { filled, isGuid } = id
  return lineOf('Id', id, `${counted(filled.length)} different ones${isGuid ? ', all GUIDs' : ''}; ${example(filled)}`)
}

function lineOf(key: string, { name }: Column, evidence: string): Line {
  return { key, value: quoted(name), evidence }
}

function eventsOf({ table, columns }: Looked, link: Link | null, venuesAreKnown: boolean): ListProposal {
  const id = idOf({ table, columns }, null)
  const taken = new Set([id, link?.from].filter((column) => column !== null && column !== undefined))
  const fields = [idLine(id)]
  const take = (
    field: Exclude<keyof typeof EVENT_NAMES, 'Sold' | 'ShowOnWeb'>,
    among: readonly Column[],
    evidence: (found: Column) => string,
  ): Column | null => {
    const column = named(among, EVENT_NAMES[field], taken)
    if (column === null) return null
    taken.add(column)
    fields.push(lineOf(field, column, evidence(column)))
    return column
  }
  const texts = columns.filter(({ kind }) => kind === 'text')
  take('Name', texts, byName)
  const venueId = venueIdOf(columns, link, venuesAreKnown)
  if (venueId !== null) fields.push(venueId)
  const dates = datesOf(columns, taken)
  fields.push(...dates.lines)
  const numbers = columns.filter(({ kind, filled }) => kind === 'number' && filled.length > 0)
  const capacity = take('TicketCapacity', numbers, fits)
  const available = take('TicketsAvailable', numbers, fits)
  const sold = named(numbers, EVENT_NAMES.Sold, taken)
  if (available === null && capacity !== null && sold !== null) {
    taken.add(sold)
    const value = `{ subtract: [${quoted(capacity.name)}, ${quoted(sold.name)}] }`
    fields.push({ key: 'TicketsAvailable', value, evidence: fits(sold) })
  }
  take('Price', numbers, fits)
  const tags = take('Tags', texts, ({ distinct, filled }) => `${counted(distinct)} different texts; ${example(filled)}`)
  const used = [capacity, available, sold, ...numbers.filter((column) => taken.has(column))]
  return {
    table,
    fields,
    more: [showOnWebOf(columns, taken), activeOf(columns, taken, 'event')],
    texts: textLines(
      table,
      [...new Set(used)].filter((column) => column !== null),
      dates,
      tags,
    ),
    leftOut: leftOutOf(columns, taken),
  }
}

function venuesOf({ table, columns }: Looked, link: Link | null): ListProposal {
  const taken = new Set<Column>()
  const id = idOf({ table, columns }, link?.id ?? null)
  const fields = [idLine(id)]
  const { Id: _, ...names } = VENUE_NAMES
  for (const [field, called] of Object.entries(names)) {
    const column = named(columns, called, taken)
    if (column === null || column.filled.length === 0) continue
    taken.add(column)
    fields.push(lineOf(field, column, byName(column)))
  }
  const places = [...taken].filter((column) => isNamed(column, [...names.Latitude, ...names.Longitude]))
  const others = columns.filter((column) => column !== id)
  return {
    table,
    fields,
    more: [activeOf(columns, taken, 'venue')],
    texts: textLines(table, places, { formats: [], dayOnly: null }, null),
    leftOut: leftOutOf(others, taken),
  }
}

/** The columns that nothing of the proposal reads, and what is in them that could be why. */
function leftOutOf(columns: readonly Column[], taken: ReadonlySet<Column>): readonly string[] {
  return columns
    .filter((column) => !taken.has(column) && column.filled.length > 0)
    .map((column) => `${column.name} (${example(column.filled)}${whyNot(column)})`)
}

function whyNot(column: Column): string {
  if (isShortYear(column)) return '; its years have two digits, and are read with four only'
  const number = (['Price', 'TicketCapacity', 'TicketsAvailable'] as const).find((field) =>
    isNamed(column, EVENT_NAMES[field]),
  )
  return number === undefined || column.kind === 'number' ? '' : `; not all are numbers, as ${number} needs`
}

function byName({ filled }: Column): string {
  return `by its name; ${example(filled)}`
}

function fits({ filled, fit }: Column): string {
  return `${counted(fit)} of ${counted(filled.length)} are numbers; ${example(filled)}`
}
