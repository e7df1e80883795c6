/**
 * A typed client for Marquee in one file without dependencies: copy it. It runs in browsers, Node, Bun and Deno.
 *
 *     const marquee = new MarqueeClient('http://127.0.0.1:8080/')
 *     for await (const event of marquee.whatsOn({ tag: ['Music'], available: true })) console.log(event.Start, event.Name)
 */

export interface MarqueeOptions<Decimals extends 'number' | 'text'> {
  /** `text` keeps the digits of prices and coordinates: `18.50` is `'18.50'`, for whatever decimal library you use. */
  readonly decimals?: Decimals
  /** How many seconds to wait in all, each time, while the service asks to come again later. 30 by default, 0 not at all. */
  readonly patienceS?: number
  /** Ends what is under way. */
  readonly signal?: AbortSignal
}

/** What of what is on; the service's own words. A date is a whole day there: `2036-05-09`. */
export interface WhatsOn {
  readonly from?: DateTime | string
  readonly to?: DateTime | string
  /** Any of them. */
  readonly venue?: readonly Guid[]
  /** Any of them, in upper or lower case. */
  readonly tag?: readonly string[]
  readonly available?: true
}

/** The service refused, or did not answer as it should; `problem` is what it said, where it said anything. */
export class MarqueeError extends Error {
  override readonly name: string = 'MarqueeError'
  readonly status: number
  readonly problem: Problem | null

  constructor(status: number, problem: Problem | null) {
    super(problem === null ? `the answer was ${status}` : problem.detail)
    this.status = status
    this.problem = problem
  }
}

type DecimalOf<Decimals> = Decimals extends 'text' ? string : number

export class MarqueeClient<Decimals extends 'number' | 'text' = 'number'> {
  readonly #root: string
  readonly #options: MarqueeOptions<Decimals>

  /** @param address where the service answers, its base path included */
  constructor(address: string, options: MarqueeOptions<Decimals> = {}) {
    this.#root = address.replace(/\/$/, '')
    this.#options = options
  }

  /** The event; null where none is published by this id. */
  event(id: Guid): Promise<HalEvent<DecimalOf<Decimals>> | null> {
    return this.#find(`${this.#root}/api/events/${encodeURIComponent(id)}`)
  }

  /** The venue; null where none is published by this id. */
  venue(id: Guid): Promise<HalVenue<DecimalOf<Decimals>> | null> {
    return this.#find(`${this.#root}/api/venues/${encodeURIComponent(id)}`)
  }

  /** Where an event takes place; null while that is not known, or not published. */
  venueOf(event: { readonly Id: Guid }): Promise<HalVenue<DecimalOf<Decimals>> | null> {
    return this.#find(`${this.#root}/api/events/${encodeURIComponent(event.Id)}/venue`)
  }

  /** What is on, from now or `from`, by Start; page after page is asked for as you go. Needs `lists: on` there. */
  async *whatsOn(what: WhatsOn = {}): AsyncGenerator<HalEvent<DecimalOf<Decimals>>, void> {
    const query = new URLSearchParams()
    for (const [name, given] of Object.entries(what)) {
      for (const value of Array.isArray(given) ? given : [given])
        if (value !== undefined) query.append(name, String(value))
    }
    for await (const page of this.#pages<HalEventPage<DecimalOf<Decimals>>>(`/api/events?${query}`))
      yield* page._embedded.event
  }

  /** All venues, by Id. Needs `lists: on` there. */
  async *venues(): AsyncGenerator<HalVenue<DecimalOf<Decimals>>, void> {
    for await (const page of this.#pages<HalVenuePage<DecimalOf<Decimals>>>('/api/venues?limit=200'))
      yield* page._embedded.venue
  }

  async *#pages<Page extends { readonly _links: PageLinks }>(path: string): AsyncGenerator<Page, void> {
    let address: string | null = this.#root + path
    while (address !== null) {
      const page: Page = await this.#get(address)
      yield page
      const next: HalLink | undefined = page._links.next
      address = next === undefined ? null : new URL(next.href, address).href
    }
  }

  async #find<Answer>(address: string): Promise<Answer | null> {
    try {
      return await this.#get(address)
    } catch (error) {
      if (error instanceof MarqueeError && error.status === 404) return null
      throw error
    }
  }

