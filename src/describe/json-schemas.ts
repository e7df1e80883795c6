import { EVENTS } from '../domain/event.ts'
import type { Field, FieldType, ListName, RecordTable } from '../domain/field.ts'
import { VENUES } from '../domain/venue.ts'
import type { FormatSettings } from '../formats/format.ts'
import { REFUSALS } from '../http/problem.ts'
import type { FurtherField, FurtherFields, FurtherType, FurtherValue } from '../domain/further.ts'
import { type Zone, showInstant } from '../domain/zone.ts'
import { parseDateTimeText } from '../domain/date-time.ts'
import { jsonString } from '../domain/escape.ts'

/** The schema of each field type, in both JSON shapes (contract §2, §3). */
const TYPES: Readonly<Record<FieldType, JsonObject>> = {
  guid: { type: 'string', format: 'uuid', pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' },
  text: { type: ['string', 'null'] },
  int32: { type: 'integer', format: 'int32', minimum: -2_147_483_648, maximum: 2_147_483_647 },
  decimal: { type: 'number' },
  'date-time': {
    type: 'string',
    format: 'date-time',
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,7})?[+-]\\d{2}:\\d{2}$',
  },
  tags: { type: 'array', items: { type: 'string' } },
}

/** Further notes on each type, appended to the field's description. */
export const ADVICE: Readonly<Record<FieldType, string>> = {
  guid: '',
  text: ' Null if unknown.',
  int32: ' 0 if unknown.',
  decimal: ' Up to 28 digits: parse it as a decimal (12.50 stays 12.50), not as a float. 0.0 if unknown.',
  'date-time': ' Always with a numeric UTC offset, never Z.',
  tags: ' Empty if there are none.',
}

export function referTo(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` }
}

/** Returns an object schema with these members, all required. */
function objectOf(description: string, properties: JsonObject) {
  return { type: 'object', description, required: Object.keys(properties), properties }
}

function fieldSchema({ type, description, example }: Field): JsonObject {
  return { ...TYPES[type], description: description + ADVICE[type], examples: [new WrittenJson(example)] }
}

/** What the schemas depend on, besides the tables. */
export interface SchemaSettings {
  readonly links: FormatSettings['links']
  readonly lists: boolean
  readonly changes: boolean
  /** The schemas of the further fields of each list, by name, in the order of their declaration. */
  readonly further: Readonly<Record<ListName, JsonObject>>
}

function fieldsOf({ list, fields }: RecordTable, further: SchemaSettings['further']): JsonObject {
  return { ...Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)])), ...further[list] }
}

/** The links that Marquee itself adds to each record. */
export const OWN_RELS = { event: ['self', 'venue'], venue: ['self'] } as const

/** Returns the relations that every record of a kind has (contract §2.1). */
function relsOf(kind: RecordTable['kind'], links: FormatSettings['links']): readonly string[] {
  // A link to a field's address is left out where the field is blank.
  const always = links[kind].filter(({ href }) => !href.includes('{+'))
  return [...new Set([...OWN_RELS[kind], ...always.map(({ rel }) => rel)])]
}

const HAL_LINKS: JsonObject = {
  oneOf: [referTo('HalLink'), { type: 'array', minItems: 2, items: referTo('HalLink') }],
}

function plainRecord(table: RecordTable, { links, further }: SchemaSettings): JsonObject {
  const rels = relsOf(table.kind, links)
  const list = { type: 'array', minItems: rels.length, items: referTo('Link') }
  return objectOf(`The ${table.kind} as plain JSON.`, {
    ...fieldsOf(table, further),
    _links: { ...list, description: `The links: ${rels.join(', ')}, and possibly others.` },
    _embedded: { type: 'null' },
  })
}

function halRecord(table: RecordTable, { links, further }: SchemaSettings): JsonObject {
  const rels = relsOf(table.kind, links)
  return objectOf(`The ${table.kind} as HAL JSON.`, {
    ...fieldsOf(table, further),
    _links: {
      type: 'object',
      description: 'The links by relation; an array if a relation has several.',
      required: rels,
      // `fromEntries`, because an assignment would lose a relation named `__proto__`.
      properties: Object.fromEntries(rels.map((rel) => [rel, HAL_LINKS])),
      additionalProperties: HAL_LINKS,
    },
  })
}

/** The names of the schemas of each kind of record, which are also the type names in docs/marquee.d.ts. */
export const NAMES = {
  events: { record: 'Event', hal: 'HalEvent', page: 'EventPage', halPage: 'HalEventPage' },
  venues: { record: 'Venue', hal: 'HalVenue', page: 'VenuePage', halPage: 'HalVenuePage' },
} as const

function arrayOf(name: string, description: string): JsonObject {
  return { type: 'array', description, items: referTo(name) }
}

/** Adds optional members to an object schema. */
function withOptional(
  schema: JsonObject & { readonly properties: JsonObject },
  optional: JsonObject | null,
): JsonObject {
  return optional === null ? { ...schema } : { ...schema, properties: { ...schema.properties, ...optional } }
}

function pagesOf({ list, kind, member }: RecordTable): JsonObject {
  const { record, hal, page, halPage } = NAMES[list]
  // The venues of the page's events, if the query asks for them (contract §4.4).
  const included = list === 'events' ? NAMES.venues : null
  const description = 'The published venues of the events of this page; present only with `include=venue`.'
  const halLinks = { self: referTo('HalLink'), next: referTo('HalLink') }
  return {
    [page]: withOptional(
      objectOf(`A page of ${list} as plain JSON. The link \`next\` is present if there are more.`, {
        [member]: { type: 'array', items: referTo(record) },
        _links: { type: 'array', minItems: 1, maxItems: 2, items: referTo('Link') },
        _embedded: { type: 'null' },
      }),
      included && { [VENUES.member]: arrayOf(included.record, description) },
    ),
    [halPage]: objectOf(`A page of ${list} as HAL JSON. The link \`next\` is present if there are more.`, {
      _links: { type: 'object', required: ['self'], properties: halLinks },
      _embedded: withOptional(
        objectOf(`The ${kind}s of this page.`, { [kind]: { type: 'array', items: referTo(hal) } }),
        included && { [VENUES.kind]: arrayOf(included.hal, description) },
      ),
    }),
  }
}

