import { Buffer } from 'node:buffer'

/** Small enough to be taken one by one, as bodies are asked for. */
const SEGMENT_BYTES = 1024 * 1024

/**
 * Bodies that were asked for lately, back to back in a ring of bytes: the oldest are overwritten. Kept as a string each they
 * were found as fast, but tens of thousands of strings that come and go had the garbage collector stop requests for 150 ms.
 */
export class ReadyBodies {
  readonly #segments: (Buffer | undefined)[]
  /** How many bytes were written since the beginning, what was left at the ends of segments included. */
  #head = 0

  /** @param ceilingBytes what the ring holds at most; below one segment it holds nothing */
  constructor(ceilingBytes: number) {
    this.#segments = Array.from({ length: Math.floor(ceilingBytes / SEGMENT_BYTES) }, () => undefined)
  }

  /** The bytes kept at a place, until the next body is kept; null where there are none, or none any more. */
  read(places: ReadyPlaces, place: number): Buffer | null {
    const start = places.starts[place] ?? NOWHERE
    if (start === NOWHERE) return null
    const segment = Math.floor(start / SEGMENT_BYTES)
    if (segment <= Math.floor(this.#head / SEGMENT_BYTES) - this.#segments.length) return null
    const from = start % SEGMENT_BYTES
    return this.#segments[segment % this.#segments.length]?.subarray(from, from + (places.lengths[place] ?? 0)) ?? null
  }

  /** Keeps a body at a place and gives its bytes; null where it is too long to be kept. */
  keep(places: ReadyPlaces, place: number, text: string): Buffer | null {
    const length = Buffer.byteLength(text)
    if (length > SEGMENT_BYTES || this.#segments.length === 0) return null
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
  starts: Float64Array = new Float64Array(0)
  lengths: Uint32Array = new Uint32Array(0)

  /** The bodies of so many places changed, or went. */
  forget(place: number, count: number): void {
    this.starts.fill(NOWHERE, place, place + count)
  }

  grow(places: number): void {
    const starts = new Float64Array(places).fill(NOWHERE)
    const lengths = new Uint32Array(places)
    starts.set(this.starts)
    lengths.set(this.lengths)
    this.starts = starts
    this.lengths = lengths
  }
}
