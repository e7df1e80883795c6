import { type Body, ownBody } from '../domain/body.ts'
import type { RouteLabel } from '../observe/observation.ts'

/** A request as the service sees it, on either runtime. Values are computed only when they are read. */
export interface Call {
  readonly method: string
  /** The request target as the runtime provides it: a path or an absolute URL, in the caller's spelling. */
  readonly target: string
  /** The path of the URL, parsed as in browsers (WHATWG), without the query (contract §1). Computed on first use. */
  readonly pathname: string
  /** Returns the header's lines joined by commas; `null` if it is absent. */
  header(name: 'accept' | 'traceparent' | 'if-none-match'): string | null
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

/**
 * An answer. For HEAD, `body` is the body of the GET, which gives the runtime its length (RFC 9110 §9.3.2). An answer
 * that is not sent before the next await needs `withOwnBody`.
 */
export interface Answer {
  readonly status: number
  /** All header fields except the ETag. */
  readonly fields: HeaderFields
  /** Empty if the answer has no ETag. */
  readonly etag: string
  readonly body: Body | null
}

/** Returns an answer whose body is safe from being overwritten while it waits. */
export function withOwnBody(answer: Answer): Answer {
  return answer.body === null ? answer : { ...answer, body: ownBody(answer.body) }
}

const VERSION_00 = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/
const LATER_VERSION = /^(?!00|ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?$/

/** Returns the trace id of a valid `traceparent`; `null` for any other (W3C Trace Context §3.2). */
export function traceIdOf(traceparent: string | null): string | null {
  if (traceparent === null || traceparent.length > 512) return null
  const match = VERSION_00.exec(traceparent) ?? LATER_VERSION.exec(traceparent)
  const [, traceId, parentId] = match ?? []
  if (traceId === undefined || parentId === undefined) return null
  return /[^0]/.test(traceId) && /[^0]/.test(parentId) ? traceId : null
}

/** Called for every answer. Must be fast and must not throw. */
export type RequestWatch = (route: RouteLabel, call: Call, answer: Answer, durationMs: number) => void
