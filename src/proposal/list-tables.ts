import type { Column } from './column.ts'
import { isMoment } from './column.ts'
import { EVENT_NAMES, isNamed, listNamed, momentRole, named, PEOPLE_NAMES } from './field-names.ts'
import { type VenueLink, linkOf } from './id-columns.ts'
import type { Table } from './table.ts'
import { hasAddress, placeWithin } from './venues.ts'

/** Which tables are the lists. */
export interface ListTables {
  readonly events: Chosen | null
  readonly venues: (Chosen & { readonly link: VenueLink | null }) | null
  /** The columns of the events' rows that the venues are made of; empty if they are not. */
  readonly within: readonly Column[]
}

interface Chosen {
  readonly table: Table
  /** The tables among which a person has to choose; empty if this one is meant. */
  readonly rivals: readonly Table[]
}

/** Chooses the tables of events and of venues, by their names, their columns and their rows. */
export function listTables(tables: readonly Table[]): ListTables {
  const known = tables.filter((table) => !listsPeople(table))
  const events = eventsAmong(known)
  const others = known.filter((table) => table !== events?.table)
  const place = events === null ? [] : placeWithin(events.table)
  const venues = venuesAmong(others, events?.table ?? null, place)
  return { events, venues, within: venues === null ? place : [] }
}

/** Whether a table lists people, who are never published. */
export function listsPeople({ columns }: Table): boolean {
  return columns.some((column) => isNamed(column, PEOPLE_NAMES))
}

/** Whether a column holds e-mail addresses. */
export function hasMail({ columns }: Table): boolean {
  return columns.some(({ texts }) => texts.length > 0 && texts.every(({ text }) => /^\S+@\S+\.\w+$/.test(text)))
}

/** Whether a table may list events: it is called so, or has dates that are an event's, readable or not. */
export function mayListEvents(table: Table): boolean {
  if (table.rows === 0) return false
  const name = listNamed(table.called)
  const hasDate = table.columns.some((column) => {
    const role = momentRole(column.name)
    if (isMoment(column)) return role !== 'other'
    return role === 'start' && column.filled > 0
  })
  return name === 'events' || (name === null && hasDate) || table.columns.some(isStart)
}

function isStart(column: Column): boolean {
  return isMoment(column) && momentRole(column.name) === 'start'
}

/** The fields of events that a table has, and what its name says. */
function scoreOf(table: Table): number {
  const fields = ['Name', 'VenueId', 'Price', 'Tags'] as const
  const filled = table.columns.filter((column) => column.filled > 0)
  const found = fields.filter((field) => named(filled, EVENT_NAMES[field]) !== null).length
  const roles = new Set(
    filled.flatMap((column) => (isMoment(column) || column.kind === 'time' ? momentRole(column.name) : [])),
  )
  const hasStart = roles.has('start') || roles.has('date')
  const isCalled = listNamed(table.called) === 'events'
  return found + (hasStart ? 2 : 0) + (roles.has('finish') ? 1 : 0) + (isCalled ? 100 : 0)
}

const PLAINLY = 3

/** Chooses the events: a table that is called so, else the one with plainly more of their columns or rows. */
function eventsAmong(tables: readonly Table[]): Chosen | null {
  const likely = tables.filter(mayListEvents)
  const all =
    likely.length > 0
      ? likely
      : tables.filter((table) => table.columns.some(isMoment) && listNamed(table.called) === null)
  const [best, ...others] = all.toSorted((one, other) => scoreOf(other) - scoreOf(one) || other.rows - one.rows)
  if (best === undefined) return null
  const rivals = others.filter((other) => {
    const lead = scoreOf(best) - scoreOf(other)
    return lead < PLAINLY && !(lead >= 0 && best.rows >= PLAINLY * other.rows)
  })
  return { table: best, rivals: rivals.length === 0 ? [] : [best, ...rivals] }
}

/**
 * Chooses the venues: the table that the events' places match, or that is called so. Any other one is a question, and a
 * sheet beside the events' without addresses is none.
 */
function venuesAmong(tables: readonly Table[], events: Table | null, place: readonly Column[]): ListTables['venues'] {
  const candidates = tables
    .filter((table) => table.rows > 0 && !isRival(table, events))
    .map((table) => {
      const link = events === null ? null : linkOf(events.columns, table.columns)
      const isPlace = link !== null && (isNamed(link.from, EVENT_NAMES.VenueId) || !hasMail(table))
      return {
        table,
        link: isPlace ? link : null,
        isCalled: listNamed(table.called) === 'venues',
        isAddress: hasAddress(table),
      }
    })
  const isSheet = ({ table }: { readonly table: Table }): boolean => table.path === events?.path
  const sure =
    candidates.find(({ link, isCalled, isAddress }) => link?.isSure === true && (isCalled || isAddress)) ??
    candidates.find(({ isCalled }) => isCalled) ??
    candidates.find((one) => one.link !== null && (one.isAddress || (one.link.isSure && !isSheet(one))))
  if (sure !== undefined) return { ...sure, rivals: [] }
  if (place.length > 0) return null
  const isLikely = (one: (typeof candidates)[number]): boolean => one.link !== null || (one.isAddress && !isSheet(one))
  const [doubtful] = candidates.filter((one) => isLikely(one) && !hasMail(one.table))
  return doubtful === undefined ? null : { ...doubtful, rivals: [doubtful.table] }
}

/** Whether a table could as well be the events, and so is not their venues. */
function isRival(table: Table, events: Table | null): boolean {
  return events !== null && listNamed(table.called) !== 'venues' && mayListEvents(table)
}
