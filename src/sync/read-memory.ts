import { howMany, sizeText } from '../domain/printable.ts'
import type { RecordList } from '../records/record-list.ts'
import type { Staging } from './staging.ts'

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

  constructor(list: RecordList<Item>, use: () => MemoryUse, isFull: boolean) {
    this.#list = list
    this.#use = use
    const { takenBytes, limitBytes } = use()
    this.#tooManyRows = isFull && takenBytes > limitBytes ? list.size : 0
  }

  /** Returns why the read must end after this page; `null` if it may go on. */
  excess({ rows, grownBytes }: Pick<Staging<Item>, 'rows' | 'grownBytes'>): string | null {
    const { takenBytes, limitBytes } = this.#use()
    const neededBytes = takenBytes + grownBytes
    if (neededBytes <= limitBytes * (rows < this.#tooManyRows ? 2 : 1)) return null
    const after = `after ${howMany(rows, 'row')} of the ${this.#list.kind.name}`
    return `the lists need more than ${sizeText(neededBytes)} (${after}), and limits.memory is ${sizeText(limitBytes)}: raise it`
  }
}
