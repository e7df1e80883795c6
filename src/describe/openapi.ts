// Describes an instance to programs and to people (contract §5).
// In: the tables that the service runs on (fields, routes, media types, refusals, parameters) and the instance's
// settings. Out: an OpenAPI 3.1 document, the types of docs/marquee.d.ts, and the page for browsers. Only facts from
// these tables are described.
import { type Endpoint, type Listing, LIMITS, LIST_PARAMETERS, METHODS, routeLabel } from '../contract/endpoints.ts'
import { EVENTS } from '../domain/event.ts'
import type { ListName } from '../domain/field.ts'
import { NO_FURTHER } from '../domain/further.ts'
import { VENUES } from '../domain/venue.ts'
import type { Zone } from '../domain/zone.ts'
import { type FormatSettings, Formatter } from '../formats/format.ts'
import { type FEED_TYPES, MEDIA_TYPES, feedTypes, isXml, shapeOf } from '../formats/media-types.ts'
import { type Refusal, nothingHere, REFUSALS } from '../http/problem.ts'
import {
  type Examples,
  examplesOf,
  exampleComponents,
  found,
  foundWith,
  headerComponents,
  headersOf,
  refused,
  commonStatus,
  unchanged,
} from './responses.ts'
import { type Json, type JsonObject, furtherSchemas, jsonSchemas, referTo, WrittenJson } from './json-schemas.ts'
import { CHANGE_PARAMETERS, IF_NONE_MATCH, idParameter, listParameters } from './parameters.ts'
import { FeedFormatter } from '../formats/feed-formatter.ts'

/** The settings that the description depends on. */
export interface Instance extends FormatSettings {
  readonly lists: boolean
  /** The feeds that are on, and their settings (contract §6). */
  readonly feeds: Readonly<Record<'calendar' | 'jsonLd' | 'atom' | 'changes', boolean>> & {
    readonly language: string
  }
  readonly page: string | null
  readonly currency: string | null
  readonly conditionalRequests: boolean
  readonly maxAgeMs: number
  readonly zone: Zone
  /** The port of the dashboard; absent or `null` unless both listeners are on loopback. */
  readonly dashboardPort?: number | null
}

interface Operation {
  readonly id: string
  readonly summary: string
  /** The list of the returned record or page; `null` if the operation does not need the CRM. */
  readonly list: ListName | null
  readonly refusals: readonly Refusal[]
}

/** The operation of each path (contract §1.2). Answers that every path may give are not repeated. */
const OPERATIONS: Readonly<Record<Endpoint, Operation>> = {
  events: {
    id: 'listEvents',
    summary: 'What is on: the events that have not ended, by Start, then Id',
    list: 'events',
    refusals: ['bad-query', 'crm-unavailable'],
  },
  event: {
    id: 'getEvent',
    summary: 'An event',
    list: 'events',
    refusals: ['bad-id', 'event-not-found', 'crm-unavailable'],
  },
  'event-venue': {
    id: 'getEventVenue',
    summary: 'The venue of an event',
    list: 'venues',
    refusals: ['bad-id', 'event-venue-not-found', 'crm-unavailable'],
  },
  'event-calendar': {
    id: 'getEventCalendar',
    summary: 'An event as iCalendar',
    list: 'events',
    refusals: ['bad-id', 'event-not-found', 'crm-unavailable'],
  },
  calendar: {
    id: 'getCalendar',
    summary: 'A calendar of what is on, to subscribe to',
    list: 'events',
    refusals: ['bad-query', 'crm-unavailable'],
  },
  atom: {
    id: 'getAtom',
    summary: 'What is on, for feed readers and newsletters',
    list: 'events',
    refusals: ['bad-query', 'crm-unavailable'],
  },
  venues: {
    id: 'listVenues',
    summary: 'The venues, by Id',
    list: 'venues',
    refusals: ['bad-query', 'crm-unavailable'],
  },
  venue: {
    id: 'getVenue',
    summary: 'A venue',
    list: 'venues',
    refusals: ['bad-id', 'venue-not-found', 'crm-unavailable'],
  },
  tags: {
    id: 'listTags',
    summary: 'The tags of what is on, each with the number of events, the most frequent ones first',
    list: 'events',
    refusals: ['bad-query', 'crm-unavailable'],
  },
  changes: {
    id: 'listChanges',
    summary: 'What has changed since a position',
    list: 'events',
    refusals: ['bad-query', 'changes-unknown', 'crm-unavailable', 'too-many-waiting'],
  },
  openapi: { id: 'getDescription', summary: 'This description', list: null, refusals: [] },
  page: { id: 'getPage', summary: 'A page about this service, for browsers', list: null, refusals: ['no-such-path'] },
}

