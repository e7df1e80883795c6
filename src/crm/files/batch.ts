import { type Change, type Page, PAGE_ROWS } from '../../sync/port.ts'
import type { Moment } from '../../time/time.ts'
import { tooLargeRow } from '../mapping/map-row.ts'
import type { FoundFile } from './found-file.ts'

/** Collects the rows of one file, in order, until they are taken as pages. */
export class FileBatch<Item> {
  readonly found: Pick<FoundFile, 'name' | 'format' | 'sizeBytes' | 'writtenAtMs'>
  /** The number of rows without a value, between and below the others. */
  blankRows = 0
  /** The number of rows that are headings between the others. */
  headings = 0
  /** The length of the texts in a sheet's cells, including texts that are stored once for many cells. */
  textBytes = 0
  /** Whether the last line of a text has no end so far. */
  isCut = false
  readonly #begunAt: Moment
  #before = 0
  #changes: Change<Item>[] = []
  #lines: number[] = []
  /** The number of each row in the file, from 0. */
  #numbers: number[] = []
  #skipped = 0

  constructor(found: FileBatch<Item>['found'], begunAt: Moment) {
    this.found = found
    this.#begunAt = begunAt
  }

  get count(): number {
    return this.#before + this.#changes.length
  }

  whereNext(line: number): string {
    return placeOf(this.found, this.count + this.#skipped, line)
  }

  /** Counts a row of the file that does not belong to the list. */
  skip(): null {
    this.#skipped++
    return null
  }

  skipHeading(): null {
    this.headings++
    return this.skip()
  }

  add(change: Change<Item>, line: number): void {
    this.#numbers.push(this.count + this.#skipped)
    this.#changes.push(change)
    this.#lines.push(line)
  }

  /** Returns the rows that are known only at the end of the file. */
  atEnd: () => readonly Change<Item>[] = () => []

  end(): readonly Page<Item>[] {
    for (const change of this.atEnd()) this.add(change, 0)
    return this.take(PAGE_ROWS)
  }

  addTooLarge(line: number): null {
    this.add(tooLargeRow(null, this.whereNext(line), Number.NaN), line)
    return null
  }

  /** Returns all collected rows in pages of at most `limit` rows. */
  take(limit: number): readonly Page<Item>[] {
    const { found } = this
    const [all, lines, numbers] = [this.#changes, this.#lines, this.#numbers]
    const pages: Page<Item>[] = []
    for (let from = 0; from < all.length; from += limit) {
      pages.push({
        begunAt: this.#begunAt,
        sourceLagMs: 0,
        changes: all.length <= limit ? all : all.slice(from, from + limit),
        whereIs: (index) => placeOf(found, numbers[from + index] ?? 0, lines[from + index] ?? 0),
        updatedAtMs: () => found.writtenAtMs,
      })
    }
    this.#before += all.length
    this.#changes = []
    this.#lines = []
    this.#numbers = []
    return pages
  }
}

/** Describes the position of a row. List items and lines are counted from 1. */
function placeOf({ name, format }: Pick<FoundFile, 'name' | 'format'>, index: number, line: number): string {
  if (format === 'xlsx') return `${name}, row ${line}`
  return format === 'json' ? `${name}, item ${index + 1} (line ${line})` : `${name}, line ${line}`
}
