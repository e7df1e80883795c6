import type { Moment } from '../../time/time.ts'
import type { FileFormat } from './content.ts'
import type { FoundFile } from './found-file.ts'

/** What the operator is told if a file is not believed to be complete. */
interface Doubt {
  readonly ifCut: string
  /** If rows are missing that are served; `null` if that says nothing. */
  readonly ifLacking: string | null
  /** When the file is believed, unless it changes again. */
  readonly leftMs: number
}

type SeenFile = Pick<FoundFile, 'inode' | 'updatedAtMs' | 'writtenAtMs'>

const LONGEST_STANDSTILL_MS = 15_000
/** Formats that do not mark their end. */
const OPEN_ENDED: ReadonlySet<FileFormat> = new Set(['csv', 'ndjson'])

/**
 * Decides when to believe a file that its writer may not have finished: at once if its last line has an end, and it was
 * moved into place or lacks no served row; otherwise once it has not changed for half the maximum age, at most 15 s. Of the
 * first file that a process sees, its own times tell since when.
 */
export class HalfWritten {
  readonly #list: string
  readonly #standstillMs: number
  #inode: string | null = null
  #fingerprint: string | null = null
  #sinceMs = 0
  #isFirst = true
  /** Whether the name belonged to another file before: this one was moved into place. */
  #isRenamed = false

  constructor(list: string, { maxAgeMs }: { readonly maxAgeMs: number }) {
    this.#list = list
    this.#standstillMs = Math.min(maxAgeMs / 2, LONGEST_STANDSTILL_MS)
  }

  /** Notes that a search found no file that is a list. @param inode that of an empty file */
  sawNone(inode: string | null): void {
    this.#fingerprint = null
    this.#inode = inode
    this.#isFirst = false
  }

  /** Notes the file that a search found. */
  saw(fingerprint: string, { inode, updatedAtMs, writtenAtMs }: SeenFile, at: Moment): void {
    if (fingerprint !== this.#fingerprint) {
      this.#isRenamed = this.#inode !== null && this.#inode !== inode
      // The clock of a network drive may be ahead, and a web server may not name a time.
      const restedMs = this.#isFirst ? at.wallMs - Math.max(updatedAtMs, writtenAtMs) : 0
      this.#sinceMs = at.monotonicMs - (restedMs > 0 ? restedMs : 0)
    }
    this.#fingerprint = fingerprint
    this.#inode = inode
    this.#isFirst = false
  }

  /** Returns why the file may not be complete; `null` if it counts as it is, whatever it lacks. */
  doubt(name: string, format: FileFormat, nowMs: number): Doubt | null {
    const leftMs = this.#sinceMs + this.#standstillMs - nowMs
    if (leftMs <= 0 || !OPEN_ENDED.has(format)) return null
    const standstill = `it has not changed for ${Math.ceil(this.#standstillMs / 100) / 10} s`
    const said = (why: string): string =>
      `${name} may be half-written: ${why}; Marquee waits until ${standstill}; a file that is renamed into place is read at once`
    const ifLacking = this.#isRenamed ? null : said(`it lacks some of the ${this.#list} that are served`)
    return { ifCut: said('its last line is incomplete'), ifLacking, leftMs }
  }
}
