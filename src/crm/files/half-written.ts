import type { FileFormat } from './content.ts'

/** What the operator is told if a file is not believed to be complete. */
interface Doubt {
  readonly ifCut: string
  /** If rows are missing that are served; `null` if that says nothing. */
  readonly ifLacking: string | null
  /** When the file is believed, unless it changes again. */
  readonly leftMs: number
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
  #fingerprint: string | null = null
  #sinceMs = 0
  /** Whether the name belonged to another file before: this one was moved into place. */
  #isRenamed = false

  constructor(list: string, { maxAgeMs }: { readonly maxAgeMs: number }) {
    this.#list = list
    this.#standstillMs = Math.min(maxAgeMs / 2, LONGEST_STANDSTILL_MS)
  }

  /** Notes the file that a search found. @param fingerprint `null` if the file is empty; then there may be no inode. */
  saw(fingerprint: string | null, inode: string | null, atMs: number): void {
    if (fingerprint !== this.#fingerprint) {
      this.#isRenamed = this.#inode !== null && this.#inode !== inode
      this.#sinceMs = atMs
    }
    this.#fingerprint = fingerprint
    this.#inode = inode
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
