import type { MediaType } from '../formats/media-types.ts'
import { contentTypeOf } from '../formats/media-types.ts'

type Headers = Readonly<Record<string, string>>

/** The methods of every path (contract §1.2). */
export const METHODS = 'GET, HEAD, OPTIONS'

/** For what never depends on an id and cannot hide a new event for long (contract §1.3). */
const ERROR_MAX_AGE_S = 5

/** The headers of an answer, as a function of its type, tag and age (contract §1.3). */
export class HeaderBuilder {
  /** The freshness bound in whole seconds. */
  readonly #boundS: number
  readonly #kept = new Map<MediaType, { readonly ageS: number; readonly headers: Headers }>()

  constructor(boundMs: number) {
    this.#boundS = Math.floor(boundMs / 1000)
  }

  /** Those of a 200 but its ETag; `ageMs` is how old the data is. The same object until the second is over. */
  record(mediaType: MediaType, ageMs: number): Headers {
    const ageS = Math.ceil(ageMs / 1000)
    const kept = this.#kept.get(mediaType)
    if (kept !== undefined && kept.ageS === ageS) return kept.headers
    const headers = {
      'Content-Type': contentTypeOf[mediaType],
      Age: String(ageS),
      'Cache-Control': this.#boundS === 0 ? 'no-cache' : `public, max-age=${Math.max(0, this.#boundS - ageS)}`,
      Vary: 'Accept',
      'X-Content-Type-Options': 'nosniff',
      'Access-Control-Allow-Origin': '*',
    }
    this.#kept.set(mediaType, { ageS, headers })
    return headers
  }

  /** Those of an error; `ageMs` counts only where the data was asked. */
  problem(isXml: boolean, status: number, ageMs: number): Record<string, string> {
    return {
      'Content-Type': isXml ? 'application/problem+xml' : 'application/problem+json',
      'Cache-Control': status >= 500 ? 'no-store' : this.#errorCacheControl(ageMs),
      Vary: 'Accept',
      'X-Content-Type-Options': 'nosniff',
      'Access-Control-Allow-Origin': '*',
    }
  }

  #errorCacheControl(ageMs: number): string {
    if (this.#boundS === 0) return 'no-cache'
    return `max-age=${Math.min(ERROR_MAX_AGE_S, Math.max(0, this.#boundS - Math.ceil(ageMs / 1000)))}`
  }
}

/** What OPTIONS says, a CORS preflight included (contract §1.2). */
export const OPTIONS_HEADERS: Headers = {
  Allow: METHODS,
  'Access-Control-Allow-Methods': METHODS,
  'Access-Control-Allow-Headers': '*',
  'Access-Control-Max-Age': '86400',
  Vary: 'Accept',
  'X-Content-Type-Options': 'nosniff',
  'Access-Control-Allow-Origin': '*',
}
