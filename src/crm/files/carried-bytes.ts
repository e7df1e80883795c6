/** The beginning of something that the next chunks go on with. */
export class CarriedBytes {
  length = 0
  #parts: Buffer[] = []

  /** Keeps a copy: the chunk's memory is used again. */
  add(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#parts.push(Buffer.from(bytes))
    this.length += bytes.length
  }

  /** All that was carried, and `last`; nothing is carried any more. */
  take(last: Buffer): Buffer {
    const all = Buffer.concat([...this.#parts, last])
    this.#parts = []
    this.length = 0
    return all
  }
}
