/** Writes docs/transcript.md from the answers of real processes; with --check, fails if the file differs. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { transcriptPage } from './transcript-page.ts'

const path = join(import.meta.dirname, '../docs/transcript.md')
const page = await transcriptPage()

if (!process.argv.includes('--check')) {
  writeFileSync(path, page)
} else if (readFileSync(path, 'utf8') !== page) {
  console.error('docs/transcript.md differs from what is answered: run ./bun scripts/transcript.ts')
  process.exitCode = 1
}
