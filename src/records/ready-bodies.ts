import { Buffer } from 'node:buffer'
import { type Body, ETAG_LENGTH, bodyOf, etagOf } from '../domain/body.ts'
import { EMPTY_BYTES, EMPTY_FLOATS, EMPTY_WORDS, resized } from './packed-texts.ts'

/** Small segments, because they are allocated one by one, as bodies are requested. */
const SEGMENT_BYTES = 1024 * 1024
/** A body larger than this is a segment of its own. */
const LARGE_BYTES = 64 * 1024
/** The longest body that is kept, and the most it may take of the ceiling. */
const LONGEST_BYTES = 4 * 1024 * 1024
const LONGEST_SHARE = 1 / 4
/** The room for pages of one list, if lists are on: a fraction of the ceiling, and the most it may be. */
const PAGES_SHARE = 1 / 16
const MOST_PAGES_BYTES = 8 * 1024 * 1024
/** The segments may contain this many more bytes of outdated bodies than of current ones. */
const SLACK_BYTES = 8 * SEGMENT_BYTES
/** The ceiling of lists that are made without one: 10,000 events and their venues fit in all shapes. */
const USUAL_CEILING_BYTES = 128 * 1024 * 1024

interface Segment {
  readonly number: number
  /**
   * Bodies back to back; or one large body in the form that is sent, because the runtime sends a string without a copy:
   * otherwise each slow client would hold its own copy.
   */
  readonly content: Body
  /** The bytes of the bodies that are current. */
  liveBytes: number
}

/** The segment being written. */
interface OpenSegment extends Segment {
  readonly content: Buffer
  usedBytes: number
}

/**
 * Recently requested bodies of both lists, back to back in segments of 1 MB, which are allocated as bodies are
 * requested. At the ceiling the newest overwrite the oldest, which creates no garbage. A returned body is valid until
 * the next await; copy it to keep it longer.
 */
export class ReadyBodies {
  /** The segments by number, the oldest first. */
  readonly #segments = new Map<number, Segment>()
  #last: OpenSegment | null = null
  /** The number of segments begun so far. */
  #begun = 0
  /** The bytes of all segments, and of the bodies in them that are current. */
  #bytes = 0
  #liveBytes = 0
  #ceilingBytes: number
  #hasPages = false
  #hits = 0
  #misses = 0

  /** @param ceilingBytes The limit for all bodies together. */
  constructor(ceilingBytes: number = USUAL_CEILING_BYTES) {
    this.#ceilingBytes = ceilingBytes
  }

