import { RepeatedNotice } from '../../domain/repeated-notice.ts'
import type { RowsTwice } from './row-pages.ts'
import type { LookBack } from './stamps.ts'

/** The number of consecutive id scans that must find late rows before it is reported. */
const USUAL_AFTER = 3

/** Warns the operator about rows that cannot be relied on: once, and again whenever their number has doubled. */
export class RowNotices {
  readonly #comparedEveryMs: () => number
  readonly #tell: (message: string) => void
  readonly #ahead = new RepeatedNotice()
  readonly #twice = new RepeatedNotice()
  #lateScans = 0

  constructor(comparedEveryMs: () => number, tell: (message: string) => void) {
    this.#comparedEveryMs = comparedEveryMs
    this.#tell = tell
  }

  /** Examines the times of a full read. */
  readInFull({ ahead, aheadId }: LookBack, list: string): void {
    if (!this.#ahead.isNew(ahead, aheadId)) return
    const others = ahead === 1 ? '' : ` and ${ahead - 1} more`
    this.#tell(
      `${list}, id ${(aheadId ?? 'unknown').slice(0, 80)}${others}: updatedAt is in the future, so ${this.#until}`,
    )
  }

  /** Examines the rows that one answer of a full read has twice, with different content. */
  cameTwice({ count, first }: RowsTwice, list: string): void {
    if (!this.#twice.isNew(count, first)) return
    const others = count === 1 ? '' : ` and ${count - 1} more`
    this.#tell(
      `${list}, id ${(first ?? 'unknown').slice(0, 80)}${others}: one answer has two different rows of this id; the later one counts`,
    )
  }

  /** Examines the changed rows that an id scan found and the read by `updatedAt` had missed. */
  compared(
    late: readonly { readonly text: string; readonly stamp: string | null }[],
    after: string,
    list: string,
  ): void {
    this.#lateScans = late.length === 0 ? 0 : this.#lateScans + 1
    const [first] = late
    if (this.#lateScans !== USUAL_AFTER || first === undefined) return
    const stamp = first.stamp === null ? 'none' : JSON.stringify(first.stamp.slice(0, 40))
    this.#tell(
      `${list}, id ${first.text.slice(0, 80)} and others change with an updatedAt (${stamp}) that since ${JSON.stringify(after)} does not return, so ${this.#until}`,
    )
  }

  get #until(): string {
    return `such changes are seen only when all rows are compared, every ${this.#comparedEveryMs() / 1000} s`
  }
}
