import { type EventRecord, EVENTS } from '../domain/event.ts'
import {
  type Field,
  type FieldType,
  type FieldValue,
  type RecordTable,
  type ListName,
  type Link,
  blankRecord,
  LINKS,
} from '../domain/field.ts'
import type { Extended, FurtherField, FurtherType, FurtherValue } from '../domain/further.ts'
import { statusPosition, statusSaid } from '../domain/event-status.ts'
import { type Guid, EMPTY_GUID } from '../domain/guid.ts'
import { type Tick, isBefore, tickOfDateTime } from '../domain/date-time.ts'
import type { ChangeOfRecord } from '../domain/revision.ts'
import { type VenueRecord, VENUES } from '../domain/venue.ts'
import type { Formatter } from '../formats/format.ts'
import type { Shape } from '../formats/media-types.ts'

/** Packs one kind of record as a single well-formed text: `unpack(id, pack(record))` equals the record. */
export interface Packing<Item> {
  pack(record: Item): string
  unpack(id: Guid, packed: string): Item
}

// A packed record is its fields in the table's order without the id, then its further fields, then its links, joined by
// DEL, which JSON need not escape. A DEL or escape within a text is escaped; null is the escape alone.
const SEPARATOR = '\u007f'
const ESCAPE = '\u0080'
const TO_ESCAPE = /[\u007f\u0080]/
const ESCAPED = /\u0080[ab]/
const NULL = ESCAPE

/** Reads the values of each type from a packed record. */
const READERS: Readonly<Record<FieldType | FurtherType, (texts: Texts) => FieldValue | FurtherValue>> = {
  guid: (texts) => texts.next(),
  text: (texts) => texts.text(),
  url: (texts) => texts.text(),
  decimal: (texts) => texts.next(),
  'date-time': (texts) => texts.next(),
  int32: (texts) => texts.number(),
  integer: (texts) => texts.number(),
  flag: (texts) => texts.next() === 'true',
  tags: (texts) => texts.list(),
  texts: (texts) => texts.list(),
}

type OwnName<Item> = Exclude<keyof Item, 'Links' | 'Further'>

/** The table of the fields of one kind of record. */
type TableOf<Item> = RecordTable<readonly (Field & { readonly name: OwnName<Item> })[]>

type Packable<Item> = Readonly<Record<OwnName<Item>, FieldValue>> & Extended & { readonly Links: readonly Link[] }

/** Returns the packing of a table's records with the given further fields, each of which may be null. */
export function packingOf<Item extends Packable<Item>>(
  { fields }: TableOf<Item>,
  further: readonly FurtherField[],
): Packing<Item> {
  const blank = blankRecord(fields, further.length > 0)
  const own = fields.flatMap(({ name, type }) => (name === 'Id' ? [] : [{ name, read: READERS[type] }]))
  const others = further.map(({ type }) => READERS[type])
  return {
    pack(record) {
      const texts: string[] = []
      for (const { name } of own) pack(record[name], texts)
      for (let index = 0; index < others.length; index++) pack(record.Further?.[index] ?? null, texts)
      for (const { Rel, Href, Title } of record.Links) texts.push(packText(Rel), packText(Href), packText(Title))
      // A lone surrogate becomes U+FFFD in every format (contract §3.2).
      return texts.join(SEPARATOR).toWellFormed()
    },
    unpack(id, packed) {
      const texts = new Texts(packed)
      const record: Record<string, unknown> = { ...blank, Id: id }
      for (const { name, read } of own) record[name] = read(texts)
      if (others.length > 0) record['Further'] = others.map((read) => (texts.isNull() ? null : read(texts)))
      record['Links'] = texts.links()
      // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- each field has got the value of its type
      return record as Item
    },
  }
}

/** Adds the texts of a value: one, or for several texts their number and each of them. */
function pack(value: FieldValue | FurtherValue, texts: string[]): void {
  if (typeof value === 'string' || value === null) texts.push(packText(value))
  else if (typeof value !== 'object') texts.push(String(value))
  else {
    texts.push(String(value.length))
    for (const text of value) texts.push(packText(text))
  }
}

function packText(text: string | null): string {
  if (text === null) return NULL
  return TO_ESCAPE.test(text) ? text.replaceAll(ESCAPE, `${ESCAPE}b`).replaceAll(SEPARATOR, `${ESCAPE}a`) : text
}

/** Reads the texts of one packed record in order. */
class Texts {
  readonly #texts: readonly string[]
  readonly #escaped: boolean
  #position = 0

  constructor(packed: string) {
    this.#texts = packed.split(SEPARATOR)
    this.#escaped = packed.includes(ESCAPE) && ESCAPED.test(packed)
  }

  /** Returns the next text as it is packed: for values without escapes. */
  next(): string {
    const text = this.#texts[this.#position++]
    if (text === undefined) throw new Error('a packed record is cut short')
    return text
  }

  text(): string | null {
    const text = this.next()
    if (text === NULL) return null
    return this.#escaped ? text.replaceAll(`${ESCAPE}a`, SEPARATOR).replaceAll(`${ESCAPE}b`, ESCAPE) : text
  }

  number(): number {
    return Number(this.next())
  }

  list(): readonly string[] {
    const length = this.number()
    const items: string[] = []
    while (items.length < length) items.push(this.text() ?? '')
    return items
  }

