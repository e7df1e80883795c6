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

/** Packs one kind of record as a single text: `unpack(id, pack(record))` equals the record. */
export interface Packing<Item> {
  pack(record: Item): string
  unpack(id: Guid, packed: string): Item
}

// A packed record is its fields in the table's order without the id, then its further fields, then its links, joined by
// NUL. A NUL or escape within a text is escaped; null is the escape alone.
const SEPARATOR = '\u0000'
const ESCAPE = '\u0001'
const TO_ESCAPE = /[\u0000\u0001]/
const ESCAPED = /\u0001[ab]/
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
      return texts.join(SEPARATOR)
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

/** Restores the brand of a text that was canonical when it was packed. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller says which brand it is
function trusted<Branded extends string>(text: string | undefined): Branded {
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- the one place
  return (text ?? '') as Branded
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
interface SortKey {
  readonly start: Tick
  /** The later of Start and Finish, with full precision (contract §4.1). */
  readonly end: Tick
  readonly venue: Guid
  /** The tags in packed form, for `unpackTags`. Equal texts are equal tags. */
  readonly tags: string
  readonly isAvailable: boolean
}

const VENUE = textsBefore('VenueId')
const AVAILABLE = textsBefore('TicketsAvailable')
const START = textsBefore('Start')
const FINISH = textsBefore('Finish')
const TAGS = textsBefore('Tags')

/** Returns how many texts precede a field's own in any packed event. */
function textsBefore(name: keyof EventRecord): number {
  const before = EVENTS.fields.slice(
    0,
    EVENTS.fields.findIndex((field) => field.name === name),
  )
  if (before.some(({ type }) => type === 'tags'))
    throw new Error(`${name} does not follow the same number of texts in each event`)
  return before.filter((field) => field.name !== 'Id').length
}

const CAPACITY = textsBefore('TicketCapacity')
const PRICE = textsBefore('Price')

/** Returns what a change of an event means for calendars, which show neither tickets nor prices. */
function changeOfEvent(before: string, after: string): ChangeOfRecord {
  const [was, is] = [seenParts(before), seenParts(after)]
  if (was.venue !== is.venue || was.times !== is.times) return 'time-or-place'
  return was.others === is.others ? 'unseen' : 'text'
}

function seenParts(packed: string): Readonly<Record<'venue' | 'times' | 'others', string>> {
  const starts = startsOf(packed, TAGS)
  const between = (from: number, to: number): string => packed.slice(starts[from], starts[to])
  return {
    venue: between(VENUE, VENUE + 1),
    times: between(START, FINISH + 1),
    others: between(0, VENUE) + between(VENUE + 1, CAPACITY) + between(PRICE + 1, TAGS) + packed.slice(starts[TAGS]),
  }
}

/** Returns where the first texts of a packed record begin. */
function startsOf(packed: string, most: number): readonly number[] {
  const starts = [0]
  while (starts.length <= most) starts.push(afterSeparator(packed, starts.at(-1) ?? 0))
  return starts
}

/** How many texts of a packed venue calendars show: its name, its address and its coordinates. */
const SHOWN_OF_VENUE = VENUES.fields.filter(({ name }) => name !== 'Id').findIndex(({ name }) => name === 'Telephone')

function changeOfVenue(before: string, after: string): ChangeOfRecord {
  return placeIn(before) === placeIn(after) ? 'unseen' : 'time-or-place'
}

function placeIn(venue: string): string {
  return venue.slice(0, startsOf(venue, SHOWN_OF_VENUE)[SHOWN_OF_VENUE])
}

/** Where the texts of a packed event begin: those up to the number of its tags, and the first tag. */
const begins = new Uint32Array(TAGS + 2)

/**
 * Reads the sort key of a packed event and skips its other fields: a list's index does this for each change.
 * @param isOff whether the event is cancelled according to its text from `after` on, which follows its tags
 */
export function readSortKey(packed: string, isOff?: (packed: string, after: number) => boolean): SortKey {
  for (let text = 0, at = 0; text <= TAGS + 1; text++, at = afterSeparator(packed, at)) begins[text] = at
  let end = begins[TAGS + 1] ?? 0
  for (let left = end === 0 ? 0 : Number(textAt(packed, TAGS)); left > 0; left--) end = afterSeparator(packed, end)
  const start = tickOfDateTime(trusted(textAt(packed, START)))
  const finish = tickOfDateTime(trusted(textAt(packed, FINISH)))
  return {
    start,
    end: isBefore(start, finish) ? finish : start,
    venue: trusted(textAt(packed, VENUE)),
    tags: packed.slice(begins[TAGS], end === 0 ? packed.length : end - 1),
    isAvailable: Number(textAt(packed, AVAILABLE)) > 0 && isOff?.(packed, end) !== true,
  }
}

