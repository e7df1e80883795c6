import type { Body } from '../domain/body.ts'
import type { RouteLabel } from '../observe/observation.ts'
import { COMMON, ERROR_MAX_AGE_S, METHODS } from '../contract/endpoints.ts'
import { type FeedType, type MediaType, contentTypeOf } from '../formats/media-types.ts'

/** A request as the service sees it, on either runtime. Values are computed only when they are read. */
export interface Call {
  readonly method: string
  /** The request target as the runtime provides it: a path or an absolute URL, in the caller's spelling. */
  readonly target: string
  /** The path of the URL, parsed as in browsers (WHATWG), without the query (contract §1). Computed on first use. */
  readonly pathname: string
  /** Returns the header's lines joined by commas; `null` if it is absent. */
  header(name: 'accept' | 'traceparent' | 'if-none-match'): string | null
  /** Calls back if the caller hangs up before the answer. Returns how to stop that. Absent if the caller cannot. */
  onHangUp?(leave: () => void): (() => void) | undefined
}

/** Returns the call without its `Accept` header. */
export function withoutAccept(call: Call): Call {
  return {
    method: call.method,
    target: call.target,
    get pathname() {
      return call.pathname
    },
    header: (name) => (name === 'accept' ? null : call.header(name)),
    onHangUp: (leave) => call.onHangUp?.(leave),
  }
}

/** A reusable set of header fields. */
export class HeaderFields {
  readonly values: Readonly<Record<string, string>>
  /** The runtime's own form of these fields. Stored here, because a lookup would cost as much as building it. */
  native: unknown = null

  constructor(values: Readonly<Record<string, string>>) {
    this.values = values
  }

  /** Returns these fields and one more. */
  with(name: string, value: string): HeaderFields {
    return new HeaderFields({ ...this.values, [name]: value })
  }
}

/** An answer. For HEAD, `body` is the body of the GET, which gives the runtime its length (RFC 9110 §9.3.2). */
export interface Answer {
  readonly status: number
  /** All header fields except the ETag. */
  readonly fields: HeaderFields
  /** Empty if the answer has no ETag. */
  readonly etag: string
  readonly body: Body | null
}

/**
 * A valid `traceparent` (W3C Trace Context §3.2.2). The version `ff` and ids of zeros alone are invalid. Further members
 * are valid only if the version is above `00`.
 */
const TRACEPARENT = /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/

/** Returns the trace id of a valid `traceparent`; `null` for any other (W3C Trace Context §3.2). */
export function traceIdOf(traceparent: string | null): string | null {
  if (traceparent === null || traceparent.length > 512) return null
  return TRACEPARENT.exec(traceparent)?.[1] ?? null
}

/** Called for every answer. Must be fast and must not throw. */
export type RequestWatch = (route: RouteLabel, call: Call, answer: Answer, durationMs: number) => void

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
