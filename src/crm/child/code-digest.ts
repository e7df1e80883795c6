import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** Returns the paths of the files that were loaded as modules. */
export type LoadedFiles = () => readonly string[]

/** The digest of the contents of all files, whatever their order. A change of any may make other records. */
export function digestOfCode(paths: readonly string[]): string {
  const sum = createHash('sha256')
  const digests = [...new Set(paths)].map((path) => createHash('sha256').update(readFileSync(path)).digest('hex'))
  for (const digest of digests.toSorted()) sum.update(digest)
  return sum.digest('hex')
}
