// The public interface: turns a call into an answer, on either runtime (contract §1).
// route.ts has the paths, problem.ts the refusals, call.ts the header fields and the types shared with the runtimes.
// This is the hot path: nothing is built for a request unless its answer needs it.
import { type Described, type RecordResource, METHODS, routeLabel } from '../contract/endpoints.ts'
import type { ListName } from '../domain/field.ts'
import { type Guid, EMPTY_GUID } from '../domain/guid.ts'
import { unreachable } from '../domain/unreachable.ts'
import type { Zone } from '../domain/zone.ts'
import { type Body, bodyOf } from '../domain/body.ts'
import type { Formatter } from '../formats/format.ts'
import { type FeedType, type MediaType, isXml, shapeOf } from '../formats/media-types.ts'
import type { Admissions, EitherList, ServedList, ServedLists } from '../sync/served-list.ts'
import type { Moment, Time } from '../time/time.ts'
import {
  type Answer,
  type Call,
  type RequestWatch,
  traceIdOf,
  withoutAccept,
  HeaderBuilder,
  matchesNone,
  OPTIONS_FIELDS,
} from './call.ts'
import type { ChangeFeed } from '../changes/change-feed.ts'
import { type DescriptionTexts, Description, DESCRIPTION_UNCHANGED } from './description.ts'
import { type ChangesQuery, Changes, readChangesQuery, RETRY_CHANGES_S } from './changes.ts'
import type { Feeds, FeedsOptions } from './feeds.ts'
import type { Lists } from './list-pages.ts'
import type { ReadyPage } from './ready-pages.ts'
import { createNegotiator } from './negotiation.ts'
import {
  type Refusal,
  listsAreOff,
  nothingHere,
  problemJson,
  problemXml,
  REFUSALS,
  VENUES_NOT_IN_XML,
} from './problem.ts'
import { type Route, Router } from './route.ts'

export interface ServiceOptions {
  /** Returns the lists that are served now. They may be replaced while a request waits. */
  readonly served: () => ServedLists
  readonly admissions: Admissions
  readonly time: Time
  readonly basePath: string
  readonly maxAgeMs: number
  readonly conditionalRequests: boolean
  readonly onInternalError: (cause: unknown) => void
  readonly watch?: RequestWatch | undefined
}

/** What an instance serves besides single records. */
export interface ServiceSwitches {
  readonly formatter: Formatter
  readonly zone: Zone
  readonly lists: boolean
  /** `null` if no feed is on. */
  readonly feeds: Omit<FeedsOptions, 'served' | 'zone'> | null
  /** `null` if the feed of changes is off. */
  readonly changes: ChangeFeed | null
  /** Makes the texts of the description; `null` if `describe` is off. */
  readonly describe: (() => Promise<DescriptionTexts>) | null
}

interface ServiceParts {
  readonly lists: Lists | null
  readonly feeds: Feeds | null
  readonly changes: Changes | null
  readonly description: Description | null
}

const RECORDS_ALONE: ServiceParts = { lists: null, feeds: null, changes: null, description: null }

/** The lists that an answer is made from. */
const EVENTS = ['events'] as const
const VENUES = ['venues'] as const
const BOTH = ['events', 'venues'] as const

/** @param arrived When the request began to wait; `null` if it did not wait. */
type GiveAnswer = (served: ServedLists, ageMs: number, arrived: Moment | null) => Answer | Promise<Answer>

/**
 * Handles a request in the contract's order (§1.2): path, OPTIONS, method, id, then age, then the record. The answer is
 * synchronous if the data is within the maximum age; only a request that must wait returns a promise.
 */
export class Service {
  readonly #options: ServiceOptions
  readonly #headers: HeaderBuilder
  readonly #router: Router
  readonly #parts: ServiceParts
  readonly #negotiate: (accept: string | null) => MediaType = createNegotiator()
  readonly #nothingHere: string

  constructor(options: ServiceOptions, parts: ServiceParts = RECORDS_ALONE) {
    this.#options = options
    this.#parts = parts
    const has = { ...parts.feeds?.switches, tags: parts.lists !== null, changes: parts.changes !== null }
    this.#router = new Router(options.basePath, has)
    this.#headers = new HeaderBuilder(options.maxAgeMs)
    this.#nothingHere = nothingHere(options.basePath, parts.lists !== null)
  }

