import { describe, expect, it } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCrm } from '../../src/app/assemble.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { serve } from '../support/marquee-process.ts'
import { type SheetCell, type SheetLink, workbook } from '../support/workbook-file.ts'
import { RUNTIMES } from '../support/depth.ts'

interface Case {
  readonly what: string
  /** The cells of its venue below Name and Website. */
  readonly name?: SheetCell
  readonly shown: SheetCell
  readonly link?: Omit<SheetLink, 'place'>
  readonly website: string | null
}

function formula(text: string, value = 'Homepage', attributes = ''): SheetCell {
  return { xml: `<c t="str"><f${attributes}>${text.replaceAll('&', '&amp;')}</f><v>${value}</v></c>` }
}

const HALL = 'https://hall.example.org/?a=1&b=2'

const CASES: readonly Case[] = [
  { what: 'a hyperlink', shown: 'Homepage', link: { target: HALL }, website: HALL },
  { what: 'one with a fragment', shown: 'Plan', link: { target: HALL, location: 'top' }, website: `${HALL}#top` },
  {
    what: 'a host alone',
    shown: 'hall.example.org',
    link: { target: 'http://hall.example.org/' },
    website: 'http://hall.example.org/',
  },
  { what: 'a number', shown: 7, link: { target: HALL }, website: HALL },
  {
    what: 'an address that links elsewhere',
    shown: 'https://a.example',
    link: { target: HALL },
    website: 'https://a.example',
  },
  { what: 'a blank cell', shown: null, link: { target: HALL }, website: null },
  { what: 'a place in the workbook', shown: 'Plan', link: { target: null, location: 'Plan!A1' }, website: 'Plan' },
  { what: 'an address of mail', shown: 'Post', link: { target: 'mailto:a@example.org' }, website: 'Post' },
  { what: 'a script', shown: 'Skript', link: { target: 'javascript:alert(1)' }, website: 'Skript' },
  { what: 'another file', shown: 'Datei', link: { target: 'Plan.docx' }, website: 'Datei' },
  { what: 'no link', shown: 'Homepage', website: 'Homepage' },
  { what: 'a formula', shown: formula(`HYPERLINK("${HALL}","Homepage")`), website: HALL },
  { what: 'a formula of an address alone', shown: formula(`HYPERLINK("${HALL}")`, 'x'), website: HALL },
  { what: 'a shared formula', shown: formula(`HYPERLINK("${HALL}","x")`, 'x', ' t="shared" si="0"'), website: HALL },
  { what: 'a cell below it', shown: formula('', 'x', ' t="shared" si="0"'), website: HALL },
  { what: 'an address that is computed', shown: formula('HYPERLINK("https://a.example/"&A1,"x")', 'x'), website: 'x' },
  { what: 'another formula', shown: formula('CONCATENATE("https://a.example/","x")', 'x'), website: 'x' },
]

function idOf(index: number): string {
  return `0195e4a8-0000-7000-8000-${String(index).padStart(12, '0')}`
}

/** The first rows are the cases, and below them two whose links are marked at once, and one whose name links. */
function venues(): Buffer {
  const rows = CASES.map(({ what, shown }, index) => [idOf(index), what, shown])
  const links = CASES.flatMap(({ link }, index) => (link === undefined ? [] : [{ place: `C${index + 2}`, ...link }]))
  const next = CASES.length
  const below = [0, 1, 2].map((index) => [idOf(next + index), 'below', 'Homepage'])
  const marked = { place: `B${next + 2}:D${next + 3}`, target: HALL }
  const named = { place: `B${next + 4}`, target: 'https://name.example' }
  const all = [['Nr', 'Ort', 'Web'], ...rows, ...below]
  return workbook([{ name: 'Orte', rows: all, links: [...links, marked, named] }])
}

