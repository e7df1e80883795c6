import type { Expected } from '../../src/domain/withheld.ts'
import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { suspicionSaid } from '../../src/faults/fault-words.ts'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCrm, idsOf } from '../../src/app/assemble.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { EMPTY_CELL_ROWS, SHEET_ROWS } from '../support/depth.ts'
import { type SheetCell, serial, workbook, zip } from '../support/workbook-file.ts'

const SEASON = 'Saison.xlsx'
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'marquee-workbook-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const HEADER = ['Nr', 'Titel', 'Datum', 'Von', 'Bis', 'Preis', 'Plätze', 'Sparte', 'Web'] as const
const FIELDS = `{ Id: Nr, Name: Titel, Start: { join: [Datum, Von] }, Finish: { join: [Datum, Bis] }, Price: Preis, TicketCapacity: Plätze, TicketsAvailable: null, Tags: Sparte }`
/** 2036-06-21 and 19:30. */
const [DAY, TIME] = [49_847, 0.8125]
const ROW: readonly SheetCell[] = [
  7,
  'Figaro',
  serial(DAY, 'date'),
  serial(TIME, 'time'),
  serial(0.9375, 'ownTime'),
  25.5,
  250,
  'Oper;Gala',
  true,
]

interface Read {
  readonly event: unknown
  readonly said: string | undefined
  /** What should be there instead, in the first row that is withheld. */
  readonly expected: Expected | null | undefined
  readonly size: number
  /** What an operator is told though nothing is wrong. */
  readonly noticed: readonly string[]
  readonly suspicious: readonly string[]
}

async function read(
  bytes: Buffer,
  { file = SEASON, from = '', memory = '2GB', texts = '', fields = FIELDS, showOnWeb = '{ Web: [true, x] }' } = {},
  crmId = '7',
): Promise<Read> {
  writeFileSync(join(folder, file), bytes)
  const block = `{ from: ${from === '' ? file : from}, fields: ${fields}, showOnWeb: ${showOnWeb}, texts: { ${texts} } }`
  writeFileSync(join(folder, 'venues.csv'), 'Id,Name\n')
  const text = `limits: { memory: ${memory} }\ntimeZone: Europe/Berlin\ncrm: { kind: files, directory: ., idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11, events: ${block} }`
  const readFile = (): Promise<Uint8Array> => Promise.reject(new Error('no file is read'))
  const loaded = await loadConfiguration({ path: join(folder, 'm.yaml'), text, env: {}, readFile })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  const { marquee, lists, failures, observations } = await readCrm(loaded.configuration)
  const { list } = lists.events
  const id = idsOf(loaded.configuration.crm)?.(crmId)[0]
  const rows = Array.from(list.withheldRows(), ({ withheld }) => withheld)
  const withheld = rows.map(({ where, column, found }) => `${where}: ${column} ${found}`)
  return {
    event: id === undefined ? null : list.get(id),
    said: failures[0]?.failure.message ?? withheld[0],
    expected: rows[0]?.expected,
    size: list.served,
    suspicious: marquee.suspicions.events
      .list(() => true)
      .map(suspicionSaid)
      .map(({ column, what, example }) => `${column} ${what}: ${example}`),
    noticed: observations.flatMap((seen) => (seen.kind === 'crm-noticed' ? [seen.message] : [])),
  }
}

function book(...rows: readonly (readonly SheetCell[])[]): Buffer {
  return workbook([{ name: 'Spielplan', rows: [HEADER, ...rows] }])
}

