import { unreachable } from '../../domain/unreachable.ts'
import type { CrmFailure } from '../../replica/port.ts'
import type { ErrorBody } from './error-body.ts'
import type { ErrorKind } from './error-kind.ts'
import { missingPrivilege } from './error-kind.ts'

interface Refused {
  readonly status: number
  readonly error: ErrorKind
  readonly body: ErrorBody
  readonly origin: string
  readonly clientId: string
}

/** An answer that is no success, in an admin's words; of its own text only names are quoted. */
export function failureOf(refused: Refused, retryAfterMs: number | null): CrmFailure {
  const { status, error, body, origin, clientId } = refused
  // A code that is none might be a text that quotes what it was sent.
  const code = /^0x[0-9a-f]{1,8}$/.test(body.code) ? `${status}, ${body.code}` : String(status)
  const failure = (kind: CrmFailure['kind'], message: string): CrmFailure => ({
    kind,
    message: `${message} (${code})`,
    retryAfterMs,
  })
  switch (error) {
    case 'throttled':
      return failure('throttled', `${limitOf(body.code)}, and Dataverse asks to wait`)
    case 'expired-token':
      return failure('cursor-refused', 'Dataverse no longer knows what changed since the last read')
    case 'not-tracked':
      return failure('cursor-refused', 'the table has no change tracking')
    case 'unknown-column':
      return failure('misconfigured', 'a column does not exist')
    case 'unknown-table':
      return failure('misconfigured', 'the table does not exist')
    case 'no-application-user':
      return failure(
        'refused',
        `the app registration ${clientId} has no application user in ${origin}: add one in the Power Platform admin center and give it a security role`,
      )
    case 'missing-privilege': {
      const privilege = missingPrivilege(body.message)
      const named = privilege === null ? 'a privilege' : `the privilege ${privilege}`
      return failure(
        'refused',
        `the application user lacks ${named}: give its security role Read at organization level`,
      )
    }
    case 'refused':
      return failure(
        'refused',
        `${origin} refuses the token: does the app registration ${clientId} have an application user there, and is crm.url right?`,
      )
    case 'redirect':
      return failure('broken', `${origin} answered with a redirect, which is not followed: is crm.url right?`)
    case 'unasked':
      return failure(
        'broken',
        `${origin} answered with a status that fits no request of Marquee: does something in between answer for it?`,
      )
    case 'outage':
      return failure('unreachable', `${origin} answered with an error of its own`)
    case 'other':
      return failure('broken', `${origin} refused the request`)
    default:
      return unreachable(error)
  }
}

function limitOf(code: string): string {
  if (code === '0x80072321') return 'the limit of execution time is reached'
  if (code === '0x80072326') return 'the limit of concurrent requests is reached'
  return 'the limit of requests is reached'
}
