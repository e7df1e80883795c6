import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child, programOf } from '../support/child.ts'
import { FIRST_OWN_STYLE, type SheetCell, workbook, zip } from '../support/workbook-file.ts'
import { RUNTIMES } from '../support/depth.ts'

/** The promise is 50 ms; the rest is for a machine that is slower than most. */
const LONGEST_TURN_MS = 75
/** Of which a runtime's own collector takes the larger part. */
const MOST_MB = 300
/** Processor time: each takes a second or two, and far more if it grows faster than the file. */
const MOST_WORK_MS = 6000
const SHEET = 'xl/worksheets/sheet1.xml'
const ID = '0195e4a8-0000-7000-8000-000000000001'
const HEADER = ['Id', 'Name']

function sheet(...rows: readonly (readonly SheetCell[])[]): Buffer {
  return workbook([{ name: 'x', rows: [HEADER, ...rows] }])
}

/** A sheet whose second row has this in place of its cells. */
function inRow(xml: string): Buffer {
  return sheet([{ xml: `<c><v>1</v></c>${xml}` }])
}

/** A workbook that has this for one of its parts. */
function withPart(part: string, content: string): Buffer {
  const parts = new Map([
    ['xl/workbook.xml', '<workbook><sheets><sheet name="x" id="r1"/></sheets></workbook>'],
    [
      'xl/_rels/workbook.xml.rels',
      '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>',
    ],
    [SHEET, '<worksheet><sheetData/></worksheet>'],
  ])
  return zip([...parts.set(part, content)])
}

/** Each is at most some 100 KB as a file. */
const HOSTILE: Readonly<Record<string, readonly [file: () => Buffer, problem: string]>> = {
  'open tags without end in a sheet': [
    () => inRow('<a>'.repeat(3e5)),
    `${SHEET} is not XML as Excel writes it (its elements are nested more than 32 deep)`,
  ],
  'open tags without end in the styles': [
    () => withPart('xl/styles.xml', '<a>'.repeat(3e5)),
    'xl/styles.xml is not XML as Excel writes it (its elements are nested more than 32 deep)',
  ],
  'open tags without end in the texts': [
    () => withPart('xl/sharedStrings.xml', '<a>'.repeat(3e5)),
    'xl/sharedStrings.xml is not XML as Excel writes it (its elements are nested more than 32 deep)',
  ],
  'open tags without end in the list of sheets': [
    () => withPart('xl/workbook.xml', '<a>'.repeat(3e5)),
    'xl/workbook.xml is not XML as Excel writes it (its elements are nested more than 32 deep)',
  ],
  '200,000 attributes': [
    () => inRow(`<a ${Array.from({ length: 2e5 }, (_, index) => `a${index}=""`).join(' ')}/>`),
    `${SHEET} is not XML as Excel writes it (an element has more than 256 attributes)`,
  ],
  'a cell of 1 MB': [
    () => inRow(`<c t="str"><v>${'x'.repeat(1e6)}</v></c>`),
    `${SHEET} is not XML as Excel writes it (it has more than 256 KB between two tags)`,
  ],
  'a cell of many runs': [
    () => inRow(`<c t="inlineStr"><is>${`<r><t>${'x'.repeat(2e5)}</t></r>`.repeat(60)}</is></c>`),
    `${SHEET} is not XML as Excel writes it (a cell holds more than 256 KB)`,
  ],
  'a shared text of many runs': [
    () => withPart('xl/sharedStrings.xml', `<sst><si>${`<r><t>${'x'.repeat(2e5)}</t></r>`.repeat(60)}</si></sst>`),
    'xl/sharedStrings.xml is not XML as Excel writes it (a cell holds more than 256 KB)',
  ],
  'a text between comments': [
    () => inRow(`<c t="str"><v>${`${'x'.repeat(1e5)}<!---->`.repeat(100)}</v></c>`),
    `${SHEET} is not XML as Excel writes it (it has more than 256 KB between two tags)`,
  ],
  'a name without end': [
    () => inRow(`<${'x'.repeat(1e6)}`),
    `${SHEET} is not XML as Excel writes it (it has more than 256 KB between two tags)`,
  ],
  'an attribute without end': [
    () => inRow(`<a b="${'x'.repeat(1e6)}`),
    `${SHEET} is not XML as Excel writes it (it has more than 256 KB between two tags)`,
  ],
  'a comment without end': [
    () => inRow(`<!--${'x'.repeat(1e6)}`),
    `${SHEET} is not XML as Excel writes it (it has more than 256 KB between two tags)`,
  ],
  'an entity without end': [
    () => inRow(`&${'x'.repeat(1e6)}`),
    `${SHEET} is not XML as Excel writes it (it has more than 256 KB between two tags)`,
  ],
  '300,000 cells in a row': [
    () => inRow('<c/>'.repeat(3e5)),
    `${SHEET} is not XML as Excel writes it (row 2 has more than 16,384 cells)`,
  ],
  'a cell beyond the last column': [
    () => inRow('<c r="ZZZZZZ2"><v>1</v></c>'),
    `${SHEET} is not XML as Excel writes it (row 2 has more than 16,384 cells)`,
  ],
  'a row beyond the last': [
    () => inRow('</row><row r="1e9"><c><v>1</v></c>'),
    `${SHEET} is not XML as Excel writes it (it has more than 1,048,576 rows)`,
  ],
  'rows of a text that is stored once': [
    () => large('<c><v>1</v></c><c t="s"><v>0</v></c>', 11_000),
    'its cells hold more than limits.memory allows (2 GB)',
  ],
  'a number format of 200 KB': [
    () => withPart('xl/styles.xml', styles([`"${'x'.repeat(2e5)}`], 11_000)),
    'xl/styles.xml is not XML as Excel writes it (a number format is longer than 255 characters)',
  ],
  '66,000 number formats': [
    () =>
      withPart(
        'xl/styles.xml',
        styles(
          Array.from({ length: 66_000 }, (_, index) => `"${index}"`),
          1,
        ),
      ),
    'xl/styles.xml is not XML as Excel writes it (it has more than 65,490 formats)',
  ],
  '100,000 cell formats': [
    () => withPart('xl/styles.xml', styles([], 1e5)),
    'xl/styles.xml is not XML as Excel writes it (it has more than 65,490 formats)',
  ],
  '20,000 sheets': [
    () =>
      withPart('xl/workbook.xml', `<workbook><sheets>${'<sheet name="x" id="r1"/>'.repeat(2e4)}</sheets></workbook>`),
    'xl/workbook.xml is not XML as Excel writes it (it names more than 10000 sheets)',
  ],
  '20,000 relations': [
    () =>
      withPart(
        'xl/_rels/workbook.xml.rels',
        `<Relationships>${Array.from({ length: 2e4 }, (_, index) => `<Relationship Id="${index}" Target="x"/>`).join('')}</Relationships>`,
      ),
    'xl/_rels/workbook.xml.rels is not XML as Excel writes it (it refers to more than 10000 parts)',
  ],
}

