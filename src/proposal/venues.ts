import type { Column } from './column.ts'
import { isNamed, named, namedExactly, namedWithin, TOWN_NAMES, VENUE_NAMES } from './field-names.ts'
import { type VenueLink, idLine, idField } from './id-columns.ts'
import { type Line, byName, counted, lineOf, OPEN } from './line.ts'

export interface VenueFields {
  readonly fields: readonly Line[]
  readonly taken: Set<Column>
  /** Columns of coordinates. */
  readonly places: readonly Column[]
}

/** Proposes the fields of venues: by the names of columns, and by the column that events refer to. */
export function venueFields(all: readonly Column[], link: VenueLink | null): VenueFields {
  const columns = all.filter(({ filled }) => filled > 0)
  const id = idField(all, link?.id)
  const taken = new Set<Column>()
  const fields = [idLine(id, all)]
  const town = townOf(columns, link)
  const { Id: _, Name: nameWords, ...others } = VENUE_NAMES
  const rest = columns.filter((column) => column !== town)
  const name = namedExactly(rest, nameWords) ?? joinedBy(link) ?? named(rest, nameWords)
  if (name === null) {
    fields.push({
      key: 'Name',
      value: OPEN,
      evidence: 'Which column is the name? Name it here, or write null for none.',
    })
  } else {
    taken.add(name)
    const isJoined = name === link?.id && !isNamed(name, nameWords)
    fields.push(lineOf('Name', name, isJoined ? 'events refer to their venue by it' : byName(name)))
  }
  for (const [field, words] of Object.entries(others)) {
    const found = namedExactly(columns, words, taken) ?? namedWithin(columns, words, taken)
    const column = field === 'AddressCity' && town !== null ? town : (found ?? named(columns, words, taken))
    if (column === null || taken.has(column)) continue
    taken.add(column)
    const evidence = column === town ? 'next to a street and a postal code' : byName(column)
    fields.push(lineOf(field, column, field === 'AddressPostalCode' ? `${evidence}${lostZeros(column)}` : evidence))
  }
  const places = [...taken].filter((column) => isNamed(column, [...others.Latitude, ...others.Longitude]))
  if (id !== null) taken.add(id)
  return { fields, taken, places }
}

/**
 * Warns of postal codes that a spreadsheet has most likely taken for numbers: some have four digits, others five, and
 * none begins with a zero.
 */
function lostZeros({ texts }: Column): string {
  const codes = texts.filter(({ text }) => /^\d{4,5}$/.test(text))
  const short = codes.filter(({ text }) => text.length === 4)
  if (short.length === 0 || short.length === codes.length || codes.some(({ text }) => text.startsWith('0'))) return ''
  const rows = counted(short.reduce((sum, { count }) => sum + count, 0))
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

/** The column that events refer to, if it holds names. */
function joinedBy(link: VenueLink | null): Column | null {
  return link === null || link.id.kind !== 'text' || link.id.isGuid ? null : link.id
}
