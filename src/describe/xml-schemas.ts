import { EVENTS } from '../domain/event.ts'
import type { FieldType, ListName, RecordTable } from '../domain/field.ts'
import { VENUES } from '../domain/venue.ts'
import { PAGE_WORDS } from '../formats/page-frame.ts'
import { ARRAYS_NAMESPACE, HAL_NAMESPACE, namespaceOf, ROOTS } from '../formats/plain-xml.ts'
import { type DescribedFurther, furtherSchema } from './further-schemas.ts'
import { ADVICE, fieldSchema, NAMES, objectOf, referTo } from './json-schemas.ts'
import type { JsonObject } from './json-text.ts'

const TEXT: JsonObject = { type: 'string' }
const NULLABLE: JsonObject = { type: ['string', 'null'] }

/** Marks a member of WebApi.Hal's base class. */
function ofBase(schema: JsonObject, more: JsonObject = {}): JsonObject {
  return { ...schema, xml: { namespace: HAL_NAMESPACE, ...more } }
}

/** Returns the schema of DataContractSerializer's XML. OpenAPI cannot express `i:nil`, which stands for null. */
function plainXmlRecord(
  { kind, fields }: RecordTable,
  namespace: string,
  further: readonly DescribedFurther[],
): JsonObject {
  const link = {
    type: 'object',
    xml: { name: 'Link', namespace: HAL_NAMESPACE },
    required: ['Href', 'Rel', 'Title'],
    properties: { Href: ofBase(TEXT), Rel: ofBase(TEXT), Title: ofBase(NULLABLE) },
  }
  const tags = { items: { ...TEXT, xml: { name: 'string', namespace: ARRAYS_NAMESPACE, prefix: 'd2p1' } } }
  const ordered = fields.toSorted((left, right) => (left.name < right.name ? -1 : 1))
  const members = ordered.map((field): readonly [string, JsonObject] => {
    const schema = fieldSchema(field)
    return [field.name, field.type === 'tags' ? { ...schema, ...tags, xml: { wrapped: true } } : schema]
  })
  const others = further.map((field): readonly [string, JsonObject] => {
    const schema = furtherSchema(field)
    return [field.name, field.type === 'texts' ? { ...schema, ...tags, xml: { wrapped: true } } : schema]
  })
  const properties = {
    Href: ofBase(TEXT),
    LinkName: ofBase({ ...TEXT, const: kind }),
    Links: ofBase({ type: 'array', items: link }, { wrapped: true }),
    Rel: ofBase({ ...TEXT, const: kind }),
    ...Object.fromEntries([...members, ...others]),
  }
  const described = objectOf(
    `The ${kind} as DataContractSerializer writes it, with its elements in this order. Null is \`i:nil="true"\`.`,
    properties,
  )
  return { ...described, xml: { name: ROOTS[kind], namespace: namespaceOf(namespace) } }
}

const WALL_CLOCK: JsonObject = {
  type: 'string',
  pattern: '^\\d{1,2}/\\d{1,2}/\\d{4} \\d{1,2}:\\d{2}:\\d{2} [AP]M$',
  examples: ['7/12/2026 7:30:00 PM'],
}

/** The field types whose HAL XML differs from JSON: HAL XML has no null. */
const HAL_TYPES: Partial<Record<FieldType, JsonObject>> = { text: TEXT, 'date-time': WALL_CLOCK }
const HAL_ADVICE: Readonly<Record<FieldType, string>> = {
  ...ADVICE,
  text: ' Empty if unknown.',
  'date-time': ' The wall clock time in the zone of the service, without an offset.',
}

function attribute(schema: JsonObject): JsonObject {
  return { ...schema, xml: { attribute: true } }
}

function halXmlRecord({ kind, fields }: RecordTable, further: readonly DescribedFurther[]): JsonObject {
  const members = fields
    .filter(({ type }) => type !== 'tags')
    .map((field): readonly [string, JsonObject] => {
      const { type, description } = field
      const own = HAL_TYPES[type]
      if (own === undefined) return [field.name, fieldSchema(field)]
      return [field.name, { ...own, description: description + HAL_ADVICE[type] }]
    })
  // HAL XML has no null: what is unknown is an empty element.
  const others = further
    .filter(({ type }) => type !== 'texts')
    .map(({ name, description }): readonly [string, JsonObject] => [name, { ...TEXT, description }])
  return resourceOf(`The ${kind} as HAL XML, with its elements in this order and without tags.`, {
    rel: attribute({ ...TEXT, const: kind }),
    href: attribute(TEXT),
    name: attribute({ ...TEXT, const: kind }),
    ...Object.fromEntries([...members, ...others]),
  })
}

const HAL_XML_LINKS: JsonObject = {
  type: 'array',
  description: 'The links except `self`.',
  items: {
    type: 'object',
    xml: { name: 'link' },
    required: ['rel', 'href'],
    properties: { rel: attribute(TEXT), href: attribute(TEXT), title: attribute(TEXT) },
  },
}

/** Returns the schema of a `resource` element. Its links are optional. */
function resourceOf(description: string, members: JsonObject): JsonObject {
  const described = objectOf(description, members)
  return { ...described, properties: { ...members, link: HAL_XML_LINKS }, xml: { name: 'resource' } }
}

function xmlPages({ list }: RecordTable, namespace: string): JsonObject {
  const { record, hal, page, halPage } = NAMES[list]
  const { root } = PAGE_WORDS[list]
  const described = resourceOf(`A page of ${list} as HAL XML. The link \`next\` is present if there are more.`, {
    rel: attribute({ ...TEXT, const: list }),
    href: attribute(TEXT),
    name: attribute({ ...TEXT, const: list }),
    resource: {
      type: 'array',
      // With `include=venue` the venues follow the events (contract §4.4).
      items:
        list === 'events' ? { anyOf: [referTo(`${hal}Xml`), referTo(`${NAMES.venues.hal}Xml`)] } : referTo(`${hal}Xml`),
    },
  })
  return {
    [`${page}Xml`]: {
      type: 'array',
      description: `A page of ${list}, as .NET reads a list of them. The Link header has the next page.`,
      xml: { name: root, namespace: namespaceOf(namespace), wrapped: true },
      items: referTo(`${record}Xml`),
    },
    [`${halPage}Xml`]: described,
  }
}

/** Returns the schemas of all XML except problems, which have an example instead. */
export function xmlSchemas(
  namespace: string,
  hasLists: boolean,
  further: Readonly<Record<ListName, readonly DescribedFurther[]>>,
): JsonObject {
  return Object.fromEntries(
    [EVENTS, VENUES].flatMap((table) => [
      [`${NAMES[table.list].record}Xml`, plainXmlRecord(table, namespace, further[table.list])],
      [`${NAMES[table.list].hal}Xml`, halXmlRecord(table, further[table.list])],
      ...(hasLists ? Object.entries(xmlPages(table, namespace)) : []),
    ]),
  )
}
