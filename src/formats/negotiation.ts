import { readWeights, UNNAMED } from './accept-weights.ts'
import { type MediaType, MEDIA_TYPES } from './media-types.ts'
import { Buffer } from 'node:buffer'

const FALLBACK: MediaType = 'application/json'

// Every range that can match one of our types, and for each type the indexes of those that match it, the most specific first.
const RANGES: readonly string[] = [...new Set(MEDIA_TYPES.flatMap(rangesOf))]
const OFFERS = MEDIA_TYPES.map((mediaType) => ({
  mediaType,
  ranges: rangesOf(mediaType).map((range) => RANGES.indexOf(range)),
}))

function rangesOf(mediaType: MediaType): readonly string[] {
  return [mediaType, mediaType.replace(/\/.*/, '/*'), '*/*']
}

/**
 * The media type to answer with, for any Accept header at all (contract §1.4; RFC 9110 §12.5.1). A header that is absent,
 * malformed or matches nothing gets `application/json`: the service never answers 406.
 *
 * @example negotiate('text/html,application/xml;q=0.9,*' + '/*;q=0.8') // 'application/xml'
 */
export function negotiate(accept: string | null): MediaType {
  const weights = accept === null ? null : readWeights(accept, RANGES)
  if (weights === null) return FALLBACK
  let best = FALLBACK
  let bestRank = 0
  for (const { mediaType, ranges } of OFFERS) {
    const rank = rankOf(ranges, weights)
    // Equal ranks keep the earlier one: the order of MEDIA_TYPES is the order of preference.
    if (rank > bestRank) {
      best = mediaType
      bestRank = rank
    }
  }
  return best
}

/** Ranks by weight, then by how specific the range is; 0 for a type that nothing names, or that `q=0` excludes. */
function rankOf(ranges: readonly number[], weights: Int16Array): number {
  let specificity = ranges.length
  for (const range of ranges) {
    const weight = weights[range] ?? UNNAMED
    // The most specific range that matches decides, also where a wider one weighs more (RFC 9110 §12.5.1).
    if (weight !== UNNAMED) return weight === 0 ? 0 : weight * (ranges.length + 1) + specificity
    specificity--
  }
  return 0
}

/** Longer headers are negotiated each time: browsers send some 150 characters, and a key must stay small. */
export const LONGEST_KEPT = 512

/**
 * A `negotiate` that remembers its answers, at most `ceiling` of them, for clients send the same few headers.
 *
 * It keeps two generations of half the ceiling each. When the young one is full the old one is dropped whole, and a header
 * met in the old one moves to the young one: so a header in use outlives a flood of random ones, and nothing is sorted.
 */
export function createNegotiator(
  ceiling: number = 512,
  decide: (accept: string) => MediaType = negotiate,
): (accept: string | null) => MediaType {
  const generation = Math.max(1, Math.floor(ceiling / 2))
  let young = new Map<string, MediaType>()
  let old = new Map<string, MediaType>()
  return (accept) => {
    if (accept === null) return negotiate(null)
    // Looked at first, since a lookup hashes the whole of the text.
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
 * An equal text that shares no memory: a slice of a request's text would keep all of that text alive. Null for one that
 * Latin-1 cannot hold, which no header does whose bytes were read as RFC 9110 §5.5 has them.
 */
function ownCopy(text: string): string | null {
  // By way of bytes: of a concatenation and its slice JavaScriptCore makes the first slice again.
  const copy = Buffer.from(text, 'latin1').toString('latin1')
  return copy === text ? copy : null
}
