/** A page in the form that is sent. */
export interface ReadyPage {
  readonly body: Uint8Array
  readonly etag: string
  /** The path of the next page; `null` on the last. */
  readonly next: string | null
  /** The list's count of changes when the page was made. */
  readonly changes: number
  /**
   * The page is valid from `goodFromMs` to `goodUntilMs`, epoch ms. Both are needed because the clock may be set back.
   */
  readonly goodFromMs: number
  readonly goodUntilMs: number
}

/** An estimate of a page's memory beyond its bytes. */
const PAGE_BYTES = 500
/** The largest kept page, as a fraction of the ceiling. */
const LARGEST_SHARE = 1 / 8

/** The room for pages, read on every use: a reload changes it. */
interface PagesRoom {
  readonly pagesBytes: number
}

/** Recently requested pages. The least recently requested are dropped first. */
export class ReadyPages<Page extends ReadyPage = ReadyPage> {
  readonly #room: PagesRoom
  readonly #pages = new Map<string, Page>()
  #bytes = 0

  /** Whether the latest page is kept however large it is. */
  readonly #keepsLatest: boolean

  constructor(room: PagesRoom, keepsLatest = false) {
    this.#room = room
    this.#keepsLatest = keepsLatest
  }

  /** Returns the page of a key; `null` if there is none or its contents would be different now. */
  read(key: string, changes: number, nowMs: number): Page | null {
    const page = this.#pages.get(key)
    if (page === undefined) return null
    if (page.changes !== changes || nowMs < page.goodFromMs || nowMs > page.goodUntilMs) return null
    this.#drop(key, page)
    this.#add(key, page)
    return page
  }

  /** Returns the page of a key, even if its contents would be different now. */
  last(key: string): Page | null {
    return this.#pages.get(key) ?? null
  }

  keep(key: string, page: Page): void {
    const before = this.#pages.get(key)
    if (before !== undefined) this.#drop(key, before)
    if (!this.#keepsLatest && page.body.length > this.#room.pagesBytes * LARGEST_SHARE) return
    this.#add(key, page)
    for (const [oldest, kept] of this.#pages) {
      if (this.#bytes <= this.#room.pagesBytes || (this.#keepsLatest && kept === page)) return
      this.#drop(oldest, kept)
    }
  }

  #add(key: string, page: Page): void {
    this.#pages.set(key, page)
    this.#bytes += sizeOf(key, page)
  }

  #drop(key: string, page: Page): void {
    this.#pages.delete(key)
    this.#bytes -= sizeOf(key, page)
  }
}

function sizeOf(key: string, { body }: ReadyPage): number {
  return key.length + body.length + PAGE_BYTES
}
