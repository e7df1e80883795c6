import { type Failure, type PageStream, type ReadOutcome, type ReadRequest } from '../../sync/port.ts'
import type { Moment } from '../../time/time.ts'
import { type Descriptors, patienceOf } from '../kit/crm-limits.ts'
import { type FileFormat, contentOf } from './content.ts'
import { type VersionedFileSettings, type StillThere, VersionedFile, changedWhileRead } from './versioned-file.ts'
import type { FoundFile, NotFound, OpenFile } from './found-file.ts'
import { errorCode, findFile, fingerprintOf, foundAs, openFile, unreadable } from './found-file.ts'
import type { BrokenSyntax } from './row-parser.ts'

export interface FileSourceSettings<Item> extends VersionedFileSettings<Item> {
  readonly directory: string
  readonly descriptors: Descriptors
}

const MOST_ATTEMPTS = 5
/** Some file systems record times in steps this coarse, so a change soon after another may leave no trace. */
const SETTLING_MS = 2000
/** Files up to this size are only applied after a complete read without changes to the file. */
const HELD_BACK_BYTES = 8 * 1024 * 1024
const PACKED = 8

/** One list in a file of the directory. A cursor is the file's fingerprint. */
export class FileSource<Item> extends VersionedFile<Item> {
  readonly #settings: FileSourceSettings<Item>
  /** The result of the last search: the file's fingerprint, or why there is no file. */
  #lookedAt: string | null = null
  /**
   * Whether this process has confirmed or read the rows. After a start from a snapshot, the file's fingerprint confirms
   * them. The file is read once after the first answers, since a snapshot does not contain suspicions.
   */
  #hasLooked = false

  constructor(settings: FileSourceSettings<Item>) {
    super(settings)
    this.#settings = settings
  }

  get patienceMs(): number {
    return patienceOf(this.#settings.limits)
  }

  async examine(): Promise<Failure | null> {
    const { directory, list, descriptors } = this.#settings
    const found = await findFile(directory, list.candidates)
    if ('kind' in found) return found
    try {
      openFile(found.path, descriptors).close()
      return null
    } catch (cause) {
      return unreadable(found.name, cause)
    }
  }

  async *read(request: ReadRequest): PageStream<Item> {
    const { directory, list, time } = this.#settings
    for (let attempts = 1; ; attempts++) {
      const begunAt = time.now()
      const found = await findFile(directory, list.candidates)
      this.#lookedAt = identityOf(found)
      if ('kind' in found) {
        this.sawNone(found, begunAt.monotonicMs)
        return { ok: false, failure: found }
      }
      const version = { id: found.fingerprint, found, begunAt }
      const outcome =
        this.knownOutcome(version, request, !this.#hasLooked) ?? (yield* this.#readFile(found, begunAt, request))
      if (outcome !== 'changed') {
        this.#hasLooked ||= outcome.ok
        return outcome
      }
      if (attempts === MOST_ATTEMPTS) return changedWhileRead(found.name)
    }
  }

  async hasChanged(): Promise<boolean> {
    const { directory, list } = this.#settings
    return identityOf(await findFile(directory, list.candidates)) !== this.#lookedAt
  }

  async *#readFile(found: FoundFile, begunAt: Moment, request: ReadRequest): PageStream<Item, ReadOutcome | 'changed'> {
    const { name, path } = found
    let file: OpenFile | null = null
    try {
      file = openFile(path, this.#settings.descriptors)
      const stats = await file.stat()
      if (!stats.isFile() || stats.size === 0n) return 'changed'
      // Another file may have replaced the file meanwhile.
      const format = this.#settings.list.isMapped ? await formatIn(file, found.format) : found.format
      const opened = foundAs({ ...found, format }, stats)
      this.#lookedAt = opened.fingerprint
      const isSmall = opened.sizeBytes * (format === 'xlsx' ? PACKED : 1) <= HELD_BACK_BYTES
      const version = { id: opened.fingerprint, found: opened, file, begunAt, isSmall }
      const whatIsThere = this.#whatIsThere.bind(this, file, opened, begunAt)
      return yield* this.readVersion(version, request, whatIsThere)
    } catch (cause) {
      return errorCode(cause) === 'ENOENT' ? 'changed' : { ok: false, failure: unreadable(name, cause) }
    } finally {
      file?.close()
    }
  }

  /** Compares an open file with its state before the read; `null` if its bytes may have changed. */
  async #whatIsThere(
    file: OpenFile,
    { name, fingerprint, updatedAtMs }: FoundFile,
    begunAt: Moment,
    fault: BrokenSyntax | null,
  ): Promise<StillThere | null> {
    const { directory, list, time } = this.#settings
    const asOf = time.now()
    const opened = fingerprintOf(name, await file.stat())
    const named = await findFile(directory, list.candidates)
    const namedNow = 'kind' in named ? null : named.fingerprint
    const isSettled = begunAt.wallMs - updatedAtMs >= SETTLING_MS
    if (namedNow === fingerprint && opened === fingerprint) return { asOf, isSettled }
    // If its name now belongs to another file, its rows are complete, but only as of the beginning of the read. The ctime
    // is not compared, because it changes when the file is renamed or removed.
    const isSameInside = withoutChangeTime(opened) === withoutChangeTime(fingerprint)
    const isElsewhere = namedNow !== null && namedNow !== opened
    return isSameInside && isElsewhere && fault === null ? { asOf: begunAt, isSettled: false } : null
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