const COUNTED_TAG = {
  Tag: { type: 'string', description: 'The tag, in its most frequent spelling.' },
  Count: { type: 'integer', minimum: 1, description: 'The number of events that have it, in any spelling.' },
} satisfies JsonObject

const TAG_LISTS: JsonObject = {
  TagList: objectOf('The tags of what is on, as plain JSON.', {
    Tags: { type: 'array', items: objectOf('A tag.', COUNTED_TAG) },
    _links: { type: 'array', minItems: 1, maxItems: 1, items: referTo('Link') },
    _embedded: { type: 'null' },
  }),
  HalTagList: objectOf('The tags of what is on, as HAL JSON.', {
    _links: objectOf('The links by relation.', { self: referTo('HalLink') }),
    _embedded: objectOf('The tags.', {
      tag: {
        type: 'array',
        items: objectOf('A tag, with a link to its events.', {
          ...COUNTED_TAG,
          _links: objectOf('The links by relation.', { events: referTo('HalLink') }),
        }),
      },
    }),
  }),
}

const CHANGE = {
  Kind: { type: 'string', enum: ['event', 'venue'] },
  Id: TYPES.guid,
  State: {
    type: 'string',
    enum: ['updated', 'removed'],
    description: 'Whether the record is published now. One that was removed may come back as updated.',
  },
} satisfies JsonObject

const MORE = { type: 'boolean', description: 'True if there are more changes already.' } satisfies JsonObject

const CHANGE_LISTS: JsonObject = {
  ChangeList: objectOf('Records that have changed, each once, as plain JSON.', {
    Items: {
      type: 'array',
      items: objectOf('A record that has changed.', {
        ...CHANGE,
        Href: { type: 'string', description: 'The record.' },
      }),
    },
    Next: { type: 'string', description: 'Where the next changes are.' },
    More: MORE,
  }),
  HalChangeList: objectOf('Records that have changed, each once, as HAL JSON.', {
    More: MORE,
    _links: objectOf('The links by relation.', { next: referTo('HalLink') }),
    _embedded: objectOf('The changes.', {
      change: {
        type: 'array',
        items: objectOf('A record that has changed.', {
          ...CHANGE,
          _links: objectOf('The links by relation.', { self: referTo('HalLink') }),
        }),
      },
    }),
  }),
}

const LINK = objectOf('A link. In plain JSON and XML, `~/` stands for the base path.', {
  Rel: { type: 'string', description: 'The relation of the link.' },
  Href: { type: 'string', description: 'The target of the link.' },
  Title: { type: ['string', 'null'], description: 'The title for people.' },
  IsTemplated: { type: 'boolean', description: 'True if Href contains {…} to fill in.' },
})

const HAL_LINK: JsonObject = {
  type: 'object',
  description: 'A HAL link.',
  required: ['href'],
  properties: {
    href: { type: 'string', description: "The target, from the host's root." },
    templated: { type: 'boolean', const: true, description: 'Present if href contains {…} to fill in (RFC 6570).' },
    title: { type: 'string', description: 'The title for people.' },
  },
}

/** Returns the values that problems may have. */
function each<Value extends Json>(of: (shape: (typeof REFUSALS)[keyof typeof REFUSALS]) => Value): readonly Value[] {
  return [...new Set(Object.values(REFUSALS).map(of))]
}

const PROBLEM: JsonObject = {
  type: 'object',
  description: 'A problem (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'instance'],
  properties: {
    type: { type: 'string', const: 'about:blank' },
    title: { type: 'string', enum: each(({ title }) => title), description: 'The status in words.' },
    status: { type: 'integer', enum: each(({ status }) => status) },
    detail: { type: 'string', description: 'What the caller can do.' },
    instance: { type: 'string', description: 'The requested path.' },
    traceId: {
      type: 'string',
      pattern: '^[0-9a-f]{32}$',
      description: 'Present if the request had a valid `traceparent`.',
    },
  },
}

