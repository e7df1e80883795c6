import { Buffer } from 'node:buffer'
import { type Body, ETAG_LENGTH, bodyOf, etagOf } from '../domain/body.ts'
import { EMPTY_BYTES, EMPTY_FLOATS, EMPTY_WORDS, resized } from './packed-texts.ts'

/** Small segments, because they are allocated one by one, as bodies are requested. */
const SEGMENT_BYTES = 1024 * 1024
/** The largest body in the segments. Larger ones are allocated separately. */
const LARGE_BYTES = 64 * 1024
/** The fraction of the ceiling for large bodies. */
const LARGE_SHARE = 1 / 4
/** The room for pages of one list, if lists are on: a fraction of the ceiling, and the most it may be. */
const PAGES_SHARE = 1 / 16
const MOST_PAGES_BYTES = 8 * 1024 * 1024
/** The segments may contain this many more bytes of outdated bodies than of current ones. */
const SLACK_BYTES = 8 * SEGMENT_BYTES
/** The ceiling of lists that are made without one: 10,000 events and their venues fit in all shapes. */
const USUAL_CEILING_BYTES = 128 * 1024 * 1024

interface Segment {
  readonly number: number
  readonly bytes: Buffer
  /** The bytes of all bodies in the segment, and of those that are current. */
  usedBytes: number
  liveBytes: number
}

/**
 * Recently requested bodies of both lists, back to back in segments of 1 MB, which are allocated as bodies are
 * requested. At the ceiling the newest overwrite the oldest, which creates no garbage. A returned body is valid until
 * the next await; copy it to keep it longer.
 */
export class ReadyBodies {
  readonly large: LargeBodies
  /** The segments by number, the oldest first. */
  readonly #segments = new Map<number, Segment>()
  /** The segment being written; `null` if there is none. */
  #last: Segment | null = null
  /** The number of segments begun so far. */
  #begun = 0
  #liveBytes = 0
  #ceilingBytes: number
  #hasPages = false
  #hits = 0
  #misses = 0

  /** @param ceilingBytes The limit for all bodies together. */
  constructor(ceilingBytes: number = USUAL_CEILING_BYTES) {
    this.#ceilingBytes = ceilingBytes
    this.large = new LargeBodies(ceilingBytes * LARGE_SHARE)
  }