async function websites(runtime: 'bun' | 'node', column: string): Promise<readonly unknown[]> {
  const fields = { Id: 'Nr', Name: 'Ort', Website: column }
  const directory = new FilesDirectory(
    { crm: { kind: 'files', directory: './crm', venues: { from: 'Orte.xlsx', fields, active: null } } },
    { events: '[]' },
  )
  writeFileSync(join(directory.crm, 'Orte.xlsx'), venues())
  const { child, listening } = await serve(runtime, directory.configuration)
  try {
    const found: unknown[] = []
    for (let index = 0; index < CASES.length + 3; index++) {
      const reply = await fetch(`${listening.address}api/venues/${idOf(index)}`)
      const { Name, Website } = (await reply.json()) as { readonly Name?: unknown; readonly Website?: unknown }
      found.push([Name, Website])
    }
    return found
  } finally {
    await child.stop()
  }
}

describe('a cell of a workbook that links (docs/files-as-exported.md)', () => {
  it.each(RUNTIMES)(
    '%s: is served in Website as the web address that it links to, unless it shows one',
    async (runtime) => {
      const below = [HALL, HALL, 'Homepage'].map((website) => ['below', website])
      const expected = [...CASES.map(({ what, website }) => [what, website]), ...below]
      expect(await websites(runtime, 'Web')).toEqual(expected)
    },
  )

  it('is served as the link of its own column, and as its text where another field reads it too', async () => {
    const found = await websites('bun', 'Ort')
    expect(found.at(0)).toEqual(['a hyperlink', 'a hyperlink'])
    expect(found.slice(-3)).toEqual([
      ['below', HALL],
      ['below', HALL],
      ['below', 'https://name.example'],
    ])
  })

  it.each(RUNTIMES)('%s: gives its address to each field that is one, in its own column', async (runtime) => {
    const fields = { Id: 'Nr', Name: 'Ort', Website: 'Ort', Plan: 'Web', Shown: 'Web' }
    const directory = new FilesDirectory(
      {
        representation: { further: { venues: { Plan: 'url', Shown: 'text' } } },
        crm: { kind: 'files', directory: './crm', venues: { from: 'Orte.xlsx', fields, active: null } },
      },
      { events: '[]' },
    )
    writeFileSync(join(directory.crm, 'Orte.xlsx'), venues())
    const { child, listening } = await serve(runtime, directory.configuration)
    try {
      const found: unknown[] = []
      for (const index of [0, CASES.length, CASES.length + 2]) {
        const reply = await fetch(`${listening.address}api/venues/${idOf(index)}`)
        const { Website, Plan, Shown } = (await reply.json()) as Readonly<Record<string, unknown>>
        found.push([Website, Plan, Shown])
      }
      expect(found).toEqual([
        ['a hyperlink', HALL, 'Homepage'],
        [HALL, HALL, 'Homepage'],
        ['https://name.example', 'Homepage', 'Homepage'],
      ])
    } finally {
      await child.stop()
    }
  })

  it('keeps no more links than limits.memory allows, however many rows are marked at once', async () => {
    const directory = new FilesDirectory({}, { events: '[]' })
    const rows = [['Nr', 'Web'], ...Array.from({ length: 60 }, (_, index) => [idOf(index), 'Homepage'])]
    const read = async (last: number, target = HALL): Promise<string | undefined> => {
      const links = [{ place: `B2:B${last}`, target }]
      writeFileSync(join(directory.crm, 'Orte.xlsx'), workbook([{ name: 'Orte', rows, links }]))
      const text = `limits: { memory: 100KB }\ncrm: { kind: files, directory: crm, venues: { from: Orte.xlsx, fields: { Id: Nr, Website: Web }, active: null } }`
      const readFile = (): Promise<Uint8Array> => Promise.reject(new Error('no file is read'))
      const loaded = await loadConfiguration({ path: directory.configuration, text, env: {}, readFile })
      if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
      const { failures } = await readCrm(loaded.configuration)
      return failures[0]?.failure.message
    }
    expect(await read(100)).toBeUndefined()
    const problem = 'Orte.xlsx: its links take more than limits.memory allows (100,000 bytes)'
    expect(await read(1_048_576)).toBe(problem)
    // Stored once, and served in each row.
    const long = await read(100, `${HALL}${'x'.repeat(2000)}`)
    expect(long).toBe('Orte.xlsx: its cells hold more than limits.memory allows (100,000 bytes)')
  })
})
