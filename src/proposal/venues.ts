import { hasWord } from '../domain/state-words.ts'
import type { Column } from './column.ts'
import { activeOf } from './condition-columns.ts'
import {
  bareName,
  EVENT_NAMES,
  named,
  namedAnywhere,
  namedExactly,
  TOWN_NAMES,
  VENUE_NAMES,
  withoutWrapper,
} from './field-names.ts'
import type { ListProposal } from './events.ts'
import { furtherColumns } from './further-columns.ts'
import { type VenueLink, idField, idLine, joinedId } from './id-columns.ts'
import { type Line, byName, lineOf, OPEN, sourceOf, textSource } from './line.ts'
import type { Table } from './table.ts'
import { textLines } from './text-keys.ts'

const { Id: _, Name: NAME_WORDS, ...OTHER_WORDS } = VENUE_NAMES

/** Proposes the fields of venues: by the names of columns, and by the column that events refer to. */
export function venuesOf(table: Table, link: VenueLink | null, doubt: string | null): ListProposal {
  const columns = table.columns.filter(({ filled }) => filled > 0)
  const called = idField(table.columns, link?.id)
  const town = townOf(columns, link)
  const rest = columns.filter((column) => column !== town)
  // The column that events refer to, if it holds names.
  const referredTo = link !== null && link.id.kind === 'text' && !link.id.isGuid ? link.id : null
  const own = namedExactly(rest, NAME_WORDS) ?? namedAnywhere(rest, 'name', new Set())
  const name = own ?? referredTo ?? named(rest, NAME_WORDS)
  const isReferredTo = own === null && name === referredTo
  const nameLine =
    name === null
      ? { key: 'Name', value: OPEN, evidence: 'Which column is the name? Name it here, or write null for none.' }
      : {
          key: 'Name',
          value: textSource(name),
          evidence: isReferredTo ? 'events refer to their venue by it' : byName(name),
        }
  const taken = new Set(name === null ? [] : [name])
  const { lines, coordinates } = addressOf(columns, town, taken)
  const city = town ?? named(columns, VENUE_NAMES.AddressCity)
  const id = called === null ? joinedId(name === null ? [] : [name], city === null ? [] : [city]) : [called]
  for (const column of id) taken.add(column)
  return {
    list: 'venues',
    table,
    doubt,
    needsNamespace: called?.isGuid !== true,
    fields: [idLine(id, table.columns, called !== null), nameLine, ...lines],
    more: [activeOf(table, taken, 'venue')],
    texts: textLines(table, coordinates, null, null),
    taken,
    further: furtherColumns('venues', table.columns, taken),
  }
}

/** Proposes venues that are made of the events' rows. @param place the columns that tell them apart */
export function venuesWithin(table: Table, place: readonly Column[]): ListProposal {
  const taken = new Set(place)
  const [name, city = null] = place
  const own = withoutWrapper(name?.name ?? '')
  const object = own.includes('.') ? name?.name.replace(/[^.]*$/, '') : undefined
  // Other columns may be the event's own, such as its website, unless their names say otherwise.
  const columns = table.columns.filter((column) => {
    const isVenues = object === undefined ? bareName(column.name).startsWith('venue') : column.name.startsWith(object)
    return column.filled > 0 && (isVenues || (object === undefined && isAddress(column)))
  })
  const { lines, coordinates } = addressOf(columns, city ?? townBeside(table.columns, name), taken)
  return {
    list: 'venues',
    table,
    doubt: null,
    needsNamespace: true,
    fields: [
      {
        key: 'Id',
        value: sourceOf(place),
        evidence: 'each place of the events once; a place that is renamed gets another address',
      },
      ...(name === undefined ? [] : [{ key: 'Name', value: textSource(name), evidence: byName(name) }]),
      ...lines,
    ],
    // The rows of events that are not shown name no venues.
    more: [],
    texts: textLines(table, coordinates, null, null),
    taken,
    further: [],
  }
}

