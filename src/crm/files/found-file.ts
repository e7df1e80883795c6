import { type BigIntStats, closeSync, constants, fstat, openSync, read } from 'node:fs'
import { readdir, readlink, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { printable } from '../../domain/printable.ts'
import { codeOf } from '../../domain/system-error.ts'
import { type Failure, failureOf } from '../../sync/port.ts'
import type { Descriptors } from '../kit/crm-limits.ts'
import { type FileFormat, EMPTY_LISTS } from './content.ts'

export interface FoundFile {
  readonly name: string
  readonly path: string
  readonly format: FileFormat
  readonly fingerprint: string
  readonly inode: string
  readonly sizeBytes: number
  /** When the file's data, name or attributes last changed, in wall-clock ms (ctime). */
  readonly updatedAtMs: number
  /** When its bytes were last written, in wall-clock ms (mtime). Copying a file may preserve it. */
  readonly writtenAtMs: number
}

/** Why there is no readable file; has an `inode` if the file is empty. */
export type NotFound = Failure & { readonly inode?: string }

export type Candidate = Pick<FoundFile, 'name' | 'format'>

/** Searches for a list's file without opening anything: opening a pipe or device could block forever. */
export async function findFile(directory: string, candidates: readonly Candidate[]): Promise<FoundFile | NotFound> {
  const stats = await Promise.all(candidates.map(({ name }) => statOf(resolve(directory, name))))
  const present = candidates.flatMap((candidate, index) => {
    const found = stats[index]
    return found === undefined || found === 'ENOENT' || found === 'ENOTDIR' ? [] : [{ ...candidate, found }]
  })
  const [first, second] = present
  if (first === undefined) return missing(directory, candidates)
  if (second !== undefined && typeof first.found === 'string' && present.every(({ found }) => found === first.found)) {
    // The error is the directory's: it applies to every name, whether the file exists or not.
    return failureOf('unreachable', `${directory} cannot be searched: ${reasonOf(first.found)}`)
  }
  if (second !== undefined) {
    const names = present.map(({ name }) => name).join(' and ')
    return failureOf('unreachable', `${directory} holds ${names}, but only one of them can be the list`)
  }
  const { name, format, found } = first
  if (typeof found === 'string') return failureOf('unreachable', `${name} cannot be read: ${reasonOf(found)}`)
  if (!found.isFile()) return failureOf('unreachable', `${name} is not a file that can be read`)
  if (found.size === 0n) {
    const failure = failureOf('broken', `${name} has zero bytes; an empty list is ${EMPTY_LISTS[format]}`)
    return { ...failure, inode: inodeOf(found) }
  }
  return foundAs({ name, path: resolve(directory, name), format }, found)
}

export function foundAs(named: Pick<FoundFile, 'name' | 'path' | 'format'>, stats: BigIntStats): FoundFile {
  return {
    ...named,
    fingerprint: fingerprintOf(named.name, stats),
    inode: inodeOf(stats),
    sizeBytes: Number(stats.size),
    updatedAtMs: Number(stats.ctimeNs / 1_000_000n),
    writtenAtMs: Number(stats.mtimeNs / 1_000_000n),
  }
}

function inodeOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}

