import type { ListName } from '../domain/field.ts'
import { jsonString, xmlText } from '../domain/escape.ts'

interface Shape {
  readonly status: number
  readonly title: string
  /**
   * The caller's next step. It reveals nothing about the CRM, and is the same for a withheld record and one that never
   * existed (contract §1.5).
   */
  readonly detail: string
}

const BAD_ID = 'The id must be a GUID, such as 5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34, and not the empty one.'

/** Returns the detail of a 404 for an unknown path, with the paths of this instance. */
export function nothingHere(basePath: string, hasLists: boolean): string {
  const api = apiOf(basePath)
  const lists = hasLists ? `${api}/events, ${api}/venues, ` : ''
  return `There is nothing here. Try ${lists}${api}/events/{id}, ${api}/events/{id}/venue or ${api}/venues/{id}.`
}

/** Returns the detail for a request for a list while lists are off. */
export function listsAreOff(basePath: string, list: ListName): string {
  const one = list === 'events' ? 'event' : 'venue'
  return `Lists are off on this service. Ask for one ${one} by its id: ${apiOf(basePath)}/${list}/{id}.`
}

/** The reason to refuse `include=venue` in plain XML: .NET reads a list with records of one type (contract §4.4). */
export const VENUES_NOT_IN_XML =
  'include=venue takes application/json, text/json, application/hal+json or application/hal+xml in Accept: a list in application/xml or text/xml contains only events.'

function apiOf(basePath: string): string {
  return basePath === '/' ? '/api' : `${basePath}/api`
}

/** The status and texts of each refusal (contract §1.2). */
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
    detail: 'This list does not accept the query.',
  },
  'crm-unavailable': {
    status: 502,
    title: 'Bad Gateway',
    detail: 'Current data is temporarily unavailable. Retry after the number of seconds in Retry-After.',
  },
  'changes-unknown': {
    status: 410,
    title: 'Gone',
    detail: 'The changes since then are not known here. Ask for changes without since, then read the lists again.',
  },
  'too-many-waiting': {
    status: 503,
    title: 'Service Unavailable',
    detail:
      'Too many requests wait for a change. Ask again after the number of seconds in Retry-After, or without wait.',
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
    detail: 'The service failed to answer. Try again, and tell its operator if the problem persists.',
  },
} as const satisfies Readonly<Record<string, Shape>>

export type Refusal = keyof typeof REFUSALS

/** The contents of one problem document. */
interface Problem {
  readonly refusal: Refusal
  readonly instance: string
  readonly traceId: string | null
  /** The problem of this particular request; `null` for the detail in the table. */
  readonly detail: string | null
}

/** Returns RFC 9457 problem details as JSON. */
export function problemJson({ refusal, instance, traceId, ...about }: Problem): string {
  const { status, title } = REFUSALS[refusal]
  const detail = about.detail ?? REFUSALS[refusal].detail
  const trace = traceId === null ? '' : `,"traceId":${jsonString(traceId)}`
  return `{"type":"about:blank","title":${jsonString(title)},"status":${status},"detail":${jsonString(detail)},"instance":${jsonString(instance)}${trace}}`
}

/** Returns RFC 9457 problem details as XML (appendix B). */
export function problemXml({ refusal, instance, traceId, ...about }: Problem): string {
  const { status, title } = REFUSALS[refusal]
  const detail = about.detail ?? REFUSALS[refusal].detail
  const trace = traceId === null ? '' : `<traceId>${xmlText(traceId)}</traceId>`
  return `<?xml version="1.0" encoding="utf-8"?>\n<problem xmlns="urn:ietf:rfc:7807"><type>about:blank</type><title>${title}</title><status>${status}</status><detail>${xmlText(detail)}</detail><instance>${xmlText(instance)}</instance>${trace}</problem>`
}