  /** Returns true if the next text is null, and skips it. */
  isNull(): boolean {
    if (this.#texts[this.#position] !== NULL) return false
    this.#position++
    return true
  }

  /** Reads links up to the end. */
  links(): readonly Link[] {
    const links: Link[] = []
    while (this.#position < this.#texts.length) {
      links.push({ Rel: this.text() ?? '', Href: this.text() ?? '', Title: this.text() })
    }
    return links
  }
}

/** The position of a row in its list, and the values that queries filter by. */
export interface SortKey {
  readonly start: Tick
  /** The later of Start and Finish, with full precision (contract §4.1). */
  readonly end: Tick
  /** The empty GUID if there is none. */
  readonly venue: Guid
  readonly tags: readonly string[]
  readonly isAvailable: boolean
}

/** @param statusAt where the further field is that says whether the event is cancelled; -1 if there is none */
function keyOfEvent(
  { Start, Finish, VenueId, Tags, TicketsAvailable, Further }: EventRecord,
  statusAt: number,
): SortKey {
  const start = tickOfDateTime(Start)
  const finish = tickOfDateTime(Finish)
  const end = isBefore(start, finish) ? finish : start
  const status = Further?.[statusAt]
  const isOff = typeof status === 'string' && statusSaid(status) === 'cancelled'
  return { start, end, venue: VenueId, tags: Tags, isAvailable: TicketsAvailable > 0 && !isOff }
}

const ALWAYS: Tick = { ms: 0, ticks: 0 }
const NEVER: Tick = { ms: Infinity, ticks: 0 }
/** Venues are ordered by id alone and never end. */
const VENUE_KEY: SortKey = { start: ALWAYS, end: NEVER, venue: EMPTY_GUID, tags: [], isAvailable: false }

/** The properties of a list that depend on its kind of record. */
export interface ListKind<Item> {
  readonly name: ListName
  readonly packing: Packing<Item>
  readonly format: (item: Item, shape: Shape) => string
  readonly sortKeyOf: (item: Item) => SortKey
  /** Returns `details` with the availability of another record; unchanged if the kind has no availability. */
  readonly withAvailability: (details: Item, availability: Availability | Item) => Item
  /** Returns true if `text` is a valid packed record. */
  readonly isPacked: (id: Guid, text: string) => boolean
  /** Returns the names of the fields in which two packed records differ. */
  readonly differences: (id: Guid, before: string, after: string) => readonly string[]
  /** Returns what a change of these fields means for calendars. */
  readonly changeOf: (fields: readonly string[]) => ChangeOfRecord
}

interface Availability {
  readonly TicketCapacity: number
  readonly TicketsAvailable: number
}

export function eventKind(formatter: Formatter): ListKind<EventRecord> {
  const statusAt = statusPosition(formatter.further.events)
  return {
    ...nameAndPacking<EventRecord>(EVENTS, formatter.further.events),
    format: (event, shape) => formatter.event(event, shape),
    sortKeyOf: (event) => keyOfEvent(event, statusAt),
    withAvailability: (details, { TicketCapacity, TicketsAvailable }) => ({
      ...details,
      TicketCapacity,
      TicketsAvailable,
    }),
    changeOf: (fields) => {
      if (fields.some((name) => MOVES.has(name))) return 'time-or-place'
      return fields.every((name) => UNSEEN.has(name)) ? 'unseen' : 'text'
    },
  }
}

const MOVES: ReadonlySet<string> = new Set(['VenueId', 'Start', 'Finish'])
/** Calendars show neither tickets nor prices. */
const UNSEEN: ReadonlySet<string> = new Set(['TicketCapacity', 'TicketsAvailable', 'Price'])
const PLACE: ReadonlySet<string> = new Set(
  VENUES.fields.map(({ name }) => name).filter((name) => /^(?:Name|Address.*|Longitude|Latitude)$/.test(name)),
)

export function venueKind(formatter: Formatter): ListKind<VenueRecord> {
  return {
    ...nameAndPacking<VenueRecord>(VENUES, formatter.further.venues),
    format: (venue, shape) => formatter.venue(venue, shape),
    sortKeyOf: () => VENUE_KEY,
    withAvailability: (details) => details,
    changeOf: (fields) => (fields.some((name) => PLACE.has(name)) ? 'time-or-place' : 'unseen'),
  }
}

function nameAndPacking<Item extends Packable<Item>>(
  table: TableOf<Item>,
  further: readonly FurtherField[],
): Pick<ListKind<Item>, 'name' | 'packing' | 'isPacked' | 'differences'> {
  const packing = packingOf<Item>(table, further)
  return {
    name: table.list,
    packing,
    isPacked(id, text) {
      try {
        return packing.pack(packing.unpack(id, text)) === text
      } catch {
        return false
      }
    },
    differences(id, before, after) {
      const [left, right] = [packing.unpack(id, before), packing.unpack(id, after)]
      const own = [...table.fields, LINKS].map(({ name }) => ({ name, was: left[name], is: right[name] }))
      const others = further.map(({ name }, at) => ({ name, was: left.Further?.[at], is: right.Further?.[at] }))
      return [...own, ...others].flatMap(({ name, was, is }) =>
        was === is || JSON.stringify(was) === JSON.stringify(is) ? [] : [name],
      )
    },
  }
}
