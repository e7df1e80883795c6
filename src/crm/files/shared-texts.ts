/** Texts stored in one block of bytes. */
interface Block {
  readonly bytes: Buffer
  readonly ends: Uint32Array
}

const BLOCK = 1024

/**
 * The texts that a workbook's cells share, stored as bytes: a hundred thousand strings would take twice the memory and
 * slow down garbage collection.
 */
export class SharedTexts {
  readonly #blocks: Block[] = []
  #last: Buffer[] = []
  #at = -1
  #text: string | undefined = undefined

  add(text: string): void {
    this.#at = -1
    this.#last.push(Buffer.from(text))
    if (this.#last.length < BLOCK) return
    let end = 0
    const ends = Uint32Array.from(this.#last, ({ length }) => (end += length))
    this.#blocks.push({ bytes: Buffer.concat(this.#last), ends })
    this.#last = []
  }

  /** The text of this index; undefined if there is none. */
  at(index: number): string | undefined {
    // Remembers the last text: in a column with one long value, decoding it for each row costs more than everything
    // else.
    if (index !== this.#at) [this.#at, this.#text] = [index, this.#textAt(index)]
    return this.#text
  }

  #textAt(index: number): string | undefined {
    const block = this.#blocks[Math.floor(index / BLOCK)]
    if (block === undefined) return this.#last[index - this.#blocks.length * BLOCK]?.toString()
    const end = block.ends[index % BLOCK]
    return end === undefined ? undefined : block.bytes.toString('utf8', block.ends[(index % BLOCK) - 1] ?? 0, end)
  }
}
