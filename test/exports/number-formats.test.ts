import { describe, expect, it } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FilesDirectory } from '../support/files-directory.ts'
import { RUNTIMES } from '../support/depth.ts'
import { serve } from '../support/marquee-process.ts'
import { FIRST_OWN_STYLE, workbook } from '../support/workbook-file.ts'

/** 2026-12-24, as Excel counts. */
const DAY = 46_380

/** Formats, the numbers stored, and what Excel and LibreOffice show; with a decimal comma if that differs. */
const SHOWN: readonly (readonly [format: string | number, stored: number, shown: string, withComma?: string])[] = [
  // Excel's special formats, and those that people make for codes.
  ['00000', 1067, '01067'],
  ['00\\-000', 1234, '01-234'],
  ['00000\\-0000', 12_345_678, '01234-5678'],
  ['"D-"00000', 1067, 'D-01067'],
  ['000\\ 00', 11_129, '111 29'],
  ['0000\\ "AB"', 1234, '1234 AB'],
  ['"+"0', 441_632_960_112, '+441632960112'],
  ['[<=9999999]###\\-####;\\(###\\)\\ ###\\-####', 2_125_551_234, '(212) 555-1234'],
  ['[<=9999999]###\\-####;\\(###\\)\\ ###\\-####', 5_551_234, '555-1234'],
  ['00" "00" "00" "00" "00', 123_456_789, '01 23 45 67 89'],
  ['000\\.000\\.000\\-00', 12_345_678_901, '123.456.789-01'],
  // Words beside numbers, and instead of them.
  ['"Saal "0', 3, 'Saal 3'],
  ['0" Plätze"', 250, '250 Plätze'],
  ['0.0" km"', 12.34, '12.3 km', '12,3 km'],
  ['[=0]"frei";0.00\\ "€"', 0, 'frei'],
  ['"ja";;"nein"', 1, 'ja'],
  ['0;\\-0;"kein"', 0, 'kein'],
  ['#,##0.00\\ [$€-407]', 1250.5, '1.250,50 €'],
  ['_-* #,##0.00\\ "€"_-;\\-* #,##0.00\\ "€"_-;_-* "-"??\\ "€"_-;_-@_-', 1250.5, '1,250.50 €', '1.250,50 €'],
  [9, 0.25, '25%'],
  [2, 12.5, '12.50', '12,50'],
  ['General', 12.5, '12.5'],
  [0, 7, '7'],
  [1, 7.5, '8'],
  // Dates and times.
  ['dd/mm/yyyy\\ hh:mm', DAY + 0.8125, '24/12/2026 19:30'],
  ['hh"h"mm', 0.8125, '19h30'],
  [20, 0.8125, '19:30'],
  ['[h]:mm', 1.0625, '25:30'],
  ['[$-407]dddd\\,\\ d\\.\\ mmmm\\ yyyy', DAY, 'Donnerstag, 24. Dezember 2026'],
  ['yyyy"年"m"月"d"日"', DAY, '2026年12月24日'],
  // These depend on the computer.
  [14, DAY, '2026-12-24'],
  ['d\\.\\ mmmm\\ yyyy', DAY, '2026-12-24'],
  ['[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy', DAY, '2026-12-24'],
  [31, DAY, '2026-12-24'],
  // No formats, though one is a name that objects have.
  ['constructor', 7, '7'],
  ['"', 7, '7'],
]

function idOf(index: number): string {
  return `0195e4a8-0000-7000-8000-${String(index).padStart(12, '0')}`
}

async function served(
  runtime: 'bun' | 'node',
  kind: 'events' | 'venues',
  count: number,
  bytes: Buffer,
  block: object,
  more: object = {},
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const other = kind === 'events' ? { venues: '[]' } : { events: '[]' }
  const crm = { kind: 'files', directory: './crm', [kind]: { from: 'Liste.xlsx', active: null, ...block }, ...more }
  const directory = new FilesDirectory({ timeZone: 'Asia/Tokyo', crm }, other)
  writeFileSync(join(directory.crm, 'Liste.xlsx'), bytes)
  const { child, listening } = await serve(runtime, directory.configuration)
  try {
    const found: Readonly<Record<string, unknown>>[] = []
    for (let index = 0; index < count; index++) {
      const reply = await fetch(`${listening.address}api/${kind}/${idOf(index)}`)
      const record = (await reply.json()) as Readonly<Record<string, unknown>>
      found.push(record)
    }
    return found
  } finally {
    await child.stop()
  }
}

describe('a number in a workbook (docs/files-as-exported.md)', () => {
  const rows = SHOWN.map(([, stored], index) => [
    idOf(index),
    { xml: `<c s="${FIRST_OWN_STYLE + index}"><v>${stored}</v></c>` },
  ])
  const bytes = workbook([{ name: 'x', rows: [['Nr', 'Code'], ...rows] }], { formats: SHOWN.map(([format]) => format) })
  const fields = { Id: 'Nr', Name: 'Code', AddressPostalCode: { join: ['Code', 'Code'] }, Longitude: 'Code' }

  it.each(RUNTIMES)('%s: is in text fields what the cell shows', async (runtime) => {
    const found = await served(runtime, 'venues', SHOWN.length, bytes, { fields: { ...fields, Longitude: null } })
    expect(found.map(({ Name }) => Name)).toEqual(SHOWN.map(([, , shown]) => shown))
    expect(found.map(({ AddressPostalCode }) => AddressPostalCode)).toEqual(
      SHOWN.map(([, , shown]) => `${shown} ${shown}`),
    )
    const texts = { decimal: ',' }
    const german = await served(runtime, 'venues', SHOWN.length, bytes, { fields: { Id: 'Nr', Name: 'Code' }, texts })
    expect(german.map(({ Name }) => Name)).toEqual(SHOWN.map(([, , shown, withComma = shown]) => withComma))
  })

  it('is in number fields what is stored', async () => {
    const numbers = SHOWN.slice(0, 24)
    const found = await served('bun', 'venues', numbers.length, bytes, { fields })
    expect(found.map(({ Longitude }) => Longitude)).toEqual(numbers.map(([, stored]) => stored))
  })
})

describe('dates and times with the numbers of East Asian formats', () => {
  it.each(RUNTIMES)('%s: are dates and times', async (runtime) => {
    const days = [27, 28, 29, 30, 31, 34, 35, 36, 50, 51, 54, 57, 58, 71, 81]
    const times = [32, 33, 34, 35, 55, 56, 75, 76]
    const pairs = days.map((day, index) => [day, times[index % times.length] ?? 32] as const)
    const cell = (style: number, stored: number): { readonly xml: string } => ({
      xml: `<c s="${FIRST_OWN_STYLE + style}"><v>${stored}</v></c>`,
    })
    const rows = pairs.map((_, index) => [
      idOf(index),
      cell(2 * index, DAY),
      cell(2 * index + 1, 0.8125),
      cell(2 * index, DAY + 0.9375),
    ])
    const bytes = workbook([{ name: 'x', rows: [['Nr', 'Day', 'Time', 'End'], ...rows] }], { formats: pairs.flat() })
    const fields = { Id: 'Nr', Start: { join: ['Day', 'Time'] }, Finish: 'End' }
    const found = await served(runtime, 'events', pairs.length, bytes, { fields, showOnWeb: null })
    expect(found.map(({ Start, Finish }) => [Start, Finish])).toEqual(
      pairs.map(() => ['2026-12-24T19:30:00+09:00', '2026-12-24T22:30:00+09:00']),
    )
  })
})
