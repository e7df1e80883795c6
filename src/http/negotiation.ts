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

/** The weight of a range that the header does not name. */
const UNNAMED = -1

const FULL_WEIGHT = 1000
const MALFORMED = -1
const HTAB = 0x09
const SPACE = 0x20
const QUOTE = 0x22
const STAR = 0x2a
const COMMA = 0x2c
const POINT = 0x2e
const SLASH = 0x2f
const ZERO = 0x30
const ONE = 0x31
const NINE = 0x39
const SEMICOLON = 0x3b
const EQUALS = 0x3d
const BACKSLASH = 0x5c
const LOWER_Q = 0x71
const DELETE = 0x7f

const TOKEN = new Uint8Array(0x80)
for (const tchar of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
  TOKEN[tchar.charCodeAt(0)] = 1
}

/**
 * Returns the weight in thousandths that an Accept header gives to each of `ranges` (lower-case); `null` if any member
 * is malformed. It takes one pass and allocates one array, because callers control the header's length.
 *
 * Every parameter named `q` is a weight, at any position (RFC 9110 §12.5.1). A second `q` makes the member malformed,
 * because nothing says which one counts. Other parameters are ignored (contract §1.4).
 *
 * @example readWeights('text/*;q=0.3, image/png', ['text/*', 'text/xml']) // Int16Array [300, UNNAMED]
 */
export function readWeights(accept: string, ranges: readonly string[]): Int16Array | null {
  const weights = new Int16Array(ranges.length).fill(UNNAMED)
  for (let at = skipBlanks(accept, 0); at < accept.length; at = skipBlanks(accept, at + 1)) {
    // Empty list members are ignored (RFC 9110 §5.6.1.2).
    if (codeAt(accept, at) === COMMA) continue
    const rangeEnd = skipRange(accept, at)
    if (rangeEnd === MALFORMED) return null
    at = readParameters(accept, rangeEnd, weights, indexOfRange(accept, at, rangeEnd, ranges))
    if (at === MALFORMED) return null
  }
  return weights
}

/** Parses the parameters of a media range, records its weight, and returns the end of the list member. */
function readParameters(text: string, from: number, weights: Int16Array, range: number): number {
  let weight = UNNAMED
  let at = skipBlanks(text, from)
  while (codeAt(text, at) === SEMICOLON) {
    const name = skipBlanks(text, at + 1)
    const equals = skipToken(text, name)
    at = equals
    // Empty parameters are allowed (RFC 9110 §5.6.6).
    if (equals === name) continue
    if (codeAt(text, equals) !== EQUALS) return MALFORMED
    const valueEnd = skipValue(text, equals + 1)
    if (valueEnd === MALFORMED) return MALFORMED
    if (equals === name + 1 && (codeAt(text, name) | 0x20) === LOWER_Q) {
      if (weight !== UNNAMED) return MALFORMED
      weight = qvalue(text, equals + 1, valueEnd)
      if (weight === MALFORMED) return MALFORMED
    }
    at = skipBlanks(text, valueEnd)
  }
  if (at < text.length && codeAt(text, at) !== COMMA) return MALFORMED
  note(weights, range, weight === UNNAMED ? FULL_WEIGHT : weight)
  return at
}

/** If several members name the same range, the highest weight counts (contract §1.4). */
function note(weights: Int16Array, range: number, weight: number): void {
  const noted = weights[range]
  if (noted !== undefined && weight > noted) weights[range] = weight
}

function skipRange(text: string, from: number): number {
  const slash = skipToken(text, from)
  const end = skipToken(text, slash + 1)
  if (slash === from || codeAt(text, slash) !== SLASH || end === slash + 1) return MALFORMED
  // `*` is also a token character, but `*/subtype` is malformed (RFC 9110 §12.5.1).
  const anyType = slash === from + 1 && codeAt(text, from) === STAR
  return anyType && !(end === from + 3 && codeAt(text, from + 2) === STAR) ? MALFORMED : end
}

function indexOfRange(text: string, from: number, until: number, ranges: readonly string[]): number {
  for (let index = 0; index < ranges.length; index++) {
    const range = ranges[index]
    if (range?.length === until - from && matches(text, from, range)) return index
  }
  return -1
}

function matches(text: string, from: number, range: string): boolean {
  for (let index = 0; index < range.length; index++) {
    // Bit 0x20 folds letters to lower case. It maps no other token character to a character of a range.
    if ((codeAt(text, from + index) | 0x20) !== range.charCodeAt(index)) return false
  }
  return true
}

/** qvalue = ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] ), RFC 9110 §12.4.2. */
function qvalue(text: string, from: number, until: number): number {
  const whole = codeAt(text, from)
  if (whole !== ZERO && whole !== ONE) return MALFORMED
  if (until > from + 5 || (until > from + 1 && codeAt(text, from + 1) !== POINT)) return MALFORMED
  let weight = whole === ONE ? FULL_WEIGHT : 0
  for (let at = from + 2, unit = 100; at < until; at++, unit /= 10) {
    const digit = codeAt(text, at)
    if (digit < ZERO || digit > NINE) return MALFORMED
    weight += (digit - ZERO) * unit
  }
  return weight > FULL_WEIGHT ? MALFORMED : weight
}

/** Returns the end of the parameter value at `from`, a token or a quoted string (RFC 9110 §5.6.6). */
function skipValue(text: string, from: number): number {
  if (codeAt(text, from) === QUOTE) return skipQuoted(text, from + 1)
  const end = skipToken(text, from)
  return end === from ? MALFORMED : end
}

// RFC 9110 §5.6.4. Characters beyond ASCII are obs-text in every decoding a runtime may use.
function skipQuoted(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    let code = codeAt(text, at)
    if (code === QUOTE) return at + 1
    if (code === BACKSLASH) code = codeAt(text, ++at)
    // `codeAt` returns 0 past the end, which is a control character and therefore malformed.
    if (!(code >= SPACE || code === HTAB) || code === DELETE) return MALFORMED
  }
  return MALFORMED
}

function skipToken(text: string, from: number): number {
  let at = from
  while (at < text.length && TOKEN[codeAt(text, at)] === 1) at++
  return at
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (at < text.length && isBlank(codeAt(text, at))) at++
  return at
}

function isBlank(code: number): boolean {
  return code === SPACE || code === HTAB
}

function codeAt(text: string, at: number): number {
  return at < text.length ? text.charCodeAt(at) : 0
}
