import { DatabaseError } from 'pg'
import type { FailureKind } from '../../observe/observation.ts'
import { codeOf, whyNotAccepted, whyNotReached } from '../../domain/system-error.ts'
import { type Failure, failureOf } from '../../sync/port.ts'
import { ReadFault } from '../connector/row-host.ts'

/** A failed statement or connection, described for the operator. */
export class PostgresFailure extends ReadFault {
  /** PostgreSQL's SQLSTATE or the runtime's code; `null` if there is none. */
  readonly code: string | null
  /** Whether the connection is gone; the next one may reach another server. */
  readonly lost: boolean

  constructor(kind: Failure['kind'], message: string, code: string | null, lost: boolean) {
    super(failureOf(kind, message))
    this.code = code
    this.lost = lost
  }
}

/** Returns a thrown failure. Throws anything else again. */
export function failureIn(cause: unknown): PostgresFailure {
  if (cause instanceof PostgresFailure) return cause
  throw cause
}

/** `lost`: the server ends the connection after this error. */
type Meaning = readonly [kind: FailureKind, message: string, ends?: 'lost']

/** The SQLSTATE of a statement that a read-only transaction, or a standby, does not allow. */
export const READ_ONLY = '25006'

/** SQLSTATEs that an operator can act on (PostgreSQL documentation, appendix A). */
const STATES: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ['28P01', ['refused', 'the server refuses the password of crm.url', 'lost']],
  ['28000', ['refused', 'the server refuses this role from here (pg_hba.conf, or no such role)', 'lost']],
  ['42501', ['refused', 'the role lacks a right: GRANT USAGE on the schema and SELECT on both views']],
  ['3D000', ['misconfigured', 'the server has no database of the name in crm.url', 'lost']],
  ['42P01', ['misconfigured', 'a table or view is missing']],
  ['42703', ['misconfigured', 'a column is missing']],
  ['3F000', ['misconfigured', 'a schema is missing']],
  ['42883', ['misconfigured', 'the id or updatedAt column is of a type that cannot be compared']],
  ['42809', ['misconfigured', '`from` names neither a table nor a view']],
  ['57014', ['timeout', 'a statement took longer than crm.requestTimeout']],
  ['55P03', ['timeout', 'a lock on the table was held for longer than crm.requestTimeout']],
  ['25P04', ['timeout', 'the server ended a transaction that took too long (transaction_timeout)', 'lost']],
  ['25P03', ['timeout', 'the server ended an idle transaction', 'lost']],
  ['53300', ['unreachable', 'the server has no connection left for this role', 'lost']],
  ['57P01', ['unreachable', 'the server ended the connection', 'lost']],
  ['57P02', ['unreachable', 'the server ended the connection after a crash', 'lost']],
  ['57P03', ['unreachable', 'the server is starting or stopping', 'lost']],
  ['57P05', ['unreachable', 'the server ended an idle connection', 'lost']],
  ['40001', ['unreachable', 'the standby cancelled the read to go on replaying']],
  [READ_ONLY, ['misconfigured', 'the view writes or locks rows, which a read-only transaction does not allow']],
])

const CLASSES: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ['08', ['unreachable', 'the connection failed', 'lost']],
  ['22', ['broken', 'the view cannot compute one of its rows']],
  ['28', ['refused', 'the server refuses the role', 'lost']],
  ['53', ['unreachable', 'the server is out of resources']],
  ['57', ['unreachable', 'the server was stopped', 'lost']],
  ['58', ['unreachable', 'the server has a file system error']],
  ['XX', ['unreachable', 'the server has an internal error']],
])

/** Describes an error of `pg`. Never includes its message, which may contain a value of a row. */
export function postgresFailureOf(error: unknown, where: string): PostgresFailure {
  const code = codeOf(error)
  const lost = (kind: FailureKind, sentence: string): PostgresFailure =>
    new PostgresFailure(kind, `${where}: ${sentence}`, code, true)
  if (code === '08P01' && error instanceof Error && error.message.includes('statement pooling mode')) {
    const fact = 'a pooler in statement mode does not allow transactions'
    return lost('refused', `${fact}: set its pool_mode to session or transaction`)
  }
  // Only the server's own errors have an SQLSTATE: EPERM and EPIPE look like one.
  if (code !== null && error instanceof DatabaseError) {
    const [kind, message, ends] = STATES.get(code) ?? CLASSES.get(code.slice(0, 2)) ?? ['broken', 'the query failed']
    return new PostgresFailure(kind, `${where}: ${message} (${code})`, code, ends === 'lost')
  }
  if (code === 'ENOENT') return lost('unreachable', 'there is no such socket')
  const why = code === null ? null : whyNotReached(code)
  if (why !== null) return lost('unreachable', `the host ${why} (${code})`)
  if (error instanceof Error && error.message === 'The server does not support SSL connections')
    return lost('refused', 'the server offers no TLS, which sslmode requires')
  if (isTlsFailure(error, code)) {
    const fault = code === null ? null : whyNotAccepted(code, 'crm.ca')
    const reason = fault === null ? '' : `, because it ${fault}`
    return lost('refused', `the server's certificate is not accepted${reason} (${code ?? 'TLS'})`)
  }
  return lost('unreachable', `the connection was lost${code === null ? '' : ` (${code})`}`)
}

function isTlsFailure(error: unknown, code: string | null): boolean {
  if (code !== null && /CERT|TLS|SSL|ISSUER|SELF_SIGNED|ALTNAME/.test(code)) return true
  return error instanceof Error && /certificate|does not match/i.test(error.message)
}
