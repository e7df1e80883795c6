import { type Body, ownBody } from '../formats/body.ts'
import type { RouteLabel } from '../observe/meters.ts'

/** A request as the service sees it, whatever the runtime: strings, and nothing built that is not asked for. */
export interface Call {
  readonly method: string
  /** What was asked for as the runtime gives it: a path, or an absolute URL, as it was spelt. */
  readonly target: string
  /** The path of that URL as browsers parse it (WHATWG), the query left out (contract §1). Worked out only where it is asked for. */
  readonly pathname: string
  /** The header's lines joined by commas, or null. Asked for only where it is needed. */
  header(name: 'accept' | 'traceparent' | 'if-none-match'): string | null
}

/** Header fields that are said again and again. */
export class Fields {
  readonly values: Readonly<Record<string, string>>
  /** What the runtime makes of them, made once and kept here: looking it up would cost as much as making it. */
  native: unknown = null

  constructor(values: Readonly<Record<string, string>>) {
    this.values = values
  }

  /** These and one more. */
  with(name: string, value: string): Fields {
    return new Fields({ ...this.values, [name]: value })
  }
}

/**
 * What is sent back. `body` may be null; for HEAD it is what GET would have carried, so that the runtime
 * can say its length (RFC 9110 §9.3.2). What is not sent before control is given back needs `withOwnBody`.
 */
export interface Answer {
  readonly status: number
  /** All but the ETag. */
  readonly fields: Fields
  /** May be empty. */
  readonly etag: string
  readonly body: Body | null
}

/** An answer that may wait: its body stays what it is, whatever is answered meanwhile. */
export function withOwnBody(answer: Answer): Answer {
  return answer.body === null ? answer : { ...answer, body: ownBody(answer.body) }
}

const VERSION_00 = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/
const LATER_VERSION = /^(?!00|ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?$/

/** The trace id of a valid `traceparent`, null for any other (W3C Trace Context §3.2). */
export function traceIdOf(traceparent: string | null): string | null {
  if (traceparent === null || traceparent.length > 512) return null
  const match = VERSION_00.exec(traceparent) ?? LATER_VERSION.exec(traceparent)
  const [, traceId, parentId] = match ?? []
  if (traceId === undefined || parentId === undefined) return null
  return /[^0]/.test(traceId) && /[^0]/.test(parentId) ? traceId : null
}

/** Is told of every answer. It must be quick, and must not throw. */
export type RequestWatch = (route: RouteLabel, call: Call, answer: Answer, durationMs: number) => void
