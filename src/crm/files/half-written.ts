import { type Failure, type ServedRows, failureOf } from '../../sync/port.ts'
import type { FileFormat } from './content.ts'

/** Which part of a file to take: all of it, or only lines with a line end. */
export type Extent = 'all' | 'whole-lines'

/** The result of reading only the whole lines of a file. */
interface WholeLines {
  readonly isCut: boolean
  /** Whether there is a header row, and no quote stays open before the last line. */
  readonly isList: boolean
  /** The number of served records whose ids are missing from these lines. */
  readonly missing: number
}

interface Watched {
  readonly fingerprint: string
  readonly sinceMs: number
  /** Whether the name belonged to another file before: this one was moved into place. */
  readonly isRenamed: boolean
  believed: Extent | null
  /** Why the file is not believed yet; null before its first read. */
  doubt: string | null
}

const LONGEST_STANDSTILL_MS = 15_000
const SHORTEST_READ_MS = 50
/** Formats that do not mark their end. */
const OPEN_ENDED: ReadonlySet<FileFormat> = new Set(['csv', 'ndjson'])

/**
 * Decides when to believe a file that its writer may not have finished. A file that was moved into place, or that has
 * every served id, is believed at once if its last line has a line end. Any other file is believed once it has not
 * changed for half the maximum age, at most 15 s. Shortly before the served list exceeds the maximum age, the whole
 * lines of any file are believed.
 */
export class HalfWritten {
  readonly #list: string
  readonly #limits: { readonly maxAgeMs: number }
  #inode: string | null = null
  #watched: Watched | null = null
  /** When Marquee first saw a file that it did not believe; `null` once it believes one. In monotonic ms. */
  #doubtedSinceMs: number | null = null
  #usualReadMs = SHORTEST_READ_MS

  constructor(list: string, limits: { readonly maxAgeMs: number }) {
    this.#list = list
    this.#limits = limits
  }

  /** Notes the file that a search found. @param fingerprint `null` if the file is empty; then there may be no inode. */
  saw(fingerprint: string | null, inode: string | null, atMs: number): void {
    if (fingerprint === null) this.#watched = null
    else if (this.#watched?.fingerprint !== fingerprint) {
      const isRenamed = this.#inode !== null && this.#inode !== inode
      this.#watched = { fingerprint, sinceMs: atMs, isRenamed, believed: null, doubt: null }
    }
    this.#inode = inode
  }

  extentOf(format: FileFormat, served: ServedRows | null, nowMs: number): Extent {
    const watched = this.#watched
    if (watched === null || served === null || watched.believed === 'all' || !OPEN_ENDED.has(format)) return 'all'
    if (nowMs < this.#stillAtMs(watched)) return 'whole-lines'
    this.#doubtedSinceMs = null
    return 'all'
  }

  /**
   * Explains why the file is not read again yet: the last read was not believed, and it has not changed since. `null`
   * if it should be read.
   */
  stillWaiting(name: string, served: ServedRows | null, nowMs: number): Failure | null {
    const watched = this.#watched
    if (watched === null || watched.believed !== null || watched.doubt === null || served === null) return null
    const isDue = nowMs >= Math.min(this.#lastLookMs(watched, served), this.#stillAtMs(watched))
    return isDue ? null : this.#waiting(name, watched, served, nowMs)
  }

  /** Explains why not even the whole lines are believed; `null` if they are. */
  doubtAbout(name: string, { isCut, isList, missing }: WholeLines, served: ServedRows, nowMs: number): Failure | null {
    const watched = this.#watched
    if (watched === null) return null
    const isWhole = isList && !isCut && (watched.isRenamed || missing === 0)
    const isDue = watched.believed !== null || nowMs >= this.#lastLookMs(watched, served)
    if (isWhole) watched.believed = 'all'
    else if (isList && isDue) watched.believed = 'whole-lines'
    if (watched.believed !== null) {
      this.#doubtedSinceMs = null
      return null
    }
    this.#doubtedSinceMs ??= watched.sinceMs
    const lacking = `it lacks ${missing} of the ${served.count} ${this.#list} that are served`
    watched.doubt = missing > 0 && !isCut && !watched.isRenamed ? lacking : 'its last line is incomplete'
    return this.#waiting(name, watched, served, nowMs)
  }

  /** Records that the file was read, and how long it took in ms. */
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

  /**
   * Returns when to stop waiting. If the shrink guard keeps serving the old list, that may be past the maximum age, but
   * one writer delays it by no more than the maximum age.
   */
  #lastLookMs({ sinceMs }: Watched, { tooOldAtMs, servedOnUntilMs = null }: ServedRows): number {
    const waitedOutMs = (this.#doubtedSinceMs ?? sinceMs) + this.#limits.maxAgeMs
    const guardedMs = servedOnUntilMs === null ? tooOldAtMs : Math.min(waitedOutMs, servedOnUntilMs)
    return Math.max(tooOldAtMs, guardedMs) - this.#usualReadMs
  }

  #nextLookMs(watched: Watched, served: ServedRows, nowMs: number): number {
    const lastLookMs = this.#lastLookMs(watched, served)
    const stillAtMs = this.#stillAtMs(watched)
    return lastLookMs > nowMs ? Math.min(lastLookMs, stillAtMs) : stillAtMs
  }
}
