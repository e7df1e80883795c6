import { expect, it } from 'bun:test'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DOCS_PAGES, reproduced } from './docs-pages.ts'

const ROOT = join(import.meta.dirname, '..')

it.each([...DOCS_PAGES])('%s shows what happens when one does what it says', async (name) => {
  expect(await reproduced(name)).toBe(readFileSync(join(ROOT, name), 'utf8'))
})

it.each([...DOCS_PAGES])('%s links to what is there', (name) => {
  const page = readFileSync(join(ROOT, name), 'utf8')
  const links = Array.from(page.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g), ([, link = '']) => link)
  const missing = links.filter((link) => !existsSync(join(ROOT, dirname(name), link)))
  expect(missing).toEqual([])
})

it('every page names only tests that are there', () => {
  const pages = globSync('{*,docs/**/*,test/*}.md', { cwd: ROOT })
  const named = pages.flatMap(
    (page) => readFileSync(join(ROOT, page), 'utf8').match(/\b(?:test|src|scripts)\/[\w/.-]+\.test\.ts\b/g) ?? [],
  )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})