  get count(): Readonly<Record<'limitBytes' | 'bytes' | 'hits' | 'misses', number>> {
    return { limitBytes: this.#ceilingBytes, bytes: this.#bytes, hits: this.#hits, misses: this.#misses }
  }

  /** The room for pages of one list. */
  get pagesBytes(): number {
    return Math.min(MOST_PAGES_BYTES, this.#ceilingBytes * PAGES_SHARE)
  }

  /** Sets another ceiling, and frees the memory above it at once. */
  limitTo(ceilingBytes: number): void {
    this.#ceilingBytes = ceilingBytes
    this.#makeRoomFor(0)
  }

  /** Reserves room for pages of both lists. */
  makeRoomForPages(): void {
    this.#hasPages = true
    this.#makeRoomFor(0)
  }

  /** Gives the room for pages of lists back to the bodies of records. */
  endPages(): void {
    this.#hasPages = false
  }

  /** Drops all bodies at once, when other lists begin to be served. */
  clear(): void {
    for (const segment of this.#segments.values()) this.#drop(segment)
  }

  /** Returns the body at a place; `null` if none was kept or it was overwritten. */
  read(places: ReadyPlaces, place: number): Body | null {
    const start = places.starts[place] ?? NOWHERE
    if (start === NOWHERE) return null
    const segment = this.#segments.get(Math.floor(start / SEGMENT_BYTES))
    if (segment === undefined) return null
    this.#hits++
    const { content } = segment
    if (typeof content === 'string') return content
    const from = start % SEGMENT_BYTES
    return content.subarray(from, from + (places.lengths[place] ?? 0))
  }

  /** Stores a body at a place and returns it in the form that is sent. */
  keep(places: ReadyPlaces, place: number, text: string): Body {
    this.#misses++
    const room = this.#last === null ? 0 : SEGMENT_BYTES - this.#last.usedBytes
    // A code unit takes three bytes at most, so a text that surely fits need not be measured first.
    const measured = text.length * 3 <= Math.min(room, LARGE_BYTES) ? 0 : Buffer.byteLength(text)
    if (measured > LARGE_BYTES) return this.#keepLarge(places, place, bodyOf(text))
    const segment = this.#segmentWith(measured)
    const from = segment.usedBytes
    const length = segment.content.write(text, from)
    segment.usedBytes += length
    segment.liveBytes += length
    this.#liveBytes += length
    places.set(place, segment.number * SEGMENT_BYTES + from, length)
    return segment.content.subarray(from, from + length)
  }

  #keepLarge(places: ReadyPlaces, place: number, content: Body): Body {
    const { length } = content
    if (length > Math.min(LONGEST_BYTES, this.#ceilingBytes * LONGEST_SHARE)) return content
    this.#makeRoomFor(length)
    const segment = { number: this.#begun++, content, liveBytes: length }
    this.#add(segment)
    places.set(place, segment.number * SEGMENT_BYTES, length)
    return content
  }

  /** Counts a body as outdated. If most bytes are outdated, drops the segments with the fewest current bytes. */
  forget(start: number, length: number): void {
    const segment = this.#segments.get(Math.floor(start / SEGMENT_BYTES))
    if (segment === undefined) return
    segment.liveBytes -= length
    this.#liveBytes -= length
    if (segment.liveBytes === 0 && segment !== this.#last) this.#drop(segment)
    while (this.#bytes > 2 * this.#liveBytes + SLACK_BYTES) this.#drop(this.#mostOutdated())
  }

  #mostOutdated(): Segment | undefined {
    let found: Segment | undefined
    for (const segment of this.#segments.values()) {
      if (segment !== this.#last && segment.liveBytes < (found?.liveBytes ?? Infinity)) found = segment
    }
    return found
  }

  /** Returns the segment being written if it has room for a body, else another one, if need be in the oldest's memory. */
  #segmentWith(length: number): OpenSegment {
    const last = this.#last
    if (last !== null && last.usedBytes + length <= SEGMENT_BYTES) return last
    const dropped = this.#makeRoomFor(SEGMENT_BYTES)
    const content = Buffer.isBuffer(dropped) ? dropped : Buffer.allocUnsafeSlow(SEGMENT_BYTES)
    this.#last = { number: this.#begun++, content, usedBytes: 0, liveBytes: 0 }
    this.#add(this.#last)
    return this.#last
  }

  /** Drops the oldest segments until as many bytes more may be kept. Returns the content of the last one dropped. */
  #makeRoomFor(bytes: number): Body | undefined {
    const pagesBytes = this.#hasPages ? 2 * this.pagesBytes : 0
    let dropped: Body | undefined
    for (const segment of this.#segments.values()) {
      if (this.#bytes + bytes <= this.#ceilingBytes - pagesBytes) break
      this.#drop(segment)
      dropped = segment.content
    }
    return dropped
  }

  #add(segment: Segment): void {
    this.#segments.set(segment.number, segment)
    this.#bytes += segment.content.length
    this.#liveBytes += segment.liveBytes
  }

  #drop(segment: Segment | undefined): void {
    if (segment === undefined) return
    this.#segments.delete(segment.number)
    this.#bytes -= segment.content.length
    this.#liveBytes -= segment.liveBytes
    if (segment === this.#last) this.#last = null
  }
}

const NOWHERE = -1

/**
 * The positions of one shard's bodies in the segments, by place. They take memory from the first body on: a replica
 * that is loaded beside another has none yet.
 */
export class ReadyPlaces {
  starts: Float64Array = EMPTY_FLOATS
  lengths: Uint32Array = EMPTY_WORDS
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
