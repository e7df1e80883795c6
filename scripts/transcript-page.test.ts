import { expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { transcriptPage } from './transcript-page.ts'

it('docs/transcript.md is what Marquee answers, on Bun and on Node alike', async () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/transcript.md'), 'utf8')
  expect(await transcriptPage()).toBe(page)
})