/** Returns a function that tells cancelled events for `readSortKey`; `undefined` if no further field tells them. */
function cancelledIn(further: readonly FurtherField[]): Parameters<typeof readSortKey>[1] {
  const at = statusPosition(further)
  if (at === -1) return undefined
  const before = further.slice(0, at).map(({ type }) => type)
  return (packed, after) => {
    if (after === 0) return false
    let begin = after
    for (const type of before) {
      const isList = type === 'texts' && !packed.startsWith(NULL + SEPARATOR, begin)
      let texts = isList ? 1 + Number(packed.slice(begin, packed.indexOf(SEPARATOR, begin))) : 1
      for (; texts > 0; texts--) begin = afterSeparator(packed, begin)
    }
    const end = packed.indexOf(SEPARATOR, begin)
    return statusSaid(packed.slice(begin, end === -1 ? packed.length : end)) === 'cancelled'
  }
}

export function readVenueId(packed: string): Guid {
  return trusted(textAfter(packed, VENUE))
}

export function readStart(packed: string): Tick {
  return tickOfDateTime(trusted(textAfter(packed, START)))
}

export function unpackTags(packed: string): readonly string[] {
  return new Texts(packed).list()
}

function textAt(packed: string, text: number): string {
  return packed.slice(begins[text], (begins[text + 1] ?? 0) - 1)
}

/** Returns the text after `count` others, which is not the last one. */
function textAfter(packed: string, count: number): string {
  let at = 0
  for (let left = count; left > 0; left--) at = afterSeparator(packed, at)
  return packed.slice(at, packed.indexOf(SEPARATOR, at))
}

/** Returns the position after the next separator; 0 if there is none. */
function afterSeparator(packed: string, from: number): number {
  return packed.indexOf(SEPARATOR, from) + 1
}

/** The properties of a list that depend on its kind of record. */
export interface ListKind<Item> {
  readonly name: ListName
  readonly packing: Packing<Item>
  readonly format: (item: Item, shape: Shape) => string
  /** Reads parts of a packed record without unpacking it. */
  readonly packed: PackedReader
  /** Returns `details` with the availability of another record; unchanged if the kind has no availability. */
  readonly withAvailability: (details: Item, availability: Availability | Item) => Item
  /** Returns true if `text` is a valid packed record. */
  readonly isPacked: (id: Guid, text: string) => boolean
  /** Returns the names of the fields in which two packed records differ. */
  readonly differences: (id: Guid, before: string, after: string) => readonly string[]
}

interface PackedReader {
  readonly sortKeyOf: (packed: string) => SortKey
  readonly startOf: (packed: string) => Tick
  readonly changeBetween: (before: string, after: string) => ChangeOfRecord
  /** Returns the id of the event's venue; the empty GUID if there is none. */
  readonly venueIdOf: (packed: string) => Guid
  /** Returns the tags of a sort key. */
  readonly tagsOf: (tags: string) => readonly string[]
}

const ALWAYS: Tick = { ms: 0, ticks: 0 }
const NEVER: Tick = { ms: Infinity, ticks: 0 }
/** Venues are ordered by id alone and never end. */
const VENUE_KEY: SortKey = { start: ALWAYS, end: NEVER, venue: EMPTY_GUID, tags: '0', isAvailable: false }

interface Availability {
  readonly TicketCapacity: number
  readonly TicketsAvailable: number
}

export function eventKind(formatter: Formatter): ListKind<EventRecord> {
  const isOff = cancelledIn(formatter.further.events)
  return {
    ...nameAndPacking<EventRecord>(EVENTS, formatter.further.events),
    packed: {
      sortKeyOf: (packed) => readSortKey(packed, isOff),
      startOf: readStart,
      changeBetween: changeOfEvent,
      venueIdOf: readVenueId,
      tagsOf: unpackTags,
    },
    format: (event, shape) => formatter.event(event, shape),
    withAvailability: (details, { TicketCapacity, TicketsAvailable }) => ({
      ...details,
      TicketCapacity,
      TicketsAvailable,
    }),
  }
}

export function venueKind(formatter: Formatter): ListKind<VenueRecord> {
  return {
    ...nameAndPacking<VenueRecord>(VENUES, formatter.further.venues),
    packed: {
      sortKeyOf: () => VENUE_KEY,
      startOf: () => ALWAYS,
      changeBetween: changeOfVenue,
      venueIdOf: () => EMPTY_GUID,
      tagsOf: unpackTags,
    },
    format: (venue, shape) => formatter.venue(venue, shape),
    withAvailability: (details) => details,
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
        JSON.stringify(was) === JSON.stringify(is) ? [] : [name],
      )
    },
  }
}
