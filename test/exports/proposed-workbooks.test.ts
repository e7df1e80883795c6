import { afterEach, beforeEach, expect, it } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../commands/run-command.ts'
import type { SheetSetting } from '../support/workbook-file.ts'
import { workbook } from '../support/workbook-file.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'marquee-sheets-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

interface Proposed {
  readonly text: string
  readonly said: string
}

async function proposed(...sheets: readonly SheetSetting[]): Promise<Proposed> {
  return proposedOf('Saison.xlsx', workbook(sheets))
}

async function proposedOf(file: string, bytes: Buffer): Promise<Proposed> {
  writeFileSync(join(folder, file), bytes)
  writeFileSync(join(folder, 'venues.csv'), 'Id,Name\n')
  const { status, stdout, stderr } = await runCommand(['init', 'files', '--from', file], { cwd: folder })
  expect([status, stderr]).toEqual([0, ''])
  return { text: readFileSync(join(folder, 'marquee.yaml'), 'utf8'), said: stdout }
}

async function pricesServed(): Promise<readonly string[]> {
  const { stdout } = await runCommand(['check', '--show', '9'], { cwd: folder })
  return Array.from(
    stdout.matchAll(/"TicketCapacity":(\d+),.*"Price":([\d.]+)/g),
    ([, places, price]) => `${places} ${price}`,
  )
}

const HEADER = ['Nr', 'Titel', 'Beginn', 'Ende', 'Plätze', 'Preis', 'Online', 'Frei']

function row(number: number, places: string | number, price: string | number): SheetSetting['rows'][number] {
  return [number, `T${number}`, '2036-12-11 19:30', '2036-12-11 22:00', places, price, 'x', 1]
}

it('asks which sign is decimal where numbers of a workbook are texts', async () => {
  const { text, said } = await proposed({ name: 'Plan', rows: [HEADER, row(1, '1.000', '1.250'), row(2, 300, 12.5)] })
  expect(said).toContain("decimal: Is 1.250 written with a decimal comma (',') or a decimal point ('.')?")
  writeFileSync(join(folder, 'marquee.yaml'), text.replace("decimal: '?'", "decimal: ','"))
  expect(await pricesServed()).toEqual(['1000 1250.0', '300 12.5'])
})

it('asks nothing where numbers of a workbook are numbers', async () => {
  const { text } = await proposed({ name: 'Plan', rows: [HEADER, row(1, 1000, 1.25), row(2, 300, 12.5)] })
  expect(text).not.toContain('decimal')
})

it('says how the texts of a workbook write prices', async () => {
  const { text } = await proposed({ name: 'Plan', rows: [HEADER, row(1, 10, 'EUR 12,50'), row(2, 10, 9.99)] })
  expect(text).toContain('decimal: ","   # e.g. 12,50')
  expect(text).toContain('currency: [EUR]')
  expect(await pricesServed()).toEqual(['10 12.50', '10 9.99'])
})

it('looks at every sheet: at the venues beside the events, and names what is neither', async () => {
  const { text, said } = await proposed(
    {
      name: 'Spielplan',
      rows: [
        ['Nr', 'Titel', 'Ort', 'Beginn', 'Ende'],
        [1, 'A', 'Halle', '2036-12-11 19:30', '2036-12-11 22:00'],
      ],
    },
    {
      name: 'Legende',
      rows: [
        ['Zeichen', 'Bedeutung'],
        ['x', 'im Netz'],
      ],
    },
    {
      name: 'Orte',
      rows: [
        ['Name', 'Stadt'],
        ['Halle', 'Ulm'],
      ],
    },
  )
  expect(text).toContain('    from: "Saison.xlsx"   # 1 row')
  expect(text).toContain('    from: { file: "Saison.xlsx", sheet: Orte }')
  expect(text).toContain('VenueId: Ort   # its values are in Name of the venues')
  expect(said).toContain('Saison.xlsx, sheet "Legende": not used, as it contains neither events nor venues')
})

it('takes the first sheet that is shown', async () => {
  const { text } = await proposed(
    { name: 'Alt', rows: [HEADER, row(1, 10, 1)], isHidden: true },
    { name: 'Neu', rows: [HEADER, row(2, 10, 2)] },
  )
  expect(text).toContain('    from: { file: "Saison.xlsx", sheet: Neu }')
  expect(await pricesServed()).toEqual(['10 2.0'])
})

it('proposes one that is called .csv as it is, with the sheet of the events', async () => {
  const cover = { name: 'Deckblatt', rows: [['Saison']] }
  const bytes = workbook([cover, { name: 'Plan', rows: [HEADER, row(1, 10, 12.5), row(2, 10, 9.99)] }])
  const { text } = await proposedOf('Saison.csv', bytes)
  expect(text).toContain('from: { file: "Saison.csv", sheet: Plan }   # 2 rows')
  expect(await pricesServed()).toEqual(['10 12.5', '10 9.99'])
})

it('asks how long those events last that have no end', async () => {
  const { text, said } = await proposed({
    name: 'Plan',
    rows: [HEADER, row(1, 10, 1), row(2, 10, 2).with(3, null), row(3, 10, 3), row(4, 10, 4)],
  })
  expect(said).toContain('Finish: 1 row has no end time. How long do these events last? For example 2h30m.')
  expect(text).toContain("Finish: { column: Ende, whenBlank: { lasting: '?' } }")
  writeFileSync(join(folder, 'marquee.yaml'), text.replace("'?'", '90m'))
  const { stdout } = await runCommand(['check', '--show', '9'], { cwd: folder })
  expect(stdout).toContain('"Finish":"2036-12-11T21:00:00+00:00"')
})

it('leaves the column open that has another value in each row, and check says where', async () => {
  const { text } = await proposed({ name: 'Plan', rows: [HEADER, row(1, 10, 1), row(1, 10, 2)] })
  expect(text).toContain("Id: '?'   # QUESTION: No column and no join of title and start is different in each row.")
  const { status, stderr } = await runCommand(['check'], { cwd: folder })
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(/marquee\.yaml:\d+: crm\.events\.fields\.Id is still '\?'/) as never,
  ])
})

it.each([
  ['Plan.xls', Buffer.from('Nr\tTitel\n1\tFigaro\n'), 'is text despite its name; name it .csv'],
  ['Plan.xls', Buffer.from('\ufeffNr\tTitel\n', 'utf16le'), 'is text despite its name; name it .csv'],
  [
    'Plan.xls',
    workbook([]),
    'is an Excel or OpenDocument workbook (.xlsx, .ods) despite its name; name it .xlsx, also in from of its list, or save it as CSV UTF-8, separated by commas',
  ],
  [
    'Plan.xls',
    Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    'is an old Excel workbook (.xls), or one with a password; save it as .xlsx without a password',
  ],
  [
    'Plan.csv',
    Buffer.from('<html><body>Sign in</body></html>'),
    'is a web page (HTML) despite its name; open it in Excel and save it as .xlsx',
  ],
  [
    'Plan.json',
    workbook([]),
    'is an Excel or OpenDocument workbook (.xlsx, .ods) despite its name; name it .xlsx, also in from of its list, or save it as CSV UTF-8, separated by commas',
  ],
  ['Plan.doc', Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'is not a .csv, .json, .ndjson or .xlsx file'],
])('says what %s is, and what to do', async (file, bytes, problem) => {
  writeFileSync(join(folder, file), bytes)
  const { status, stderr } = await runCommand(['init', 'files', '--from', file], { cwd: folder })
  expect([status, stderr]).toEqual([2, `${file} ${problem}\n`])
})
