import { readWeights, UNNAMED } from './accept-weights.ts'
import { type FeedType, type MediaType, MEDIA_TYPES } from '../formats/media-types.ts'
import { Buffer } from 'node:buffer'

const FALLBACK: MediaType = 'application/json'

// All ranges that match one of our types; and for each type the indexes of its ranges, the most specific first.
const RANGES: readonly string[] = [...new Set(MEDIA_TYPES.flatMap(rangesOf))]
const OFFERS = MEDIA_TYPES.map((mediaType) => ({
  mediaType,
  ranges: rangesOf(mediaType).map((range) => RANGES.indexOf(range)),
}))

function rangesOf(mediaType: MediaType): readonly string[] {
  return [mediaType, mediaType.replace(/\/.*/, '/*'), '*/*']
}

/** A range that matches nothing. */
const NO_RANGE = -1

/**
 * Returns the media type to answer with for an event, if these feeds are on (contract §6). Only the exact name of a
 * feed's type selects it; ranges such as `text/*` do not.
 */
export function negotiateWithFeeds(accept: string, feeds: readonly FeedType[]): MediaType | FeedType {
  const weights = readWeights(accept, [...RANGES, ...feeds])
  if (weights === null) return FALLBACK
  const offers = feeds.map((mediaType, index) => ({
    mediaType,
    ranges: [RANGES.length + index, NO_RANGE, NO_RANGE],
  }))
  return bestOf([...OFFERS, ...offers], weights) ?? FALLBACK
}

/**
 * Returns the media type to answer with, for any Accept header (contract §1.4; RFC 9110 §12.5.1). A header that is
 * absent, malformed or matches nothing gets `application/json`: the service never answers 406.
 *
 * @example negotiate('text/html,application/xml;q=0.9,*' + '/*;q=0.8') // 'application/xml'
 */
export function negotiate(accept: string | null): MediaType {
  const weights = accept === null ? null : readWeights(accept, RANGES)
  if (weights === null) return FALLBACK
  return bestOf(OFFERS, weights) ?? FALLBACK
}

interface Offer<Type> {
  readonly mediaType: Type
  /** The indexes of the ranges that match the type, the most specific first. */
  readonly ranges: readonly number[]
}

/** The best of these offers by the weights of the ranges; `null` if nothing names any of them. */
function bestOf<Type>(offers: readonly Offer<Type>[], weights: Int16Array): Type | null {
  let best: Type | null = null
  let bestRank = 0
  for (const { mediaType, ranges } of offers) {
    const rank = rankOf(ranges, weights)
    // On equal ranks the earlier type wins: MEDIA_TYPES is in order of preference.
    if (rank > bestRank) {
      best = mediaType
      bestRank = rank
    }
  }
  return best
}

/** Ranks by weight, then by specificity. 0 for a type that the header does not name or excludes by `q=0`. */
function rankOf(ranges: readonly number[], weights: Int16Array): number {
  let specificity = ranges.length
  for (const range of ranges) {
    const weight = weights[range] ?? UNNAMED
    // The most specific matching range decides, even if a wider one has a higher weight (RFC 9110 §12.5.1).
    if (weight !== UNNAMED) return weight === 0 ? 0 : weight * (ranges.length + 1) + specificity
    specificity--
  }
  return 0
}

/** Longer headers are not cached. Browsers send about 150 characters. */
export const LONGEST_KEPT = 512

/**
 * Returns a `negotiate` with a cache of at most `ceiling` answers, because clients send the same few headers.
 *
 * The cache has two generations of half the ceiling each. When the young generation is full, it replaces the old one; a
 * header found in the old generation moves to the young one. A header in use therefore survives a flood of random ones,
 * without sorting.
 */
export function createNegotiator<Type extends string = MediaType>(
  ceiling: number = 512,
  decide: (accept: string) => MediaType | Type = negotiate,
): (accept: string | null) => MediaType | Type {
  const generation = Math.max(1, Math.floor(ceiling / 2))
  let young = new Map<string, MediaType | Type>()
  let old = new Map<string, MediaType | Type>()
  return (accept) => {
    if (accept === null) return FALLBACK
    // Checked before the lookup, which hashes the whole text.
    if (accept.length > LONGEST_KEPT) return decide(accept)
    const known = young.get(accept)
    if (known !== undefined) return known
    const answer = old.get(accept) ?? decide(accept)
    const key = ownCopy(accept)
    if (key === null) return answer
    if (young.size >= generation) {
      old = young
      young = new Map()
    }
    young.set(key, answer)
    return answer
  }
}

/**
 * Returns an equal string that shares no memory: a slice of a request's text would keep all of that text alive. `null`
 * if Latin-1 cannot represent the text, which never happens to a header decoded as RFC 9110 §5.5 requires.
 */
function ownCopy(text: string): string | null {
  // Copied through bytes: JavaScriptCore optimizes a slice of a concatenation back into the original slice.
  const copy = Buffer.from(text, 'latin1').toString('latin1')
  return copy === text ? copy : null
}