  async #get<Answer>(address: string): Promise<Answer> {
    const { signal = null, patienceS = 30, decimals } = this.#options
    let leftS = patienceS
    for (;;) {
      const response = await fetch(address, { headers: { Accept: 'application/hal+json' }, signal })
      const text = await response.text()
      if (response.ok) return JSON.parse(decimals === 'text' ? withQuotedDecimals(text) : text)
      const retryAfterS = Math.max(1, Number(response.headers.get('Retry-After') ?? Infinity))
      // Not a number where a proxy in front gave a date: that is not waited for.
      if (!(retryAfterS <= leftS)) throw new MarqueeError(response.status, problemIn(text))
      leftS -= retryAfterS
      await pause(retryAfterS, signal)
    }
  }
}

/** A decimal has a point, and nothing else has outside of texts. */
function withQuotedDecimals(json: string): string {
  return json.replace(/("[^"\\]*(?:\\.[^"\\]*)*")|-?\d+\.\d+/g, (found, text) => text ?? `"${found}"`)
}

function pause(seconds: number, signal: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000)
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', end, { once: true })
  })
}

/** A proxy in front may have answered, with a page of its own. */
function problemIn(text: string): Problem | null {
  try {
    const problem = JSON.parse(text)
    return typeof problem?.detail === 'string' ? problem : null
  } catch {
    return null
  }
}

// Types: written by scripts/description.ts.

/** Lower-case, with hyphens. */
export type Guid = string

/**
 * `2036-05-09T19:30:00+01:00`: the wall clock where it takes place, and its offset. It stays a text, because a Date forgets both.
 * `Temporal.PlainDateTime.from(start)` is the wall clock, `Temporal.Instant.from(start)` the moment.
 */
export type DateTime = string

/** A link of plain JSON; `~/` stands for the base path. */
export interface Link {
  readonly Rel: string
  readonly Href: string
  readonly Title: string | null
  /** Whether Href holds `{…}` to fill in. */
  readonly IsTemplated: boolean
}

/** A link of HAL JSON; `href` is a path from the host's root, or an address. */
export interface HalLink {
  readonly href: string
  /** There where href holds `{…}` to fill in (RFC 6570). */
  readonly templated?: true
  readonly title?: string
}

/** Links by relation: those that are always there, and what else there is; an array where one relation has several. */
export type HalLinks<Always extends string> = { readonly [Rel in Always]: HalLink | readonly HalLink[] } & {
  readonly [rel: string]: HalLink | readonly HalLink[] | undefined
}

/** The links of a page of a list; `next` is there where there are more. */
export interface PageLinks {
  readonly self: HalLink
  readonly next?: HalLink
}

/** What both JSON formats say of events. `Decimal` is `string` where the digits were kept. */
export interface EventFields<Decimal = number> {
  /** The id of the event. */
  readonly Id: Guid
  /** The name of the event. Null if unknown. */
  readonly Name: string | null
  /** The id of the venue; all zeros while no venue is assigned. */
  readonly VenueId: Guid
  /** The total number of tickets; 2147483647 if there is no limit. 0 if unknown. */
  readonly TicketCapacity: number
  /** The number of tickets still available; 2147483647 if there is no limit. 0 if unknown. */
  readonly TicketsAvailable: number
  /** The start of the event. Always with a numeric UTC offset, never Z. */
  readonly Start: DateTime
  /** The end of the event. Always with a numeric UTC offset, never Z. */
  readonly Finish: DateTime
  /** The price of a ticket, with the digits that the CRM sent. Up to 28 digits: parse it as a decimal (12.50 stays 12.50), not as a float. 0.0 if unknown. */
  readonly Price: Decimal
  /** The tags of the event. Empty if there are none. */
  readonly Tags: readonly string[]
}