/** The columns that are the place within the rows of events: one, or the place and its town if a name is in several. */
export function placeWithin(table: Table): readonly Column[] {
  const texts = table.columns.filter(
    ({ kind, filled, texts: all }) => kind === 'text' && filled > 0 && all.every(({ text }) => text.length < 120),
  )
  const inObject = texts.find(({ name }) => {
    const [object = '', field = '', ...deeper] = withoutWrapper(name).split('.').map(bareName)
    return deeper.length === 0 && hasWord(EVENT_NAMES.VenueId, object) && hasWord(VENUE_NAMES.Name, field)
  })
  const place = namedExactly(texts, EVENT_NAMES.VenueId) ?? inObject ?? named(texts, EVENT_NAMES.VenueId)
  if (place === null || place.isGuid || isTown(place, table.columns)) return []
  const town = named(texts, VENUE_NAMES.AddressCity, new Set([place])) ?? townBeside(texts, place)
  return town !== null && isInSeveral(place, town) ? [place, town] : [place]
}

function isInSeveral(place: Column, town: Column): boolean {
  const towns = new Map<string, string>()
  return place.cells.some((cell, row) => {
    const [name, found] = [cell?.text.trim(), town.cells[row]?.text.trim()]
    if (name === undefined || found === undefined) return false
    const known = towns.get(name) ?? found
    towns.set(name, known)
    return known !== found
  })
}

/** A column such as Ort beside that of the place is its town. */
function townBeside(columns: readonly Column[], place: Column | undefined): Column | null {
  const town = namedExactly(columns, TOWN_NAMES)
  return town === place || town?.filled === 0 ? null : town
}

const ADDRESS = ['AddressStreet1', 'AddressCity', 'AddressPostalCode', 'Latitude', 'Longitude'] as const

function isAddress(column: Column): boolean {
  const fields = [...ADDRESS, 'AddressStreet2', 'AddressState', 'AddressCountry'] as const
  return fields.some((field) => namedAnywhere([column], VENUE_NAMES[field], new Set()) !== null)
}

/** Whether a table has addresses, towns or coordinates, as one of venues does. */
export function hasAddress({ columns }: Table): boolean {
  const filled = columns.filter((column) => column.filled > 0)
  const names = [...ADDRESS.map((field) => VENUE_NAMES[field]), TOWN_NAMES]
  return names.some((words) => namedAnywhere(filled, words, new Set()) !== null)
}

interface Address {
  readonly lines: readonly Line[]
  readonly coordinates: readonly Column[]
}

function addressOf(columns: readonly Column[], town: Column | null, taken: Set<Column>): Address {
  const lines: Line[] = []
  const coordinates: Column[] = []
  for (const [field, words] of Object.entries(OTHER_WORDS)) {
    const isTownHere = field === 'AddressCity' && town !== null
    const column = isTownHere ? town : namedAnywhere(columns, words, taken)
    if (column === null || (taken.has(column) && !isTownHere)) continue
    if (field === 'Latitude' || field === 'Longitude') {
      if (!isWithinDegrees(column, field === 'Latitude' ? 90 : 180)) continue
      coordinates.push(column)
    }
    taken.add(column)
    lines.push(lineOf(field, column, isTownHere ? 'the town of the place' : byName(column)))
  }
  return { lines, coordinates }
}

function isWithinDegrees({ kind, texts }: Column, most: number): boolean {
  return kind === 'number' && texts.every(({ text }) => !(Math.abs(Number(text.replace(',', '.'))) > most))
}

/** A column such as Ort may mean the venue or its town; next to a street and a postal code it is the town. */
function townOf(columns: readonly Column[], link: VenueLink | null): Column | null {
  const town = namedExactly(columns, TOWN_NAMES)
  return town !== null && town !== link?.id && isTown(town, columns) ? town : null
}

function isTown(column: Column, columns: readonly Column[]): boolean {
  const { AddressStreet1, AddressPostalCode, AddressCity } = VENUE_NAMES
  const isCalledTown = namedExactly([column], TOWN_NAMES) !== null && namedExactly(columns, AddressCity) === null
  return isCalledTown && [AddressStreet1, AddressPostalCode].every((words) => named(columns, words) !== null)
}
