import { Buffer, isUtf8 } from 'node:buffer'
import { type Stats, constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'

/** Reads a file's bytes until the limit aborts; rejects with a system error, whose `code` becomes the sentence. */
export type ReadFile = (path: string, limit: AbortSignal) => Promise<Uint8Array>

const LARGEST_FILE_BYTES = 1_000_000
/** A mount that hangs must not keep a reload, or a command, from ending. */
const LIMIT_MS = 10_000

/** The limit for a configuration and all files that it names, or for one that is read again. */
export function readingLimit(): AbortSignal {
  return AbortSignal.timeout(LIMIT_MS)
}

/** Files whose reading hangs, on a mount that does not answer: each holds a thread, of which Node has four. */
const hanging = new Set<string>()
const MOST_HANGING = 2

/** Reads a regular file, and at most one byte more than is allowed: it may grow without end. */
export const readSmallFile: ReadFile = (path, limit) => inTime(path, bytesOf, limit)

/** Whether something is there; true as well if the file system does not answer, which reading it tells. */
export async function mayExist(path: string): Promise<boolean> {
  try {
    await inTime(path, stat, readingLimit())
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === TIMED_OUT
  }
}

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
  // Opening a pipe waits for its writer, and opening a device may do anything.
  mustBeRegular(await stat(path))
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

function mustBeRegular(stats: Stats): void {
  if (!stats.isFile()) throw withCode(stats.isDirectory() ? 'EISDIR' : NOT_REGULAR)
}

/** Codes of our own, beside those of the system. */
const NOT_REGULAR = 'NOT_REGULAR'
const TIMED_OUT = 'TIMED_OUT'

function withCode(code: string): Error {
  return Object.assign(new Error('a file cannot be read'), { code })
}

export type ReadText =
  | { readonly ok: true; readonly text: string }
  /** The rest of a sentence that begins with the file's name. */
  | { readonly ok: false; readonly message: string }

/** The file as text: UTF-8, a byte order mark or not, of at most 1 MB. */
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
  ['ELOOP', 'cannot be read: it is a link to itself'],
  ['ENAMETOOLONG', 'cannot be read: its name is too long'],
  ['EFBIG', 'is larger than 1 MB'],
  ['ERR_FS_FILE_TOO_LARGE', 'is larger than 1 MB'],
  [NOT_REGULAR, 'is a pipe or a device: only regular files are read'],
  [TIMED_OUT, `cannot be read: no response within ${LIMIT_MS / 1000} s`],
  ['ERR_INVALID_ARG_VALUE', 'cannot be read: that is not a path'],
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
