import { Buffer } from 'node:buffer'
import { type Body, ETAG_LENGTH, bodyOf, etagOf } from '../formats/body.ts'
import { EMPTY_BYTES, EMPTY_FLOATS, EMPTY_WORDS, grown } from './columns.ts'

/** Small enough to be taken one by one, as bodies are asked for. */
const SEGMENT_BYTES = 1024 * 1024
/** What the ring does not take. */
const LARGE_BYTES = 64 * 1024
/** The part of the ceiling that is for large bodies, and what of it goes to the pages of lists, where lists are on. */
const LARGE_SHARE = 1 / 4
const PAGES_SHARE = 1 / 8

/**
 * Bodies that were asked for lately, back to back in a ring of bytes: the oldest are overwritten, and nothing of them is left
 * to the garbage collector. What is read or kept is good until control is given back: whoever waits with it takes a copy.
 */
export class ReadyBodies {
  readonly #segments: (Buffer | undefined)[]
  readonly #large: LargeBodies
  readonly #ceilingBytes: number
  /** How many bytes were written since the beginning, what was left at the ends of segments included. */
  #head = 0

  /** @param ceilingBytes what all of them take at most */
  constructor(ceilingBytes: number) {
    this.#ceilingBytes = ceilingBytes
    this.#large = new LargeBodies(ceilingBytes * LARGE_SHARE)
    const segments = Math.floor((ceilingBytes * (1 - LARGE_SHARE)) / SEGMENT_BYTES)
    this.#segments = Array.from({ length: segments }, () => undefined)
  }

  /** How many bytes pages of lists may take from now on: large bodies have so much less. */
  makeRoomForPages(): number {
    this.#large.limitTo(this.#ceilingBytes * (LARGE_SHARE - PAGES_SHARE))
    return this.#ceilingBytes * PAGES_SHARE
  }

  /** There are no pages of lists any more: large bodies get their room back. */
  endPages(): void {
    this.#large.limitTo(this.#ceilingBytes * LARGE_SHARE)
  }

  /** The body kept at a place; null where there is none, or none any more. */
  read(places: ReadyPlaces, place: number): Body | null {
    const start = places.starts[place] ?? NOWHERE
    if (start === NOWHERE) return places.large.get(place) ?? null
    const segment = Math.floor(start / SEGMENT_BYTES)
    if (segment <= Math.floor(this.#head / SEGMENT_BYTES) - this.#segments.length) return null
    const from = start % SEGMENT_BYTES
    return this.#segments[segment % this.#segments.length]?.subarray(from, from + (places.lengths[place] ?? 0)) ?? null
  }

  /** Keeps a body at a place, and gives it as it is sent. */
  keep(places: ReadyPlaces, place: number, text: string): Body {
    const length = Buffer.byteLength(text)
    if (length > LARGE_BYTES || this.#segments.length === 0) {
      const body = bodyOf(text)
      this.#large.keep(places.large, place, body)
      return body
    }
    const left = SEGMENT_BYTES - (this.#head % SEGMENT_BYTES)
    if (length > left) this.#head += left
    const start = this.#head
    const from = start % SEGMENT_BYTES
    const index = Math.floor(start / SEGMENT_BYTES) % this.#segments.length
    const segment = (this.#segments[index] ??= Buffer.allocUnsafeSlow(SEGMENT_BYTES))
    segment.write(text, from, length, 'utf8')
    this.#head += length
    places.starts[place] = start
    places.lengths[place] = length
    return segment.subarray(from, from + length)
  }
}

const NOWHERE = -1

/** Where the bodies of one shard lie in the ring, by place. */
export class ReadyPlaces {
  starts: Float64Array = EMPTY_FLOATS
  lengths: Uint32Array = EMPTY_WORDS
  /** Those that lie on their own. */
  readonly large: Map<number, Body> = new Map()

  /** The bodies of so many places changed, or went. */
  forget(place: number, count: number): void {
    // Written out, for that is done for each row that changes: to fill four places takes longer.
    const { starts } = this
    for (let at = place; at < place + count; at++) starts[at] = NOWHERE
    if (this.large.size > 0) for (let at = place; at < place + count; at++) this.large.delete(at)
  }

  grow(places: number): void {
    this.starts = grown(this.starts, new Float64Array(places).fill(NOWHERE))
    this.lengths = grown(this.lengths, new Uint32Array(places))
  }
}

/** One that is longer takes too much of the ceiling. */
const LONGEST_BYTES = 4 * 1024 * 1024

/**
 * Bodies too large for the ring, each on its own, the oldest let go: a runtime sends a text without a copy, and who reads
 * slowly, or not at all, would hold a copy of each answer that waits.
 */
export class LargeBodies {
  #ceilingBytes: number
  readonly #queue: { readonly from: Map<number, Body>; readonly place: number; readonly body: Body }[] = []
  #bytes = 0

  constructor(ceilingBytes: number) {
    this.#ceilingBytes = ceilingBytes
  }

  limitTo(ceilingBytes: number): void {
    this.#ceilingBytes = ceilingBytes
    while (this.#bytes > ceilingBytes) this.#letGo()
  }

  keep(into: Map<number, Body>, place: number, body: Body): void {
    if (body.length > Math.min(LONGEST_BYTES, this.#ceilingBytes)) return
    while (this.#bytes + body.length > this.#ceilingBytes) this.#letGo()
    into.set(place, body)
    this.#queue.push({ from: into, place, body })
    this.#bytes += body.length
  }

  #letGo(): void {
    const oldest = this.#queue.shift()
    if (oldest === undefined) return
    this.#bytes -= oldest.body.length
    // Another may have taken its place since.
    if (oldest.from.get(oldest.place) === oldest.body) oldest.from.delete(oldest.place)
  }
}

/**
 * Entity tags by place, as the bytes they are sent as. A string for each would be two more places in memory to
 * fetch for an answer, and to keep the digest's number would mean to write it out each time: both cost more than this copy.
 */
export class PackedEtags {
  /** A place that begins with 0 is not yet known. */
  #bytes: Buffer = EMPTY_BYTES

  /** The tag of the body at a place, which is digested where it is not yet known. */
  of(place: number, body: Body): string {
    const at = place * ETAG_LENGTH
    if (this.#bytes[at] !== 0) return this.#bytes.toString('latin1', at, at + ETAG_LENGTH)
    const etag = etagOf(body)
    this.#bytes.write(etag, at, 'latin1')
    return etag
  }

  /** The bodies of so many places changed, or went. */
  forget(place: number, count: number): void {
    const bytes = this.#bytes
    for (let at = place; at < place + count; at++) bytes[at * ETAG_LENGTH] = 0
  }

  grow(places: number): void {
    this.#bytes = grown(this.#bytes, Buffer.alloc(places * ETAG_LENGTH))
  }
}
