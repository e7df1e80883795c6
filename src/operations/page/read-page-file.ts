import { readFileSync } from 'node:fs'

/** The text of a file beside this one. The executable has them inside instead (scripts/build-executable.ts). */
export function readPageFile(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}
