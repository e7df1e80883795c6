import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { type MapTree, type Tree, parseYaml } from '../../src/config/tree.ts'
import { EVENTS } from '../../src/domain/event.ts'
import { VENUES } from '../../src/domain/venue.ts'
import { lookAt } from '../../src/proposal/table.ts'
import { writeProposal } from '../../src/proposal/write-proposal.ts'

const NASTY = [
  '\n',
  '\r\n',
  '',
  '\u2028',
  '\u2029',
  '	',
  '\0',
  '\x1B[2J',
  '‮',
  '﻿',
  '\xA0',
  "'?'",
  '?',
  "'",
  '"',
  '\\',
  '# ',
  ': ',
  '- ',
  '{',
  '}',
  '[',
  ']',
  ',',
  '&a',
  '*a',
  '!!js',
  '%',
  '@',
  '`',
  '|',
  '>',
  '\ncrm: { kind: postgres }',
  '\n  cluster: { url: redis://x }',
  '\n---\n',
  '\n...\n',
  ' #',
  'env',
  'file',
  '<<',
  '~',
  'https://u:p@example.org/',
  '__proto__',
  'x'.repeat(2e3),
  '😀',
  '\ud83d',
  'null',
  'true',
  '1.5',
  'ja',
  'x',
]
const FIELDS = ['Nr', 'Id', 'Titel', 'Name', 'Ort', 'Beginn', 'Ende', 'Datum', 'Plätze', 'Frei', 'Verkauft', 'Preis']
const OTHERS = ['Sparte', 'Online', 'Storniert', 'Status', 'Aktiv', 'Straße', 'PLZ', 'Stadt']
const CELLS = ['2036-12-11 19:30', '11.12.2036', '19:30', '1.250', '12,50 €', '7', 'Oper; Klassik', 'ja', 'nein', '']

const nasty = fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: 'binary', maxLength: 12 }))
const name = fc.oneof(
  fc.constantFrom(...FIELDS, ...OTHERS),
  nasty,
  fc.tuple(fc.constantFrom(...FIELDS, ...OTHERS), nasty).map(([field, more]) => `${field} ${more}`),
)
const cell = fc.oneof(fc.constantFrom(...CELLS), nasty)
const table = fc.record({
  names: fc.uniqueArray(name, { minLength: 1, maxLength: 12 }),
  rows: fc.array(fc.array(cell, { minLength: 12, maxLength: 12 }), { minLength: 1, maxLength: 4 }),
  format: fc.constantFrom('csv', 'json', 'ndjson'),
  own: fc.oneof(fc.constant(''), fc.constantFrom("sep='\n", 'sep="\n', 'sep=;\n')),
})
type Drawn = typeof table extends fc.Arbitrary<infer Item> ? Item : never

const LIST_KEYS = ['from', 'texts', 'fields', 'showOnWeb', 'active']
const TEXT_KEYS = ['delimiter', 'encoding', 'decimal', 'currency', 'headerRow', 'dates', 'tags']
const FIELD_KEYS = new Set([...EVENTS.fields, ...VENUES.fields].map((field) => field.name as string))

function written({ names, rows, format, own }: Drawn): string {
  if (format === 'csv') {
    const line = (cells: readonly string[]): string =>
      `${cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(',')}\n`
    return own + [names, ...rows].map((cells) => line(names.map((_, index) => cells[index] ?? ''))).join('')
  }
  const objects = rows.map((cells) =>
    JSON.stringify(Object.fromEntries(names.map((key, at) => [key, cells[at] ?? '']))),
  )
  return format === 'json' ? `[${objects.join(',')}]` : objects.join('\n')
}

function inside(tree: MapTree, key: string): MapTree {
  const found: Tree | undefined = tree.entries.get(key)
  return found?.kind === 'map' ? found : { kind: 'map', line: 0, entries: new Map() }
}

describe('what init writes of files (SURFACE: init)', () => {
  it('has the keys that init meant and no other, whatever names, cells and sheets hold', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'marquee-yaml-'))
    try {
      await fc.assert(
        fc.asyncProperty(table, table, nasty, async (events, venues, sheet) => {
          const files = [events, venues].map((drawn, index) => ({
            path: join(folder, `${index}.${drawn.format}`),
            drawn,
          }))
          for (const { path, drawn } of files) writeFileSync(path, written(drawn))
          const looked = await Promise.all(files.map(({ path }) => lookAt(path)))
          const tables = looked.flatMap((found) => (typeof found === 'string' ? [] : found))
          if (tables.length === 0) return
          const titled = tables.map((one) => ({ ...one, title: `${one.title}, ${sheet}` }))
          const { text } = writeProposal(titled, { cwd: folder, idNamespace: null })
          const said: string[] = []
          const tree = parseYaml(`crm:\n${text}`, (line, message) => void said.push(`${line}: ${message}`))
          expect([said, tree === null]).toEqual([[], false])
          if (tree === null) return
          expect(['crm', 'crm,representation']).toContain([...tree.entries.keys()].join())
          const crm = inside(tree, 'crm')
          const known = ['kind', 'directory', 'idNamespace', 'events', 'venues']
          expect([...crm.entries.keys()].filter((key) => !known.includes(key))).toEqual([])
          for (const list of ['events', 'venues']) {
            const block = inside(crm, list)
            expect([...block.entries.keys()].filter((key) => !LIST_KEYS.includes(key))).toEqual([])
            expect([...inside(block, 'texts').entries.keys()].filter((key) => !TEXT_KEYS.includes(key))).toEqual([])
            expect(
              [...inside(block, 'fields').entries.keys()].filter((key) => !FIELD_KEYS.has(key) && key !== 'Status'),
            ).toEqual([])
          }
          const readFile = (): Promise<Uint8Array> => Promise.reject(new Error('nothing is read'))
          const path = join(folder, 'marquee.yaml')
          const loaded = await loadConfiguration({ path, text: `crm:\n${text}`, env: {}, readFile })
          const problems = loaded.ok ? [] : loaded.problems.filter(({ message }) => !message.includes("is still '?'"))
          expect(problems).toEqual([])
        }),
        { numRuns: 80 },
      )
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
