import { Buffer } from 'node:buffer'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '../observe/system-error.ts'
import { SnapshotFault } from './snapshot-head.ts'

const OTHERS_MAY_WRITE = 0o022

/** Whether the directory is there; one that others may write is refused. */
export async function isOursAlone(directory: string): Promise<boolean> {
  try {
    refuseOthers(await stat(directory), 'its directory')
    return true
  } catch (cause) {
    if (isMissing(cause)) return false
    throw cause
  }
}

/** With what it lies in. One by one: of all at once Node 26 says ENOENT, whatever the reason. */
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

/** Windows has neither owners nor modes of this kind. */
export function refuseOthers({ uid, mode }: Stats, what: string): void {
  const user = process.getuid?.()
  if (user === undefined) return
  if (uid !== user) throw new SnapshotFault(`${what} belongs to another user (${uid}, not ${user})`)
  if ((mode & OTHERS_MAY_WRITE) !== 0) throw new SnapshotFault(`others may write ${what}: chmod go-w`)
}

/** Never a link, and a pipe that lies there is not waited for; Windows, which has no such flags, takes `undefined` for 0. */
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

export async function readExactly(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length)
  for (let done = 0; done < length;) {
    const { bytesRead } = await file.read(bytes, done, length - done, from + done)
    if (bytesRead === 0) throw new SnapshotFault('it is cut short')
    done += bytesRead
  }
  return bytes
}

export async function writeAll(file: FileHandle, bytes: Buffer, from: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await file.write(bytes, done, bytes.length - done, from + done)).bytesWritten
  }
}

/** The name lasts when its directory does; Windows cannot be asked for that. */
export async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(directory, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
