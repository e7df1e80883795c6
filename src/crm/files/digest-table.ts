import type { Guid } from '../../domain/guid.ts'
import { guidText, readGuidWords } from '../../replica/guid-words.ts'

const EMPTY = -1
const FEWEST_BUCKETS = 16
/** The GUID that is being stored. */
const stored = new Uint32Array(4)

/**
 * Digest → GUID, and the number of the read that last met it: an open-addressing hash table of numbers, at most two thirds
 * full, 28 bytes a bucket. A million entries are no objects that a garbage collector would have to look at.
 */
export class DigestTable {
  #digests: Float64Array = new Float64Array(0)
  /** Four words a bucket. */
  #words: Uint32Array = new Uint32Array(0)
  #reads: Uint32Array = new Uint32Array(0)
  #used = 0

  get sizeBytes(): number {
    return this.#digests.byteLength + this.#words.byteLength + this.#reads.byteLength
  }

  /** The bucket of a digest, -1 where it is not in the table. */
  find(digest: number): number {
    const bucket = this.#seek(digest)
    return this.#digests[bucket] === digest ? bucket : EMPTY
  }

  guid(bucket: number): Guid {
    return guidText(this.#words, bucket * 4)
  }

  read(bucket: number): number {
    return this.#reads[bucket] ?? 0
  }

  meet(bucket: number, read: number): void {
    this.#reads[bucket] = read
  }

  /** Stores what a read met; where there is no room, all that no read since `oldest` has met makes some. */
  store(digest: number, id: Guid, read: number, oldest: number): void {
    if ((this.#used + 1) * 3 > this.#digests.length * 2) this.#rebuild(oldest)
    const bucket = this.#seek(digest)
    if (this.#digests[bucket] === EMPTY) this.#used++
    this.#digests[bucket] = digest
    readGuidWords(id, stored)
    this.#setWords(bucket, stored, 0)
    this.#reads[bucket] = read
  }

  /** One by one: `subarray` and `set` would make an object for each row of a list. */
  #setWords(bucket: number, from: Uint32Array, at: number): void {
    for (let word = 0; word < 4; word++) this.#words[bucket * 4 + word] = from[at + word] ?? 0
  }

  /** The bucket that holds the digest, or the empty one it would be put in. */
  #seek(digest: number): number {
    const digests = this.#digests
    const mask = digests.length - 1
    // The lowest bits are the same for all of a table (`KnownLines`).
    for (let bucket = (digest >>> 8) & mask; ; bucket = (bucket + 1) & mask) {
      const found = digests[bucket]
      if (found === digest || found === EMPTY || found === undefined) return bucket
    }
  }

  #rebuild(oldest: number): void {
    const [digests, words, reads] = [this.#digests, this.#words, this.#reads]
    let live = 0
    for (const read of reads) if (read >= oldest) live++
    let size = FEWEST_BUCKETS
    while (size < live * 2) size *= 2
    this.#digests = new Float64Array(size).fill(EMPTY)
    this.#words = new Uint32Array(size * 4)
    this.#reads = new Uint32Array(size)
    this.#used = 0
    for (let from = 0; from < digests.length; from++) {
      const [digest = EMPTY, read = 0] = [digests[from], reads[from]]
      if (digest === EMPTY || read < oldest) continue
      const to = this.#seek(digest)
      this.#digests[to] = digest
      this.#setWords(to, words, from * 4)
      this.#reads[to] = read
      this.#used++
    }
  }
}
