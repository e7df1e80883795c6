import type { Moment, Time } from '../../time/time.ts'
import { type CrmLimits, type Descriptors, patienceOf } from '../kit/crm-limits.ts'
import type { Failure } from '../../sync/port.ts'
import { type FileFormat, contentOf } from './content.ts'
import type { FilePlace, FileVersion, OpenVersion, StillThere } from './file-stream.ts'
import type { Candidate, FoundFile, NotFound, OpenFile } from './found-file.ts'
import { findFile, fingerprintOf, foundAs, openFile, unreadable } from './found-file.ts'

interface LocalFileSettings {
  readonly directory: string
  readonly candidates: readonly Candidate[]
  /** Whether the configuration has a section for the list. */
  readonly isMapped: boolean
  readonly descriptors: Descriptors
  readonly time: Time
  readonly limits: () => CrmLimits
}

/** Some file systems record times in steps this coarse, so a change soon after another may leave no trace. */
const SETTLING_MS = 2000
/** Files up to this size are read into memory first, so they cannot change while their rows are. */
const SMALL_BYTES = 8 * 1024 * 1024
const CHUNK_BYTES = 64 * 1024

/** A list's file in the directory. Its version is the file's fingerprint. */
export class LocalFile implements FilePlace {
  readonly #settings: LocalFileSettings
  /** The result of the last search: the file's fingerprint, or why there is no file. */
  #lookedAt: string | null = null

  constructor(settings: LocalFileSettings) {
    this.#settings = settings
  }

  get patienceMs(): number {
    return patienceOf(this.#settings.limits())
  }

  async examine(): Promise<Failure | null> {
    const found = await this.#search()
    if ('kind' in found) return found
    try {
      openFile(found.path, this.#settings.descriptors).close()
      return null
    } catch (cause) {
      return unreadable(found.name, cause)
    }
  }

  async hasChanged(): Promise<boolean> {
    return identityOf(await this.#search()) !== this.#lookedAt
  }

  /**
   * After a start from a snapshot, the file's fingerprint confirms the rows: the file is read once after the first
   * answers, since a snapshot does not contain suspicions.
   */
  async find(_held: unknown, _signal: AbortSignal, isConfirmed: boolean): Promise<FileVersion | NotFound> {
    const begunAt = this.#settings.time.now()
    const found = await this.#search()
    this.#lookedAt = identityOf(found)
    if ('kind' in found) return found
    const open: FileVersion['open'] = (onProgress) => this.#open(found, begunAt, onProgress)
    return { id: found.fingerprint, found, begunAt, isEnough: !isConfirmed, open }
  }

  #search(): ReturnType<typeof findFile> {
    return findFile(this.#settings.directory, this.#settings.candidates)
  }

  async #open(found: FoundFile, begunAt: Moment, onProgress: () => void): Promise<OpenVersion | 'changed'> {
    const file = openFile(found.path, this.#settings.descriptors)
    let version: OpenVersion | null = null
    try {
      const stats = await file.stat()
      if (!stats.isFile() || stats.size === 0n) return 'changed'
      // Another file may have replaced the file meanwhile.
      const format = this.#settings.isMapped ? await formatIn(file, found.format) : found.format
      const opened = foundAs({ ...found, format }, stats)
      this.#lookedAt = opened.fingerprint
      const kept = opened.sizeBytes <= SMALL_BYTES ? await bytesOf(file, opened.sizeBytes, onProgress) : null
      if (kept !== null && !(await hasSameBytes(file, opened))) return 'changed'
      const stillThere: OpenVersion['stillThere'] = (fault) =>
        this.#stillThere(file, opened, begunAt, fault === null && kept !== null)
      const read = kept === null ? file : inMemory(kept)
      version = { id: opened.fingerprint, found: opened, file: read, stillThere, close: file.close }
      return version
    } finally {
      if (version === null) file.close()
    }
  }

  /** @param isWhole whether all bytes that were read are of one state and could be read as a list */
  async #stillThere(file: OpenFile, opened: FoundFile, begunAt: Moment, isWhole: boolean): Promise<StillThere | null> {
    const asOf = this.#settings.time.now()
    const isSame = fingerprintOf(opened.name, await file.stat()) === opened.fingerprint
    const named = await this.#search()
    const isSettled = begunAt.wallMs - opened.updatedAtMs >= SETTLING_MS
    if (isSame && identityOf(named) === opened.fingerprint) return { asOf, isSettled }
    // If its name now belongs to another file, its rows are complete, but only as of the beginning of the read.
    const isElsewhere = !('kind' in named) && named.inode !== opened.inode
    return isWhole || (isElsewhere && (await hasSameBytes(file, opened))) ? { asOf: begunAt, isSettled: false } : null
  }
}

function identityOf(found: FoundFile | NotFound): string {
  return 'kind' in found ? found.message : found.fingerprint
}

/** Whether an open file has the bytes that it had. Its ctime does not count: it changes when the file is renamed or removed. */
async function hasSameBytes(file: OpenFile, { name, fingerprint }: FoundFile): Promise<boolean> {
  const now = fingerprintOf(name, await file.stat())
  return now.slice(0, now.lastIndexOf(':')) === fingerprint.slice(0, fingerprint.lastIndexOf(':'))
}

async function bytesOf(file: OpenFile, sizeBytes: number, onProgress: () => void): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(sizeBytes)
  for (let at = 0; at < sizeBytes; onProgress()) {
    const { bytesRead } = await file.read(bytes, at, Math.min(CHUNK_BYTES, sizeBytes - at), at)
    if (bytesRead === 0) return bytes.subarray(0, at)
    at += bytesRead
  }
  return bytes
}

/** Lets bytes be read as a file. */
export function inMemory(bytes: Buffer): Pick<OpenFile, 'read'> {
  return {
    read: async (buffer, at, length, from) => ({ bytesRead: bytes.copy(buffer, at, from, from + length), buffer }),
  }
}

/** Returns the actual format of a mapped list's file. It differs from the name only for a workbook named .csv. */
async function formatIn(file: Pick<OpenFile, 'read'>, named: FileFormat): Promise<FileFormat> {
  if (named !== 'csv') return named
  const head = Buffer.alloc(4)
  await file.read(head, 0, head.length, 0)
  return contentOf(head) === 'zip' ? 'xlsx' : named
}