/** Returns the paths of an instance, in the order of the description and the page. */
export function pathsOf({
  lists,
  feeds,
}: Pick<Instance, 'lists' | 'feeds'>): readonly (Operation & { found: Endpoint; path: string })[] {
  const calendars = feeds.calendar ? (['calendar', 'event-calendar'] as const) : []
  const all: readonly Endpoint[] = [
    ...(lists ? (['events'] as const) : []),
    'event',
    'event-venue',
    ...calendars,
    ...(feeds.atom ? (['atom'] as const) : []),
    ...(lists ? (['venues'] as const) : []),
    'venue',
    ...(lists ? (['tags'] as const) : []),
    ...(feeds.changes ? (['changes'] as const) : []),
    'openapi',
    'page',
  ]
  return all.map((each) => ({ ...OPERATIONS[each], found: each, path: routeLabel(each) }))
}

export function openApi(instance: Instance): JsonObject {
  const { basePath, links, lists, further = NO_FURTHER, zone } = instance
  const examples = examplesOf(new Formatter(() => instance), instance.zone)
  const paths = pathsOf(instance)
  const detailOf = (refusal: Refusal): string =>
    refusal === 'no-such-path' ? nothingHere(basePath, lists) : REFUSALS[refusal].detail
  const prefix = basePath === '/' ? '' : basePath
  const refusals = new Map<string, JsonObject>()
  for (const each of paths) {
    const target = `${prefix}${each.path.replace('{id}', examples.id(kindOf(each)))}`
    for (const those of refusedBy(each)) {
      const name = refusedName(each, those)
      // The example of a shared answer is of the first path that gives it.
      if (!refusals.has(name)) refusals.set(name, refused(those, target, detailOf, !isPathOfFeed(each)))
    }
  }
  const operations = paths.map((each): readonly [string, JsonObject] => [
    each.path,
    { get: operation(each, instance, examples) },
  ])
  return {
    openapi: '3.1.0',
    info: { title: 'Events and venues', version: '1', description: aboutAll(instance) },
    servers: [{ url: basePath }],
    security: [],
    paths: Object.fromEntries(operations),
    components: {
      headers: headerComponents(Math.floor(instance.maxAgeMs / 1000)),
      responses: Object.fromEntries(refusals),
      examples: exampleComponents(lists, examples),
      schemas: jsonSchemas({
        links,
        lists,
        changes: instance.feeds.changes,
        further: { events: furtherSchemas(EVENTS, further, zone), venues: furtherSchemas(VENUES, further, zone) },
      }),
    },
  }
}

/** Returns the media types that `Accept` can choose, for a sentence. */
export function mediaTypesFor({ feeds }: Instance, shown: (type: string) => string = (type) => type): string {
  const further = feedTypes(feeds)
  const all = MEDIA_TYPES.map(shown).join(', ')
  return further.length === 0 ? all : `${all}; for an event also ${further.map(shown).join(' and ')}`
}

function aboutAll(instance: Instance): string {
  return [
    `Published events and their venues. Anyone may read them, from any origin, without a key. The methods are ${METHODS}; any other gets 405.`,
    `Set Accept to the media type you want: ${mediaTypesFor(instance)}. Without it you get ${MEDIA_TYPES[0]}; the service never answers 406.`,
    'The paths of records and lists also work without /api, because links lead there. Paths match in any case, and a trailing slash is ignored.',
    `Date-times are shown in ${instance.zone.id}, with the UTC offset.`,
    'Every error is a problem (RFC 9457). Later versions may add members: ignore those you do not know.',
  ].join('\n\n')
}