/** What both JSON formats say of venues. `Decimal` is `string` where the digits were kept. */
export interface VenueFields<Decimal = number> {
  /** The id of the venue. */
  readonly Id: Guid
  /** The name of the venue. Null if unknown. */
  readonly Name: string | null
  /** The first line of the address. Null if unknown. */
  readonly AddressStreet1: string | null
  /** The second line of the address. Null if unknown. */
  readonly AddressStreet2: string | null
  /** The third line of the address. Null if unknown. */
  readonly AddressStreet3: string | null
  /** The city or town. Null if unknown. */
  readonly AddressCity: string | null
  /** The postal code. Null if unknown. */
  readonly AddressPostalCode: string | null
  /** The state, province or county. Null if unknown. */
  readonly AddressState: string | null
  /** The country. Null if unknown. */
  readonly AddressCountry: string | null
  /** Degrees east of Greenwich. Up to 28 digits: parse it as a decimal (12.50 stays 12.50), not as a float. 0.0 if unknown. */
  readonly Longitude: Decimal
  /** Degrees north of the equator. Up to 28 digits: parse it as a decimal (12.50 stays 12.50), not as a float. 0.0 if unknown. */
  readonly Latitude: Decimal
  /** The telephone number. Null if unknown. */
  readonly Telephone: string | null
  /** A description of the venue. Null if unknown. */
  readonly Description: string | null
  /** The website of the venue. Null if unknown. */
  readonly Website: string | null
}

/** `application/json` */
export interface Event<Decimal = number> extends EventFields<Decimal> {
  readonly _links: readonly Link[]
  readonly _embedded: null
}

/** `application/hal+json` */
export interface HalEvent<Decimal = number> extends EventFields<Decimal> {
  readonly _links: HalLinks<'self' | 'venue'>
}

/** A page of `/api/events` as `application/json`. */
export interface EventPage<Decimal = number> {
  readonly Events: readonly Event<Decimal>[]
  /** There with `include=venue`. */
  readonly Venues?: readonly Venue<Decimal>[]
  readonly _links: readonly Link[]
  readonly _embedded: null
}

/** A page of `/api/events` as `application/hal+json`. */
export interface HalEventPage<Decimal = number> {
  readonly _links: PageLinks
  readonly _embedded: {
    readonly event: readonly HalEvent<Decimal>[]
    /** There with `include=venue`. */
    readonly venue?: readonly HalVenue<Decimal>[]
  }
}

/** `application/json` */
export interface Venue<Decimal = number> extends VenueFields<Decimal> {
  readonly _links: readonly Link[]
  readonly _embedded: null
}

/** `application/hal+json` */
export interface HalVenue<Decimal = number> extends VenueFields<Decimal> {
  readonly _links: HalLinks<'self'>
}

/** A page of `/api/venues` as `application/json`. */
export interface VenuePage<Decimal = number> {
  readonly Venues: readonly Venue<Decimal>[]
  readonly _links: readonly Link[]
  readonly _embedded: null
}

/** A page of `/api/venues` as `application/hal+json`. */
export interface HalVenuePage<Decimal = number> {
  readonly _links: PageLinks
  readonly _embedded: {
    readonly venue: readonly HalVenue<Decimal>[]
  }
}

/** `application/problem+json` (RFC 9457). */
export interface Problem {
  readonly type: 'about:blank'
  /** The status in words. */
  readonly title: string
  readonly status: 400 | 404 | 405 | 410 | 500 | 502 | 503
  /** What the caller can do. */
  readonly detail: string
  /** The path that was asked for. */
  readonly instance: string
  /** There where the request had a valid `traceparent`. */
  readonly traceId?: string
}

// End of the types.
