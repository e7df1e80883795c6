import type { Guid } from '../domain/guid.ts'

/**
 * Since when a row that is not held is known to be absent: a page whose request began before that must not bring it back.
 * Each confirmed read covers all rows at once; a single deletion is remembered only until one has passed it.
 */
export class Tombstones {
  readonly #buriedAt = new Map<Guid, number>()
  #allAbsentAsOf = Number.NEGATIVE_INFINITY
  #audits = false

  get size(): number {
    return this.#buriedAt.size
  }

  bury(id: Guid, at: number): void {
    this.#buriedAt.set(id, at)
  }

  forget(id: Guid): void {
    if (this.#buriedAt.size > 0) this.#buriedAt.delete(id)
  }

  absentSince(id: Guid): number {
    // Asked for each new row, and a text that is looked up has to be hashed first.
    if (this.#buriedAt.size === 0) return this.#allAbsentAsOf
    return Math.max(this.#allAbsentAsOf, this.#buriedAt.get(id) ?? Number.NEGATIVE_INFINITY)
  }

  /**
   * While an audit runs, only what was deleted, or seen to be absent, stays away from its pages: the rows that no read of
   * changes reports are what it is for.
   */
  duringAudit(audits: boolean): void {
    this.#audits = audits
  }

  /** All rows were known as of `at`, and every other was absent; `listed`: because each was mentioned, not just each change. */
  completeAsOf(at: number, listed: boolean): void {
    if (at <= this.#allAbsentAsOf || (this.#audits && !listed)) return
    this.#allAbsentAsOf = at
    for (const [id, buriedAt] of this.#buriedAt) if (buriedAt <= at) this.#buriedAt.delete(id)
  }
}
