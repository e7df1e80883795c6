/** The six media types of a record, in order of preference (contract §1.4). */
export const MEDIA_TYPES = [
  'application/json',
  'text/json',
  'application/xml',
  'text/xml',
  'application/hal+json',
  'application/hal+xml',
] as const

export type MediaType = (typeof MEDIA_TYPES)[number]

/**
 * Further representations of an event, each of which an operator may switch on (contract §6). Only its own exact name
 * in Accept chooses one; in ties they come after the six, in this order.
 */
export const FEED_TYPES = ['text/calendar', 'application/ld+json'] as const

/** The representations of events that feeds have. Atom is only of many events. */
export type FeedType = (typeof FEED_TYPES)[number] | 'application/atom+xml'

/** The four ways to write a record. Each has its own body and ETag (contract §1.3, §3). */
export const SHAPES = ['json', 'xml', 'hal-json', 'hal-xml'] as const

export type Shape = (typeof SHAPES)[number]

export const shapeOf: Readonly<Record<MediaType, Shape>> = {
  'application/json': 'json',
  'text/json': 'json',
  'application/xml': 'xml',
  'text/xml': 'xml',
  'application/hal+json': 'hal-json',
  'application/hal+xml': 'hal-xml',
}

/**
 * The `Content-Type` of each media type, precomputed: building the string for each response would be slower (contract
 * §1.3).
 */
export const contentTypeOf: { readonly [M in MediaType | FeedType]: `${M}; charset=utf-8` } = {
  'application/json': 'application/json; charset=utf-8',
  'text/json': 'text/json; charset=utf-8',
  'application/xml': 'application/xml; charset=utf-8',
  'text/xml': 'text/xml; charset=utf-8',
  'application/hal+json': 'application/hal+json; charset=utf-8',
  'application/hal+xml': 'application/hal+xml; charset=utf-8',
  'text/calendar': 'text/calendar; charset=utf-8',
  'application/ld+json': 'application/ld+json; charset=utf-8',
  'application/atom+xml': 'application/atom+xml; charset=utf-8',
}

/** Returns the media types of an event that are on besides the six, in their order of preference. */
export function feedTypes({
  calendar,
  jsonLd,
}: {
  calendar: boolean
  jsonLd: boolean
}): readonly (typeof FEED_TYPES)[number][] {
  return FEED_TYPES.filter((type) => (type === 'text/calendar' ? calendar : jsonLd))
}

export function isFeed(mediaType: MediaType | FeedType): mediaType is FeedType {
  return FEED_TYPES.some((feed) => feed === mediaType)
}

/** Returns true for the XML types, whose clients also get problems as XML (contract §1.5). */
export function isXml(mediaType: MediaType): boolean {
  return mediaType.endsWith('xml')
}
