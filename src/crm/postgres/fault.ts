import type { CrmFailure } from '../../replica/port.ts'

/** A statement or a connection that failed, in words for the operator. */
export class Fault {
  readonly failure: CrmFailure
  /** PostgreSQL's SQLSTATE or the runtime's code, null where there is none. */
  readonly code: string | null
  /** The connection is gone, so that another server may answer the next one. */
  readonly lost: boolean

  constructor(kind: CrmFailure['kind'], message: string, code: string | null, lost: boolean) {
    this.failure = { kind, message, retryAfterMs: null }
    this.code = code
    this.lost = lost
  }
}
