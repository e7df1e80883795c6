import type { Observe } from '../observe/observation.ts'
import type { Attempt } from './poller.ts'
import { FaultCounts } from '../records/fault-counts.ts'
import type { ReadKind, ReadPurpose } from './port.ts'
import type { RecordList } from '../records/record-list.ts'

/** What a read did to its list. */
interface ReadDone {
  readonly kind: ReadKind
  readonly purpose: ReadPurpose
  readonly reading: { readonly rows: number; readonly changed: number }
}

/** Tells how each read of a list ended. */
export class ReadReports<Item> {
  /** Rows that were withheld for a mistake and not told of yet. */
  readonly newlyWithheld: FaultCounts = new FaultCounts()
  #servedNothing = false
  readonly #list: RecordList<Item>
  readonly #observe: Observe

  constructor(list: RecordList<Item>, observe: Observe) {
    this.#list = list
    this.#observe = observe
  }

  tell({ kind, purpose, reading }: ReadDone, attempt: Attempt, isLoaded: boolean, durationMs: number): void {
    const { served, withheld, unidentified } = this.#list
    this.#observe({
      kind: 'read-ended',
      read: {
        list: this.#list.kind.name,
        kind: purpose === 'addition' ? purpose : kind,
        outcome: attempt.ok ? 'ok' : attempt.failure.kind,
        message: attempt.ok ? null : attempt.failure.message,
        durationMs,
        rows: reading.rows,
        changed: reading.changed,
        served,
        withheld: withheld + unidentified.length,
        // Those of a read that failed are told with the next one.
        newlyWithheld: attempt.ok ? this.newlyWithheld.take() : [],
        servesNothing: attempt.ok && this.#beginsToServeNothing(isLoaded),
      },
    })
  }

  #beginsToServeNothing(isLoaded: boolean): boolean {
    const { served, withheld, unidentified } = this.#list
    const before = this.#servedNothing
    this.#servedNothing = isLoaded && served === 0 && withheld + unidentified.length > 0
    return this.#servedNothing && !before
  }
}