export function jsonSchemas(settings: SchemaSettings): JsonObject {
  return {
    ...Object.fromEntries(
      [EVENTS, VENUES].flatMap((table) => [
        [NAMES[table.list].record, plainRecord(table, settings)],
        [NAMES[table.list].hal, halRecord(table, settings)],
      ]),
    ),
    ...(settings.changes ? CHANGE_LISTS : {}),
    ...(settings.lists ? { ...pagesOf(EVENTS), ...pagesOf(VENUES), ...TAG_LISTS } : {}),
    Link: LINK,
    HalLink: HAL_LINK,
    Problem: PROBLEM,
  }
}

/** The schema of each type of further field, in both JSON shapes. Each may be null (contract §7). */
const FURTHER_SCHEMAS: Readonly<Record<FurtherType, JsonObject>> = {
  text: TYPES.text,
  url: { ...TYPES.text, format: 'uri' },
  integer: { ...TYPES.int32, type: ['integer', 'null'] },
  decimal: { type: ['number', 'null'] },
  'date-time': { ...TYPES['date-time'], type: ['string', 'null'] },
  flag: { type: ['boolean', 'null'] },
  texts: { type: ['array', 'null'], items: { type: 'string' } },
}

const EXAMPLES: Readonly<Record<FurtherType, Exclude<FurtherValue, null>>> = {
  text: 'Text of the organisation',
  url: 'https://www.example.org/tickets/117',
  integer: 12,
  decimal: '2.50',
  'date-time': '2036-05-09T18:00:00+00:00',
  flag: true,
  texts: ['One', 'Two'],
}

/** The further fields that have a meaning for feeds, if they are texts (contract §7). */
const MEANINGS: Readonly<Record<string, readonly [description: string, example: string]>> = {
  Description: ['A description of the event.', 'Songs of the sea, and of those who stayed ashore.'],
  Image: ['The address of a picture.', 'https://www.example.org/pictures/rope-and-reel.jpg'],
  Status: ['scheduled, cancelled, postponed or rescheduled; any other text means nothing.', 'scheduled'],
  Organizer: ['The organization that holds the event.', 'Lantern Hall Trust'],
  Performer: ['Who performs.', 'The Rope Walkers'],
}

/** A further field with its example. */
interface DescribedFurther extends FurtherField {
  readonly description: string
  /** A value as JSON. */
  readonly example: string
  /** The same value in a record. */
  readonly value: FurtherValue
}

/** Describes the further fields of a list, in the order of their declaration. */
export function describedFurther(
  { list }: RecordTable,
  further: FurtherFields,
  zone: Zone,
): readonly DescribedFurther[] {
  return further[list].map(({ name, type }) => {
    const [description, text] = (list === 'events' && type === 'text' ? MEANINGS[name] : undefined) ?? []
    const value = text ?? (type === 'date-time' ? shownIn(zone) : EXAMPLES[type])
    return {
      name,
      type,
      description: `${description ?? 'A field that this organisation has added.'} Null if unknown.`,
      example: type === 'decimal' ? String(value) : JSON.stringify(value),
      value,
    }
  })
}

function shownIn(zone: Zone): string {
  const read = parseDateTimeText(String(EXAMPLES['date-time']))
  const shown = read?.kind === 'instant' ? showInstant(read.instant, zone) : null
  if (shown === null) throw new Error('the example of a date-time is not a date-time')
  return shown
}

/** Returns the schemas of the further fields of a list, by name. */
export function furtherSchemas(table: RecordTable, further: FurtherFields, zone: Zone): JsonObject {
  return Object.fromEntries(
    describedFurther(table, further, zone).map(({ name, type, description, example }) => [
      name,
      { ...FURTHER_SCHEMAS[type], description, examples: [new WrittenJson(example)] },
    ]),
  )
}

/** Finished JSON text. A number in it keeps its digits. */
export class WrittenJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Json = string | number | boolean | null | WrittenJson | readonly Json[] | JsonObject

export interface JsonObject {
  readonly [name: string]: Json
}

/** Returns the JSON text of a value, on one line, or indented by `indent` per level. */
export function jsonText(value: Json, indent = '', before = ''): string {
  if (value instanceof WrittenJson) return value.text
  if (typeof value === 'string') return jsonString(value)
  if (value === null || typeof value !== 'object') return String(value)
  const inside = before + indent
  const members = isArray(value)
    ? value.map((item) => jsonText(item, indent, inside))
    : Object.entries(value).map(
        ([name, item]) => `${jsonString(name)}:${indent === '' ? '' : ' '}${jsonText(item, indent, inside)}`,
      )
  const [open, close] = isArray(value) ? '[]' : '{}'
  if (members.length === 0 || indent === '') return `${open}${members.join(',')}${close}`
  return `${open}\n${members.map((member) => inside + member).join(',\n')}\n${before}${close}`
}

function isArray(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value)
}
