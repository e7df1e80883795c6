import { type ListName, type Field, type RecordOf, type RecordTable, LINKS } from '../domain/field.ts'
import { type Shape, MEDIA_TYPES, SHAPES, shapeOf } from '../formats/media-types.ts'
import { COMMON, ERROR_MAX_AGE_S } from '../contract/endpoints.ts'
import { type Refusal, problemJson, problemXml, REFUSALS } from '../http/problem.ts'
import { type JsonObject, NAMES, referTo, describedFurther, WrittenJson } from './json-schemas.ts'
import { parseDateTimeText } from '../domain/date-time.ts'
import { EVENTS } from '../domain/event.ts'
import type { Extended } from '../domain/further.ts'
import { parseGuid } from '../domain/guid.ts'
import { parseDecimal } from '../domain/number.ts'
import { unreachable } from '../domain/unreachable.ts'
import { VENUES } from '../domain/venue.ts'
import { type Zone, showInstant } from '../domain/zone.ts'
import type { Formatter } from '../formats/format.ts'

type Member = readonly [string, JsonObject]

function textHeader(description: string, more: JsonObject = {}): JsonObject {
  return { description, schema: { type: 'string', ...more } }
}

/** Returns every header field of an answer, by its name in `components.headers`. */
export function headerComponents(maximumAgeS: number): JsonObject {
  const common = Object.entries(COMMON).map(([name, value]): Member => [
    name,
    textHeader('On every answer.', { const: value }),
  ])
  const fresh = maximumAgeS === 0 ? 'no-cache' : `public, max-age=N, where N and Age add up to ${maximumAgeS} s`
  const usually = maximumAgeS === 0 ? 'no-cache' : `max-age=N, ${Math.min(ERROR_MAX_AGE_S, maximumAgeS)} at most`
  return {
    ETag: textHeader('A strong ETag: it changes exactly when the bytes change.', { pattern: '^"[0-9a-f]{16}"$' }),
    Age: { description: 'The age of the data in seconds.', schema: { type: 'integer', minimum: 0 } },
    CacheControl: textHeader(`How long the answer may be cached: ${fresh}.`),
    CacheControlOfProblem: textHeader(`${usually}; no-store on 5xx.`),
    CacheControlOfDescription: textHeader('How long the answer may be cached.', { const: 'public, max-age=300' }),
    ContentLength: { description: 'The length of the body in bytes.', schema: { type: 'integer', minimum: 0 } },
    RetryAfter: {
      description: 'The number of seconds after which to try again.',
      schema: { type: 'integer', minimum: 1 },
    },
    Link: textHeader('If there are more: `<…>; rel="next"`, the path of the next page.'),
    ContentSecurityPolicy: textHeader('Allows no content from other origins.'),
    ...Object.fromEntries(common),
  }
}

/** Returns references to header components, by header name. */
export function headersOf(named: Readonly<Record<string, string>>): JsonObject {
  const all = { ...named, ...Object.fromEntries(Object.keys(COMMON).map((name) => [name, name])) }
  return Object.fromEntries(
    Object.entries(all).map(([name, component]) => [name, { $ref: `#/components/headers/${component}` }]),
  )
}

const RECORD_HEADERS = { ETag: 'ETag', Age: 'Age', 'Cache-Control': 'CacheControl' }

function exampleName(list: ListName, isPage: boolean, shape: Shape): string {
  return `${isPage ? NAMES[list].page : NAMES[list].record}-${shape}`
}

/** Returns the sample's event and venue in each shape, and a page of each if lists are on. */
export function exampleComponents(lists: boolean, examples: Examples): JsonObject {
  const members = (['events', 'venues'] as const).flatMap((list) =>
    (lists ? [false, true] : [false]).flatMap((isPage) =>
      SHAPES.map((shape): Member => {
        const text = isPage ? examples.page(list, shape) : examples.record(list, shape)
        const isJson = shape === 'json' || shape === 'hal-json'
        return [exampleName(list, isPage, shape), { value: isJson ? new WrittenJson(text) : text }]
      }),
    ),
  )
  return Object.fromEntries(members)
}

/** Returns a 200 with the headers of a record. */
export function foundWith(description: string, content: JsonObject, isPage = false): JsonObject {
  const more = isPage ? { Link: 'Link' } : {}
  return { description, headers: headersOf({ ...RECORD_HEADERS, ...more, 'Content-Length': 'ContentLength' }), content }
}

