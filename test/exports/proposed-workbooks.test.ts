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

async function proposed(...sheets: readonly SheetSetting[]): Promise<{ readonly text: string; readonly said: string }> {
  writeFileSync(join(folder, 'Saison.xlsx'), workbook(sheets))
  writeFileSync(join(folder, 'venues.csv'), 'Id,Name\n')
  const { status, stdout, stderr } = await runCommand(['init', 'files', '--from', 'Saison.xlsx'], { cwd: folder })
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

const HEADER = ['Nr', 'Titel', 'Beginn', 'Ende', 'Plätze', 'Preis', 'Online']

function row(number: number, places: string | number, price: string | number): SheetSetting['rows'][number] {
  return [number, `T${number}`, '2036-12-11 19:30', '2036-12-11 22:00', places, price, 'x']
}

it('asks which sign is decimal where numbers of a workbook are texts', async () => {
  const { text, said } = await proposed({ name: 'Plan', rows: [HEADER, row(1, '1.000', '1.250'), row(2, 300, 12.5)] })
  expect(said).toContain("Open: decimal: is 1.250 written with a decimal comma (',') or a decimal point ('.')?")
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
  expect(text).toContain('    from: "Saison.xlsx"   # 1 rows')
  expect(text).toContain('    from: { file: "Saison.xlsx", sheet: Orte }')
  expect(text).toContain('VenueId: Ort   # holds what Name of the venues holds')
  expect(said).toContain('Missing: Saison.xlsx, sheet "Legende": was left out')
})

it('takes the first sheet that is shown, and names those that are hidden', async () => {
  const { text, said } = await proposed(
    { name: 'Alt', rows: [HEADER, row(1, 10, 1)], isHidden: true },
    { name: 'Neu', rows: [HEADER, row(2, 10, 2)] },
  )
  expect(text).toContain('    from: { file: "Saison.xlsx", sheet: Neu }')
  expect(said).toContain('Missing: Saison.xlsx: the sheet "Alt" is hidden, and was left out')
  expect(await pricesServed()).toEqual(['10 2.0'])
})