  get count(): Readonly<Record<'limitBytes' | 'bytes' | 'hits' | 'misses', number>> {
    const bytes = this.#segments.size * SEGMENT_BYTES + this.large.bytes
    return { limitBytes: this.#ceilingBytes, bytes, hits: this.#hits, misses: this.#misses }
  }

  /** The room for pages of one list. */
  get pagesBytes(): number {
    return Math.min(MOST_PAGES_BYTES, this.#ceilingBytes * PAGES_SHARE)
  }

  /** Sets another ceiling, and frees the memory above it at once. */
  limitTo(ceilingBytes: number): void {
    this.#ceilingBytes = ceilingBytes
    this.large.limitTo(ceilingBytes * LARGE_SHARE)
    this.#dropTo(this.#mostSegments())
  }

  /** Reserves room for pages of both lists. */
  makeRoomForPages(): void {
    this.#hasPages = true
    this.#dropTo(this.#mostSegments())
  }

  /** Gives the room for pages of lists back to the bodies of records. */
  endPages(): void {
    this.#hasPages = false
  }

  /** Drops all bodies at once, when other lists begin to be served. */
  clear(): void {
    this.#dropTo(0)
    this.large.clear()
  }

  /** Returns the body at a place; `null` if none was kept or it was overwritten. */
  read(places: ReadyPlaces, place: number): Body | null {
    const start = places.starts[place] ?? NOWHERE
    if (start === NOWHERE) return this.#readLarge(places, place)
    const segment = this.#segments.get(Math.floor(start / SEGMENT_BYTES))
    if (segment === undefined) return null
    this.#hits++
    const from = start % SEGMENT_BYTES
    return segment.bytes.subarray(from, from + (places.lengths[place] ?? 0))
  }

  #readLarge({ large }: ReadyPlaces, place: number): Body | null {
    const found = large.size === 0 ? undefined : large.get(place)
    if (found === undefined) return null
    this.#hits++
    return found.body
  }

  /** Stores a body at a place and returns it in the form that is sent. */
  keep(places: ReadyPlaces, place: number, text: string): Body {
    this.#misses++
    const room = this.#last === null ? 0 : SEGMENT_BYTES - this.#last.usedBytes
    // A code unit takes three bytes at most, so a text that surely fits need not be measured first.
    const measured = text.length * 3 <= Math.min(room, LARGE_BYTES) ? 0 : Buffer.byteLength(text)
    if (measured > LARGE_BYTES) {
      const body = bodyOf(text)
      this.large.keep(places.large, place, body)
      this.#dropTo(this.#mostSegments())
      return body
    }
    const segment = this.#segmentWith(measured)
    const from = segment.usedBytes
    const length = segment.bytes.write(text, from)
    segment.usedBytes += length
    segment.liveBytes += length
    this.#liveBytes += length
    places.set(place, segment.number * SEGMENT_BYTES + from, length)
    return segment.bytes.subarray(from, from + length)
  }

  /** Counts a body as outdated. If most bytes are outdated, drops the segments with the fewest current bytes. */
  forget(start: number, length: number): void {
    const segment = this.#segments.get(Math.floor(start / SEGMENT_BYTES))
    if (segment === undefined) return
    segment.liveBytes -= length
    this.#liveBytes -= length
    while (this.#segments.size * SEGMENT_BYTES > 2 * this.#liveBytes + SLACK_BYTES) this.#drop(this.#mostOutdated())
  }

  #mostOutdated(): Segment | undefined {
    let found: Segment | undefined
    for (const segment of this.#segments.values()) {
      if (segment !== this.#last && segment.liveBytes < (found?.liveBytes ?? Infinity)) found = segment
    }
    return found
  }

  /** Returns the segment being written if it has room for a body, else another one. */
  #segmentWith(length: number): Segment {
    const last = this.#last
    if (last !== null && last.usedBytes + length <= SEGMENT_BYTES) return last
    const reused = this.#segments.size < this.#mostSegments() ? undefined : this.#dropOldest()
    const bytes = reused?.bytes ?? Buffer.allocUnsafeSlow(SEGMENT_BYTES)
    const segment = { number: this.#begun++, bytes, usedBytes: 0, liveBytes: 0 }
    this.#segments.set(segment.number, segment)
    this.#last = segment
    return segment
  }

  /** The most segments. At least one, because a body is written to a segment before it is sent. */
  #mostSegments(): number {
    const pagesBytes = this.#hasPages ? 2 * this.pagesBytes : 0
    return Math.max(1, Math.floor((this.#ceilingBytes - pagesBytes - this.large.bytes) / SEGMENT_BYTES))
  }

  #dropTo(segments: number): void {
    while (this.#segments.size > segments) this.#dropOldest()
  }

  #dropOldest(): Segment | undefined {
    const [oldest] = this.#segments.values()
    this.#drop(oldest)
    return oldest
  }

  #drop(segment: Segment | undefined): void {
    if (segment === undefined) return
    this.#segments.delete(segment.number)
    this.#liveBytes -= segment.liveBytes
    if (segment === this.#last) this.#last = null
  }
}

const NOWHERE = -1

/**
 * The positions in the ring of one shard's bodies, by place. They take memory from the first body on: a replica that
 * is loaded beside another has none yet.
 */
export class ReadyPlaces {
  starts: Float64Array = EMPTY_FLOATS
  lengths: Uint32Array = EMPTY_WORDS
  /** Bodies outside the ring. */
  readonly large: Map<number, LargeBody> = new Map()
  readonly #ready: ReadyBodies
  #places = 0

  constructor(ready: ReadyBodies) {
    this.#ready = ready
  }

  /** Forgets the bodies of `count` places: they changed or are gone. */
  forget(place: number, count: number): void {
    // Most rows that change have no ready body.
    const { starts } = this
    for (let at = place; at < place + count; at++) {
      const start = starts[at]
      if (start === NOWHERE || start === undefined) continue
      this.#ready.forget(start, this.lengths[at] ?? 0)
      starts[at] = NOWHERE
    }
    if (this.large.size === 0) return
    for (let at = place; at < place + count; at++) this.#ready.large.forget(this.large.get(at))
  }

  set(place: number, start: number, length: number): void {
    if (this.starts.length === 0) this.#allocate()
    this.starts[place] = start
    this.lengths[place] = length
  }

  resize(places: number): void {
    this.#places = places
    if (this.starts.length > 0) this.#allocate()
  }

  #allocate(): void {
    this.starts = resized(this.starts, new Float64Array(this.#places).fill(NOWHERE))
    this.lengths = resized(this.lengths, new Uint32Array(this.#places))
  }
}

/** The longest body that is kept. A longer one would take too much of the ceiling. */
const LONGEST_BYTES = 4 * 1024 * 1024

interface LargeBody {
  readonly in: Map<number, LargeBody>
  readonly place: number
  readonly body: Body
}

/**
 * Bodies too large for the ring, each allocated separately; the oldest are dropped first. They are kept because the
 * runtime sends a string without a copy: otherwise each slow client would hold its own copy.
 */
class LargeBodies {
  bytes = 0
  #ceilingBytes: number
  /** The kept bodies, the oldest first. */
  readonly #kept = new Set<LargeBody>()

  constructor(ceilingBytes: number) {
    this.#ceilingBytes = ceilingBytes
  }

  limitTo(ceilingBytes: number): void {
    this.#ceilingBytes = ceilingBytes
    this.#dropTo(ceilingBytes)
  }

  clear(): void {
    this.#dropTo(0)
  }

  keep(into: Map<number, LargeBody>, place: number, body: Body): void {
    if (body.length > Math.min(LONGEST_BYTES, this.#ceilingBytes)) return
    this.forget(into.get(place))
    this.#dropTo(this.#ceilingBytes - body.length)
    const kept = { in: into, place, body }
    into.set(place, kept)
    this.#kept.add(kept)
    this.bytes += body.length
  }

  forget(kept: LargeBody | undefined): void {
    if (kept === undefined) return
    kept.in.delete(kept.place)
    this.#kept.delete(kept)
    this.bytes -= kept.body.length
  }

  #dropTo(bytes: number): void {
    for (const oldest of this.#kept) {
      if (this.bytes <= bytes) return
      this.forget(oldest)
    }
  }
}

/**
 * Entity tags by place, as bytes. Reading a string per tag would cost two more memory accesses per answer, and
 * formatting a stored number more than this copy.
 */
export class PackedEtags {
  /** An entry is unknown if its first byte is 0. Empty until a tag is asked for. */
  #bytes: Buffer = EMPTY_BYTES
  #places = 0

  /** Returns the entity tag of the body at a place, computed on first use. */
  of(place: number, body: Body): string {
    const at = place * ETAG_LENGTH
    if (this.#bytes.length === 0) this.#allocate()
    if (this.#bytes[at] !== 0) return this.#bytes.toString('latin1', at, at + ETAG_LENGTH)
    const etag = etagOf(body)
    this.#bytes.write(etag, at, 'latin1')
    return etag
  }

  /** Forgets the tags of `count` places: their bodies changed or are gone. */
  forget(place: number, count: number): void {
    const bytes = this.#bytes
    if (bytes.length === 0) return
    for (let at = place; at < place + count; at++) bytes[at * ETAG_LENGTH] = 0
  }

  resize(places: number): void {
    this.#places = places
    if (this.#bytes.length > 0) this.#allocate()
  }

  #allocate(): void {
    this.#bytes = resized(this.#bytes, Buffer.alloc(this.#places * ETAG_LENGTH))
  }
}
