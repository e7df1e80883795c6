import { constants } from 'node:fs'
import type { Cursor, Failure, PageStream, ReadOutcome, ReadRequest, ListSource } from '../../sync/port.ts'
import { cursorOf, failed, failureOf } from '../../sync/port.ts'
import type { Moment } from '../../time/time.ts'
import { type Descriptors, patienceOf } from '../kit/crm-limits.ts'
import { type FileFormat, contentOf } from './content.ts'
import {
  type FileReadsSettings,
  type Interrupted,
  FileReads,
  endOf,
  namesVersion,
  tooOld,
  unsettled,
} from './file-reads.ts'
import type { FoundFile, NotFound, OpenFile } from './found-file.ts'
import { errorCode, findFile, fingerprintOf, foundAs, openFile, reasonOf } from './found-file.ts'

export interface FileSourceSettings<Item> extends FileReadsSettings<Item> {
  readonly directory: string
  readonly maxFileAgeMs?: number | null | undefined
  readonly descriptors: Descriptors
}

const MOST_ATTEMPTS = 5
/** Some file systems record times in steps this coarse, so a change soon after another may leave no trace. */
const SETTLING_MS = 2000
/** Files up to this size are only applied after a complete read without changes to the file. */
const HELD_BACK_BYTES = 8 * 1024 * 1024
const PACKED = 8

/** One list in a file, read in full whenever the file has changed. */
export class FileSource<Item> implements ListSource<Item> {
  readonly reportsChanges = false
  readonly availabilityEveryMs = null
  readonly repeatedId = 'serves-first'
  readonly #settings: FileSourceSettings<Item>
  readonly #reads: FileReads<Item>
  /** The result of the last search: the file's fingerprint, or why there is no file. */
  #lookedAt: string | null = null
  /**
   * Whether this process has confirmed or read the rows. After a start from a snapshot, the file's fingerprint confirms
   * them. The file is read once after the first answers, since a snapshot does not contain suspicions.
   */
  #hasLooked = false

  constructor(settings: FileSourceSettings<Item>) {
    this.#settings = settings
    this.#reads = new FileReads(settings)
  }

  get idColumn(): string {
    return this.#settings.list.idName
  }

  get patienceMs(): number {
    return patienceOf(this.#settings.limits)
  }

  async examine(): Promise<Failure | null> {
    const { directory, list, descriptors } = this.#settings
    const found = await findFile(directory, list.candidates)
    if ('kind' in found) return found
    try {
      openFile(found.path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0), descriptors).close()
      return null
    } catch (cause) {
      const code = errorCode(cause)
      if (code === null) throw cause
      return failureOf('unreachable', `${found.name} cannot be read: ${reasonOf(code)}`)
    }
  }

  async *read(request: ReadRequest): PageStream<Item> {
    const { directory, list, time, maxFileAgeMs = null } = this.#settings
    const { halfWritten, hasMappedAll } = this.#reads
    for (let attempts = 1; ; attempts++) {
      const begunAt = time.now()
      const found = await findFile(directory, list.candidates)
      this.#lookedAt = identityOf(found)
      if ('kind' in found) {
        halfWritten.saw(found, begunAt.monotonicMs)
        return { ok: false, failure: found }
      }
      const old = tooOld(found.name, found.writtenAtMs, begunAt.wallMs, maxFileAgeMs)
      if (old !== null) return { ok: false, failure: old }
      const isUnchanged = found.fingerprint === request.cursor
      if (isUnchanged && (hasMappedAll || !this.#hasLooked)) {
        this.#hasLooked = true
        halfWritten.saw(found, begunAt.monotonicMs)
        return endOf(request.cursor, begunAt, false)
      }
      const refusal = this.#reads.refusalOf(found.fingerprint)
      if (refusal !== null) return refusal
      const outcome = yield* this.#readFile(found, begunAt, request, isUnchanged)
      if (typeof outcome === 'object') return outcome
      if (outcome === 'shown' || attempts === MOST_ATTEMPTS) {
        return failed('broken', `${found.name} changed while it was read`)
      }
    }
  }

  async hasChanged(): Promise<boolean> {
    const { directory, list } = this.#settings
    return identityOf(await findFile(directory, list.candidates)) !== this.#lookedAt
  }

  /** A cursor is the file's fingerprint, so any process can check it. */
  travels(cursor: Cursor): boolean {
    return namesVersion(cursor)
  }

  async *#readFile(
    found: FoundFile,
    begunAt: Moment,
    request: ReadRequest,
    isKnown: boolean,
  ): PageStream<Item, ReadOutcome | Interrupted> {
    const { name, path } = found
    const { halfWritten } = this.#reads
    let file: OpenFile | null = null
    try {
      // O_NONBLOCK: if a pipe has replaced the file meanwhile, opening it must not wait for a writer.
      file = openFile(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0), this.#settings.descriptors)
      const stats = await file.stat()
      if (!stats.isFile() || stats.size === 0n) return 'changed'
      // Another file may have replaced the file meanwhile.
      const format = this.#settings.list.isMapped ? await formatIn(file, found.format) : found.format
      const opened = foundAs({ ...found, format }, stats)
      this.#lookedAt = opened.fingerprint
      halfWritten.saw(opened, begunAt.monotonicMs)
      const waiting = halfWritten.stillWaiting(name, request.served ?? null, begunAt.monotonicMs)
      if (waiting !== null) return { ok: false, failure: waiting }
      return yield* this.#readOpen(file, opened, begunAt, request, isKnown)
    } catch (cause) {
      const code = errorCode(cause)
      if (code === null) throw new Error(`${name} cannot be read`, { cause })
      if (code === 'ENOENT') return 'changed'
      return failed('unreachable', `${name} cannot be read: ${reasonOf(code)}`)
    } finally {
      file?.close()
    }
  }

