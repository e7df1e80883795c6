import { type Failure, type ServedRows, failureOf } from '../../sync/port.ts'
import type { FileFormat } from './content.ts'

interface Watched {
  readonly fingerprint: string
  readonly sinceMs: number
  /** Whether the name belonged to another file before: this one was moved into place. */
  readonly isRenamed: boolean
  isBelieved: boolean
  /** Why the last read did not believe the file. */
  doubt: string | null
}

const LONGEST_STANDSTILL_MS = 15_000
/** Formats that do not mark their end. */
const OPEN_ENDED: ReadonlySet<FileFormat> = new Set(['csv', 'ndjson'])

/**
 * Decides when to believe a file that its writer may not have finished: at once if its last line has an end, and it was
 * moved into place or lacks no served row; otherwise once it has not changed for half the maximum age, at most 15 s.
 */
export class HalfWritten {
  readonly #list: string
  readonly #standstillMs: number
  #inode: string | null = null
  #watched: Watched | null = null

  constructor(list: string, { maxAgeMs }: { readonly maxAgeMs: number }) {
    this.#list = list
    this.#standstillMs = Math.min(maxAgeMs / 2, LONGEST_STANDSTILL_MS)
  }

  /** Notes the file that a search found. @param fingerprint `null` if the file is empty; then there may be no inode. */
  saw(fingerprint: string | null, inode: string | null, atMs: number): void {
    if (fingerprint === null) this.#watched = null
    else if (this.#watched?.fingerprint !== fingerprint) {
      const isRenamed = this.#inode !== null && this.#inode !== inode
      this.#watched = { fingerprint, sinceMs: atMs, isRenamed, isBelieved: false, doubt: null }
    }
    this.#inode = inode
  }

  /** Returns true if the file counts as it is, whatever it lacks. */
  isSure(format: FileFormat, served: ServedRows | null, nowMs: number): boolean {
    const watched = this.#watched
    if (watched === null || watched.isBelieved || served === null || !OPEN_ENDED.has(format)) return true
    return nowMs >= watched.sinceMs + this.#standstillMs
  }

  believe(): void {
    if (this.#watched !== null) this.#watched.isBelieved = true
  }

  /** Notes why a file that was read to its end is not believed; `null` if it is. */
  doubt(isCut: boolean, missing: number, { count }: ServedRows): void {
    if (this.#watched === null) return
    const isWhole = !isCut && (this.#watched.isRenamed || missing === 0)
    const lacking = `it lacks ${missing} of the ${count} ${this.#list} that are served`
    this.#watched.isBelieved = isWhole
    this.#watched.doubt = isWhole ? null : isCut ? 'its last line is incomplete' : lacking
  }

  /** Why the file is not read again before it has not changed for a while; `null` if nothing is wrong with it so far. */
  waiting(name: string, nowMs: number): Failure | null {
    const watched = this.#watched
    if (watched === null || watched.doubt === null) return null
    const standstill = `it has not changed for ${Math.ceil(this.#standstillMs / 100) / 10} s`
    const remedy = 'a file that is renamed into place is read at once'
    const message = `${name} may be half-written: ${watched.doubt}; Marquee waits until ${standstill}; ${remedy}`
    return failureOf('waiting', message, Math.max(1, watched.sinceMs + this.#standstillMs - nowMs))
  }
}
