/** Writes docs/configuration.md from the schema; with --check, fails if the file differs. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configurationPage } from './configuration-page.ts'

const path = join(import.meta.dirname, '../docs/configuration.md')
const page = configurationPage()

if (!process.argv.includes('--check')) {
  writeFileSync(path, page)
} else if (currentPage() !== page) {
  console.error('docs/configuration.md differs from the schema: run ./bun scripts/configuration-docs.ts')
  process.exitCode = 1
}

function currentPage(): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
