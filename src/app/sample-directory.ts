import { fileURLToPath } from 'node:url'

/** Where the sample CRM is. The executable has it inside, and unpacks it (scripts/build-executable.ts). */
export function sampleDirectory(): string {
  return fileURLToPath(new URL('../../sample', import.meta.url))
}
