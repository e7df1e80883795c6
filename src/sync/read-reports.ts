import type { Observe } from '../observe/observation.ts'
import type { Attempt } from './poller.ts'
import { FaultCounts } from '../domain/fault-counts.ts'
import type { ReadKind, ReadPurpose } from './port.ts'
import type { RecordList } from '../records/record-list.ts'
import { type Time, delaysOf } from '../time/time.ts'
import type { Staging } from './staging.ts'

/** The effect of a read on its list. */
interface ReadDone {
  readonly kind: ReadKind
  readonly purpose: ReadPurpose
  readonly staging: Pick<Staging<unknown>, 'rows' | 'changed' | 'takeChangeTimes'>
}

interface ReportsOptions<Item> {
  readonly list: RecordList<Item>
  readonly observe: Observe
  readonly time: Time
}

/** Reports the end of each read of a list, and what it found. */
export class ReadReports<Item> {
  /** Rows withheld because of a mistake and not reported yet. */
  readonly newlyWithheld: FaultCounts = new FaultCounts()
  #servedNothing = false
  /** Records that an audit found changed, and no read of changes had reported: their number, and that by column. */
  readonly drift = { records: 0, byColumn: new Map<string, number>() }
  readonly #list: RecordList<Item>
  readonly #observe: Observe
  readonly #time: Time

  constructor({ list, observe, time }: ReportsOptions<Item>) {
    this.#list = list
    this.#observe = observe
    this.#time = time
  }

  tell({ kind, purpose, staging }: ReadDone, attempt: Attempt, isLoaded: boolean, durationMs: number): void {
    const delaysMs = delaysOf(staging.takeChangeTimes(), this.#time.now().wallMs)
    if (delaysMs.length > 0) this.#observe({ kind: 'changes-published', delaysMs })
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
        rows: staging.rows,
        changed: staging.changed,
        served,
        withheld: withheldInAll,
        // The rows of a failed read are reported with the next one.
        newlyWithheld: attempt.ok ? this.newlyWithheld.take() : [],
        servesNothing: attempt.ok && this.#beginsToServeNothing(isLoaded),
      },
    })
  }

  /** Reports what an audit found and the CRM had not reported. */
  tellDrift({ drift, drifted }: Pick<Staging<unknown>, 'drift' | 'drifted'>): void {
    if (drifted === 0) return
    const { byColumn } = this.drift
    this.drift.records += drifted
    for (const [column, count] of drift) byColumn.set(column, (byColumn.get(column) ?? 0) + count)
    this.#observe({ kind: 'drift-found', list: this.#list.kind.name, byColumn: Object.fromEntries(drift) })
  }

  #beginsToServeNothing(isLoaded: boolean): boolean {
    const { served, withheldInAll } = this.#list
    const before = this.#servedNothing
    this.#servedNothing = isLoaded && served === 0 && withheldInAll > 0
    return this.#servedNothing && !before
  }
}
