import type { Buffer } from 'node:buffer'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '../domain/system-error.ts'
import { SnapshotFault } from './snapshot-lines.ts'

const OTHERS_MAY_WRITE = 0o022

/** Throws if other users may write to the directory. Returns false if the directory does not exist. */
export async function refuseSharedDirectory(directory: string): Promise<boolean> {
  try {
    refuseOthers(await stat(directory), 'its directory')
    return true
  } catch (cause) {
    if (isMissing(cause)) return false
    throw cause
  }
}

/**
 * Creates the directory and its parents. One by one, because Node 26 reports every failure of a recursive mkdir as
 * ENOENT.
 */
export async function makeDirectory(path: string): Promise<void> {
  const made = (): Promise<void> => mkdir(path, { mode: 0o700 })
  try {
    await made().catch(async (cause: unknown) => {
      if (codeOf(cause) !== 'ENOENT') throw cause
      await makeDirectory(dirname(path))
      await made()
    })
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw cause
  }
}

function isMissing(cause: unknown): boolean {
  const code = codeOf(cause)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/**
 * Throws if another user owns the file or may write to it. Not checked on Windows, which has no such owners and modes.
 */
export function refuseOthers({ uid, mode }: Stats, what: string): void {
  const user = process.getuid?.()
  if (user === undefined) return
  if (uid !== user) throw new SnapshotFault(`${what} belongs to another user (${uid}, not ${user})`)
  if ((mode & OTHERS_MAY_WRITE) !== 0) throw new SnapshotFault(`others may write ${what}: chmod go-w`)
}

/**
 * Opens a file; `null` if there is none. Does not follow links, and does not wait for the writer of a pipe. Windows
 * lacks these flags and treats `undefined` as 0.
 */
export async function openIfThere(path: string): Promise<FileHandle | null> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  try {
    return await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (cause) {
    if (isMissing(cause)) return null
    if (codeOf(cause) === 'ELOOP') throw new SnapshotFault('it is a symbolic link', { cause })
    throw cause
  }
}

export async function writeAll(file: FileHandle, bytes: Buffer, from: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await file.write(bytes, done, bytes.length - done, from + done)).bytesWritten
  }
}

/** Writes the directory to disk, so that a new name in it survives a crash. Windows does not support this. */
export async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(directory, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
