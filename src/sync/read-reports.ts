import type { Observe } from '../observe/observation.ts'
import type { Attempt } from './poller.ts'
import { FaultCounts } from '../domain/fault-counts.ts'
import type { ReadKind, ReadPurpose } from './port.ts'
import type { RecordList } from '../records/record-list.ts'

/** The effect of a read on its list. */
interface ReadDone {
  readonly kind: ReadKind
  readonly purpose: ReadPurpose
  readonly applier: { readonly rows: number; readonly changed: number }
}

/** Reports the end of each read of a list. */
export class ReadReports<Item> {
  /** Rows withheld because of a mistake and not reported yet. */
  readonly newlyWithheld: FaultCounts = new FaultCounts()
  #servedNothing = false
  readonly #list: RecordList<Item>
  readonly #observe: Observe

  constructor(list: RecordList<Item>, observe: Observe) {
    this.#list = list
    this.#observe = observe
  }

  tell({ kind, purpose, applier }: ReadDone, attempt: Attempt, isLoaded: boolean, durationMs: number): void {
    const { served, withheldInAll } = this.#list
    this.#observe({
      kind: 'read-ended',
      read: {
        list: this.#list.kind.name,
        kind: purpose === 'addition' ? purpose : kind,
        isAudit: purpose === 'audit',
        outcome: attempt.ok ? 'ok' : attempt.failure.kind,
        message: attempt.ok ? null : attempt.failure.message,
        durationMs,
        rows: applier.rows,
        changed: applier.changed,
        served,
        withheld: withheldInAll,
        // The rows of a failed read are reported with the next one.
        newlyWithheld: attempt.ok ? this.newlyWithheld.take() : [],
        servesNothing: attempt.ok && this.#beginsToServeNothing(isLoaded),
      },
    })
  }

  #beginsToServeNothing(isLoaded: boolean): boolean {
    const { served, withheldInAll } = this.#list
    const before = this.#servedNothing
    this.#servedNothing = isLoaded && served === 0 && withheldInAll > 0
    return this.#servedNothing && !before
  }
}