  async *#readOpen(
    file: OpenFile,
    found: FoundFile,
    begunAt: Moment,
    request: ReadRequest,
    isKnown: boolean,
  ): PageStream<Item, ReadOutcome | Interrupted> {
    const { format, fingerprint: id, sizeBytes } = found
    const isSmall = sizeBytes * (format === 'xlsx' ? PACKED : 1) <= HELD_BACK_BYTES
    const isSettled = begunAt.wallMs - found.updatedAtMs >= SETTLING_MS
    const version = { file, found, id, begunAt, readAtMs: begunAt.monotonicMs, isSmall, isSettled }
    // If the file is replaced meanwhile, the rows are complete, but only as of the beginning of the read.
    let asOf = begunAt
    let isCurrent = false
    const read = yield* this.#reads.read(version, request, isKnown, async (fault) => {
      const confirmedAt = this.#settings.time.now()
      const change = await this.#changeIn(file, found)
      isCurrent = change === 'same'
      if (isCurrent) asOf = confirmedAt
      return isCurrent || (change === 'replaced' && fault === null)
    })
    if (typeof read === 'string' || !read.ok) return read
    this.#hasLooked = true
    const isAll = isCurrent && isSettled && !read.isLeftOut
    return endOf(isAll ? cursorOf(id) : unsettled(id), asOf, true)
  }

  /**
   * Compares an open file with its state before the read. `replaced`: its bytes are unchanged, but its name now belongs
   * to another file.
   */
  async #changeIn(file: OpenFile, { name, fingerprint }: FoundFile): Promise<'same' | 'replaced' | 'changed'> {
    const { directory, list } = this.#settings
    const opened = await file.stat()
    const named = await findFile(directory, list.candidates)
    const isNamed = !('kind' in named) && named.fingerprint === fingerprint
    if (isNamed && fingerprintOf(name, opened) === fingerprint) return 'same'
    // The ctime is not compared, because it changes when the file is renamed or removed.
    const isSameInside = withoutChangeTime(fingerprintOf(name, opened)) === withoutChangeTime(fingerprint)
    const isElsewhere = !('kind' in named) && named.fingerprint !== fingerprintOf(name, opened)
    return isSameInside && isElsewhere ? 'replaced' : 'changed'
  }
}

function identityOf(found: FoundFile | NotFound): string {
  return 'kind' in found ? found.message : found.fingerprint
}

function withoutChangeTime(fingerprint: string): string {
  return fingerprint.slice(0, fingerprint.lastIndexOf(':'))
}

/** Returns the actual format of a mapped list's file. It differs from the name only for a workbook named .csv. */
async function formatIn(file: Pick<OpenFile, 'read'>, named: FileFormat): Promise<FileFormat> {
  if (named !== 'csv') return named
  const head = Buffer.alloc(4)
  await file.read(head, 0, head.length, 0)
  return contentOf(head) === 'zip' ? 'xlsx' : named
}