/** Returns the 200 of a record or of a page, in all media types. */
export function found(list: ListName, isPage: boolean, further: JsonObject): JsonObject {
  const { record, hal, page, halPage } = NAMES[list]
  const xml = { type: 'string' }
  const schemas: Readonly<Record<Shape, JsonObject>> = {
    json: referTo(isPage ? page : record),
    xml,
    'hal-json': referTo(isPage ? halPage : hal),
    'hal-xml': xml,
  }
  const content = MEDIA_TYPES.map((mediaType): Member => {
    const shape = shapeOf[mediaType]
    const sample = { $ref: `#/components/examples/${exampleName(list, isPage, shape)}` }
    return [mediaType, { schema: schemas[shape], examples: { sample } }]
  })
  const more = isPage ? { Link: 'Link' } : {}
  return {
    description: isPage ? `A page of ${list}.` : `The ${record.toLowerCase()}.`,
    headers: headersOf({ ...RECORD_HEADERS, ...more, 'Content-Length': 'ContentLength' }),
    content: { ...Object.fromEntries(content), ...further },
  }
}

/** Returns the 304, for instances with conditional requests. */
export function unchanged(isRecord: boolean): JsonObject {
  const headers = isRecord ? RECORD_HEADERS : { ETag: 'ETag', 'Cache-Control': 'CacheControlOfDescription' }
  return { description: 'The version the client has is current.', headers: headersOf(headers) }
}

/** Returns the status that these refusals have in common. */
export function commonStatus([first]: readonly Refusal[]): number {
  if (first === undefined) throw new Error('a response without a refusal')
  return REFUSALS[first].status
}

/** @param isXmlToo whether a client can choose XML; `.ics` paths answer problems in JSON alone (contract §6) */
export function refused(
  refusals: readonly Refusal[],
  instance: string,
  detailOf: (refusal: Refusal) => string,
  isXmlToo: boolean,
): JsonObject {
  const status = commonStatus(refusals)
  const details = refusals.map(detailOf)
  const examplesAs = (write: typeof problemJson, value: (text: string) => string | WrittenJson): JsonObject =>
    Object.fromEntries(
      refusals.map((refusal) => {
        const text = write({ refusal, instance, traceId: null, detail: detailOf(refusal) })
        return [refusal, { summary: detailOf(refusal), value: value(text) }]
      }),
    )
  const xml = {
    schema: { type: 'string', description: 'The same members as XML (RFC 9457, appendix B).' },
    examples: examplesAs(problemXml, (text) => text),
  }
  const retry = status === 502 || status === 503 ? { 'Retry-After': 'RetryAfter' } : {}
  return {
    description: details.join(' '),
    headers: headersOf({ 'Cache-Control': 'CacheControlOfProblem', ...retry, 'Content-Length': 'ContentLength' }),
    content: {
      'application/problem+json': {
        schema: referTo('Problem'),
        examples: examplesAs(problemJson, (text) => new WrittenJson(text)),
      },
      ...(isXmlToo ? { 'application/problem+xml': xml } : {}),
    },
  }
}

export type Examples = ReturnType<typeof examplesOf>

/** Returns the sample's event and venue as this instance would send them. */
export function examplesOf(formatter: Formatter, zone: Zone) {
  const further = (table: RecordTable): Extended => {
    const values = describedFurther(table, formatter.further, zone).map(({ value }) => value)
    return values.length === 0 ? {} : { Further: values }
  }
  const event = { ...recordIn(EVENTS, zone), ...further(EVENTS) }
  const venue = { ...recordIn(VENUES, zone), ...further(VENUES) }
  const record = (list: ListName, shape: Shape): string =>
    list === 'events' ? formatter.event(event, shape) : formatter.venue(venue, shape)
  return {
    event,
    venue,
    record,
    id: (list: ListName): string => (list === 'events' ? event.Id : venue.Id),
    page(list: ListName, shape: Shape): string {
      const { before, after } = formatter.frame(
        { list, self: `~/${list}`, next: null, isEmpty: false, venues: null },
        shape,
      )
      return `${before}${record(list, shape).slice(formatter.recordFrame(shape).skip)}${after}`
    },
  }
}

/** Returns the record of a table's examples, each parsed like a value of a CRM. */
function recordIn<Fields extends readonly Field[]>({ fields }: RecordTable<Fields>, zone: Zone): RecordOf<Fields> {
  const values = fields.map((field) => [field.name, valueOf(field, zone)] as const)
  const record: unknown = Object.fromEntries([...values, [LINKS.name, []]])
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- each field has got a value of its type
  return record as RecordOf<Fields>
}

function valueOf({ name, type, example }: Field, zone: Zone): unknown {
  const value: unknown = JSON.parse(example)
  switch (type) {
    case 'guid':
      return known(name, parseGuid(String(value)))
    case 'decimal':
      return known(name, parseDecimal(example))
    case 'date-time': {
      const read = parseDateTimeText(String(value))
      return known(name, read?.kind === 'instant' ? showInstant(read.instant, zone) : null)
    }
    case 'text':
    case 'int32':
    case 'tags':
      return value
    default:
      return unreachable(type)
  }
}

function known<Value>(name: string, value: Value | null): Value {
  if (value === null) throw new Error(`the example of ${name} is not a value of its type`)
  return value
}
