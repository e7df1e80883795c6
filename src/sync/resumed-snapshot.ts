import { RETRY_AFTER_CEILING_MS } from './poller.ts'
import type { Failure } from './port.ts'
import type { AnswerAgeLimits, SnapshotList } from './served-list.ts'
import type { Moment } from '../time/time.ts'

/** Why a list is not read yet after a restart. */
export const ASKED_BEFORE = 'the CRM asked for a pause before the restart'

/** The snapshot of a list that a process resumed from. */
export class ResumedSnapshot {
  readonly list: SnapshotList
  readonly #askedUntilMs: number

  constructor(list: SnapshotList, now: Moment) {
    this.list = list
    // The wall clock may have been set back.
    const askedMs = Math.min((list.askedUntilMs ?? 0) - now.wallMs, RETRY_AFTER_CEILING_MS)
    this.#askedUntilMs = now.monotonicMs + askedMs
  }

  /** Milliseconds until the end of a pause that the CRM asked the previous process for; 0 if there is none. */
  askedMs({ monotonicMs }: Moment): number {
    return Math.max(0, this.#askedUntilMs - monotonicMs)
  }

  /**
   * Whether its rows may be answered from although no read has confirmed them: while the CRM fails, if `staleIfError`
   * allows it; while a file may be half-written, also within the maximum age.
   */
  mayBridge({ maxAgeMs, staleIfErrorMs }: AnswerAgeLimits, { wallMs }: Moment, kind: Failure['kind']): boolean {
    const ageMs = wallMs - (this.list.confirmedAtMs ?? Number.NEGATIVE_INFINITY)
    return (staleIfErrorMs > 0 || kind === 'waiting') && ageMs <= maxAgeMs + staleIfErrorMs
  }
}
