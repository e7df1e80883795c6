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

  /** The text of all that was carried, and of `last`; nothing is carried any more. */
  take(last: Buffer): string {
    if (this.length === 0) return last.toString('utf8')
    const text = Buffer.concat([...this.#parts, last]).toString('utf8')
    this.#parts = []
    this.length = 0
    return text
  }
}
