import type { FailureKind } from '../../observe/observation.ts'
import { type Failure, failureOf } from '../../sync/port.ts'
import { isObject } from '../cells/cell.ts'
import { parseShallow } from '../cells/parse-cell.ts'

/** An error body: its code, in lower-case hexadecimal if it is a number, and its message. */
export interface ErrorBody {
  readonly code: string
  readonly message: string
}

const NONE: ErrorBody = { code: '', message: '' }

/** The longest error body that is parsed; Dataverse's are shorter. */
const LONGEST_ERROR = 262_144

export function parseErrorBody(text: string): ErrorBody {
  if (text.length > LONGEST_ERROR) return NONE
  const parsed = parseShallow(text)
  const error = parsed.ok && isObject(parsed.cell) ? parsed.cell['error'] : undefined
  if (error === undefined || !isObject(error)) return NONE
  const { code, message } = error
  return {
    code: typeof code === 'string' ? hexadecimal(code) : typeof code === 'number' ? hexadecimal(String(code)) : '',
    message: typeof message === 'string' ? message : '',
  }
}

/** Normalizes a code: `-2147204270` and `0x80044352` are the same. */
function hexadecimal(code: string): string {
  const text = code.trim().toLowerCase()
  return /^-?\d+$/.test(text) && text !== '0' ? `0x${(Number(text) >>> 0).toString(16)}` : text
}

const EXPIRED_VERSION_STAMP = '0x80044352'
const NOT_TRACKED = '0x80072491'
const UNKNOWN_COLUMN = '0x80060888'
const UNKNOWN_TABLE = '0x8006088a'
const NOT_A_MEMBER = '0x80072560'
/**
 * Statuses that redirect. Other ones below 400 do not; 304, for example, answers a condition that Marquee does not
 * send.
 */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const THROTTLED: ReadonlySet<string> = new Set(['0x80072321', '0x80072322', '0x80072326'])

/**
 * Classifies an unsuccessful answer by status, code and message together: codes are "frequently empty" and change
 * between versions.
 */
export function errorKind(status: number, { code, message }: ErrorBody): ErrorKind {
  if (status === 429 || THROTTLED.has(code)) return 'throttled'
  if (
    code === EXPIRED_VERSION_STAMP ||
    status === 410 ||
    /version stamp associated with the client has expired/i.test(message)
  ) {
    return 'expired-token'
  }
  if (code === NOT_TRACKED || /isn't enabled for change tracking|not enabled for change tracking/i.test(message)) {
    return 'not-tracked'
  }
  if (code === NOT_A_MEMBER || /not a member of the organization/i.test(message)) return 'no-application-user'
  if (status === 400 && (code === UNKNOWN_COLUMN || unknownColumn(message) !== null)) return 'unknown-column'
  if (status === 404 && (code === UNKNOWN_TABLE || unknownTable(message) !== null)) return 'unknown-table'
  if (status === 403 || /\bprv[A-Z]|privilege/.test(message)) return 'missing-privilege'
  if (status === 401) return 'refused'
  if (REDIRECTS.has(status)) return 'redirect'
  if (status < 400) return 'unasked'
  return status >= 500 || status === 408 ? 'outage' : 'other'
}

export function unknownColumn(message: string): string | null {
  return /property named '([^']+)'/.exec(message)?.[1] ?? null
}

function unknownTable(message: string): string | null {
  return /segment '([^']+)'/.exec(message)?.[1] ?? null
}

/**
 * Returns the missing privilege that the message names, for example `prvReadmsevtmgt_Event`. Omits names over 100
 * characters.
 */
function missingPrivilege(message: string): string {
  const privilege = /\bprv[A-Z]\w{1,96}\b/.exec(message)?.[0]
  return privilege === undefined ? 'a privilege' : `the privilege ${privilege}`
}

interface ErrorAnswer {
  readonly status: number
  readonly body: ErrorBody
  readonly origin: string
  readonly clientId: string
}

/** The failure kind of each error, and its description for an admin. */
const MEANINGS = {
  throttled: ['throttled', ({ body }) => `${limitOf(body.code)}, and Dataverse asks to wait`],
  'expired-token': ['cursor-refused', () => 'Dataverse no longer knows what changed since the last read'],
  'not-tracked': ['cursor-refused', () => 'the table has no change tracking'],
  'unknown-column': ['misconfigured', () => 'a column does not exist'],
  'unknown-table': ['misconfigured', () => 'the table does not exist'],
  'no-application-user': [
    'refused',
    ({ clientId, origin }) =>
      `the app registration ${clientId} has no application user in ${origin}: add one in the Power Platform admin center and give it a security role`,
  ],
  'missing-privilege': [
    'refused',
    ({ body }) =>
      `the application user lacks ${missingPrivilege(body.message)}: give its security role Read at organization level`,
  ],
  refused: [
    'refused',
    ({ clientId, origin }) =>
      `${origin} refuses the token: does the app registration ${clientId} have an application user there, and is crm.url right?`,
  ],
  redirect: ['broken', ({ origin }) => `${origin} answered with a redirect, which is not followed: is crm.url right?`],
  unasked: [
    'broken',
    ({ origin }) =>
      `${origin} answered with a status that Dataverse does not send here: does a proxy answer in its place?`,
  ],
  outage: ['unreachable', ({ origin }) => `${origin} answered with a server error`],
  other: ['broken', ({ origin }) => `${origin} refused the request`],
} as const satisfies Readonly<Record<string, readonly [FailureKind, (answer: ErrorAnswer) => string]>>

export type ErrorKind = keyof typeof MEANINGS

/** Describes an unsuccessful answer to an admin. Quotes only names from its text. */
export function answerFailure(error: ErrorKind, answer: ErrorAnswer, retryAfterMs: number | null): Failure {
  const { status, body } = answer
  // Anything but a code may be text that quotes the request.
  const code = /^0x[0-9a-f]{1,8}$/.test(body.code) ? `${status}, ${body.code}` : String(status)
  const [kind, messageOf] = MEANINGS[error]
  return failureOf(kind, `${messageOf(answer)} (${code})`, retryAfterMs)
}

function limitOf(code: string): string {
  if (code === '0x80072321') return 'the limit of execution time is reached'
  if (code === '0x80072326') return 'the limit of concurrent requests is reached'
  return 'the limit of requests is reached'
}
