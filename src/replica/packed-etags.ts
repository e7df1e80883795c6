import { Buffer } from 'node:buffer'
import type { Body } from '../formats/body.ts'
import { ETAG_LENGTH, etagOf } from '../formats/body.ts'

/**
 * Entity tags by place, as the bytes they are sent as. A string of its own for each would be two more places in memory to
 * fetch for an answer, and to keep the digest's number would mean to write it out each time: both cost more than this copy.
 */
export class PackedEtags {
  /** A place that begins with 0 is not yet known. */
  #bytes: Buffer = Buffer.alloc(0)

  read(place: number): string | null {
    const at = place * ETAG_LENGTH
    return this.#bytes[at] === 0 ? null : this.#bytes.toString('latin1', at, at + ETAG_LENGTH)
  }

  write(place: number, body: Body): string {
    const etag = etagOf(body)
    this.#bytes.write(etag, place * ETAG_LENGTH, 'latin1')
    return etag
  }

  /** The bodies of so many places changed, or went. */
  forget(place: number, count: number): void {
    this.#bytes.fill(0, place * ETAG_LENGTH, (place + count) * ETAG_LENGTH)
  }

  grow(places: number): void {
    const bytes = Buffer.alloc(places * ETAG_LENGTH)
    this.#bytes.copy(bytes)
    this.#bytes = bytes
  }
}
