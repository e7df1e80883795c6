/** Writes docs/configuration.md and docs/marquee.schema.json from the keys; with --check, fails if a file differs. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configurationPage } from './configuration-page.ts'
import { configurationSchema } from './configuration-schema.ts'

const files = {
  'configuration.md': configurationPage(),
  'marquee.schema.json': `${JSON.stringify(configurationSchema(), null, 2)}\n`,
}

for (const [name, text] of Object.entries(files)) {
  const path = join(import.meta.dirname, '../docs', name)
  if (!process.argv.includes('--check')) {
    writeFileSync(path, text)
  } else if (currentText(path) !== text) {
    console.error(`docs/${name} differs from the keys: run ./bun scripts/configuration-docs.ts`)
    process.exitCode = 1
  }
}

function currentText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
