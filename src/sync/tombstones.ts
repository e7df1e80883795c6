import type { Guid } from '../domain/guid.ts'

/**
 * When absent rows became known to be absent: a page whose request began earlier must not bring them back. Each
 * confirmed read covers all rows at once; a single deletion is remembered only until such a read is newer.
 */
export class Tombstones {
  readonly #buriedAt = new Map<Guid, number>()
  #allAbsentAsOf = Number.NEGATIVE_INFINITY
  #audits = false

  get size(): number {
    return this.#buriedAt.size
  }

  bury(id: Guid, at: number): void {
    this.#buriedAt.set(id, Math.max(at, this.#buriedAt.get(id) ?? at))
  }

  forget(id: Guid): void {
    if (this.#buriedAt.size > 0) this.#buriedAt.delete(id)
  }

  absentSince(id: Guid): number {
    // Checked first: this is called for each new row, and a lookup would hash the id.
    if (this.#buriedAt.size === 0) return this.#allAbsentAsOf
    return Math.max(this.#allAbsentAsOf, this.#buriedAt.get(id) ?? Number.NEGATIVE_INFINITY)
  }

  /**
   * While an audit runs, its pages may bring back rows, except those that were deleted or seen to be absent: finding
   * rows that no read of changes reports is the purpose of an audit.
   */
  duringAudit(audits: boolean): void {
    this.#audits = audits
  }

  /**
   * Records that all rows were known as of `at`, so every other id was absent then. `listed`: the read mentioned every
   * row, not only the changes.
   */
  completeAsOf(at: number, listed: boolean): void {
    if (at <= this.#allAbsentAsOf || (this.#audits && !listed)) return
    this.#allAbsentAsOf = at
    for (const [id, buriedAt] of this.#buriedAt) if (buriedAt <= at) this.#buriedAt.delete(id)
  }
}
