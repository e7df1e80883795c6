import type { Guid } from '../../domain/guid.ts'
import type { Held } from '../../replica/port.ts'
import { DigestTable } from './digest-table.ts'

/** So many tables that none grows large: one of a million entries would hold up requests each time it grows. */
const PARTS = 256

/** So many reads that failed are remembered: a list that stays broken and changes all the time must not fill the memory. */
const MOST_FAILED = 3

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
  readonly #parts: readonly DigestTable[] = Array.from({ length: PARTS }, () => new DigestTable())
  /** The number of the read that is under way, and of the last one that ended well. */
  #read = 1
  #finished = 0
  /** Ids that were read in full, and may not be in the replica yet. */
  readonly #pending = new Set<Guid>()
  /** Ids that are withheld from now on: the replica holds their records until the read has ended. */
  readonly #withheld = new Set<Guid>()

  /** What all of it takes: some 30 to 60 bytes a line. */
  get sizeBytes(): number {
    return this.#parts.reduce((bytes, part) => bytes + part.sizeBytes, 0)
  }

  begin(held: Held): void {
    this.#held = held
    this.#startOver()
  }

  /** The id of a line that is what the replica holds of it, null for any other. */
  unchanged(digest: number): Guid | null {
    const part = this.#partOf(digest)
    const bucket = part.find(digest)
    if (bucket === -1) return null
    const read = part.read(bucket)
    if (read < this.#finished || read === this.#read) return null
    const id = part.guid(bucket)
    if (this.#held?.version(id) !== digest || this.#pending.has(id) || this.#withheld.has(id)) return null
    part.meet(bucket, this.#read)
    return id
  }

  /** A line was read in full, and gave the record of this id. */
  learn(digest: number, id: Guid): void {
    this.#pending.add(id)
    const oldest = Math.max(this.#finished, this.#read - MOST_FAILED)
    this.#partOf(digest).store(digest, id, this.#read, oldest)
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
    this.#finished = this.#read
    this.#startOver()
  }

  #partOf(digest: number): DigestTable {
    const part = this.#parts[digest % PARTS]
    if (part === undefined) throw new Error('a digest is a whole number')
    return part
  }

  #startOver(): void {
    this.#read++
    this.#pending.clear()
    this.#withheld.clear()
  }
}
