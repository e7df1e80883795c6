import { expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfiguration } from '../src/config/read-configuration.ts'
import { renderProblem } from '../src/config/config-problem.ts'
import { readSmallFile } from '../src/time/read-text.ts'
import { configurationPage } from './configuration-page.ts'

const page = readFileSync(join(import.meta.dirname, '../docs/configuration.md'), 'utf8')

it('docs/configuration.md is what the schema says', () => {
  expect(page).toBe(configurationPage())
})

it('the problems it shows are what a person would see', async () => {
  const text = 'crm: { kind: files, directory: x }\nfreshness:\n  maxAeg: 3s\nlisten:\n  port: http\n'
  const loaded = await loadConfiguration({ path: 'marquee.yaml', text, env: {}, readFile: readSmallFile })
  const sentences = loaded.ok ? [] : loaded.problems.map(renderProblem)
  expect(sentences).toHaveLength(2)
  for (const sentence of sentences) expect(page).toContain(sentence)
})
