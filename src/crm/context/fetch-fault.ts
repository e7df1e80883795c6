import type { FailureKind } from '../../observe/observation.ts'

/** An error that ends a connector's read, with a sentence for the operator. Connectors may catch it. */
export class FetchFault extends Error {
  readonly kind: FailureKind
  /** The status of the CRM's answer; 0 if there was none. */
  readonly status: number
  readonly retryAfterMs: number | null

  constructor(kind: FailureKind, sentence: string, status = 0, retryAfterMs: number | null = null) {
    super(sentence)
    this.name = 'FetchFault'
    this.kind = kind
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}
