/** A page as it is sent. */
export interface ReadyPage {
  readonly body: Uint8Array
  readonly etag: string
  /** The path of the next one, null on the last. */
  readonly next: string | null
  /** The state of its list that it shows. */
  readonly changes: number
  /** The first moment, epoch ms, and the last at which it is what would be made again: a clock may be set back. */
  readonly goodFromMs: number
  readonly goodUntilMs: number
}

/** What a page takes besides its bytes, roughly. */
const PAGE_BYTES = 500
/** One that is larger than this part of the ceiling is not kept. */
const LARGEST_SHARE = 1 / 8

/** Pages that were asked for lately, the ones not asked for the longest let go first. */
export class ReadyPages {
  readonly #ceilingBytes: number
  readonly #pages = new Map<string, ReadyPage>()
  #bytes = 0

  constructor(ceilingBytes: number) {
    this.#ceilingBytes = ceilingBytes
  }

  /** The page kept under a key, null where it would not be the same now. */
  read(key: string, changes: number, nowMs: number): ReadyPage | null {
    const page = this.#pages.get(key)
    if (page === undefined) return null
    this.#drop(key, page)
    if (page.changes !== changes || nowMs < page.goodFromMs || nowMs > page.goodUntilMs) return null
    this.#add(key, page)
    return page
  }

  keep(key: string, page: ReadyPage): void {
    const before = this.#pages.get(key)
    if (before !== undefined) this.#drop(key, before)
    if (page.body.length > this.#ceilingBytes * LARGEST_SHARE) return
    this.#add(key, page)
    for (const [oldest, kept] of this.#pages) {
      if (this.#bytes <= this.#ceilingBytes) return
      this.#drop(oldest, kept)
    }
  }

  #add(key: string, page: ReadyPage): void {
    this.#pages.set(key, page)
    this.#bytes += sizeOf(key, page)
  }

  #drop(key: string, page: ReadyPage): void {
    this.#pages.delete(key)
    this.#bytes -= sizeOf(key, page)
  }
}

function sizeOf(key: string, { body }: ReadyPage): number {
  return key.length + body.length + PAGE_BYTES
}
