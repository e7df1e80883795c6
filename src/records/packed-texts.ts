import { Buffer } from 'node:buffer'
import { EMPTY_BYTES, EMPTY_WORDS, grown } from './columns.ts'

/** The shared place a text is encoded in to be compared; grown for the odd giant. */
let scratch: Buffer = Buffer.allocUnsafe(64 * 1024)

/**
 * Texts by slot, UTF-8, back to back in one buffer. A text that changes is written again at the end; the buffer is copied
 * without its gaps when it is full, so what is wasted stays below half, where each slot has a text.
 */
export class PackedTexts {
  /** Kept rather than worked out: after each page it is asked of all shards. */
  sizeBytes = 0
  #bytes: Buffer = EMPTY_BYTES
  #used = 0
  #live = 0
  /** How many texts there are that hold anything. */
  #count = 0
  #offset: Uint32Array = EMPTY_WORDS
  #length: Uint32Array = EMPTY_WORDS
  /** 1 where the text is ASCII, which is read back some times faster. */
  #ascii: Uint8Array = EMPTY_BYTES

  grow(capacity: number): void {
    this.#offset = grown(this.#offset, new Uint32Array(capacity))
    this.#length = grown(this.#length, new Uint32Array(capacity))
    this.#ascii = grown(this.#ascii, new Uint8Array(capacity))
    this.#size()
  }

  read(slot: number): string {
    // As of each row that is new, before it is written.
    if (this.#length[slot] === 0) return ''
    const start = this.#offset[slot] ?? 0
    const end = start + (this.#length[slot] ?? 0)
    return this.#bytes.toString(this.#ascii[slot] === 1 ? 'latin1' : 'utf8', start, end)
  }

  /** Stores `text`; returns whether it differs from what the slot held. */
  write(slot: number, text: string): boolean {
    // No character takes more than three bytes for each of its code units: what is new and has room need not be measured first.
    const fits = this.#length[slot] === 0 && text !== '' && this.#used + text.length * 3 <= this.#bytes.length
    const length = fits ? this.#bytes.write(text, this.#used) : Buffer.byteLength(text, 'utf8')
    if (!fits) {
      if (this.#length[slot] === length && this.#isHeld(slot, text, length)) return false
      this.remove(slot)
      if (this.#used + length > this.#bytes.length) this.#compact(length)
      this.#bytes.write(text, this.#used, length, 'utf8')
    }
    this.#offset[slot] = this.#used
    this.#length[slot] = length
    if (length > 0) this.#count++
    this.#ascii[slot] = length === text.length ? 1 : 0
    this.#used += length
    this.#live += length
    return true
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
    // Where slots wait for their texts there is room for those at once, but never for more than thrice what is there.
    const ahead = Math.min(4, Math.max(1.4, this.#length.length / (this.#count + 1)))
    const bytes = Buffer.allocUnsafeSlow(Math.ceil((this.#live + needed) * ahead) + 256)
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
