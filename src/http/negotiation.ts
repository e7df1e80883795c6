import { type FeedType, type MediaType, MEDIA_TYPES } from '../formats/media-types.ts'
import { Buffer } from 'node:buffer'

const FALLBACK: MediaType = 'application/json'

interface Offer<Type> {
  readonly mediaType: Type
  /** The ranges that match the type, the most specific first. */
  readonly ranges: readonly string[]
}

const OFFERS: readonly Offer<MediaType>[] = MEDIA_TYPES.map((mediaType) => ({
  mediaType,
  ranges: [mediaType, mediaType.replace(/\/.*/, '/*'), '*/*'],
}))

/**
 * Returns the media type to answer with for an event, if these feeds are on (contract §6). Only the exact name of a
 * feed's type selects it; ranges such as `text/*` do not.
 */
export function negotiateWithFeeds(accept: string, feeds: readonly FeedType[]): MediaType | FeedType {
  const offers = feeds.map((mediaType) => ({ mediaType, ranges: [mediaType] }))
  return bestOf<MediaType | FeedType>([...OFFERS, ...offers], accept) ?? FALLBACK
}

/**
 * Returns the media type to answer with, for any Accept header (contract §1.4; RFC 9110 §12.5.1). A header that is
 * absent, malformed or matches nothing gets `application/json`: the service never answers 406.
 *
 * @example negotiate('text/html,application/xml;q=0.9,*' + '/*;q=0.8') // 'application/xml'
 */
export function negotiate(accept: string | null): MediaType {
  return (accept === null ? null : bestOf(OFFERS, accept)) ?? FALLBACK
}

/** Returns the best of these offers; `null` if the header is malformed or names none of them. */
function bestOf<Type>(offers: readonly Offer<Type>[], accept: string): Type | null {
  const weights = readWeights(accept)
  if (weights === null) return null
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
function rankOf(ranges: readonly string[], weights: ReadonlyMap<string, number>): number {
  for (const [wideness, range] of ranges.entries()) {
    const weight = weights.get(range)
    // The most specific matching range decides, even if a wider one has a higher weight (RFC 9110 §12.5.1).
    if (weight !== undefined) return weight === 0 ? 0 : weight * 4 - wideness
  }
  return 0
}

/** Longer headers are not cached. Browsers send about 150 characters. */
export const LONGEST_KEPT = 512

/**
 * Returns a `negotiate` with a cache of at most `ceiling` answers, because clients send the same few headers. A full
 * cache is emptied: deciding again for the few headers in use is cheaper than keeping them in order of use.
 */
export function createNegotiator<Type extends string = MediaType>(
  ceiling: number = 512,
  decide: (accept: string) => MediaType | Type = negotiate,
): (accept: string | null) => MediaType | Type {
  const answers = new Map<string, MediaType | Type>()
  return (accept) => {
    if (accept === null) return FALLBACK
    // Checked before the lookup, which hashes the whole text.
    if (accept.length > LONGEST_KEPT) return decide(accept)
    const known = answers.get(accept)
    if (known !== undefined) return known
    const answer = decide(accept)
    const key = ownCopy(accept)
    if (key === null) return answer
    if (answers.size >= ceiling) answers.clear()
    answers.set(key, answer)
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

// Callers control the header's length, so each pattern matches in one way only: reading takes linear time.
const TOKEN = "[\\w!#$%&'*+.^`|~-]+"
/** A list member up to its parameters or its end. Empty members are allowed (RFC 9110 §5.6.1.2). */
const MEMBER = new RegExp(`[ \\t]*(?:(${TOKEN}/${TOKEN})[ \\t]*)?([;,]|$)`, 'y')
/** A parameter with its value, unless that is quoted. Empty parameters are allowed (RFC 9110 §5.6.6). */
const PARAMETER = new RegExp(`[ \\t]*(?:(${TOKEN})=(${TOKEN})?)?`, 'y')
const DELIMITER = /[ \t]*([;,]|$)/y
/** RFC 9110 §12.4.2. */
const QVALUE = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/
/** A character of a quoted string, also after a backslash (RFC 9110 §5.6.4). */
const QUOTABLE = /[\t\x20-\x7e\x80-\uffff]/

/**
 * Returns the weight in thousandths of each range (in lower case) that an Accept header names; `null` if any member is
 * malformed.
 *
 * @example readWeights('text/*;q=0.3, image/png') // Map { 'text/*' => 300, 'image/png' => 1000 }
 */
export function readWeights(accept: string): ReadonlyMap<string, number> | null {
  const weights = new Map<string, number>()
  for (let at = 0; at < accept.length;) {
    const member = matchAt(MEMBER, accept, at)
    if (member === null) return null
    at = MEMBER.lastIndex
    const [, named, delimiter] = member
    if (named === undefined && delimiter !== ';') continue
    if (named === undefined || (named.startsWith('*/') && named !== '*/*')) return null
    const { weight, end } = delimiter === ';' ? readParameters(accept, at) : { weight: 1000, end: at }
    if (end === -1) return null
    at = end
    const range = named.toLowerCase()
    // If several members name the same range, the highest weight counts (contract §1.4).
    weights.set(range, Math.max(weights.get(range) ?? 0, weight))
  }
  return weights
}

/**
 * Returns the weight that the parameters from `at` on give, and where the next member begins: -1 if they are malformed.
 * Every parameter named `q` is a weight, at any position (RFC 9110 §12.5.1). A second `q` makes the member malformed,
 * because nothing says which one counts. Other parameters are ignored (contract §1.4).
 */
function readParameters(accept: string, from: number): { readonly weight: number; readonly end: number } {
  const malformed = { weight: 0, end: -1 }
  let weight: number | null = null
  for (let at = from; ;) {
    const [, name, value] = matchAt(PARAMETER, accept, at) ?? []
    at = PARAMETER.lastIndex
    if (name?.toLowerCase() === 'q') {
      if (weight !== null || value === undefined || !QVALUE.test(value)) return malformed
      weight = Math.round(Number(value) * 1000)
    } else if (name !== undefined && value === undefined) at = endOfQuoted(accept, at)
    const delimiter = at === -1 ? null : matchAt(DELIMITER, accept, at)
    if (delimiter === null) return malformed
    at = DELIMITER.lastIndex
    if (delimiter[1] !== ';') return { weight: weight ?? 1000, end: at }
  }
}

/** Returns the end of the quoted string at `from`; -1 if there is none. */
function endOfQuoted(text: string, from: number): number {
  if (text[from] !== '"') return -1
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '"') return at + 1
    if (text[at] === '\\') at++
    if (!QUOTABLE.test(text[at] ?? '')) return -1
  }
  return -1
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}
