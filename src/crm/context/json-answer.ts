import { valueAt } from '../../domain/json-value.ts'
import type { FailureKind } from '../../observe/observation.ts'
import type { HttpError, RequestOptions, Value } from '../connector/marquee-connector.d.ts'
import { parsePlain } from '../cells/parse-cell.ts'
import { inSlices } from '../../time/waiting.ts'
import { type HttpReply, codingNote, utf8TextOf } from '../web/http-client.ts'

/** An error that ends a connector's read, with a sentence for the operator. Connectors may catch it. */
export class FetchFault extends Error implements HttpError {
  readonly kind: FailureKind
  readonly status: number
  readonly retryAfterMs: number | null
  readonly answer: Value = null

  constructor(
    kind: FailureKind,
    sentence: string,
    status = 0,
    retryAfterMs: number | null = null,
    answer: Value = null,
  ) {
    super(sentence)
    this.name = 'FetchFault'
    this.kind = kind
    this.status = status
    this.retryAfterMs = retryAfterMs
    this.answer = answer
  }
}

/** The largest answer that an error carries. */
const MOST_SHOWN_BYTES = 64 * 1024

export function broken(sentence: string): FetchFault {
  return new FetchFault('broken', sentence)
}

export function misconfigured(sentence: string): FetchFault {
  return new FetchFault('misconfigured', sentence)
}

export interface JsonAnswer {
  readonly value: Value
  readonly headers: HttpReply['headers']
  /** The age of a cached answer, as its `Age` says, in ms. */
  readonly lagMs: number
}

export type JsonRequest = RequestOptions & { readonly body?: Value }

/** Reads the reply as JSON. Throws a fault that describes any other answer. */
export async function answerOf(
  { host, pathname }: URL,
  reply: HttpReply,
  { errorAt, refusedAs = [], misconfiguredAs = [] }: Omit<JsonRequest, 'bearer'>,
): Promise<JsonAnswer> {
  const { status, headers, body } = reply
  const text = utf8TextOf(body)
  // Null also if the text is not JSON.
  const value = text === null ? null : await parsePlain(text, inSlices())
  const errorValue = errorAt === undefined ? null : valueAt(value, errorAt)
  const word = errorValue === null || typeof errorValue === 'object' ? '' : String(errorValue)
  const code = errorValue === null && status >= 400 ? codeIn(value) : CODE.test(word) ? word : ''
  const fault = (kind: FailureKind, sentence: string): FetchFault =>
    new FetchFault(kind, `${host} ${sentence}`, status, null, body.length > MOST_SHOWN_BYTES ? null : value)
  const path = pathname.slice(0, 100)
  const shown = [String(status), code].join(' ').trim()
  if (refusedAs.includes(word)) throw fault('refused', `refuses the key (${code === '' ? status : code})`)
  if (status === 401) throw fault('refused', `refuses the key (${shown})`)
  if (status === 403) throw fault('refused', `refuses the key, or it may not see ${path} (${shown})`)
  if (status === 404 || status === 410)
    throw fault('misconfigured', `has no ${path}, or this key may not see it (${shown})`)
  if (status === 429) throw fault('throttled', `continues to ask for fewer requests (${shown})`)
  if ((status >= 400 && status < 500) || misconfiguredAs.includes(word))
    throw fault('misconfigured', `refuses the request to ${path} (${shown}); see marquee check --trace`)
  // An error that the API reports in the body counts whatever the status.
  if (errorValue !== null) throw fault('broken', `answered with an error${code === '' ? '' : ` (${code})`}`)
  if (status >= 300 && status < 400) throw fault('broken', redirected(host, reply))
  if (status >= 500) throw fault('unreachable', `answered with a server error (${shown})`)
  if (body.length === 0) throw fault('broken', `sent an empty answer (${status})`)
  if (value === null) {
    const isMarkup = /^\s*</.test(new TextDecoder().decode(body.subarray(0, 200)))
    const other = text === null ? 'bytes that are not UTF-8' : 'invalid JSON'
    const what = isMarkup ? 'HTML or XML in place of JSON: does it ask for a login?' : other
    throw fault('broken', `answered with ${what}${codingNote(reply)}`)
  }
  const age = headers['age'] ?? ''
  return { value, headers, lagMs: /^\d{1,7}$/.test(age) ? Number(age) * 1000 : 0 }
}

/** What is shown of an error. Anything else may contain rows or keys. */
const CODE = /^[\w.-]{1,60}$/
const CODES = ['code', 'errorCode', 'error', 'error.code', 'errors.0.code', 'errors.0.extensions.code', '0.errorCode']

/** Returns the error code from one of its usual places; empty if there is none. */
function codeIn(answer: Value): string {
  const found = CODES.map((path) => valueAt(answer, path))
  const code = found.find((one) => typeof one === 'string' && /^[A-Z][A-Z_]{2,58}[A-Z]$/.test(one))
  return typeof code === 'string' ? code : ''
}

function redirected(host: string, { status, headers }: HttpReply): string {
  const { location } = headers
  if (location === undefined) return `answered with the status ${status}, which is no answer to the request`
  const to = URL.parse(location)
  const where = to === null ? 'another path' : to.host === host ? to.origin : to.host
  return `redirects to ${where} (${status}), and redirects are not followed: name it in the url setting`
}
