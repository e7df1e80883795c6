import type { ErrorBody } from './error-body.ts'

export type ErrorKind =
  | 'expired-token'
  | 'not-tracked'
  | 'unknown-column'
  | 'unknown-table'
  | 'no-application-user'
  | 'missing-privilege'
  | 'throttled'
  | 'outage'
  | 'redirect'
  | 'unasked'
  | 'refused'
  | 'other'

const EXPIRED_VERSION_STAMP = '0x80044352'
const NOT_TRACKED = '0x80072491'
const UNKNOWN_COLUMN = '0x80060888'
const UNKNOWN_TABLE = '0x8006088a'
const NOT_A_MEMBER = '0x80072560'
/** The others below 400 do not send elsewhere: 304 says that nothing changed, which nobody asked. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const THROTTLED: ReadonlySet<string> = new Set(['0x80072321', '0x80072322', '0x80072326'])

/**
 * What an answer that is no success means. Codes are "frequently empty" and change between versions, so status, code and
 * message are asked together.
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

/** The column that a message says does not exist. */
export function unknownColumn(message: string): string | null {
  return /property named '([^']+)'/.exec(message)?.[1] ?? null
}

function unknownTable(message: string): string | null {
  return /segment '([^']+)'/.exec(message)?.[1] ?? null
}

/** The privilege that a message says is missing, such as `prvReadmsevtmgt_Event`; a longer name is left out. */
export function missingPrivilege(message: string): string | null {
  return /\bprv[A-Z]\w{1,96}\b/.exec(message)?.[0] ?? null
}