  /** Creates a service with the parts that are switched on. Importing only these makes start-up faster. */
  static async open(options: ServiceOptions, switches: ServiceSwitches): Promise<Service> {
    const { served, basePath } = options
    const { formatter, zone, changes, describe } = switches
    const { Lists: OpenLists } = switches.lists ? await import('./list-pages.ts') : { Lists: null }
    const { Feeds: OpenFeeds } = switches.feeds === null ? { Feeds: null } : await import('./feeds.ts')
    return new Service(options, {
      lists: OpenLists && new OpenLists(served, formatter, zone),
      feeds: OpenFeeds && switches.feeds && new OpenFeeds({ ...switches.feeds, served, zone }),
      changes: changes && new Changes(changes, formatter),
      description: describe && new Description(basePath, describe),
    })
  }

  /** Resolves when the description is prepared; rejects if that fails. Records do not wait for it. */
  async ready(): Promise<void> {
    await this.#parts.description?.ready()
  }

  answer(call: Call): Answer | Promise<Answer> {
    const begunMs = performance.now()
    let route: Route | null = null
    let answer: Answer | Promise<Answer>
    try {
      route =
        this.#router.routeAsLinked(call.target) ?? this.#router.route(call.pathname) ?? this.#routeOfDescription(call)
      answer = this.#answer(call, route)
    } catch (cause) {
      answer = this.#fail(call, cause)
    }
    if (!(answer instanceof Promise)) return this.#tell(call, route, answer, begunMs)
    return answer
      .catch((cause: unknown) => this.#fail(call, cause))
      .then((later) => this.#tell(call, route, later, begunMs))
  }

  #tell(call: Call, route: Route | null, answer: Answer, begunMs: number): Answer {
    const { watch } = this.#options
    watch?.(routeLabel(route?.resource ?? null), call, answer, performance.now() - begunMs)
    return answer
  }

  #answer(call: Call, route: Route | null): Answer | Promise<Answer> {
    if (route === null) return this.#refuse(call, 'no-such-path', 0, this.#nothingHere)
    const { feeds } = this.#parts
    const feed = feeds === null ? null : feeds.asked(call, route.resource)
    const asked = feed === null ? call : withoutAccept(call)
    const refused = this.#refuseMethod(asked)
    if (refused !== null) return refused
    if (feeds === null || feed === null) return this.#answerAsRecord(call, route)
    return this.#answerFeed(asked, route, feeds, feed)
  }

