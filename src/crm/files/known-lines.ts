import type { Guid } from '../../domain/guid.ts'
import type { Held } from '../../replica/port.ts'

/** So many maps that none grows large: one of a million entries would hold up requests each time it grows. */
const PARTS = 256

/**
 * The lines whose records the replica holds, by the digests of their bytes: a list that is put anew every minute is nearly
 * the one before, and a line that did not change need not be parsed and mapped again.
 *
 * The digest is the record's version, and the replica is asked for it: a line counts as known only where exactly that line
 * is what is held of its id. A line that comes twice in one read, or whose id came with another line in it, is read in
 * full, so that the replica finds what is repeated.
 */
export class KnownLines {
  #held: Held | null = null
  /** Of the last read that ended well. */
  #before = parts()
  /** Of the read that is under way. */
  #now = parts()
  /** Ids that were read in full, and may not be in the replica yet. */
  readonly #pending = new Set<Guid>()
  /** Ids that are withheld from now on: the replica holds their records until the read has ended. */
  readonly #withheld = new Set<Guid>()

  begin(held: Held): void {
    this.#held = held
    this.#startOver()
  }

  /** The id of a line that is what the replica holds of it, null for any other. */
  unchanged(digest: number): Guid | null {
    const id = this.#before[digest % PARTS]?.get(digest)
    if (id === undefined || this.#held?.version(id) !== digest || this.#pending.has(id)) return null
    if (this.#withheld.has(id)) return null
    const now = this.#now[digest % PARTS]
    if (now === undefined || now.has(digest)) return null
    now.set(digest, id)
    return id
  }

  /** A line was read in full, and gave the record of this id. */
  learn(digest: number, id: Guid): void {
    this.#pending.add(id)
    this.#now[digest % PARTS]?.set(digest, id)
  }

  /** A line was read in full, and its row is withheld. */
  withhold(digest: number, id: Guid): void {
    if (this.#held?.version(id) !== digest) this.#withheld.add(id)
  }

  /** All that was read so far is in the replica. */
  applied(): void {
    this.#pending.clear()
  }

  finish(): void {
    this.#before = this.#now
    this.#startOver()
  }

  #startOver(): void {
    this.#now = parts()
    this.#pending.clear()
    this.#withheld.clear()
  }
}

function parts(): readonly Map<number, Guid>[] {
  return Array.from({ length: PARTS }, () => new Map<number, Guid>())
}
