import { type Failure, type ServedRows, failureOf } from '../../sync/port.ts'
import type { FileFormat } from './file-format.ts'

/** What is taken of a file: all of it, or its lines that have an end. */
export type Extent = 'all' | 'whole-lines'

/** What a look at the name of a list found: a file's fingerprint and inode; of an empty file the inode alone. */
interface Look {
  readonly fingerprint?: string
  readonly inode?: string
}

/** What was read of a file of which only whole lines are taken. */
interface WholeLines {
  /** The last line has no end, and was left out. */
  readonly isCut: boolean
  /** There is a header row, and no quote that was opened in the rows above the last line. */
  readonly isList: boolean
  /** Counts the served records whose ids are not in these lines. */
  readonly countMissing: () => Promise<number>
}

interface Watched {
  readonly fingerprint: string
  /** When it was first seen as it is, monotonic ms. */
  readonly sinceMs: number
  /** The look before found another file of this name. */
  readonly isRenamed: boolean
  believed: Extent | null
  /** Why it is not believed yet; null before it was read. */
  doubt: string | null
}

const LONGEST_STANDSTILL_MS = 15_000
const SHORTEST_READ_MS = 50
/** Formats that have no mark of their end. */
const OPEN_ENDED: ReadonlySet<FileFormat> = new Set(['csv', 'ndjson'])

/**
 * Decides when a file is believed whose writer may not have finished. One that was renamed into place, or has every id that is
 * served, is believed at once if its last line has an end; any other after it has not changed for half the maximum age, 15 s at
 * most. Shortly before the served list is past the maximum age, the whole lines of any file are believed.
 */
export class HalfWritten {
  readonly #list: string
  readonly #limits: { readonly maxAgeMs: number }
  #inode: string | null = null
  #watched: Watched | null = null
  #usualReadMs = SHORTEST_READ_MS

  constructor(list: string, limits: { readonly maxAgeMs: number }) {
    this.#list = list
    this.#limits = limits
  }

  saw({ fingerprint, inode }: Look, atMs: number): void {
    if (fingerprint === undefined) this.#watched = null
    else if (this.#watched?.fingerprint !== fingerprint) {
      const isRenamed = this.#inode !== null && this.#inode !== inode
      this.#watched = { fingerprint, sinceMs: atMs, isRenamed, believed: null, doubt: null }
    }
    this.#inode = inode ?? null
  }

  /** What to take of the file that was seen last. */
  extentOf(format: FileFormat, served: ServedRows | null, nowMs: number): Extent {
    const watched = this.#watched
    if (watched === null || served === null || watched.believed === 'all' || !OPEN_ENDED.has(format)) return 'all'
    return nowMs >= this.#stillAtMs(watched) ? 'all' : 'whole-lines'
  }

  /** Why the file that was seen last is not read again yet: it was not believed, and has not changed since. Null if it is to be read. */
  stillDoubted(name: string, served: ServedRows | null, nowMs: number): Failure | null {
    const watched = this.#watched
    if (watched === null || watched.believed !== null || watched.doubt === null || served === null) return null
    const isDue = nowMs >= Math.min(this.#lastLookMs(served), this.#stillAtMs(watched))
    return isDue ? null : this.#waiting(name, watched, served, nowMs)
  }

  /** Why not even the whole lines are believed; null if they are. */
  async doubtAbout(
    name: string,
    { isCut, isList, countMissing }: WholeLines,
    served: ServedRows,
    nowMs: number,
  ): Promise<Failure | null> {
    const watched = this.#watched
    if (watched === null) return null
    const missing = isCut || watched.isRenamed ? 0 : await countMissing()
    const isWhole = isList && !isCut && missing === 0
    const isDue = watched.believed !== null || nowMs >= this.#lastLookMs(served)
    if (isWhole) watched.believed = 'all'
    else if (isList && isDue) watched.believed = 'whole-lines'
    if (watched.believed !== null) return null
    const lacking = `it lacks ${missing} of the ${served.count} ${this.#list} that are served`
    watched.doubt = missing > 0 ? lacking : 'its last line has no end'
    return this.#waiting(name, watched, served, nowMs)
  }

  /** The file that was seen last was read, in so many ms. */
  took(extent: Extent, tookMs: number): void {
    if (this.#watched !== null && extent === 'all') this.#watched.believed = 'all'
    this.#usualReadMs = Math.max(SHORTEST_READ_MS, tookMs)
  }

  #waiting(name: string, watched: Watched, served: ServedRows, nowMs: number): Failure {
    const standstill = `it has not changed for ${Math.ceil(this.#standstillMs / 100) / 10} s`
    const message = `${name} may be half-written: ${watched.doubt}; Marquee waits until ${standstill}`
    return failureOf('waiting', message, Math.max(1, this.#nextLookMs(watched, served, nowMs) - nowMs))
  }

  get #standstillMs(): number {
    return Math.min(this.#limits.maxAgeMs / 2, LONGEST_STANDSTILL_MS)
  }

  #stillAtMs({ sinceMs }: Watched): number {
    return sinceMs + this.#standstillMs
  }

  #lastLookMs({ tooOldAtMs }: ServedRows): number {
    return tooOldAtMs - this.#usualReadMs
  }

  #nextLookMs(watched: Watched, served: ServedRows, nowMs: number): number {
    const lastLookMs = this.#lastLookMs(served)
    const stillAtMs = this.#stillAtMs(watched)
    return lastLookMs > nowMs ? Math.min(lastLookMs, stillAtMs) : stillAtMs
  }
}
