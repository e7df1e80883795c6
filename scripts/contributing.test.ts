import { describe, expect, it } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const PAGE = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')
const JOURNEYS = readFileSync(join(ROOT, 'src/README.md'), 'utf8')

/** The configuration of the linter's rule about rooms. */
interface Linter {
  readonly rules: { readonly 'rooms/through-doors': readonly [string, { readonly rooms: object }] }
}

const linter = JSON.parse(readFileSync(join(ROOT, '.oxlintrc.json'), 'utf8')) as Linter

/** The code spans of a text, in order. */
function spansIn(text: string): readonly string[] {
  return Array.from(text.matchAll(/`([^`\n]+)`/g), ([, span = '']) => span)
}

describe('CONTRIBUTING', () => {
  it('names the rooms that the linter enforces, in its order', () => {
    const rows = PAGE.slice(PAGE.indexOf('<!-- rooms -->'))
      .split('\n')
      .filter((line) => line.startsWith('| `'))
    const [, { rooms }] = linter.rules['rooms/through-doors']
    expect(rows.map((row) => spansIn(row)[0] ?? '')).toEqual(Object.keys(rooms))
  })

  it('is two screens long', () => {
    expect(PAGE.split('\n').length).toBeLessThanOrEqual(140)
  })

  it('names only files and folders that exist', () => {
    const pages = PAGE + JOURNEYS
    const named = spansIn(pages).filter((span) => /^(?:src|test|scripts|deploy|docs|sample)\/[\w./-]+$/.test(span))
    expect(named.length).toBeGreaterThan(80)
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    const tested = spansIn(pages).filter((span) => /^(?:(?:src|test|scripts)[\w/]* ?)+$/.test(span))
    expect(tested.flatMap((span) => span.split(' ')).filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })

  const journeys = JOURNEYS.slice(0, JOURNEYS.indexOf('<!-- end -->'))
    .split('<!-- journey: ')
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf(' -->')), text] as const)

  it.each(journeys)('follows the imports on the journey of %s', (_, journey) => {
    const files = [...new Set(spansIn(journey).filter((span) => /^src\/.*\.ts$/.test(span)))]
    expect(files.length).toBeGreaterThan(8)
    const reached = new Set<string>()
    const unreached = files.slice(1).filter((file, index) => {
      for (const path of importsOf(files[index] ?? '')) reached.add(path)
      return !reached.has(file)
    })
    expect(unreached).toEqual([])
  })
})

function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return Array.from(text.matchAll(/\b(?:from|import\()\s*'(\.[^']+)'/g), ([, from = '']) => join(dirname(file), from))
}
