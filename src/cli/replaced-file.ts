import { open, realpath, rename, rm, stat } from 'node:fs/promises'
import { readSmallFile, readText } from '../time/read-text.ts'
import { namespaceIn } from '../config/read-configuration.ts'
import { codeOf } from '../domain/system-error.ts'

export interface ReplacedFile {
  /** The file that a link points to, or the path itself. */
  readonly path: string
  readonly mode: number
  /** The file's `idNamespace`, which all ids are derived from, as YAML. */
  readonly idNamespace: string | null
}

/** Examines the file. If it cannot be replaced, returns why, as the end of a sentence that begins with its path. */
export async function lookAtReplaced(path: string): Promise<ReplacedFile | string> {
  const found = await stat(path).catch((cause: unknown) => codeOf(cause) ?? 'unknown reason')
  if (found === 'ENOENT') return { path, mode: 0o666, idNamespace: null }
  if (typeof found === 'string') return `cannot be read (${found}) and was not changed`
  if (!found.isFile()) return 'is not a regular file and was not changed'
  const read = await readText(path, readSmallFile)
  if (!read.ok) return `${read.message} and was not changed`
  return { path: await realpath(path), mode: found.mode & 0o777, idNamespace: namespaceIn(read.text) }
}

/** Replaces the file atomically. */
export async function replaceFile({ path, mode }: ReplacedFile, text: string): Promise<void> {
  const next = `${path}.next`
  await rm(next, { force: true })
  const file = await open(next, 'wx', mode)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(next, path)
}