/** Identifies a file's state: it changes if another file takes its name, or if its bytes change. */
export function fingerprintOf(name: string, { dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${name}:${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`
}

export function errorCode(cause: unknown): string | null {
  const code = codeOf(cause)
  return code !== null && /^E[A-Z0-9]+$/.test(code) ? code : null
}

function reasonOf(code: string): string {
  return code === 'EACCES' || code === 'EPERM' ? `permission is denied (${code})` : `the file system says ${code}`
}

/** Explains why a file cannot be opened or read. Throws an error that is not the system's. */
export function unreadable(name: string, cause: unknown): Failure {
  const code = errorCode(cause)
  if (code === null) throw new Error(`${name} cannot be read`, { cause })
  return failureOf('unreachable', `${name} cannot be read: ${reasonOf(code)}`)
}

async function statOf(path: string): Promise<BigIntStats | string> {
  try {
    return await stat(path, { bigint: true })
  } catch (cause) {
    const code = errorCode(cause)
    if (code === null) throw new Error('a file cannot be looked for', { cause })
    return code
  }
}

async function missing(directory: string, candidates: readonly Candidate[]): Promise<Failure> {
  const found = await statOf(directory)
  if (found === 'ENOENT' || found === 'ENOTDIR') {
    return failureOf('unreachable', (await danglingLink(directory)) ?? `there is no directory ${directory}`)
  }
  if (typeof found === 'string') return failureOf('unreachable', `${directory} cannot be read: ${reasonOf(found)}`)
  if (!found.isDirectory()) return failureOf('unreachable', `${directory} is not a directory`)
  const names = candidates.map(({ name }) => name)
  for (const name of names) {
    const link = await danglingLink(resolve(directory, name))
    if (link !== null) return failureOf('unreachable', link)
  }
  const all = names.length === 1 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
  const near = await hintFor(directory, candidates)
  const hint = near === null ? '' : `; ${near}`
  return failureOf('unreachable', `there is no ${all} in ${directory}${hint}`)
}

/** Describes a symbolic link whose target does not exist; `null` for anything else. */
async function danglingLink(path: string): Promise<string | null> {
  // readlink fails for anything that is not a link, or does not exist.
  const target = await readlink(path).catch(() => null)
  return target === null ? null : `${path} is a link to ${printable(target, 200)}, which does not exist`
}

/** Suggests what to do with a similarly named file or a workbook; `null` if there is none. */
async function hintFor(directory: string, candidates: readonly Candidate[]): Promise<string | null> {
  const [first] = candidates
  if (first === undefined) return null
  // If the directory cannot be listed, there is no hint to give.
  const names = await readdir(directory).catch(() => [])
  const stem = first.name.slice(0, first.name.lastIndexOf('.'))
  // Short names need an exact match: `~$e.xlsx` is not `e.xlsx`.
  const begin = (stem.length > 3 ? stem.slice(0, -1) : `${stem}.`).toLowerCase()
  const near = names
    .toSorted((left, right) => (left < right ? -1 : 1))
    .find((name) => name.toLowerCase().startsWith(begin))
  if (near === undefined || /\.xlsx$/i.test(near)) {
    // Workbooks are only found if the configuration names them.
    const isWorkbookFound = candidates.length === 1 || candidates.some(({ format }) => format === 'xlsx')
    if (!isWorkbookFound) return `a workbook (.xlsx) is only read if crm.${stem}.from names it`
  }
  if (near === undefined) return null
  const shown = printable(near, 80)
  const meant = candidates.find(({ format }) => new RegExp(`\\.${format}(?:\\.txt)?$`, 'i').test(near))
  if (meant !== undefined) return `${shown} has almost the right name: rename it to ${meant.name}`
  return /\.gz$/i.test(near)
    ? `${shown} is compressed: unpack it`
    : `${shown} has almost the right name, but another ending`
}

const readAt = promisify(read)
const statOpen = promisify(fstat)

export type OpenFile = ReturnType<typeof openFile>

/** Opens a file. Synchronous, since the file was just examined and opening it is fast. Throws a system error. */
export function openFile(path: string, descriptors: Descriptors) {
  // O_NONBLOCK: if a pipe has replaced the file meanwhile, opening it must not wait for a writer. Windows has no such flag.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)
  const descriptor = descriptors.take(() => openSync(path, flags))
  return {
    read: (buffer: Buffer, offset: number, length: number, position: number) =>
      readAt(descriptor, buffer, offset, length, position),
    stat: () => statOpen(descriptor, { bigint: true }),
    close: () => descriptors.giveBack(() => closeSync(descriptor)),
  }
}
