import type { FailureKind } from '../../observe/observation.ts'
import { codeOf, whyNotReached } from '../../observe/system-error.ts'
import { type CrmFailure, failureOf } from '../../replica/port.ts'
import { RowTooWide } from './portions.ts'

/** A statement or a connection that failed, in words for the operator. */
export class Fault {
  readonly failure: CrmFailure
  /** PostgreSQL's SQLSTATE or the runtime's code, null where there is none. */
  readonly code: string | null
  /** The connection is gone, and another server may answer the next one. */
  readonly lost: boolean

  constructor(kind: CrmFailure['kind'], message: string, code: string | null, lost: boolean) {
    this.failure = failureOf(kind, message)
    this.code = code
    this.lost = lost
  }
}

interface Meaning {
  readonly kind: FailureKind
  readonly message: string
  /** The server ends the connection after it. */
  readonly lost?: boolean
}

/** What the states mean that an operator can do something about (PostgreSQL documentation, appendix A). */
const STATES: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ['28P01', { kind: 'refused', message: 'the server refuses the password of crm.url', lost: true }],
  [
    '28000',
    { kind: 'refused', message: 'the server refuses this role from here (pg_hba.conf, or no such role)', lost: true },
  ],
  ['42501', { kind: 'refused', message: 'the role lacks a right: GRANT USAGE on the schema and SELECT on both views' }],
  ['3D000', { kind: 'misconfigured', message: 'the server has no database of the name in crm.url', lost: true }],
  ['42P01', { kind: 'misconfigured', message: 'a table or view is missing' }],
  ['42703', { kind: 'misconfigured', message: 'a column is missing' }],
  ['3F000', { kind: 'misconfigured', message: 'a schema is missing' }],
  ['42883', { kind: 'misconfigured', message: 'the id or changedAt column is of a type that cannot be compared' }],
  ['42809', { kind: 'misconfigured', message: 'what `from` names is neither a table nor a view' }],
  ['57014', { kind: 'timeout', message: 'a statement took longer than crm.requestTimeout' }],
  ['55P03', { kind: 'timeout', message: 'a lock on the table was held for longer than crm.requestTimeout' }],
  [
    '25P04',
    { kind: 'timeout', message: 'the server ended a transaction that took long (transaction_timeout)', lost: true },
  ],
  ['25P03', { kind: 'timeout', message: 'the server ended a transaction that stood idle', lost: true }],
  ['53300', { kind: 'unreachable', message: 'the server has no connection left for this role', lost: true }],
  ['57P01', { kind: 'unreachable', message: 'the server ended the connection', lost: true }],
  ['57P02', { kind: 'unreachable', message: 'the server ended the connection after a crash', lost: true }],
  ['57P03', { kind: 'unreachable', message: 'the server is starting or stopping', lost: true }],
  ['57P05', { kind: 'unreachable', message: 'the server ended an idle connection', lost: true }],
  ['40001', { kind: 'unreachable', message: 'the standby cancelled the read to go on replaying' }],
  ['25006', { kind: 'misconfigured', message: 'the server is a standby, which cannot LISTEN' }],
])

const CLASSES: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ['08', { kind: 'unreachable', message: 'the connection failed', lost: true }],
  ['22', { kind: 'broken', message: 'the view cannot compute one of its rows' }],
  ['28', { kind: 'refused', message: 'the server refuses the role', lost: true }],
  ['53', { kind: 'unreachable', message: 'the server is out of resources' }],
  ['57', { kind: 'unreachable', message: 'the server was stopped', lost: true }],
  ['58', { kind: 'unreachable', message: 'the server has trouble with its files' }],
  ['XX', { kind: 'unreachable', message: 'the server has an internal error' }],
])

/** What an error of `pg` means. Its own message is never passed on: it may hold a value of a row. */
export function faultOf(error: unknown, where: string): Fault {
  if (error instanceof RowTooWide) return new Fault('too-large', `${where}: a row is larger than 64 MB`, null, true)
  const code = codeOf(error)
  if (code === '08P01' && error instanceof Error && error.message.includes('statement pooling mode')) {
    const message =
      'a pooler in statement mode lets nobody read in a transaction: set its pool_mode to session or transaction'
    return new Fault('refused', `${where}: ${message}`, code, true)
  }
  if (code !== null && /^[0-9A-Z]{5}$/.test(code) && code !== 'EPIPE') {
    const meaning = STATES.get(code) ?? CLASSES.get(code.slice(0, 2)) ?? { kind: 'broken', message: 'the query failed' }
    return new Fault(meaning.kind, `${where}: ${meaning.message} (${code})`, code, meaning.lost ?? false)
  }
  if (code === 'ENOENT') return new Fault('unreachable', `${where}: there is no such socket`, code, true)
  const why = code === null ? null : whyNotReached(code)
  if (why !== null) return new Fault('unreachable', `${where}: the host ${why} (${code})`, code, true)
  if (error instanceof Error && error.message === 'The server does not support SSL connections') {
    return new Fault('refused', `${where}: the server offers no TLS, which sslmode asks for`, null, true)
  }
  if (isTlsFault(error, code)) {
    return new Fault('refused', `${where}: the server's certificate is not accepted (${code ?? 'TLS'})`, code, true)
  }
  return new Fault('unreachable', `${where}: the connection was lost${code === null ? '' : ` (${code})`}`, code, true)
}

function isTlsFault(error: unknown, code: string | null): boolean {
  if (code !== null && /CERT|TLS|SSL|ISSUER|SELF_SIGNED|ALTNAME/.test(code)) return true
  return error instanceof Error && /certificate|does not match/i.test(error.message)
}
