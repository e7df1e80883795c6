import type { ListName } from '../domain/field.ts'
import { jsonString, xmlText } from '../formats/escape.ts'

interface Shape {
  readonly status: number
  readonly title: string
  /** What the caller can do; nothing of the CRM, and the same whether a record is withheld or never was (contract §1.5). */
  readonly detail: string
}

const BAD_ID = 'The id must be a GUID, such as 5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34, and not the empty one.'

/** Says what there is where nothing was found; its paths exist on this instance. */
export function nothingHere(basePath: string, hasLists: boolean): string {
  const api = apiOf(basePath)
  const lists = hasLists ? `${api}/events, ${api}/venues, ` : ''
  return `There is nothing here. Try ${lists}${api}/events/{id}, ${api}/events/{id}/venue or ${api}/venues/{id}.`
}

/** Says why a list is refused as a record without an id. */
export function listsAreOff(basePath: string, list: ListName): string {
  const one = list === 'events' ? 'event' : 'venue'
  return `Lists are off on this service. Ask for one ${one} by its id: ${apiOf(basePath)}/${list}/{id}.`
}

/** Why `include=venue` is refused in plain XML, where .NET reads a list of records of one type (contract §4.4). */
export const VENUES_NOT_IN_XML =
  'include=venue takes application/json, text/json, application/hal+json or application/hal+xml in Accept: a list in application/xml or text/xml holds events alone.'

function apiOf(basePath: string): string {
  return basePath === '/' ? '/api' : `${basePath}/api`
}

/** Refusal → status, in one table (contract §1.2). */
export const REFUSALS = {
  'no-such-path': {
    status: 404,
    title: 'Not Found',
    detail: nothingHere('/', false),
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method Not Allowed',
    detail: 'This resource can only be read: use GET or HEAD.',
  },
  'bad-id': { status: 400, title: 'Bad Request', detail: BAD_ID },
  'bad-query': {
    status: 400,
    title: 'Bad Request',
    detail: 'The query asks for what this list does not take.',
  },
  'crm-unavailable': {
    status: 502,
    title: 'Bad Gateway',
    detail: 'Current data is temporarily unavailable. Retry after the number of seconds in Retry-After.',
  },
  'event-not-found': { status: 404, title: 'Not Found', detail: 'No event with this id is published.' },
  'venue-not-found': { status: 404, title: 'Not Found', detail: 'No venue with this id is published.' },
  'event-venue-not-found': {
    status: 404,
    title: 'Not Found',
    detail: 'No venue is published for an event with this id.',
  },
  'internal-error': {
    status: 500,
    title: 'Internal Server Error',
    detail: 'The service failed to answer. Try again, and tell its operator if it lasts.',
  },
} as const satisfies Readonly<Record<string, Shape>>

/** Everything a caller can be refused for. */
export type Refusal = keyof typeof REFUSALS

/** What one answer says. */
interface Problem {
  readonly refusal: Refusal
  /** The pathname that was asked for. */
  readonly instance: string
  readonly traceId: string | null
  /** What is wrong with this very request; null where the table says it all. */
  readonly detail: string | null
}

/** RFC 9457 problem details as JSON. */
export function problemJson({ refusal, instance, traceId, ...about }: Problem): string {
  const { status, title } = REFUSALS[refusal]
  const detail = about.detail ?? REFUSALS[refusal].detail
  const trace = traceId === null ? '' : `,"traceId":${jsonString(traceId)}`
  return `{"type":"about:blank","title":${jsonString(title)},"status":${status},"detail":${jsonString(detail)},"instance":${jsonString(instance)}${trace}}`
}

/** The same as XML (RFC 9457, appendix B). */
export function problemXml({ refusal, instance, traceId, ...about }: Problem): string {
  const { status, title } = REFUSALS[refusal]
  const detail = about.detail ?? REFUSALS[refusal].detail
  const trace = traceId === null ? '' : `<traceId>${xmlText(traceId)}</traceId>`
  return `<?xml version="1.0" encoding="utf-8"?>\n<problem xmlns="urn:ietf:rfc:7807"><type>about:blank</type><title>${title}</title><status>${status}</status><detail>${xmlText(detail)}</detail><instance>${xmlText(instance)}</instance>${trace}</problem>`
}
