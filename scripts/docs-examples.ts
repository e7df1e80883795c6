/** Runs the examples in the documentation and writes their results; with --check, fails if a page differs. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DOCS_PAGES, reproduced } from './docs-pages.ts'

for (const name of DOCS_PAGES) {
  const path = join(import.meta.dirname, '..', name)
  const page = await reproduced(name)
  if (!process.argv.includes('--check')) writeFileSync(path, page)
  else if (readFileSync(path, 'utf8') !== page) {
    console.error(`${name} differs from what is said: run ./bun scripts/docs-examples.ts`)
    process.exitCode = 1
  }
}
