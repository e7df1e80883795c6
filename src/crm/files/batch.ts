import type { StreamBatch } from '../connector/row-host.ts'
import { tooLargeRow } from '../mapping/map-row.ts'
import type { Change } from '../../sync/port.ts'
import type { FoundFile } from './found-file.ts'

/** Collects the rows of one file, in order, until they are taken as a batch. */
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
  /** Why the file may be half-written; `null` if nothing says so. */
  readonly #unsure: string | null
  #before = 0
  #rows: Change<Item>[] = []
  #lines: number[] = []
  /** The number of each row in the file, from 0. */
  #numbers: number[] = []
  #skipped = 0

  constructor(found: FileBatch<Item>['found'], unsure: string | null = null) {
    this.found = found
    this.#unsure = unsure
  }

  get count(): number {
    return this.#before + this.#rows.length
  }

  /** Whether rows wait to be taken. Those that wait for long cost the garbage collector of Node twice the time. */
  get hasRows(): boolean {
    return this.#rows.length > 0
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

  add(change: Change<Item>, line: number): null {
    this.#numbers.push(this.count + this.#skipped)
    this.#rows.push(change)
    this.#lines.push(line)
    return null
  }

  addTooLarge(line: number): null {
    return this.add(tooLargeRow(null, this.whereNext(line), Number.NaN), line)
  }

  /** Returns the rows collected since the last call. */
  take(): StreamBatch<Item> {
    const { found } = this
    const [mapped, lines, numbers] = [this.#rows, this.#lines, this.#numbers]
    this.#before += mapped.length
    this.#rows = []
    this.#lines = []
    this.#numbers = []
    return {
      ...FROM_ONE_FILE,
      mapped,
      at: (index) => placeOf(found, numbers[index] ?? 0, lines[index] ?? 0),
      changedAtMs: found.writtenAtMs,
      ...(this.#unsure === null ? {} : { unsure: this.#unsure }),
    }
  }
}

const FROM_ONE_FILE = {
  rows: [],
  deleted: [],
  total: null,
  lagMs: 0,
  full: false,
  stable: 'moment',
  goesOn: true,
} as const satisfies StreamBatch

/** Describes the position of a row. List items and lines are counted from 1. */
function placeOf({ name, format }: Pick<FoundFile, 'name' | 'format'>, index: number, line: number): string {
  if (format === 'xlsx') return `${name}, row ${line}`
  return format === 'json' ? `${name}, item ${index + 1} (line ${line})` : `${name}, line ${line}`
}
