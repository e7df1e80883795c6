import type { Column } from './column.ts'
import { ENOUGH, lookAtColumn } from './column.ts'
import { activeOf, showOnWebOf } from './conditions.ts'
import { EVENT_NAMES, VENUE_NAMES } from './field-names.ts'
import type { Line } from './line.ts'
import { counted, example, OPEN, quoted } from './line.ts'
import { momentRole } from './moment-names.ts'
import { datesOf } from './moments.ts'
import { isNamed, named } from './named.ts'
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

function hasDates({ columns }: Looked): boolean {
  return columns.some(({ kind }) => isMoment(kind))
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
  return ({ columns }) => columns.some(({ name, kind }) => isMoment(kind) && momentRole(name) === role)
}

function isMoment(kind: Column['kind']): boolean {
  return kind === 'date' || kind === 'date-time'
}

function hasShortYears({ columns }: Looked): boolean {
  return columns.some(isShortYear)
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
  const looked = tables.map((table): Looked => ({
    table,
    columns: table.header.map((name, index) =>
      lookAtColumn(
        name,
        table.rows.map((row) => row[index] ?? null),
      ),
    ),
  }))
  const dated = looked.filter(hasDates)
  const events =
    dated.find(saysStart('start')) ?? dated.find(saysStart('date')) ?? dated[0] ?? looked.find(hasShortYears) ?? null
  const [venues, link] = venuesFor(events, looked)
  const eventsProposal = events === null ? null : eventsOf(events, link, venues !== null)
  const venuesProposal = venues === null ? null : venuesOf(venues, link)
  const ids = [idOf(events, null), idOf(venues, link?.id ?? null)]
  const dates = events?.columns.filter(({ kind }) => isMoment(kind)) ?? []
  return {
    unused: looked.filter((one) => one !== events && one !== venues).map(({ table }) => table),
    events: eventsProposal,
    venues: venuesProposal,
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
      if (from.filled.length === 0 || isMoment(from.kind) || from.kind === 'time') continue
      const isVenue = isNamed(from, EVENT_NAMES['VenueId'])
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
  const from =
    link?.from ??
    named(
      columns.filter(({ filled }) => filled.length > 0),
      EVENT_NAMES['VenueId'],
      new Set(),
    )
  if (from === null || (link === null && !venuesAreKnown)) return null
  if (link?.isSure === true)
    return {
      key: 'VenueId',
      value: quoted(from.name),
      evidence: `holds what ${link.id.name} of the venues holds; ${example(from.filled)}`,
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
  return linked ?? unique.find(({ isGuid }) => isGuid) ?? named(unique, EVENT_NAMES['Id'], new Set())
}

function eventsOf({ table, columns }: Looked, link: Link | null, venuesAreKnown: boolean): ListProposal {
  const taken = new Set<Column>()
  const fields: Line[] = []
  const add = (key: string, column: Column | null, evidence: (found: Column) => string): void => {
    if (column === null) return
    taken.add(column)
    fields.push({ key, value: quoted(column.name), evidence: evidence(column) })
  }
  const id = idOf({ table, columns }, null)
  if (id === null) fields.push(OPEN_ID)
  add('Id', id, differentOnes)
  if (link !== null) taken.add(link.from)
  add(
    'Name',
    named(
      columns.filter(({ kind }) => kind === 'text'),
      EVENT_NAMES['Name'],
      taken,
    ),
    byName,
  )
  const venueId = venueIdOf(columns, link, venuesAreKnown)
  if (venueId !== null) fields.push(venueId)
  const dates = datesOf(columns, taken)
  fields.push(...dates.lines)
  const numbers = columns.filter(({ kind, filled }) => kind === 'number' && filled.length > 0)
  const capacity = named(numbers, EVENT_NAMES['TicketCapacity'], taken)
  add('TicketCapacity', capacity, fits)
  const available = named(numbers, EVENT_NAMES['TicketsAvailable'], taken)
  const sold = named(numbers, EVENT_NAMES['Sold'], taken)
  if (available !== null) add('TicketsAvailable', available, fits)
  else if (capacity !== null && sold !== null) {
    taken.add(sold)
    fields.push({
      key: 'TicketsAvailable',
      value: `{ subtract: [${quoted(capacity.name)}, ${quoted(sold.name)}] }`,
      evidence: fits(sold),
    })
  }
  add('Price', named(numbers, EVENT_NAMES['Price'], taken), fits)
  const tags = named(
    columns.filter(({ kind }) => kind === 'text'),
    EVENT_NAMES['Tags'],
    taken,
  )
  add('Tags', tags, ({ distinct, filled }) => `${counted(distinct)} different texts; ${example(filled)}`)
  const used = new Set(
    [capacity, available, sold, ...numbers.filter((column) => taken.has(column))].filter((column) => column !== null),
  )
  const showOnWeb = showOnWebOf(columns, taken)
  const active = activeOf(columns, taken, 'event')
  return {
    table,
    fields,
    more: [showOnWeb, active],
    texts: textLines(table, [...used], dates, tags),
    leftOut: leftOutOf(columns, taken),
  }
}

function venuesOf({ table, columns }: Looked, link: Link | null): ListProposal {
  const taken = new Set<Column>()
  const fields: Line[] = []
  const id = idOf({ table, columns }, link?.id ?? null)
  fields.push(id === null ? OPEN_ID : { key: 'Id', value: quoted(id.name), evidence: differentOnes(id) })
  for (const [field, names] of Object.entries(VENUE_NAMES)) {
    if (field === 'Id') continue
    const column = named(columns, names, taken)
    if (column === null || column.filled.length === 0) continue
    taken.add(column)
    fields.push({ key: field, value: quoted(column.name), evidence: byName(column) })
  }
  const places = [...taken].filter(({ name }) =>
    isNamed({ ...PLACE, name }, [...(VENUE_NAMES['Latitude'] ?? []), ...(VENUE_NAMES['Longitude'] ?? [])]),
  )
  return {
    table,
    fields,
    more: [activeOf(columns, taken, 'venue')],
    texts: textLines(table, places, { formats: [], dayOnly: null }, null),
    leftOut: leftOutOf(
      columns.filter((column) => column !== id),
      taken,
    ),
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
  const number = ['Price', 'TicketCapacity', 'TicketsAvailable'].find((field) => isNamed(column, EVENT_NAMES[field]))
  return number === undefined || column.kind === 'number' ? '' : `; not all are numbers, as ${number} needs`
}

const OPEN_ID = { key: 'Id', value: OPEN, evidence: 'which column has another value in each row? Name it here' }

function differentOnes({ filled, isGuid }: Column): string {
  return `${counted(filled.length)} different ones${isGuid ? ', all GUIDs' : ''}; ${example(filled)}`
}

const PLACE = lookAtColumn('', [])

function byName({ filled }: Column): string {
  return `by its name; ${example(filled)}`
}

function fits({ filled, fit }: Column): string {
  return `${counted(fit)} of ${counted(filled.length)} are numbers; ${example(filled)}`
}
