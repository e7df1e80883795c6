import { Buffer, isUtf8 } from 'node:buffer'
import { type Stats, constants } from 'node:fs'
import { lstat, open, stat } from 'node:fs/promises'
import { codeOf } from '../domain/system-error.ts'

/** Reads a file until the limit aborts. Rejects with a system error, whose `code` selects the message. */
export type ReadFile = (path: string, limit: AbortSignal) => Promise<Uint8Array>

const LARGEST_FILE_BYTES = 1_000_000
/** A hanging mount must not block a reload or a command for longer, in ms. */
const LIMIT_MS = 10_000

/** A new time limit, for a configuration with all files that it names, or for one file that is read again. */
export function readingLimit(): AbortSignal {
  return AbortSignal.timeout(LIMIT_MS)
}

/** Files that hang on an unresponsive mount. Each blocks a thread, and Node has four for files. */
const hanging = new Set<string>()
const MOST_HANGING = 2

/** Reads a regular file, up to one byte more than is allowed. */
export const readSmallFile: ReadFile = (path, limit) => inTime(path, bytesOf, limit)

/**
 * Returns false only if nothing has this name. A link to a missing file, or a directory that may not be searched, is
 * something: reading the file then reports what is wrong.
 */
export async function mayExist(path: string): Promise<boolean> {
  try {
    await inTime(path, lstat, readingLimit())
    return true
  } catch (error) {
    return !NOT_THERE.has(codeOf(error))
  }
}

const NOT_THERE: ReadonlySet<string | null> = new Set(['ENOENT', 'ENOTDIR'])

async function inTime<Value>(path: string, work: (path: string) => Promise<Value>, limit: AbortSignal): Promise<Value> {
  if (limit.aborted || hanging.has(path) || hanging.size >= MOST_HANGING) throw withCode(TIMED_OUT)
  const working = work(path)
  const { promise: late, reject } = Promise.withResolvers<never>()
  const giveUp = (): void => {
    hanging.add(path)
    reject(withCode(TIMED_OUT))
  }
  limit.addEventListener('abort', giveUp, { once: true })
  const settle = (): void => {
    limit.removeEventListener('abort', giveUp)
    hanging.delete(path)
  }
  working.then(settle, settle)
  return Promise.race([working, late])
}

async function bytesOf(path: string): Promise<Uint8Array> {
  // Opening a pipe blocks until something writes to it, and opening a device may have effects.
  mustBeRegular(await statOf(path))
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    mustBeRegular(await file.stat())
    const bytes = new Uint8Array(LARGEST_FILE_BYTES + 1)
    let length = 0
    while (length < bytes.length) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length, null)
      if (bytesRead === 0) break
      length += bytesRead
    }
    return bytes.subarray(0, length)
  } finally {
    await file.close()
  }
}

async function statOf(path: string): Promise<Stats> {
  try {
    return await stat(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') {
      // Rejects too, unless the path is a link.
      await lstat(path)
      throw withCode(DANGLING)
    }
    throw error
  }
}

function mustBeRegular(stats: Stats): void {
  if (!stats.isFile()) throw withCode(stats.isDirectory() ? 'EISDIR' : NOT_REGULAR)
}

/** Error codes of this file, in addition to the system's. */
const NOT_REGULAR = 'NOT_REGULAR'
const TIMED_OUT = 'TIMED_OUT'
const DANGLING = 'DANGLING'

function withCode(code: string): Error {
  return Object.assign(new Error('a file cannot be read'), { code })
}

export type ReadText =
  | { readonly ok: true; readonly text: string }
  /** `message` is the rest of a sentence that begins with the file's name. */
  | { readonly ok: false; readonly message: string }

/** Reads a UTF-8 file of at most 1 MB, with or without a byte order mark. */
export async function readText(
  path: string,
  readFile: ReadFile,
  limit: AbortSignal = readingLimit(),
): Promise<ReadText> {
  try {
    const bytes = await readFile(path, limit)
    if (bytes.length > LARGEST_FILE_BYTES) return { ok: false, message: 'is larger than 1 MB' }
    if (!isUtf8(bytes)) return { ok: false, message: whyNotUtf8(bytes) }
    return { ok: true, text: new TextDecoder().decode(bytes) }
  } catch (error) {
    return { ok: false, message: whyUnreadable(error) }
  }
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'does not exist'],
  ['ENOTDIR', 'does not exist: a part of its path is not a directory'],
  ['EISDIR', 'is a directory, not a file'],
  ['EACCES', 'cannot be read: permission denied'],
  ['EPERM', 'cannot be read: permission denied'],
  ['ELOOP', 'cannot be read: it is a symbolic link to itself'],
  ['ENAMETOOLONG', 'cannot be read: its name is too long'],
  ['EFBIG', 'is larger than 1 MB'],
  ['ERR_FS_FILE_TOO_LARGE', 'is larger than 1 MB'],
  [NOT_REGULAR, 'is a pipe or a device: only regular files are read'],
  [DANGLING, 'is a symbolic link to a file that does not exist'],
  [TIMED_OUT, `cannot be read: no response within ${LIMIT_MS / 1000} s`],
  ['ERR_INVALID_ARG_VALUE', 'cannot be read: its path is invalid'],
])

function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
  return REASONS.get(code) ?? `cannot be read (${code})`
}

function whyNotUtf8(bytes: Uint8Array): string {
  const [first, second] = bytes
  const wide = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  if (wide) return 'is UTF-16; save it as UTF-8'
  const lines = Buffer.from(bytes).toString('latin1').split('\n')
  const bad = lines.findIndex((line) => !isUtf8(Buffer.from(line, 'latin1')))
  return `is not UTF-8 (line ${bad + 1}); save it as UTF-8`
}
