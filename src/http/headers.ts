import { COMMON, ERROR_MAX_AGE_S } from '../contract/answer-fields.ts'
import { METHODS } from '../contract/endpoints.ts'
import { type FeedType, type MediaType, contentTypeOf } from '../formats/media-types.ts'
import { HeaderFields } from './call.ts'

/**
 * Builds the header fields of an answer from its type and age (contract §1.3). Returns the same object while these stay
 * the same.
 */
export class HeaderBuilder {
  /** The maximum age in whole seconds. */
  readonly #maximumAgeS: number
  readonly #records = new Kept<MediaType | FeedType>()
  readonly #unchanged = new Kept<'304'>()
  readonly #problems = new Kept<number>()

  constructor(maxAgeMs: number) {
    this.#maximumAgeS = Math.floor(maxAgeMs / 1000)
  }

  /** Returns the fields of a 200, without its ETag. `ageMs` is the age of the data. */
  record(mediaType: MediaType | FeedType, ageMs: number): HeaderFields {
    const ageS = Math.ceil(ageMs / 1000)
    return (
      this.#records.get(mediaType, ageS) ??
      this.#records.keep(mediaType, ageS, { 'Content-Type': contentTypeOf[mediaType], ...this.#aged(ageS) })
    )
  }

  /** Returns the fields of a 304: without those that describe a body, which the caller has (RFC 9110 §15.4.5). */
  unchanged(ageMs: number): HeaderFields {
    const ageS = Math.ceil(ageMs / 1000)
    return this.#unchanged.get('304', ageS) ?? this.#unchanged.keep('304', ageS, this.#aged(ageS))
  }

  /** Returns the fields of an error. `ageMs` is 0 if the data was not consulted. */
  problem(isXml: boolean, status: number, ageMs: number): HeaderFields {
    const maxAgeS = Math.min(ERROR_MAX_AGE_S, Math.max(0, this.#maximumAgeS - Math.ceil(ageMs / 1000)))
    const key = isXml ? -status : status
    return (
      this.#problems.get(key, maxAgeS) ??
      this.#problems.keep(key, maxAgeS, {
        'Content-Type': isXml ? 'application/problem+xml' : 'application/problem+json',
        'Cache-Control': status >= 500 ? 'no-store' : this.#maximumAgeS === 0 ? 'no-cache' : `max-age=${maxAgeS}`,
        ...COMMON,
      })
    )
  }

  #aged(ageS: number): Readonly<Record<string, string>> {
    const maxAgeS = Math.max(0, this.#maximumAgeS - ageS)
    const cacheControl = this.#maximumAgeS === 0 ? 'no-cache' : `public, max-age=${maxAgeS}`
    return { Age: String(ageS), 'Cache-Control': cacheControl, ...COMMON }
  }
}

/** The last fields of each key, reusable while the second in their Age stays the same. */
class Kept<Key> {
  readonly #kept = new Map<Key, { readonly second: number; readonly fields: HeaderFields }>()

  get(key: Key, second: number): HeaderFields | null {
    const kept = this.#kept.get(key)
    return kept !== undefined && kept.second === second ? kept.fields : null
  }

  keep(key: Key, second: number, values: Readonly<Record<string, string>>): HeaderFields {
    const fields = new HeaderFields(values)
    this.#kept.set(key, { second, fields })
    return fields
  }
}

/** The fields of an OPTIONS answer, including those for a CORS preflight (contract §1.2). */
export const OPTIONS_FIELDS: HeaderFields = new HeaderFields({
  Allow: METHODS,
  'Access-Control-Allow-Methods': METHODS,
  'Access-Control-Allow-Headers': '*',
  'Access-Control-Max-Age': '86400',
  ...COMMON,
})

/** Returns true if `If-None-Match` names this strong tag or is `*`, by weak comparison (RFC 9110 §13.1.2). */
export function matchesNone(header: string, etag: string): boolean {
  if (header.trim() === '*') return true
  // Entity tags may contain commas, so the header is matched, not split.
  for (const [, tag] of header.matchAll(/(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g)) if (tag === etag) return true
  return false
}
