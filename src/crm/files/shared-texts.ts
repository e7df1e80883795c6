/** Texts that lie in one block of bytes. */
interface Block {
  readonly bytes: Buffer
  readonly ends: Uint32Array
}

const BLOCK = 1024

/** The texts that the cells of a workbook share: as strings a hundred thousand take twice the memory, and the collector's time. */
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

  /** The text of this number, counted from 0; undefined where there is none. */
  at(index: number): string | undefined {
    // A column of one value: made for each of its rows, a long text costs more than all else.
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
