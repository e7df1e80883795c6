import { readFileSync } from 'node:fs'

/** The text of a file beside this one. The executable has them inside instead (scripts/build-executable.ts). */
export function readPart(name: 'page.html' | 'page.css' | 'page.js'): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}