/** The second sheet has the text that the first shares. */
function large(cells: string, rows: number): Buffer {
  const text = 'x'.repeat(200_000)
  const xml = Array.from({ length: rows }, (_, index) => `<row r="${index + 2}">${cells}</row>`).join('')
  return zip([
    ['xl/workbook.xml', '<workbook><sheets><sheet name="x" id="r1"/></sheets></workbook>'],
    [
      'xl/_rels/workbook.xml.rels',
      '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>',
    ],
    ['xl/sharedStrings.xml', `<sst><si><t>${text}</t></si><si><t>Id</t></si><si><t>Name</t></si></sst>`],
    [
      SHEET,
      `<worksheet><sheetData><row r="1"><c t="s"><v>1</v></c><c t="s"><v>2</v></c></row>${xml}</sheetData></worksheet>`,
    ],
  ])
}

function styles(codes: readonly string[], used: number): string {
  const formats = codes.map(
    (code, index) => `<numFmt numFmtId="${164 + index}" formatCode="${code.replaceAll('"', '&quot;')}"/>`,
  )
  return `<styleSheet><numFmts>${formats.join('')}</numFmts><cellXfs>${'<xf numFmtId="164"/>'.repeat(used)}</cellXfs></styleSheet>`
}

/** What can be read, and must neither wait nor swell. */
const ODD: Readonly<Record<string, () => Buffer>> = {
  plain: () => sheet([ID, 'Figaro']),
  'too large rows': () => large('<c t="s"><v>0</v></c>'.repeat(16_000), 200),
  'rows of one cell in the last column': () => large('<c r="XFD1"><v>1</v></c>', 11_000),
  'a cell of many texts': () => inRow(`<c t="inlineStr">${'<is><t>x</t></is>'.repeat(2.6e5)}</c>`),
  'formats as long as they may be': () =>
    withPart(
      'xl/styles.xml',
      styles(
        Array.from({ length: 20_000 }, () => `"${'x'.repeat(200)}`),
        65_490,
      ),
    ),
  'cells of slow formats': () =>
    workbook(
      [
        {
          name: 'x',
          rows: [
            HEADER,
            ...Array.from({ length: 10_000 }, (_, row) => [
              ID,
              { xml: `<c s="${FIRST_OWN_STYLE + (row % 3000)}"><v>${row}.25</v></c>` },
            ]),
          ],
        },
      ],
      { formats: Array.from({ length: 3000 }, (_, index) => `# ${'?'.repeat(93)}/${1000 + index}`) },
    ),
  'as deep as it may be': () =>
    withPart(SHEET, `<worksheet><sheetData/>${'<a>'.repeat(31)}${'</a>'.repeat(31)}</worksheet>`),
}

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'marquee-hostile-'))
  writeFileSync(join(folder, 'venues.csv'), 'Id,Name\n')
  for (const [name, file] of Object.entries(ODD)) writeFileSync(join(folder, `${name}.xlsx`), file())
  for (const [name, [file]] of Object.entries(HOSTILE)) writeFileSync(join(folder, `${name}.xlsx`), file())
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Found {
  readonly name: string
  readonly failure: string | null
  readonly withheld: number
  readonly turnMs: number
  readonly workMs: number
  readonly grownMb: number
}

describe('a workbook made to take its reader down', () => {
  it.each(RUNTIMES)('is refused by its part, in short turns and little memory (%s)', async (runtime) => {
    const child = new Child(programOf(runtime), [join(import.meta.dirname, 'hostile-workbooks.ts'), folder])
    expect([await child.exited, child.stderr]).toEqual([0, ''])
    const lines = child.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Found)
    const found = new Map(lines.map((line) => [line.name, line]))
    for (const [name, [, problem]] of Object.entries(HOSTILE)) {
      expect([name, found.get(name)?.failure]).toEqual([name, `${name}.xlsx: ${problem}`])
    }
    const { failure, withheld } = found.get('too large rows') ?? {}
    expect([failure, withheld]).toEqual([null, 200])
    for (const { name, turnMs, workMs, grownMb } of lines) {
      console.log(
        `${runtime}: ${name}: ${workMs.toFixed()} ms, a turn of ${turnMs.toFixed()} ms, ${grownMb.toFixed()} MB`,
      )
      const isWithin = [turnMs < LONGEST_TURN_MS, workMs < MOST_WORK_MS, grownMb < MOST_MB]
      expect([name, ...isWithin]).toEqual([name, true, true, true])
    }
  })
})
