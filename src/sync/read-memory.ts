import { howMany, sizeText } from '../domain/printable.ts'
import type { RecordList } from '../records/record-list.ts'
import type { Page } from './port.ts'
import type { PageApplier } from './page-applier.ts'

/** The memory that both lists take together, and its limit (limits.memory). */
export interface MemoryUse {
  readonly takenBytes: number
  readonly limitBytes: number
}

/** Ends a read with which the lists would take more memory than they may. */
export class ReadMemory<Item> {
  readonly #list: RecordList<Item>
  readonly #use: () => MemoryUse
  /** A read of fewer rows may take twice the limit: it makes a list smaller that is too large. */
  readonly #tooManyRows: number
  #rowsInAll = 0

  constructor(list: RecordList<Item>, use: () => MemoryUse, isFull: boolean) {
    this.#list = list
    this.#use = use
    const { takenBytes, limitBytes } = use()
    this.#tooManyRows = isFull && takenBytes > limitBytes ? list.size : 0
  }

  /** Returns why the read must end after this page; `null` if it may go on. */
  excess({ rowsInAll }: Page<Item>, { rows, unidentified }: PageApplier<Item>): string | null {
    this.#rowsInAll = rowsInAll ?? this.#rowsInAll
    const { takenBytes, limitBytes } = this.#use()
    const neededBytes = takenBytes + unidentified.sizeBytes
    if (neededBytes <= limitBytes * (rows < this.#tooManyRows ? 2 : 1)) return null
    return `${this.#needText(neededBytes, rows, unidentified)}, and limits.memory is ${sizeText(limitBytes)}: raise it`
  }

  /** Estimates what all rows need, if their number is known; else says what those so far take. */
  #needText(neededBytes: number, rows: number, unidentified: PageApplier<Item>['unidentified']): string {
    const list = this.#list
    const held = list.size + unidentified.length
    const heldBytes = list.sizeBytes + unidentified.sizeBytes
    const allBytes = (heldBytes / held) * Math.max(held, this.#rowsInAll) + neededBytes - heldBytes
    return this.#rowsInAll > rows
      ? `the lists need about ${sizeText(allBytes)}`
      : `the lists need more than ${sizeText(neededBytes)} (after ${howMany(rows, 'row')} of the ${list.kind.name})`
  }
}
