import { readFileSync } from 'node:fs'

/** Returns the text of a file in this folder. The executable embeds these files (scripts/build-executable.ts). */
export function readPart(name: 'page.html' | 'page.css' | 'page.js'): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}
