import { readWeights, UNNAMED } from './accept-weights.ts'
import type { MediaType } from './media-types.ts'
import { MEDIA_TYPES } from './media-types.ts'

const FALLBACK: MediaType = 'application/json'

// Every range that can match one of our types, and for each type the indexes of its own, the most specific first.
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
