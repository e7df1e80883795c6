import { fileURLToPath } from 'node:url'

/** Returns the sample's directory. The executable contains the sample and unpacks it (scripts/build-executable.ts). */
export function sampleDirectory(): string {
  return fileURLToPath(new URL('../../sample', import.meta.url))
}
