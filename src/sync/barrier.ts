import type { Attempt } from './poller.ts'
import type { Failure } from './port.ts'
import { Mutex } from '../time/waiting.ts'

/**
 * Lets one list wait until a read of the other list has applied its pages. The read may not have removed rows yet,
 * since its removals may wait for the first list. Changes that arrive in that time are read beside the waiting read.
 */
export class Barrier {
  /** How many refreshes have begun: the number of the latest one. */
  begun = 0
  /** The number of the latest refresh that has applied its pages; below `begun` while one is still reading. */
  applied = 0
  /**
   * The number of reads that have found removed rows and are waiting to remove them. Until then, a served row may be
   * gone in the CRM.
   */
  removals = 0
  /** A refresh has applied its pages and waits for the other list before it removes rows. */
  isWaiting = false
  readonly #additions = new Mutex()
  #isHinted = false
  #added: Attempt = { ok: true }
  #next = Promise.withResolvers<void>()

  /** Resolves when the next refresh has applied its pages. */
  get next(): Promise<void> {
    return this.#next.promise
  }

  /** Notes that the refresh with this number has applied its pages. */
  tell(number: number): void {
    this.applied = number
    this.#next.resolve()
    this.#next = Promise.withResolvers()
  }

  /**
   * Waits for the other list on behalf of a refresh. Resolves once the changes that arrived meanwhile are applied, with
   * the failure of the other list, or else of the last such read.
   */
  async waitFor(other: () => Promise<Failure | null>): Promise<Failure | null> {
    this.#added = { ok: true }
    this.isWaiting = true
    const failure = await other().finally(() => (this.isWaiting = false))
    const added = await this.#additions.run(async () => this.#added)
    return failure ?? (added.ok ? null : added.failure)
  }

  /** Reads changes that arrived while a refresh waits, one read at a time. */
  readAdditions(read: () => Promise<Attempt>): Promise<Attempt> {
    return this.#additions.run(async () => (this.#added = await read()))
  }

  /** Handles a hint of a change. However many hints arrive, one read runs at a time. */
  hint(read: () => Promise<Attempt>): void {
    if (!this.isWaiting || this.#isHinted) return
    this.#isHinted = true
    void this.readAdditions(() => {
      this.#isHinted = false
      return read()
    })
  }
}