describe('an Excel workbook (SURFACE: Files as they are exported)', () => {
  it.each(['chartsheet', 'dialogsheet', 'xlMacrosheet', 'xlIntlMacrosheet'])('passes over a %s', async (type) => {
    const other = { name: 'Makro', type, rows: [['=HALT()']] }
    const bytes = workbook([other, { name: 'Spielplan', rows: [HEADER, ROW] }])
    expect(await read(bytes)).toMatchObject({ size: 1, said: undefined })
  })

  it.each(['', 'worksheetX'])('takes a sheet of the type "%s" for a worksheet', async (type) => {
    const bytes = workbook([{ name: 'Spielplan', type, rows: [HEADER, ROW] }])
    expect(await read(bytes)).toMatchObject({ size: 1, said: undefined })
  })

  it.each(['xl/workbook.xml', 'xl/styles.xml', 'xl/sharedStrings.xml', 'xl/worksheets/sheet1.xml'])(
    'refuses a workbook whose part %s is not what its CRC-32 says',
    async (part) => {
      const bytes = book(ROW)
      // The name is last in the directory of the ZIP file, 46 bytes after the start of its entry.
      const at = bytes.lastIndexOf(part) - 46 + 16
      bytes.writeUInt32LE((bytes.readUInt32LE(at) ^ 1) >>> 0, at)
      const { said } = await read(bytes)
      expect(said).toBe(`${SEASON}: ${part} is damaged: its CRC-32 is wrong; save or copy the workbook again`)
    },
  )

  it('is read by its own types: dates and times, numbers to the last digit, booleans', async () => {
    const { event, size } = await read(book(ROW))
    expect(size).toBe(1)
    expect(event).toMatchObject({
      Name: 'Figaro',
      Start: '2036-06-21T19:30:00+02:00',
      Finish: '2036-06-21T22:30:00+02:00',
      Price: '25.5',
      TicketCapacity: 250,
      Tags: ['Oper', 'Gala'],
    })
  })

  it.each([
    ['19.989999999999998', '19.99'],
    ['1.0000000000000001E-2', '0.01'],
    ['0.1', '0.1'],
    ['1E3', '1000'],
    ['12345678.9', '12345678.9'],
    ['20.929999999999996', '20.93'],
    ['29.999999999999996', '30'],
    ['0.30000000000000004', '0.3'],
    ['123456789012345.67', '123456789012346'],
    ['12345678901234567', '12345678901234568'],
    ['9007199254740993', '9007199254740992'],
  ])('reads the number that Excel stores as %p as %p', async (stored, Price) => {
    const { event } = await read(book(ROW.with(5, { xml: `<c s="7"><v>${stored}</v></c>` })))
    expect(event).toMatchObject({ Price })
  })

  it.each([
    ['a date and a time in one cell', serial(DAY + TIME, 'dateTime'), null, '2036-06-21T19:30:00+02:00'],
    ['a format of somebody’s own', serial(DAY + TIME, 'ownDateTime'), null, '2036-06-21T19:30:00+02:00'],
    ['a day with an hour that is not shown', serial(DAY + TIME, 'ownDate'), null, '2036-06-21T19:30:00+02:00'],
    [
      'the midnight of a date-time beside a time',
      serial(DAY, 'dateTime'),
      serial(TIME, 'time'),
      '2036-06-21T19:30:00+02:00',
    ],
    ['a time to the nearest second', serial(DAY, 'date'), serial(0.812_499_999, 'time'), '2036-06-21T19:30:00+02:00'],
    ['a time that has a day', serial(DAY, 'date'), serial(DAY + TIME, 'time'), '2036-06-21T19:30:00+02:00'],
    ['texts', '2036-06-21', '19:30', '2036-06-21T19:30:00+02:00'],
  ] as const)('reads %s', async (_, day, time, Start) => {
    const fields = FIELDS.replace('{ join: [Datum, Bis] }', '{ lasting: 2h30m }')
    const { event } = await read(book(ROW.with(2, day).with(3, time)), { fields })
    expect(event).toMatchObject({ Start })
  })

  it.each([
    ['25:30', 25.5 / 24, '2036-06-22T01:30:00+02:00'],
    ['24:00', 1, '2036-06-22T00:00:00+02:00'],
    ['49:30', 49.5 / 24, '2036-06-23T01:30:00+02:00'],
    ['23:59:59', 0.999_988_426, '2036-06-21T23:59:59+02:00'],
  ])('takes hours past the end of the day, %s in a format of hours, for the days after', async (_, time, Start) => {
    const fields = FIELDS.replace('{ join: [Datum, Bis] }', '{ lasting: 2h30m }')
    for (const day of [serial(DAY, 'date'), '2036-06-21']) {
      const { event } = await read(book(ROW.with(2, day).with(3, serial(time, 'hours'))), { fields })
      expect(event).toMatchObject({ Start })
    }
  })

  it.each([
    ['time', 0.999_999_9],
    ['ownTime', 0.999_995],
  ] as const)(
    'takes a time that is midnight to the nearest second, in a format %p, for the next day',
    async (style, time) => {
      const fields = FIELDS.replace('{ join: [Datum, Bis] }', '{ lasting: 2h30m }')
      const { event } = await read(book(ROW.with(3, serial(time, style))), { fields })
      expect(event).toMatchObject({ Start: '2036-06-22T00:00:00+02:00' })
    },
  )

  it('takes an end past the end of its day as it is, and withholds a day that is shown as hours', async () => {
    const late = book(ROW.with(4, serial(26.5 / 24, 'hours')))
    expect((await read(late)).event).toMatchObject({ Finish: '2036-06-22T02:30:00+02:00' })
    const both = book(ROW.with(3, serial(25.5 / 24, 'hours')).with(4, serial(28 / 24, 'hours')))
    expect((await read(both)).event).toMatchObject({
      Start: '2036-06-22T01:30:00+02:00',
      Finish: '2036-06-22T04:00:00+02:00',
    })
    const { said } = await read(book(ROW.with(3, serial(DAY + 0.5, 'hours'))))
    expect(said).toBe('Saison.xlsx, row 2: Datum + Von "2036-06-21 49847.5"')
  })

  it('finds a time suspicious that the clocks skip, at the start and at the end', async () => {
    const skipped = ROW.with(2, '2036-03-30').with(3, '02:30').with(4, '02:45')
    const { event, suspicious } = await read(book(skipped))
    expect(event).toMatchObject({ Start: '2036-03-30T03:30:00+02:00', Finish: '2036-03-30T03:45:00+02:00' })
    const what =
      'is a time that does not exist, because clocks go forward then, and is read as the time after the change'
    expect(suspicious).toEqual([
      `Datum + Von ${what}: Saison.xlsx, row 2: Datum + Von is "2036-03-30 02:30"`,
      `Datum + Bis ${what}: Saison.xlsx, row 2: Datum + Bis is "2036-03-30 02:45"`,
    ])
    expect((await read(book(skipped.with(3, '01:59').with(4, '03:00')))).suspicious).toEqual([])
    expect((await read(book(skipped.with(2, '2036-10-26')))).suspicious).toEqual([])
  })

  it('withholds a day without a time, unless a format has such days', async () => {
    const rows = book(ROW.with(3, null))
    expect((await read(rows)).said).toBe('Saison.xlsx, row 2: Datum + Von "2036-06-21"')
    expect((await read(rows, { texts: 'dates: [DD.MM.YYYY]' })).event).toMatchObject({
      Start: '2036-06-21T00:00:00+02:00',
    })
  })

  it('counts days as old workbooks of the Macintosh do', async () => {
    const rows = [HEADER, ROW.with(2, serial(DAY - 1462, 'date'))]
    const { event } = await read(workbook([{ name: 'x', rows }], { is1904: true }))
    expect(event).toMatchObject({ Start: '2036-06-21T19:30:00+02:00' })
  })

  it('takes what a formula came to, and texts in the cell', async () => {
    const formula = { xml: '<c t="str"><f>A2&amp;WEBSERVICE("http://127.0.0.1:9")</f><v>Fi_x000D_garo</v></c>' }
    expect((await read(book(ROW.with(1, formula)))).event).toMatchObject({ Name: 'Fi\rgaro' })
    const inline = { xml: '<c t="inlineStr"><is><r><t>Fi</t></r><r><t>garo</t></r></is></c>' }
    expect((await read(book(ROW.with(1, inline)))).event).toMatchObject({ Name: 'Figaro' })
  })

  it('withholds a row with an error in a mapped column, and says that it is one', async () => {
    const { said, expected } = await read(book(ROW.with(5, { xml: '<c t="e"><v>#REF!</v></c>' })))
    expect(said).toBe('Saison.xlsx, row 2: Preis the error #REF!')
    expect(expected).toEqual({ kind: 'stored', instead: 'of-error' })
  })

  it.each([
    ['a formula that nobody computed', '<c><f>SUM(1)</f></c>', 'a formula without a stored value'],
    ['one with an empty value', '<c><f>SUM(1)</f><v></v></c>', 'a formula without a stored value'],
    ['one that shares another’s', '<c><f t="shared" si="0"/><v/></c>', 'a formula without a stored value'],
    ['a shared text that is not there', '<c t="s"><v>999</v></c>', 'a text that the workbook lacks'],
  ])('withholds a row with %s in a mapped column: it is neither blank nor 0', async (_, xml, found) => {
    expect((await read(book(ROW.with(5, { xml })))).said).toBe(`Saison.xlsx, row 2: Preis ${found}`)
  })

  it('takes a formula that came to an empty text as blank, and one that came to 0 as 0', async () => {
    const [empty, zero] = [{ xml: '<c t="str"><f>""</f><v></v></c>' }, { xml: '<c><f>SUM(0)</f><v>0</v></c>' }]
    expect((await read(book(ROW.with(5, empty).with(6, zero)))).event).toMatchObject({ Price: '0', TicketCapacity: 0 })
  })

  it('leaves out how a word is pronounced', async () => {
    const xml = '<c t="inlineStr"><is><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></is></c>'
    expect((await read(book(ROW.with(1, { xml })))).event).toMatchObject({ Name: '東京' })
  })

  it('shows an integer with the zeros of its format where it is a text or an id, and counts it as a number elsewhere', async () => {
    const zeros = { xml: '<c s="9"><v>7</v></c>' }
    const row = ROW.with(0, zeros)
      .with(1, zeros)
      .with(5, zeros)
      .with(6, zeros)
      .with(8, { xml: '<c s="9"><v>1</v></c>' })
    const fields = FIELDS.replace('Name: Titel', 'Name: { join: [Titel, Sparte] }')
    const { event, size } = await read(book(row), { fields, showOnWeb: '{ Web: [1] }' }, '00007')
    expect(size).toBe(1)
    expect(event).toMatchObject({ Name: '00007 Oper;Gala', Price: '7', TicketCapacity: 7 })
  })

  it.each([
    ['9', '-7', '-00007'],
    ['9', '123456', '123456'],
    ['9', '7.5', '00008'],
    ['10', '7', '00007.0'],
    ['0', '7', '7'],
  ])('shows in the format %s the number %s as %s', async (style, stored, Name) => {
    const { event } = await read(book(ROW.with(1, { xml: `<c s="${style}"><v>${stored}</v></c>` })))
    expect(event).toMatchObject({ Name })
  })

  it('reads numbers that are texts as those of a CSV: suspiciously, or by the words of the configuration', async () => {
    const rows = book(ROW.with(5, '€ 1.250,50').with(6, '1.000'))
    const said = { texts: "decimal: ',', currency: ['€']" }
    expect((await read(rows, said)).event).toMatchObject({ Price: '1250.50', TicketCapacity: 1000 })
    const { event, suspicious } = await read(book(ROW.with(6, '1.000')))
    expect(event).toMatchObject({ TicketCapacity: 1 })
    expect(suspicious).toEqual([
      'Plätze ends in .000 and is read as a decimal fraction (1.000 is 1); most likely a thousand is meant: Saison.xlsx, row 2: Plätze is "1.000"',
    ])
    expect((await read(book(ROW.with(6, 1)))).suspicious).toEqual([])
    const comma = await read(book(ROW.with(6, '1,000')), { texts: "decimal: ','" })
    expect(comma.event).toMatchObject({ TicketCapacity: 1 })
    expect(comma.suspicious).toEqual([
      'Plätze ends in ,000 and is read as a decimal fraction (1,000 is 1); most likely a thousand is meant: Saison.xlsx, row 2: Plätze is "1,000"',
    ])
    expect((await read(book(ROW.with(6, '1.000')), { texts: "decimal: ','" })).suspicious).toEqual([])
  })

  it('takes no other file for one with a short name, such as what Excel keeps beside an open one', async () => {
    writeFileSync(join(folder, '~$e.xlsx'), 'x')
    expect((await read(book(ROW), { from: 'e.xlsx' })).said).toBe(`there is no e.xlsx in ${folder}`)
    writeFileSync(join(folder, 'e.XLSX'), 'x')
    expect((await read(book(ROW), { from: 'e.xlsx' })).said).toEndWith(
      'e.XLSX has almost the right name: rename it to e.xlsx',
    )
  })

  it('reads the sheet that is named, and the first one otherwise', async () => {
    const bytes = workbook([
      { name: 'Deckblatt', rows: [['Titel']] },
      { name: 'Spielplan', rows: [['Saison 2036'], [], HEADER, [], ROW] },
    ])
    const from = (sheet: string): string => `{ file: Saison.xlsx, sheet: ${sheet} }`
    expect((await read(bytes, { from: from('Spielplan'), texts: 'headerRow: 3' })).event).toMatchObject({
      Name: 'Figaro',
    })
    expect((await read(bytes, { from: from('Spielpan') })).said).toBe(
      'Saison.xlsx has no sheet "Spielpan"; did you mean "Spielplan"?; it has "Deckblatt", "Spielplan"',
    )
    expect((await read(bytes)).said).toContain('Saison.xlsx has no column "Nr" (crm.events.fields.Id)')
  })

  it.each([
    [
      'an old workbook',
      Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      'this is an old Excel workbook (.xls), or one with a password; save it as .xlsx without a password',
    ],
    ['a text', Buffer.from('Nr;Titel\n'), 'this is text despite its name; name it .csv'],
    [
      'a web page',
      Buffer.from('\ufeff\n<!DOCTYPE html><table>'),
      'this is a web page (HTML) despite its name; open it in Excel and save it as .xlsx',
    ],
    [
      'what Excel wrote in 2003',
      Buffer.from('<?xml version="1.0"?><Workbook/>'),
      'this is XML, as Excel wrote it in 2003; open it in Excel and save it as .xlsx',
    ],
    ['an image', Buffer.from('89504e470d0a1a0a0000', 'hex'), 'this is not an Excel workbook (.xlsx) despite its name'],
    [
      'another ZIP file',
      zip([['word/document.xml', '<w/>']]),
      'this is a ZIP file, and not an Excel workbook; save a workbook of another kind as .xlsx',
    ],
  ])('says what %s is', async (_, bytes, problem) => {
    expect((await read(bytes)).said).toBe(`Saison.xlsx: ${problem}`)
  })

  it('reads one that is called .csv by its first bytes, and by the sheet that is named', async () => {
    expect((await read(book(ROW), { file: 'Saison.csv' })).event).toMatchObject({ Price: '25.5', Name: 'Figaro' })
    expect((await read(book(ROW.with(5, 'x')), { file: 'Saison.csv' })).said).toBe('Saison.csv, row 2: Preis "x"')
    const named = { file: 'Saison.csv', from: '{ file: Saison.csv, sheet: Spielplan }' }
    const bytes = workbook([
      { name: 'Deckblatt', rows: [['Titel']] },
      { name: 'Spielplan', rows: [HEADER, ROW] },
    ])
    expect((await read(bytes, named)).event).toMatchObject({ Name: 'Figaro' })
    expect((await read(Buffer.from(HEADER.join()), named)).said).toBe(
      'Saison.csv is not a workbook, and has no sheet "Spielplan"',
    )
  })

  it.each([
    ['ods', 'this is a ZIP file, and not an Excel workbook; save a workbook of another kind as .xlsx'],
    ['xls', 'this is an old Excel workbook (.xls), or one with a password; save it as .xlsx without a password'],
  ])('says of what LibreOffice saved as .%s that it is that, whatever it is called', async (ending, problem) => {
    const bytes = readFileSync(join(import.meta.dirname, `libreoffice/Spielplan.${ending}`))
    expect((await read(bytes)).said).toBe(`Saison.xlsx: ${problem}`)
  })

  it('refuses a file that is cut off wherever it is, and never ends for it', async () => {
    const bytes = book(ROW)
    for (let part = 1; part < 12; part++) {
      const { said, size } = await read(bytes.subarray(0, Math.floor((bytes.length * part) / 12)))
      expect(size).toBe(0)
      expect(said).toStartWith('Saison.xlsx')
    }
  })

  it('refuses a sheet whose XML ends before it should: rows would be lost', async () => {
    const cut = workbook([{ name: 'x', rows: [HEADER, [...ROW, { xml: '</row></sheetData><!--' }]] }])
    // The rows before it are held, and nothing is answered from a list that was never read to its end.
    const { said } = await read(cut)
    expect(said).toContain('is not XML as Excel writes it')
  })

  it('refuses a document type, and what would unpack to more than it may', async () => {
    const bomb = '<!DOCTYPE a [<!ENTITY b "bb">]><workbook/>'
    expect((await read(zip([['xl/workbook.xml', bomb]]))).said).toContain('a document type is declared')
    const large = book(
      ROW,
      Array.from({ length: 10_000 }, () => 'x'.repeat(100)),
    )
    expect((await read(large, { memory: '20KB' })).said).toContain('limits.memory')
    // It says less than it is.
    const lying = zip([['xl/workbook.xml', `<workbook>${' '.repeat(50_000_000)}</workbook>`]], 100)
    expect((await read(lying)).said).toContain('not a complete .xlsx workbook')
  })

  it('serves rows that the workbook hides, and finds them suspicious; of a row that is withheld nothing is said', async () => {
    const hidden = (row: number, cells: string): SheetCell => ({
      xml: `<c/></row><row r="${row}" hidden="1">${cells}`,
    })
    const figaro = (id: number): string =>
      `<c><v>${id}</v></c><c t="str"><v>Figaro</v></c><c s="1"><v>${DAY}</v></c><c s="2"><v>${TIME}</v></c><c s="2"><v>0.9375</v></c><c><v>5</v></c><c/><c/><c t="b"><v>1</v></c>`
    const row = [...ROW, hidden(3, figaro(8)), hidden(4, figaro(9)), hidden(5, '<c><v>6</v></c>')]
    const bytes = workbook([{ name: 'x', rows: [HEADER, row] }])
    const { size, suspicious } = await read(bytes)
    expect(size).toBe(3)
    expect(suspicious).toEqual([
      'Nr is in a row that the workbook hides, and the row is served: Saison.xlsx, row 3: Nr is hidden',
    ])
  })

  it('withholds a row of more than 256 KB, whose texts may be stored once, and serves its neighbours', async () => {
    const long = Array.from({ length: 10 }, () => 'x'.repeat(30_000))
    const bytes = book([...ROW.with(0, 6), ...long], ROW, ROW.with(1, 'x'.repeat(32_000)).with(0, 8))
    const { event, said, size } = await read(bytes)
    expect([size, said, event]).toEqual([
      2,
      'Saison.xlsx, row 2: null null',
      expect.objectContaining({ Name: 'Figaro' }),
    ])
  })

  it('refuses a header row of more than 256 KB', async () => {
    const long = Array.from({ length: 10 }, (_, index) => `${index}${'x'.repeat(30_000)}`)
    const { said } = await read(workbook([{ name: 'x', rows: [[...HEADER, ...long], ROW] }]))
    expect(said).toBe('Saison.xlsx, row 1: the header row is larger than 256 KB')
  })

  it('counts the rows between others in which nothing stands, whether they are in the file or not', async () => {
    const bytes = workbook([{ name: 'x', rows: [HEADER, [], [' '], ROW] }])
    expect((await read(bytes)).noticed).toEqual(['Saison.xlsx: 2 blank rows are skipped'])
  })

  it('reads the header that is named, of two; the first cell of merged ones; and never what is beside the sheet', async () => {
    const merged = ROW.with(1, 'Figaro').with(7, null)
    const extra: readonly (readonly [string, string])[] = [
      ['xl/vbaProject.bin', '\u0000\u0001Attribute VB_Name'],
      ['xl/externalLinks/externalLink1.xml', '<externalLink><externalBook r:id="rId1"/></externalLink>'],
    ]
    const rows = [['Saison', null, 'Zeit', null, null, 'Verkauf'], HEADER, merged]
    const bytes = workbook([{ name: 'x', rows }], { extra })
    const { event, size } = await read(bytes, { texts: 'headerRow: 2' })
    expect([size, event]).toEqual([1, expect.objectContaining({ Name: 'Figaro', Tags: [] })])
  })

  it('numbers columns of one name', async () => {
    const rows = [HEADER.with(8, 'Preis'), ROW.with(8, 12)]
    const { event } = await read(workbook([{ name: 'x', rows }]), {
      fields: FIELDS.replace('Price: Preis', "Price: 'Preis (2)'"),
      showOnWeb: 'null',
    })
    expect(event).toMatchObject({ Price: '12' })
  })

  it(`reads all rows that a sheet has: ${SHEET_ROWS}`, async () => {
    const cells = sheetRowXml(7)
    const rows = Array.from({ length: SHEET_ROWS }, (_, index) => `<row r="${index + 3}">${cells}</row>`).join('')
    const { size, said } = await read(withRows(rows), { memory: '1GB' })
    // One id in all of them: the first is served, each other is withheld, and none is lost.
    expect(size).toBe(1)
    expect(said).toStartWith('Saison.xlsx, row 4: Web')
  })

  it(`passes over ${100 * EMPTY_CELL_ROWS} empty cells and 900000 rows`, async () => {
    const empty = '<c s="1"/>'.repeat(100)
    const rows = Array.from({ length: EMPTY_CELL_ROWS }, (_, index) => `<row r="${index + 3}">${empty}</row>`).join('')
    const parts = book(ROW)
    expect((await read(parts)).size).toBe(1)
    // Far less than 200 bytes for each of them are counted.
    const { event, size } = await read(withRows(rows), { memory: `${20 * EMPTY_CELL_ROWS}KB` })
    expect([size, event]).toEqual([1, expect.objectContaining({ Name: 'Figaro' })])
  })
})

/** A row of the sheet that ROW is in, without its texts. */
function sheetRowXml(id: number): string {
  return `<c><v>${id}</v></c><c/><c s="1"><v>${DAY}</v></c><c s="2"><v>${TIME}</v></c><c s="2"><v>0.9375</v></c>`
}

/** The workbook of ROW, and further rows as they stand in a sheet. */
function withRows(rows: string): Buffer {
  return workbook([
    { name: 'x', rows: [HEADER, [...ROW, { xml: `</row>${rows}<row r="900000"><c/>`.replace('<c', '<c') }]] },
  ])
}