  /** Answers a known path in any of the six media types. */
  #answerAsRecord(call: Call, { resource, id }: Route): Answer | Promise<Answer> {
    if (resource === 'openapi' || resource === 'page') return this.#describe(call, resource)
    if (resource === 'calendar' || resource === 'event-calendar' || resource === 'atom') throw new Error('it is a feed')
    if (resource === 'events' || resource === 'venues') return this.#list(call, resource)
    if (resource === 'tags') return this.#tags(call)
    if (resource === 'changes') return this.#changes(call)
    if (id === null) return this.#refuse(call, 'bad-id')
    return this.#find(call, resource, id)
  }

  /** Answers methods other than GET and HEAD; returns `null` for these two. */
  #refuseMethod(call: Call): Answer | null {
    if (call.method === 'OPTIONS') return { status: 204, fields: OPTIONS_FIELDS, etag: '', body: null }
    if (call.method !== 'GET' && call.method !== 'HEAD') {
      const answer = this.#refuse(call, 'method-not-allowed')
      return { ...answer, fields: answer.fields.with('Allow', METHODS) }
    }
    return null
  }

  /** Answers with a calendar, Atom or JSON-LD. A refusal is a problem document in JSON. */
  #answerFeed(call: Call, { resource, id }: Route, feeds: Feeds, feed: FeedType): Answer | Promise<Answer> {
    if (resource === 'calendar' || resource === 'atom') {
      const query = feeds.read(resource, call.target)
      if (typeof query === 'string') return this.#refuse(call, 'bad-query', 0, query)
      return this.#admit(call, BOTH, (_, ageMs) =>
        this.#page(call, feed, feeds.page(resource, query, this.#nowMs()), ageMs),
      )
    }
    if (id === null) return this.#refuse(call, 'bad-id')
    return this.#admit(call, EVENTS, (served, ageMs, arrived) => {
      const answer = (lists: ServedLists, oldestMs: number): Answer => {
        const guessing = this.#guessingVenueOf(lists, id)
        if (guessing !== null) return this.#unavailable(call, guessing.nextTryInMs)
        const representation = feeds.event(feed, id, this.#options.time.now().wallMs)
        if (representation === null) return this.#refuse(call, 'event-not-found', oldestMs)
        return this.#found(call, feed, representation, oldestMs)
      }
      return venueOf(served, id) === null ? answer(served, ageMs) : this.#admit(call, BOTH, answer, arrived)
    })
  }

  #routeOfDescription(call: Call): Route | null {
    const resource = this.#parts.description?.find(call) ?? null
    return resource === null ? null : { resource, id: null }
  }

  async #describe(call: Call, resource: Described): Promise<Answer> {
    const { description } = this.#parts
    if (description === null) return this.#refuse(call, 'no-such-path', 0, this.#nothingHere)
    const { etag, body, fields } = await description.read(call, resource)
    if (this.#isUnchanged(call, etag)) return { status: 304, fields: DESCRIPTION_UNCHANGED, etag, body: null }
    return { status: 200, fields, etag, body }
  }

  #list(call: Call, resource: ListName): Answer | Promise<Answer> {
    const { lists } = this.#parts
    if (lists === null) return this.#refuse(call, 'bad-id', 0, listsAreOff(this.#options.basePath, resource))
    const query = lists.read(resource, call.target)
    if (typeof query === 'string') return this.#refuse(call, 'bad-query', 0, query)
    if (query.includesVenues && shapeOf[this.#negotiate(call.header('accept'))] === 'xml')
      return this.#refuse(call, 'bad-query', 0, VENUES_NOT_IN_XML)
    const needed = query.includesVenues ? BOTH : resource === 'events' ? EVENTS : VENUES
    return this.#admit(call, needed, (_, ageMs) => {
      const mediaType = this.#negotiate(call.header('accept'))
      return this.#page(call, mediaType, lists.page(resource, query, shapeOf[mediaType], this.#nowMs()), ageMs)
    })
  }

  #page(call: Call, mediaType: MediaType | FeedType, page: ReadyPage | null, ageMs: number): Answer {
    // The lists were switched on a moment ago, and the index is not complete.
    if (page === null) return this.#unavailable(call, 0)
    const answer = this.#found(call, mediaType, page, ageMs)
    if (page.next === null || answer.body === null) return answer
    return { ...answer, fields: answer.fields.with('Link', `<${page.next}>; rel="next"`) }
  }

  /** The wall clock in whole milliseconds. */
  #nowMs(): number {
    return Math.floor(this.#options.time.now().wallMs)
  }

  #tags(call: Call): Answer | Promise<Answer> {
    const { lists } = this.#parts
    if (lists === null) throw new Error('tags without lists')
    const query = lists.read('tags', call.target)
    if (typeof query === 'string') return this.#refuse(call, 'bad-query', 0, query)
    return this.#admit(call, EVENTS, (_, ageMs) => {
      const mediaType = this.#negotiate(call.header('accept'))
      return this.#page(call, mediaType, lists.tags(query, shapeOf[mediaType], this.#nowMs()), ageMs)
    })
  }

  #changes(call: Call): Answer | Promise<Answer> {
    const { changes } = this.#parts
    if (changes === null) throw new Error('changes without their feed')
    const query = readChangesQuery(call.target)
    if (typeof query === 'string') return this.#refuse(call, 'bad-query', 0, query)
    return this.#admit(call, BOTH, (_, ageMs) => this.#changesSince(call, changes, query, ageMs))
  }

  #changesSince(call: Call, changes: Changes, query: ChangesQuery, ageMs: number): Answer | Promise<Answer> {
    const found = changes.find(query, this.#negotiate(call.header('accept')))
    if (found.kind === 'unknown') return this.#refuse(call, 'changes-unknown')
    if (found.kind === 'wait') return this.#awaitChange(call, changes, { ...query, since: found.since })
    const answer = this.#found(call, found.mediaType, found, ageMs)
    return { ...answer, fields: answer.fields.with('Cache-Control', 'no-cache') }
  }

  async #awaitChange(call: Call, changes: Changes, { since, waitMs }: ChangesQuery): Promise<Answer> {
    if ((await changes.feed.change(waitMs, (leave) => call.onHangUp?.(leave))) === 'too-many')
      return this.#later(call, 'too-many-waiting', RETRY_CHANGES_S)
    // The lists may be too old by now.
    return this.#admit(call, BOTH, (_, ageMs) => this.#changesSince(call, changes, { since, waitMs: 0 }, ageMs))
  }

  #find(call: Call, resource: RecordResource, id: Guid): Answer | Promise<Answer> {
    switch (resource) {
      case 'event':
        return this.#admit(call, EVENTS, (served, ageMs) =>
          this.#record(call, served.events, id, 'event-not-found', ageMs),
        )
      case 'venue':
        return this.#admit(call, VENUES, ({ venues }, ageMs) =>
          this.#record(call, venues, id, 'venue-not-found', ageMs),
        )
      case 'event-venue':
        // Only the events know whether there is a venue to ask for.
        return this.#admit(call, EVENTS, (served, ageMs, arrived) => {
          if (venueOf(served, id) === null) return this.#refuse(call, 'event-venue-not-found', ageMs)
          const answer = (both: ServedLists, bothAgeMs: number): Answer => {
            const venue = venueOf(both, id)
            if (venue === null) return this.#refuse(call, 'event-venue-not-found', bothAgeMs)
            const guessing = this.#guessingVenueOf(both, id)
            return this.#record(call, both.venues, venue, 'event-venue-not-found', bothAgeMs, guessing)
          }
          return this.#admit(call, BOTH, answer, arrived)
        })
      default:
        return unreachable(resource)
    }
  }

  /**
   * Admits the request with the age of the older list, at once or after a read; else answers 502. A request that has
   * waited since `arrived` for other lists waits only for what is left of its time.
   */
  #admit(
    call: Call,
    names: readonly ListName[],
    answer: GiveAnswer,
    arrived: Moment | null = null,
  ): Answer | Promise<Answer> {
    const served = this.#options.served()
    let oldestMs = 0
    for (const name of names) {
      const ageMs = this.#options.admissions.ageNow(served[name])
      if (ageMs < 0) return this.#wait(call, names, arrived ?? this.#options.time.now(), answer)
      oldestMs = Math.max(oldestMs, ageMs)
    }
    return answer(served, oldestMs, arrived)
  }

  async #wait(call: Call, names: readonly ListName[], arrived: Moment, answer: GiveAnswer): Promise<Answer> {
    const { admissions, served } = this.#options
    const admission = await admissions.wait(() => {
      const lists = served()
      return names.map((name) => lists[name])
    }, arrived)
    return admission.ok ? answer(served(), admission.ageMs, arrived) : this.#unavailable(call, admission.retryAfterMs)
  }

  #unavailable(call: Call, retryAfterMs: number): Answer {
    return this.#later(call, 'crm-unavailable', Math.max(1, Math.ceil(retryAfterMs / 1000)))
  }

  #later(call: Call, why: Refusal, retryAfterS: number): Answer {
    const refusal = this.#refuse(call, why)
    return { ...refusal, fields: refusal.fields.with('Retry-After', String(retryAfterS)) }
  }

  /**
   * Returns the list whose next read tells why the venue of an event is not served: the other one was read when this
   * one could not be. `null` if the venue is served, or is known not to be.
   */
  #guessingVenueOf(served: ServedLists, id: Guid): EitherList | null {
    const venue = venueOf(served, id)
    if (venue === null || served.venues.list.serves(venue)) return null
    return [served.venues, served.events].find((list) => this.#options.admissions.isGuessing(list)) ?? null
  }

  /** @param guessing The list whose next read decides whether the record exists; `null` if that is known. */
  #record<Item>(
    call: Call,
    from: ServedList<Item>,
    id: Guid,
    otherwise: Refusal,
    ageMs: number,
    guessing: EitherList | null = null,
  ): Answer {
    const mediaType = this.#negotiate(call.header('accept'))
    const representation = from.list.represent(id, shapeOf[mediaType])
    if (representation === null)
      return guessing === null ? this.#refuse(call, otherwise, ageMs) : this.#unavailable(call, guessing.nextTryInMs)
    return this.#found(call, mediaType, representation, ageMs)
  }

  #found(
    call: Call,
    mediaType: MediaType | FeedType,
    { etag, body }: Pick<Answer, 'etag'> & { readonly body: Body },
    ageMs: number,
  ): Answer {
    if (this.#isUnchanged(call, etag)) return { status: 304, fields: this.#headers.unchanged(ageMs), etag, body: null }
    return { status: 200, fields: this.#headers.record(mediaType, ageMs), etag, body }
  }

  #isUnchanged(call: Call, etag: string): boolean {
    if (!this.#options.conditionalRequests) return false
    const header = call.header('if-none-match')
    return header !== null && matchesNone(header, etag)
  }

  #refuse(call: Call, refusal: Refusal, ageMs = 0, detail: string | null = null): Answer {
    const xml = isXml(this.#negotiate(call.header('accept')))
    const { status } = REFUSALS[refusal]
    const problem = { refusal, instance: call.pathname, traceId: traceIdOf(call.header('traceparent')), detail }
    const body = bodyOf((xml ? problemXml : problemJson)(problem))
    return { status, fields: this.#headers.problem(xml, status, ageMs), etag: '', body }
  }

  #fail(call: Call, cause: unknown): Answer {
    this.#options.onInternalError(cause)
    return this.#refuse(call, 'internal-error')
  }
}

function venueOf({ events }: ServedLists, id: Guid): Guid | null {
  const venue = events.list.get(id)?.VenueId ?? EMPTY_GUID
  return venue === EMPTY_GUID ? null : venue
}