type Path = ReturnType<typeof pathsOf>[number]

/** Returns the list whose ids the path takes. */
function kindOf({ found: resource }: Path): ListName {
  return resource === 'venue' ? 'venues' : 'events'
}

function operation(path: Path, instance: Instance, examples: Examples): JsonObject {
  const { id: operationId, summary, list, found: resource } = path
  const { conditionalRequests } = instance
  const kind = kindOf(path)
  const parameters = [
    ...(path.path.includes('{id}') ? [idParameter(kind, examples.id(kind))] : []),
    ...(isListing(resource) ? listParameters(resource) : []),
    ...(resource === 'changes' ? CHANGE_PARAMETERS : []),
    ...(conditionalRequests ? [IF_NONE_MATCH] : []),
  ]
  const responses: readonly (readonly [number, JsonObject])[] = [
    [200, found200(path, instance, examples)],
    ...(conditionalRequests ? [[304, unchanged(list !== null)] as const] : []),
    ...refusedBy(path).map(
      (those) => [commonStatus(those), { $ref: `#/components/responses/${refusedName(path, those)}` }] as const,
    ),
  ]
  return {
    operationId,
    summary,
    ...(parameters.length > 0 ? { parameters } : {}),
    responses: Object.fromEntries(responses),
  }
}

function isListing(resource: Endpoint): resource is Listing {
  return resource in LIST_PARAMETERS
}

/** Returns true for the path of a feed. A feed answers problems in JSON only. */
function isPathOfFeed({ found: resource }: Path): boolean {
  return resource === 'calendar' || resource === 'event-calendar' || resource === 'atom'
}

function refusedName(path: Path, those: readonly Refusal[]): string {
  return `${isPathOfFeed(path) ? 'calendar-' : ''}${those.join('-or-')}`
}

function found200(path: Path, instance: Instance, examples: Examples): JsonObject {
  const { list, found: resource } = path
  if (list === null) return described(resource)
  if (resource === 'atom') {
    return foundWith(
      'A page of an Atom feed of these events.',
      { 'application/atom+xml': atomContent(instance, examples) },
      true,
    )
  }
  if (isPathOfFeed(path)) {
    const isOfMany = resource === 'calendar'
    const description = isOfMany ? 'A page of a calendar of these events.' : 'A calendar of this event.'
    return foundWith(description, { 'text/calendar': calendarContent(instance, examples, isOfMany) }, isOfMany)
  }
  if (resource === 'tags') return foundWith(`The tags, at most ${LIMITS.tags.most}.`, tagContent(instance, examples))
  if (resource === 'changes') return foundWith('The changes, at most 1,000.', changeContent(instance, examples))
  const further = resource === 'event' ? feedContent(instance, examples) : {}
  return found(list, resource === 'events' || resource === 'venues', further)
}

/** Returns the 200 of an operation that does not need the CRM. */
function described(resource: Endpoint): JsonObject {
  const headers = { ETag: 'ETag', 'Cache-Control': 'CacheControlOfDescription', 'Content-Length': 'ContentLength' }
  if (resource === 'page') {
    return {
      description: 'The page, if Accept names text/html.',
      headers: headersOf({ ...headers, 'Content-Security-Policy': 'ContentSecurityPolicy' }),
      content: { 'text/html': { schema: { type: 'string' } } },
    }
  }
  const schema: Json = { type: 'object', required: ['openapi', 'info', 'paths', 'components'] }
  return {
    description: 'The OpenAPI 3.1 description of exactly this instance.',
    headers: headersOf(headers),
    content: { 'application/json': { schema }, 'application/openapi+json;version=3.1': { schema } },
  }
}

/** Returns the refusals of a path, grouped by status. */
function refusedBy({ refusals }: Path): readonly (readonly Refusal[])[] {
  const all: readonly Refusal[] = [...refusals, 'internal-error']
  return [...Map.groupBy(all, (refusal) => REFUSALS[refusal].status).values()]
}

