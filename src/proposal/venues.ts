import { type Column, countOf } from './column.ts'
import { activeOf } from './condition-columns.ts'
import { named, namedAnywhere, namedExactly, TOWN_NAMES, VENUE_NAMES } from './field-names.ts'
import type { ListProposal } from './events.ts'
import { furtherColumns } from './further-columns.ts'
import { type VenueLink, idLine, idField } from './id-columns.ts'
import { byName, counted, lineOf, OPEN } from './line.ts'
import type { Table } from './table.ts'
import { textLines } from './text-keys.ts'

/** Proposes the fields of venues: by the names of columns, and by the column that events refer to. */
export function venuesOf(table: Table, link: VenueLink | null): ListProposal {
  const columns = table.columns.filter(({ filled }) => filled > 0)
  const id = idField(table.columns, link?.id)
  const town = townOf(columns, link)
  const { Id: _, Name: nameWords, ...others } = VENUE_NAMES
  const rest = columns.filter((column) => column !== town)
  // The column that events refer to, if it holds names.
  const referredTo = link !== null && link.id.kind === 'text' && !link.id.isGuid ? link.id : null
  const called = namedExactly(rest, nameWords)
  const name = called ?? referredTo ?? named(rest, nameWords)
  const isReferredTo = called === null && name === referredTo
  const nameLine =
    name === null
      ? { key: 'Name', value: OPEN, evidence: 'Which column is the name? Name it here, or write null for none.' }
      : lineOf('Name', name, isReferredTo ? 'events refer to their venue by it' : byName(name))
  const taken = new Set(name === null ? [] : [name])
  const fields = [idLine(id, table.columns), nameLine]
  const coordinates: Column[] = []
  for (const [field, words] of Object.entries(others)) {
    const isTown = field === 'AddressCity' && town !== null
    const column = isTown ? town : namedAnywhere(columns, words, taken)
    if (column === null || taken.has(column)) continue
    taken.add(column)
    if (field === 'Latitude' || field === 'Longitude') coordinates.push(column)
    const lost = field === 'AddressPostalCode' ? lostZeros(column) : ''
    fields.push(lineOf(field, column, isTown ? 'next to a street and a postal code' : `${byName(column)}${lost}`))
  }
  if (id !== null) taken.add(id)
  return {
    list: 'venues',
    table,
    id,
    fields,
    more: [activeOf(table, taken, 'venue')],
    texts: textLines(table, coordinates, { formats: [], dayOnly: null }, null),
    taken,
    further: furtherColumns('venues', table.columns, taken),
  }
}

/**
 * Warns of postal codes that a spreadsheet has most likely taken for numbers: some have four digits, others five, and
 * none begins with a zero.
 */
function lostZeros({ texts }: Column): string {
  const codes = texts.filter(({ text }) => /^\d{4,5}$/.test(text))
  const short = codes.filter(({ text }) => text.length === 4)
  if (short.length === 0 || short.length === codes.length || codes.some(({ text }) => text.startsWith('0'))) return ''
  const rows = counted(countOf(short, () => true))
  const fact = `${rows} with 4 digits, the others with 5`
  return `; ${fact}: if leading zeros were lost, format the column as text and enter them again`
}

/** A column such as Ort may mean the venue or its town; next to a street and a postal code it is the town. */
function townOf(columns: readonly Column[], link: VenueLink | null): Column | null {
  const { AddressStreet1, AddressPostalCode, AddressCity } = VENUE_NAMES
  const town = namedExactly(columns, TOWN_NAMES)
  if (town === null || town === link?.id || namedExactly(columns, AddressCity) !== null) return null
  const hasAddress = [AddressStreet1, AddressPostalCode].every((words) => named(columns, words) !== null)
  return hasAddress ? town : null
}
