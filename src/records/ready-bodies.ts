import { Buffer } from 'node:buffer'
import { type Body, ETAG_LENGTH, bodyOf, etagOf } from '../formats/body.ts'
import { EMPTY_BYTES, EMPTY_FLOATS, EMPTY_WORDS, grown } from './columns.ts'

/** Small segments, because they are allocated one by one, as bodies are requested. */
const SEGMENT_BYTES = 1024 * 1024
/** Larger bodies do not go into the ring. */
const LARGE_BYTES = 64 * 1024
/** The fraction of the ceiling for large bodies; and the part of that for pages of lists, if lists are on. */
const LARGE_SHARE = 1 / 4
const PAGES_SHARE = 1 / 8

/**
 * Recently requested bodies, back to back in a ring of bytes. The newest overwrite the oldest, which creates no
 * garbage. A returned body is valid until the next await; copy it to keep it longer.
 */
export class ReadyBodies {
  readonly #segments: (Buffer | undefined)[]
  readonly #large: LargeBodies
  readonly #ceilingBytes: number
  /** The number of bytes written so far, including the unused ends of segments. */
  #head = 0

  /** @param ceilingBytes The limit for all bodies together. */
  constructor(ceilingBytes: number) {
    this.#ceilingBytes = ceilingBytes
    this.#large = new LargeBodies(ceilingBytes * LARGE_SHARE)
    const segments = Math.floor((ceilingBytes * (1 - LARGE_SHARE)) / SEGMENT_BYTES)
    this.#segments = Array.from({ length: segments }, () => undefined)
  }

  /** Reserves room for pages of lists, taken from the large bodies. Returns the number of bytes. */
  makeRoomForPages(): number {
    this.#large.limitTo(this.#ceilingBytes * (LARGE_SHARE - PAGES_SHARE))
    return this.#ceilingBytes * PAGES_SHARE
  }

  /** Gives the room for pages of lists back to the large bodies. */
  endPages(): void {
    this.#large.limitTo(this.#ceilingBytes * LARGE_SHARE)
  }

  /** Returns the body at a place; `null` if none was kept or it was overwritten. */
  read(places: ReadyPlaces, place: number): Body | null {
    const start = places.starts[place] ?? NOWHERE
    if (start === NOWHERE) return places.large.get(place) ?? null
    const segment = Math.floor(start / SEGMENT_BYTES)
    if (segment <= Math.floor(this.#head / SEGMENT_BYTES) - this.#segments.length) return null
    const from = start % SEGMENT_BYTES
    return this.#segments[segment % this.#segments.length]?.subarray(from, from + (places.lengths[place] ?? 0)) ?? null
  }

  /** Stores a body at a place and returns it in the form that is sent. */
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

/** The positions in the ring of one shard's bodies, by place. */
export class ReadyPlaces {
  starts: Float64Array = EMPTY_FLOATS
  lengths: Uint32Array = EMPTY_WORDS
  /** Bodies outside the ring. */
  readonly large: Map<number, Body> = new Map()

  /** Forgets the bodies of `count` places: they changed or are gone. */
  forget(place: number, count: number): void {
    // A loop, because this runs for each changed row and `fill` is slower for four places.
    const { starts } = this
    for (let at = place; at < place + count; at++) starts[at] = NOWHERE
    if (this.large.size > 0) for (let at = place; at < place + count; at++) this.large.delete(at)
  }

  grow(places: number): void {
    this.starts = grown(this.starts, new Float64Array(places).fill(NOWHERE))
    this.lengths = grown(this.lengths, new Uint32Array(places))
  }
}

/** A longer body would take too much of the ceiling. */
const LONGEST_BYTES = 4 * 1024 * 1024

/**
 * Bodies too large for the ring, each allocated separately; the oldest are dropped first. They are kept because the
 * runtime sends a string without a copy: otherwise each slow client would hold its own copy.
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
    while (this.#bytes > ceilingBytes) this.#evictOldest()
  }

  keep(into: Map<number, Body>, place: number, body: Body): void {
    if (body.length > Math.min(LONGEST_BYTES, this.#ceilingBytes)) return
    while (this.#bytes + body.length > this.#ceilingBytes) this.#evictOldest()
    into.set(place, body)
    this.#queue.push({ from: into, place, body })
    this.#bytes += body.length
  }

  #evictOldest(): void {
    const oldest = this.#queue.shift()
    if (oldest === undefined) return
    this.#bytes -= oldest.body.length
    // A newer body may have replaced it.
    if (oldest.from.get(oldest.place) === oldest.body) oldest.from.delete(oldest.place)
  }
}

/**
 * Entity tags by place, as bytes. Reading a string per tag would cost two more memory accesses per answer, and
 * formatting a stored number more than this copy.
 */
export class PackedEtags {
  /** An entry is unknown if its first byte is 0. */
  #bytes: Buffer = EMPTY_BYTES

  /** Returns the entity tag of the body at a place, computed on first use. */
  of(place: number, body: Body): string {
    const at = place * ETAG_LENGTH
    if (this.#bytes[at] !== 0) return this.#bytes.toString('latin1', at, at + ETAG_LENGTH)
    const etag = etagOf(body)
    this.#bytes.write(etag, at, 'latin1')
    return etag
  }

  /** Forgets the tags of `count` places: their bodies changed or are gone. */
  forget(place: number, count: number): void {
    const bytes = this.#bytes
    for (let at = place; at < place + count; at++) bytes[at * ETAG_LENGTH] = 0
  }

  grow(places: number): void {
    this.#bytes = grown(this.#bytes, Buffer.alloc(places * ETAG_LENGTH))
  }
}
