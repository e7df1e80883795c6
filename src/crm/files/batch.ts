import { type Change, type Page, PAGE_ROWS } from '../../sync/port.ts'
import type { Moment } from '../../time/time.ts'
import type { Guid } from '../../domain/guid.ts'
import type { FoundFile } from './found-file.ts'
import type { Extent } from './half-written.ts'

/** What a row takes at the least: where the first ones are the smallest by far, room must not be made for more than there can be. */
const ROW_BYTES = 400

/** Gathers the rows of one file in their order until they are taken, a page at most at a time. */
export class Batch<Item> {
  readonly found: Pick<FoundFile, 'name' | 'format' | 'sizeBytes' | 'writtenAtMs'>
  /** Rows in which nothing stands, between the others and below them. */
  blankRows = 0
  /** Of the file, for the rows so far. */
  readBytes = 0
  /** Of the texts in the cells of a sheet, which may be stored once for many cells. */
  textBytes = 0
  /** What comes now stands in a last line without an end. */
  isCut = false
  /** A quote is open that was opened in a line above the last one. */
  isOpen = false
  readonly extent: Extent
  #cut: { readonly change: Change<Item>; readonly line: number } | null = null
  readonly #begunAt: Moment
  readonly #isFirst: boolean
  #before = 0
  #changes: Change<Item>[] = []
  #lines: number[] = []

  /** @param isFirst the list is read for the first time, so room has to be made for its rows */
  constructor(found: Batch<Item>['found'], begunAt: Moment, isFirst = false, extent: Extent = 'all') {
    this.extent = extent
    this.found = found
    this.#begunAt = begunAt
    this.#isFirst = isFirst
  }

  get size(): number {
    return this.#changes.length
  }

  /** How many rows of the file come before the next one. */
  get count(): number {
    return this.#before + this.#changes.length
  }

  /** Where the next row stands, which begins in `line`. */
  whereNext(line: number): string {
    return placeOf(this.found, this.count, line)
  }

  /** The row at hand may not be all there, and is left out: of its id what is served stays. */
  get isLeftOut(): boolean {
    return this.isCut && this.extent === 'whole-lines'
  }

  /** A last line without an end comes now; tells whether its row is taken. */
  cut(isOpen = false): boolean {
    this.isCut = true
    this.isOpen = isOpen
    return !this.isLeftOut
  }

  add(change: Change<Item>, line: number): void {
    if (this.isCut) this.#cut = { change, line }
    else this.#push(change, line)
  }

  #push(change: Change<Item>, line: number): void {
    this.#changes.push(change)
    this.#lines.push(line)
  }

  /** What becomes of a row that is left out, whose id is null if it cannot be told. */
  leaveOut(id: Guid | null, line: number): null {
    if (id !== null) this.#push({ kind: 'unchanged', id }, line)
    return null
  }

  /** The row of a last line without an end; null if there is none. */
  takeCut(): Page<Item> | null {
    if (this.#cut === null) return null
    const { change, line } = this.#cut
    this.#cut = null
    this.#push(change, line)
    const [page] = this.take(1)
    return page === undefined ? null : { ...page, onlyIfBelieved: true }
  }

  /** All rows that were gathered, in pages of at most `limit`. */
  take(limit: number): readonly Page<Item>[] {
    const { found } = this
    const [all, lines] = [this.#changes, this.#lines]
    const isTold = this.#isFirst && this.count >= PAGE_ROWS && this.readBytes > 0
    const pages: Page<Item>[] = []
    for (let from = 0; from < all.length; from += limit) {
      const before = this.#before + from
      pages.push({
        begunAt: this.#begunAt,
        sourceLagMs: 0,
        changes: all.length <= limit ? all : all.slice(from, from + limit),
        whereIs: (index) => placeOf(found, before + index, lines[from + index] ?? 0),
        updatedAtMs: () => found.writtenAtMs,
        ...(isTold && before < PAGE_ROWS ? { rowsInAll: this.#rowsInAll() } : {}),
      })
    }
    this.#before += all.length
    this.#changes = []
    this.#lines = []
    return pages
  }

  #rowsInAll(): number {
    return Math.ceil(this.found.sizeBytes / Math.max(ROW_BYTES, this.readBytes / this.count))
  }
}

/** Where a row stands, for a person: items of a list are counted from 1, as lines are. */
function placeOf({ name, format }: Pick<FoundFile, 'name' | 'format'>, index: number, line: number): string {
  if (format === 'xlsx') return `${name}, row ${line}`
  return format === 'json' ? `${name}, item ${index + 1} (line ${line})` : `${name}, line ${line}`
}