const CALENDAR: JsonObject = { type: 'string', description: 'A VCALENDAR (RFC 5545).' }

const ATOM: JsonObject = { type: 'string', description: 'A feed (RFC 4287).' }

const JSON_LD: JsonObject = {
  type: 'object',
  description: 'The event in the vocabulary of schema.org, for search engines. Unknown members are absent.',
  required: ['@context', '@type', 'startDate', 'eventStatus'],
  properties: {
    '@context': { type: 'string', const: 'https://schema.org' },
    '@type': { type: 'string', const: 'Event' },
    startDate: { type: 'string', format: 'date-time' },
    eventStatus: { type: 'string', format: 'uri' },
  },
}

/** Returns the content of the tags of the sample's event, in all media types. */
function tagContent(instance: Instance, { event }: Examples): JsonObject {
  const formatter = new Formatter(() => instance)
  const tags = event.Tags.map((tag, index) => ({ tag, count: event.Tags.length - index }))
  const schemas = { json: referTo('TagList'), 'hal-json': referTo('HalTagList'), xml: TEXT, 'hal-xml': TEXT }
  const content = MEDIA_TYPES.map((mediaType) => {
    const shape = shapeOf[mediaType]
    const text = formatter.tags({ tags, self: '~/tags' }, shape)
    const value = isXml(mediaType) ? text : new WrittenJson(text)
    return [mediaType, { schema: schemas[shape], examples: { sample: { value } } }] as const
  })
  return Object.fromEntries(content)
}

/** Returns the content of a page of changes, with the sample's event. */
function changeContent(instance: Instance, { event }: Examples): JsonObject {
  const formatter = new Formatter(() => instance)
  const next = '~/changes?since=b2Nj0pYQm1xz.2s'
  const changes = [{ list: 'events', id: event.Id, state: 'updated' } as const]
  const contentOf = (isHal: boolean): JsonObject => {
    const value = new WrittenJson(formatter.changes({ changes, next, more: false }, isHal))
    return { schema: referTo(isHal ? 'HalChangeList' : 'ChangeList'), examples: { sample: { value } } }
  }
  return { 'application/json': contentOf(false), 'application/hal+json': contentOf(true) }
}

const TEXT: JsonObject = { type: 'string' }

function formatterOf(instance: Instance): FeedFormatter {
  return new FeedFormatter({ ...instance, calendarName: null, language: instance.feeds.language })
}

/** Returns the media types of an event besides the six, if feeds are on (contract §6). */
function feedContent(instance: Instance, examples: Examples): JsonObject {
  const content: Record<(typeof FEED_TYPES)[number], () => JsonObject> = {
    'text/calendar': () => calendarContent(instance, examples, false),
    'application/ld+json': () => {
      const value = new WrittenJson(formatterOf(instance).jsonLd(examples.event, examples.venue, true))
      return { schema: JSON_LD, examples: { sample: { value } } }
    },
  }
  return Object.fromEntries(feedTypes(instance.feeds).map((type) => [type, content[type]()]))
}

/** When the sample's event has been served since: 2026-01-01. */
const REVISION = { sinceS: 1_767_225_600, sequence: 0 }

/** Returns the content of a calendar with the sample's event, alone or to subscribe to. */
function calendarContent(instance: Instance, { event, venue }: Examples, isSubscription: boolean): JsonObject {
  const formatter = formatterOf(instance)
  const component = formatter.component(event, formatter.venueLines(venue), REVISION) ?? ''
  const value = isSubscription ? formatter.subscription([component]) : formatter.calendar(component)
  return { schema: CALENDAR, examples: { sample: { value } } }
}

/** Returns the content of an Atom feed with the sample's event. */
function atomContent(instance: Instance, { event, venue }: Examples): JsonObject {
  const formatter = formatterOf(instance)
  const self = formatter.pathOf(`~${routeLabel('atom')}`)
  const entries = [formatter.entry(event, venue, REVISION)]
  const value = formatter.feed(entries, '', { self, next: null, sinceS: REVISION.sinceS })
  return { schema: ATOM, examples: { sample: { value } } }
}
