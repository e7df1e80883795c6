import { Buffer, isAscii } from 'node:buffer'

// All empty columns share these: a list has 256 shards, and a typed array for each of their columns took 10 ms at
// start.
export const EMPTY_BYTES: Buffer = Buffer.alloc(0)
export const EMPTY_WORDS: Uint32Array = new Uint32Array(0)
export const EMPTY_FLOATS: Float64Array = new Float64Array(0)

/** Returns the column `to` with the contents of `from` at its beginning, or as much of them as fits. */
export function resized<Column extends Uint8Array | Uint32Array | Float64Array>(from: Column, to: Column): Column {
  to.set(from.subarray(0, to.length))
  return to
}

/** The largest buffer of which nothing is given back. */
const LITTLE_BYTES = 4096

/** Scratch space to encode texts for comparison. Grows for an unusually large text. */
let scratch: Buffer = Buffer.allocUnsafe(64 * 1024)

/**
 * UTF-8 texts by slot, back to back in one buffer. A changed text is appended. When the buffer is full, it is copied
 * without the gaps; the waste stays below half if each slot has a text.
 */
export class PackedTexts {
  /** Stored, not computed: it is read for all shards after each page. */
  sizeBytes = 0
  #bytes: Buffer = EMPTY_BYTES
  #used = 0
  #live = 0
  /** The number of texts that are not empty. */
  #count = 0
  #offset: Uint32Array = EMPTY_WORDS
  #length: Uint32Array = EMPTY_WORDS
  /** 1 if the text is ASCII, which decodes several times faster. */
  #ascii: Uint8Array = EMPTY_BYTES

  /** Changes the number of slots. Those that are lost have no text. */
  resize(capacity: number): void {
    const isSmaller = capacity < this.#length.length
    this.#offset = resized(this.#offset, new Uint32Array(capacity))
    this.#length = resized(this.#length, new Uint32Array(capacity))
    this.#ascii = resized(this.#ascii, new Uint8Array(capacity))
    if (isSmaller) this.#compact(0)
    this.#size()
  }

  read(slot: number): string {
    // New rows are read before they are first written.
    if (this.#length[slot] === 0) return ''
    const start = this.#offset[slot] ?? 0
    const end = start + (this.#length[slot] ?? 0)
    return this.#bytes.toString(this.#ascii[slot] === 1 ? 'latin1' : 'utf8', start, end)
  }

  /** Returns true if the slot has this text. */
  holds(slot: number, text: string): boolean {
    const length = this.#length[slot] ?? 0
    // A code unit takes one byte to three.
    if (text.length > length || text.length * 3 < length) return false
    return Buffer.byteLength(text, 'utf8') === length && this.#isHeld(slot, text, length)
  }

  /** Stores `text`. Returns true if it differs from the slot's previous text. */
  write(slot: number, text: string): boolean {
    // A code unit takes three bytes at most, so a new text that surely fits need not be measured first.
    const fits = this.#length[slot] === 0 && text !== '' && this.#used + text.length * 3 <= this.#bytes.length
    const length = fits ? this.#bytes.write(text, this.#used) : Buffer.byteLength(text, 'utf8')
    if (!fits) {
      if (this.#length[slot] === length && this.#isHeld(slot, text, length)) return false
      this.remove(slot)
      if (this.#used + length > this.#bytes.length) this.#compact(length)
      this.#bytes.write(text, this.#used, length, 'utf8')
    }
    this.#noteAt(slot, length, length === text.length)
    return true
  }

  /** Stores the text of a slot that has none, given as UTF-8. */
  writeBytes(slot: number, text: Buffer): void {
    const { length } = text
    if (this.#used + length > this.#bytes.length) this.#compact(length)
    text.copy(this.#bytes, this.#used)
    this.#noteAt(slot, length, isAscii(text))
  }

  /** Notes that the text of a slot was appended. */
  #noteAt(slot: number, length: number, ascii: boolean): void {
    this.#offset[slot] = this.#used
    this.#length[slot] = length
    if (length > 0) this.#count++
    this.#ascii[slot] = ascii ? 1 : 0
    this.#used += length
    this.#live += length
  }

  /** Gives back the room of removed texts, if it is much. */
  trim(): void {
    if (this.#bytes.length > LITTLE_BYTES && this.#live * 5 < this.#bytes.length) this.#compact(0)
  }

  remove(slot: number): void {
    const length = this.#length[slot] ?? 0
    if (length > 0) this.#count--
    this.#live -= length
    this.#length[slot] = 0
  }

  #isHeld(slot: number, text: string, length: number): boolean {
    if (length > scratch.length) scratch = Buffer.allocUnsafe(length)
    scratch.write(text, 0, length, 'utf8')
    const start = this.#offset[slot] ?? 0
    return scratch.compare(this.#bytes, start, start + length, 0, length) === 0
  }

  #compact(needed: number): void {
    // While slots still wait for their texts, the new buffer has room for those too, up to four times the present
    // contents.
    const ahead = Math.min(4, Math.max(1.4, this.#length.length / (this.#count + 1)))
    const room = this.#live + needed
    const bytes = room === 0 ? EMPTY_BYTES : Buffer.allocUnsafeSlow(Math.ceil(room * ahead) + 256)
    if (this.#live === this.#used) this.#bytes.copy(bytes, 0, 0, this.#used)
    else this.#closeGaps(bytes)
    this.#bytes = bytes
    this.#used = this.#live
    this.#size()
  }

  #size(): void {
    this.sizeBytes = this.#bytes.length + this.#offset.length * 9
  }

  #closeGaps(bytes: Buffer): void {
    let used = 0
    for (let slot = 0; slot < this.#length.length; slot++) {
      const length = this.#length[slot] ?? 0
      if (length === 0) continue
      const start = this.#offset[slot] ?? 0
      this.#bytes.copy(bytes, used, start, start + length)
      this.#offset[slot] = used
      used += length
    }
  }
}
