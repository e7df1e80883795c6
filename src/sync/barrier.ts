import type { Attempt } from './poller.ts'
import { Mutex } from '../time/waiting.ts'

/**
 * What the other list may wait for: that a read of this one has applied its pages, its removals aside. Those may wait for
 * the other list themselves; what came meanwhile is then read and applied beside the read that waits.
 */
export class Barrier {
  /** Refreshes begun so far, and the number of the last one whose pages are applied. */
  begun = 0
  applied = 0
  /** Reads that are about to remove rows: what is served may be gone. */
  removals = 0
  /** A refresh has applied its pages, and waits for the other list before it removes anything. */
  isWaiting = false
  readonly #additions = new Mutex()
  #isHinted = false
  #added: Attempt = { ok: true }
  #next = Promise.withResolvers<void>()

  /** Resolves when the next refresh has applied its pages. */
  get next(): Promise<void> {
    return this.#next.promise
  }

  /** The refresh of this number has applied its pages. */
  tell(number: number): void {
    this.applied = number
    this.#next.resolve()
    this.#next = Promise.withResolvers()
  }

  /** A refresh waits for the other list; resolves once what is read meanwhile has ended, with how the last of that went. */
  async waitFor(other: () => Promise<void>): Promise<Attempt> {
    this.#added = { ok: true }
    this.isWaiting = true
    await other().finally(() => (this.isWaiting = false))
    return this.#additions.run(async () => this.#added)
  }

  /** Reads what came while a refresh waits, one at a time. */
  readAdditions(read: () => Promise<Attempt>): Promise<Attempt> {
    return this.#additions.run(async () => (this.#added = await read()))
  }

  /** Something may have come: a storm of hints is one read after another, each of all that came before it. */
  hint(read: () => Promise<Attempt>): void {
    if (!this.isWaiting || this.#isHinted) return
    this.#isHinted = true
    void this.readAdditions(() => {
      this.#isHinted = false
      return read()
    })
  }
}
