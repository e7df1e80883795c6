import { Buffer, isUtf8 } from 'node:buffer'
import { open } from 'node:fs/promises'

/** Reads a file's bytes; rejects with a system error, whose `code` becomes the sentence. */
export type ReadFile = (path: string) => Promise<Uint8Array>

const LARGEST_FILE_BYTES = 1_000_000

/** Reads at most one byte more than is allowed, since a device may have no end. */
export const readSmallFile: ReadFile = async (path) => {
  const file = await open(path, 'r')
  try {
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

export type ReadText =
  | { readonly ok: true; readonly text: string }
  /** The rest of a sentence that begins with the file's name. */
  | { readonly ok: false; readonly message: string }

/** The file as text: UTF-8, a byte order mark or not, of at most 1 MB. */
export async function readText(path: string, readFile: ReadFile): Promise<ReadText> {
  try {
    const bytes = await readFile(path)
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
