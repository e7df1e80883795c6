import module from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * Lets Node cache the compiled sources that are imported from now on, keyed by their digest; without the cache a start
 * takes twice as long. The cache is beside the sources, because others could write to a shared folder. If it is not
 * writable, Node does without. Bun needs none. Too late for Node's type stripper (30 ms): `npm run start:node` names
 * the folder beforehand.
 */
export function keepCompiled(): void {
  if (process.versions['bun'] !== undefined) return
  module.enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/marquee', import.meta.url)))
}
