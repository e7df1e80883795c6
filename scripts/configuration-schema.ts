import { KEYS } from '../src/config/configuration.ts'
import type { AnyKey, Keys, ValueSchema } from '../src/config/key.ts'

/**
 * The JSON Schema of marquee.yaml, for completion, descriptions and warnings in editors. Draft 7: VS Code and JetBrains
 * know it best. It refuses nothing that Marquee accepts. What only Marquee can know, such as whether a variable is set,
 * is left to `check`.
 */
export function configurationSchema(): ValueSchema {
  const whole = sectionOf(KEYS)
  const counts = new Map<string, number>()
  count(whole, counts)
  const shared = new Map<string, { readonly name: string; readonly schema: ValueSchema }>()
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'marquee.yaml',
    description: 'The configuration of Marquee. `./marquee check` reports what else is wrong.',
    ...withShared(whole, counts, shared),
    // A file that sets only where to listen serves the sample.
    required: [],
    anyOf: [{ required: ['crm'] }, { minProperties: 1, propertyNames: { enum: ['listen', 'operations'] } }],
    definitions: {
      ...Object.fromEntries(shared.values().map(({ name, schema }) => [name, schema])),
      reference: {
        description: 'A value from the environment, or from a file. Secrets must be given in one of these two ways.',
        type: 'object',
        minProperties: 1,
        maxProperties: 1,
        properties: {
          env: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$', description: 'An environment variable.' },
          file: { type: 'string', minLength: 1, description: 'A file whose text is the value.' },
        },
        additionalProperties: false,
      },
    },
  }
}

function schemaOf(key: AnyKey): ValueSchema {
  const { schema, isNullable, written } = key.notes
  const given = withNull(schema === null ? insideOf(key) : schema, isNullable)
  const standard = written === undefined ? {} : { default: written }
  return { description: descriptionOf(key), ...standard, ...withMessage(given, key.notes.allowed) }
}

function insideOf({ notes: { inside } }: AnyKey): ValueSchema {
  if (inside?.kind === 'section') {
    const { keys, others } = inside
    const more =
      others === undefined ? {} : { additionalProperties: others.schema, propertyNames: { pattern: others.pattern } }
    return orEmpty({ ...sectionOf(keys), ...more }, keys)
  }
  if (inside?.kind === 'list') return { type: ['array', 'null'], items: schemaOf(inside.item) }
  if (inside === null) throw new Error('a key has neither a schema nor keys inside')
  const names = Object.keys(inside.kinds)
  const kinds = Object.entries(inside.kinds).map(([name, kind]) => ({
    if: { properties: { kind: { const: name } }, required: ['kind'] },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: schemaOf(kind),
  }))
  const kind = {
    description: `One of ${names.join(', ')}.`,
    anyOf: [{ enum: names }, { $ref: '#/definitions/reference' }],
  }
  return { type: 'object', properties: { kind }, required: ['kind'], allOf: kinds }
}

function sectionOf(keys: Keys): ValueSchema {
  const entries = Object.entries(keys)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, key]) => [name, schemaOf(key)])),
    required: entries.flatMap(([name, { notes }]) => (notes.fallback === null ? [name] : [])),
    additionalProperties: false,
  }
}

/** A section may be named and empty if none of its keys is required. */
function orEmpty(schema: ValueSchema, keys: Keys): ValueSchema {
  const isRequired = Object.values(keys).some(({ notes }) => notes.fallback === null)
  return isRequired ? schema : { ...schema, type: ['object', 'null'] }
}

function withNull(schema: ValueSchema, isNullable: boolean): ValueSchema {
  if (!isNullable) return schema
  return 'type' in schema ? { ...schema, type: ['object', 'null'] } : { anyOf: [schema, { type: 'null' }] }
}

/** VS Code shows this where a text does not match its pattern. */
function withMessage(schema: ValueSchema, allowed: string): ValueSchema {
  return 'anyOf' in schema ? { ...schema, errorMessage: `must be ${allowed}` } : schema
}

const SHORT = 100

function count(schema: ValueSchema, counts: Map<string, number>): void {
  const text = JSON.stringify(schema)
  const times = (counts.get(text) ?? 0) + 1
  counts.set(text, times)
  // What is inside of a shared one is there once.
  if (times === 1) withInner(schema, (inner) => (count(inner, counts), inner))
}

/** What stands in several places is a definition: written out, the fields of the lists fill half a megabyte. */
function withShared(
  schema: ValueSchema,
  counts: ReadonlyMap<string, number>,
  shared: Map<string, { readonly name: string; readonly schema: ValueSchema }>,
): ValueSchema {
  return withInner(schema, (inner) => {
    const text = JSON.stringify(inner)
    if (text.length < SHORT || (counts.get(text) ?? 0) < 2) return withShared(inner, counts, shared)
    const known = shared.get(text) ?? { name: `shared${shared.size + 1}`, schema: inner }
    if (!shared.has(text)) {
      shared.set(text, known)
      shared.set(text, { ...known, schema: withShared(inner, counts, shared) })
    }
    return { $ref: `#/definitions/${known.name}` }
  })
}

/** The schema with those inside it replaced. */
function withInner(schema: ValueSchema, replace: (inner: ValueSchema) => ValueSchema): ValueSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword === 'properties' && isSchema(value)) return [keyword, mapped(value, replace)]
      if (keyword === 'anyOf' || keyword === 'allOf') {
        return [keyword, Array.isArray(value) ? value.filter(isSchema).map(replace) : value]
      }
      const isInner = ['items', 'additionalProperties', 'if', 'then'].includes(keyword) && isSchema(value)
      return [keyword, isInner ? replace(value) : value]
    }),
  )
}

function mapped(
  properties: ValueSchema,
  replace: (inner: ValueSchema) => ValueSchema,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name, isSchema(value) ? replace(value) : value]),
  )
}

function isSchema(value: unknown): value is ValueSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function descriptionOf({ notes: { description, fallback, allowed, inside } }: AnyKey): string {
  const takes = inside === null ? ` Takes ${allowed}.` : ''
  return `${description}${takes}${fallback === null ? ' Required.' : inside === null ? ` Default: ${fallback}.` : ''}`.trim()
}
