import type { ListName } from '../domain/field.ts'
import { type ListParameter, type Listing, LIMITS, LIST_PARAMETERS, takenBy } from '../contract/endpoints.ts'
import type { JsonObject } from './json-schemas.ts'

const MOMENT: JsonObject = {
  type: 'string',
  pattern: '^\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}(?::\\d{2}(?:[.,]\\d{1,7})?)?(?:Z|[+-]\\d{2}(?::\\d{2})?))?$',
}

/** The common schema of all forms of an id (contract §1.1). */
const ID: JsonObject = { type: 'string', minLength: 1 }

interface ParameterNotes {
  readonly means: string
  readonly schema: JsonObject | ((listing: Listing) => JsonObject)
  readonly example?: string
}

/** The meaning of each list parameter (contract §4.1). The values it takes are in contract/endpoints.ts. */
const NOTES: Readonly<Record<ListParameter, ParameterNotes>> = {
  from: {
    means: 'Events that have not ended before this time. The default is now.',
    schema: MOMENT,
    example: '2036-05-01',
  },
  to: { means: 'Events that start before this time, or on or before this day.', schema: MOMENT, example: '2036-05-31' },
  venue: { means: 'Events at any of these venues.', schema: { type: 'array', items: ID } },
  tag: {
    means: 'Events with any of these tags, in any case.',
    schema: { type: 'array', items: { type: 'string', minLength: 1 } },
  },
  available: { means: 'Events with tickets left that are not cancelled.', schema: { type: 'string', enum: ['true'] } },
  limit: {
    means: 'The largest number of records on a page.',
    schema: (listing) => ({
      type: 'integer',
      minimum: 1,
      maximum: LIMITS[listing].most,
      default: LIMITS[listing].usual,
    }),
  },
  include: {
    means: 'Adds the venues of the page, each once. Not available as application/xml or text/xml.',
    schema: { type: 'string', enum: ['venue'] },
  },
  after: { means: 'The position after which the page begins.', schema: { type: 'string', minLength: 1 } },
}

/** Returns the parameters of a list, in the order of its links. */
export function listParameters(list: Listing): readonly JsonObject[] {
  return LIST_PARAMETERS[list].map((name) => {
    const { means, schema: schemaOf, example } = NOTES[name]
    const schema = typeof schemaOf === 'function' ? schemaOf(list) : schemaOf
    const exploded = schema['type'] === 'array' ? { style: 'form', explode: true } : {}
    const shown = example === undefined ? {} : { example }
    return {
      name,
      in: 'query',
      description: `${means} It takes ${takenBy(name, list)}.`,
      ...exploded,
      schema,
      ...shown,
    }
  })
}

export function idParameter(list: ListName, example: string): JsonObject {
  const forms = 'with hyphens, as 32 digits, or with hyphens in braces or parentheses'
  return {
    name: 'id',
    in: 'path',
    required: true,
    description: `The id of ${list === 'events' ? 'an event' : 'a venue'}: a GUID in any case, ${forms}.`,
    schema: ID,
    example,
  }
}

/** The only request header that changes an answer and that OpenAPI does not express by media types, as it does Accept. */
export const IF_NONE_MATCH: JsonObject = {
  name: 'If-None-Match',
  in: 'header',
  description: 'ETags the client has: the answer is 304 if one of them is current.',
  schema: { type: 'string' },
}

/** The parameters of changes. */
export const CHANGE_PARAMETERS: readonly JsonObject[] = [
  {
    name: 'since',
    in: 'query',
    description:
      'The position in the link to the next changes. Without it, the answer has no changes, only a position.',
    schema: { type: 'string', minLength: 1 },
  },
  {
    name: 'wait',
    in: 'query',
    description: 'How long the answer may wait for a change, in seconds: 60s at most.',
    schema: { type: 'string', pattern: '^[0-9]{1,2}s$' },
    example: '30s',
  },
]
