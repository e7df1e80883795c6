import { EVENTS } from '../src/domain/event.ts'
import type { FieldType, RecordTable } from '../src/domain/field.ts'
import { VENUES } from '../src/domain/venue.ts'
import { ADVICE, NAMES, OWN_RELS } from '../src/describe/json-schemas.ts'
import { REFUSALS } from '../src/http/problem.ts'

/** The TypeScript type of each type of field. */
const TYPES: Readonly<Record<FieldType, string>> = {
  guid: 'Guid',
  text: 'string | null',
  int32: 'number',
  decimal: 'Decimal',
  'date-time': 'DateTime',
  tags: 'readonly string[]',
}

const WORDS = `/** Lower-case, with hyphens. */
export type Guid = string

/**
 * \`2036-05-09T19:30:00+01:00\`: the wall clock where it takes place, and its offset. It stays a text, because a Date forgets both.
 * \`Temporal.PlainDateTime.from(start)\` is the wall clock, \`Temporal.Instant.from(start)\` the moment.
 */
export type DateTime = string

/** A link of plain JSON; \`~/\` stands for the base path. */
export interface Link {
  readonly Rel: string
  readonly Href: string
  readonly Title: string | null
  /** Whether Href holds \`{…}\` to fill in. */
  readonly IsTemplated: boolean
}

/** A link of HAL JSON; \`href\` is a path from the host's root, or an address. */
export interface HalLink {
  readonly href: string
  /** There where href holds \`{…}\` to fill in (RFC 6570). */
  readonly templated?: true
  readonly title?: string
}

/** Links by relation: those that are always there, and what else there is; an array where one relation has several. */
export type HalLinks<Always extends string> = { readonly [Rel in Always]: HalLink | readonly HalLink[] } & {
  readonly [rel: string]: HalLink | readonly HalLink[] | undefined
}

/** The links of a page of a list; \`next\` is there where there are more. */
export interface PageLinks {
  readonly self: HalLink
  readonly next?: HalLink
}
`

function fieldsOf({ list, fields }: RecordTable): string {
  const members = fields.map(
    ({ name, type, description }) => `  /** ${description}${ADVICE[type]} */\n  readonly ${name}: ${TYPES[type]}\n`,
  )
  return `/** What both JSON formats say of ${list}. \`Decimal\` is \`string\` where the digits were kept. */
export interface ${NAMES[list].record}Fields<Decimal = number> {\n${members.join('')}}\n`
}

function recordsOf({ list, kind, member }: RecordTable): string {
  const { record, hal, page, halPage } = NAMES[list]
  const included = list === 'events' ? NAMES.venues : null
  const rels = OWN_RELS[kind].map((own) => `'${own}'`).join(' | ')
  return `/** \`application/json\` */
export interface ${record}<Decimal = number> extends ${record}Fields<Decimal> {
  readonly _links: readonly Link[]
  readonly _embedded: null
}

/** \`application/hal+json\` */
export interface ${hal}<Decimal = number> extends ${record}Fields<Decimal> {
  readonly _links: HalLinks<${rels}>
}

/** A page of \`/api/${list}\` as \`application/json\`. */
export interface ${page}<Decimal = number> {
  readonly ${member}: readonly ${record}<Decimal>[]
${included === null ? '' : `  /** There with \`include=venue\`. */\n  readonly ${VENUES.member}?: readonly ${included.record}<Decimal>[]\n`}  readonly _links: readonly Link[]
  readonly _embedded: null
}

/** A page of \`/api/${list}\` as \`application/hal+json\`. */
export interface ${halPage}<Decimal = number> {
  readonly _links: PageLinks
  readonly _embedded: {
    readonly ${kind}: readonly ${hal}<Decimal>[]
${included === null ? '' : `    /** There with \`include=venue\`. */\n    readonly ${VENUES.kind}?: readonly ${included.hal}<Decimal>[]\n`}  }
}
`
}

function problem(): string {
  const statuses = [...new Set(Object.values(REFUSALS).map(({ status }) => status))].toSorted(
    (left, right) => left - right,
  )
  return `/** \`application/problem+json\` (RFC 9457). */
export interface Problem {
  readonly type: 'about:blank'
  /** The status in words. */
  readonly title: string
  readonly status: ${statuses.join(' | ')}
  /** What the caller can do. */
  readonly detail: string
  /** The path that was asked for. */
  readonly instance: string
  /** There where the request had a valid \`traceparent\`. */
  readonly traceId?: string
}
`
}

/** Generates the types of all JSON answers, from the tables that the service itself uses. */
export function describedTypes(): string {
  return [WORDS, fieldsOf(EVENTS), fieldsOf(VENUES), recordsOf(EVENTS), recordsOf(VENUES), problem()].join('\n')
}
