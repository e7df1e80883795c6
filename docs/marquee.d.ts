// The JSON that Marquee answers with. Written by scripts/description.ts.

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
