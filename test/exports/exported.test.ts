import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Configuration, CrmSettings } from '../../src/config/configuration.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { type CrmRead, readCrm, idsOf } from '../../src/app/assemble.ts'
import { openFilesCrm } from '../../src/crm/files/files-crm.ts'
import { openZone } from '../../src/domain/zone.ts'
import { systemTime } from '../../src/time/time.ts'
import { markedByEditor } from '../config/editor-schema.ts'

const NAMESPACE = '6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11'
const zone = openZone('UTC')
if (zone === null) throw new Error('the runtime has no zones')
const UTC = zone
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'marquee-exported-'))
})
afterAll(() => rmSync(folder, { recursive: true }))
beforeEach(() => {
  write('Orte.csv', 'Name,Stadt\nHalle,Köln\n')
})

function write(name: string, text: string, encoding: BufferEncoding = 'utf8'): void {
  writeFileSync(join(folder, name), Buffer.from(text, encoding))
}

const EVENTS =
  'events: { from: Spielplan.csv, fields: { Id: Nr, Name: Titel, Start: Beginn, Finish: Ende }, showOnWeb: null }'
const VENUES =
  'venues: { from: Orte.csv, texts: { delimiter: ",", encoding: utf-8, headerRow: 1 }, fields: { Id: Name, Name: Name } }'

async function configured(crm: string, venues = VENUES): Promise<Configuration> {
  const text = `timeZone: Europe/Berlin\ncrm: { kind: files, directory: ., idNamespace: ${NAMESPACE}, ${crm}, ${venues} }`
  const readFile = (): Promise<Uint8Array> => Promise.reject(new Error('no file is read'))
  const loaded = await loadConfiguration({ path: join(folder, 'm.yaml'), text, env: {}, readFile })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  expect(markedByEditor(text)).toEqual([])
  return loaded.configuration
}

async function settingsOf(events: string, more: string): Promise<Extract<CrmSettings, { kind: 'files' }>> {
  const { crm } = await configured(`${more} ${events}`)
  if (crm.kind !== 'files') throw new Error('these are files')
  return crm
}

async function read(crm: string): Promise<CrmRead & { readonly idOf: (crmId: string) => string }> {
  const configuration = await configured(crm)
  const ids = idsOf(configuration.crm)
  return { ...(await readCrm(configuration)), idOf: (crmId) => ids?.(crmId)[0] ?? '' }
}

/** The event of an id as it is served, or why it is not. */
function eventIn({ lists, idOf, failures }: Awaited<ReturnType<typeof read>>, crmId: string): unknown {
  const [failure] = failures
  if (failure !== undefined) return failure.failure.message
  const { list } = lists.events
  const id = idOf(crmId)
  const found = list.get(id as never)
  if (found !== null && found !== undefined) return found
  for (const row of list.withheldRows())
    if (row.id === id) return `${row.withheld.fault} ${row.withheld.column} ${row.withheld.found}`
  return null
}

async function one(texts: string, events: string, head: string, row: string): Promise<Record<string, unknown>> {
  write('Spielplan.csv', `${head}\n${row}\n`)
  const found = eventIn(await read(`texts: { ${texts} }, ${events}`), '7')
  return typeof found === 'object' && found !== null ? { ...found } : { said: found }
}

const fields = (more: string): string =>
  `events: { from: Spielplan.csv, fields: { Id: Nr, Start: Beginn, Finish: Ende, ${more} }, showOnWeb: null }`
const DAY = '2036-06-21 19:30;2036-06-21 22:00'

describe('a file as it was exported (SURFACE: Files as they are exported)', () => {
  it.each([
    ['1.250,00', '1250.00'],
    ['1 250,5', '1250.5'],
    ['1\u00a0250', '1250'],
    ['-3,10', '-3.10'],
    ['1.234.567', '1234567'],
    [' 25,50 ', '25.50'],
    [',5', '0.5'],
    ['1,5e3', '1500'],
    ['', '0'],
  ])('reads the price %p with a decimal comma', async (written, Price) => {
    const texts = "delimiter: ';', decimal: ','"
    expect(await one(texts, fields('Price: Preis'), 'Nr;Beginn;Ende;Preis', `7;${DAY};${written}`)).toMatchObject({
      Price,
    })
  })

  it.each(['12.50', '1.25', '1.2500', '1,250.00', '1.250 000', '1 .250', '25,50 €', '1,2,3', ','])(
    'withholds the price %p with a decimal comma: thousands are grouped by threes',
    async (written) => {
      const texts = "delimiter: ';', decimal: ','"
      const found = await one(texts, fields('Price: Preis'), 'Nr;Beginn;Ende;Preis', `7;${DAY};${written}`)
      expect(found).toEqual({ said: `unreadable Preis ${JSON.stringify(written)}` })
    },
  )

  it.each([
    ['DD.MM.YYYY hh:mm', '24.12.2026 19:30', '2026-12-24T19:30:00+01:00'],
    ['D.M.YYYY h:mm', '4.7.2026 9:05', '2026-07-04T09:05:00+02:00'],
    ['D.M.YYYY h:mm', '24.12.2026 19:05', '2026-12-24T19:05:00+01:00'],
    ['MM/DD/YYYY hh:mm A', '12/24/2026 07:30 pm', '2026-12-24T19:30:00+01:00'],
    ['MM/DD/YYYY hh:mm A', '12/24/2026 12:30 AM', '2026-12-24T00:30:00+01:00'],
    ['DD/MM/YYYY hhhmm', '24/12/2026 19h30', '2026-12-24T19:30:00+01:00'],
    ['DD.MM.YYYY hh.mm Uhr', '24.12.2026 19.30 Uhr', '2026-12-24T19:30:00+01:00'],
    // Usual times after a day need no format of their own.
    ['DD.MM.YYYY hh:mm', '24.12.2026 19.30 Uhr', '2026-12-24T19:30:00+01:00'],
    ['DD.MM.YYYY', '24.12.2026 24:00', '2026-12-25T00:00:00+01:00'],
    ['DD.MM.YYYY', '24.12.2026', '2026-12-24T00:00:00+01:00'],
    ['DD.MM.YY hh:mm', '24.12.26 19:30', '2026-12-24T19:30:00+01:00'],
    ['ddd, D.M.YYYY hh:mm', 'Do., 24.12.2026 19:30', '2026-12-24T19:30:00+01:00'],
    ['D.M.YYYY hh:mm', '24. 12. 2026 19:30', '2026-12-24T19:30:00+01:00'],
    ['YYYY-MM-DDT00:00:00Z', '2026-12-24T00:00:00Z', '2026-12-24T00:00:00+01:00'],
    ['YYYYMMDDhhmmss', '20261224193059', '2026-12-24T19:30:59+01:00'],
    ['YYYYMMDDThhmmss', '20261224T193059', '2026-12-24T19:30:59+01:00'],
    ['DD-MM-YYYYThh:mm', '24-12-2026T19:30', '2026-12-24T19:30:00+01:00'],
    ['DD.MM.YYYY hh:mmUhr', '24.12.2026 19:30Uhr', '2026-12-24T19:30:00+01:00'],
    ['DD/MM/YYYY hhumm', '24/12/2026 19u30', '2026-12-24T19:30:00+01:00'],
    // Words contain letters of formats.
    ['Programm DD.MM.YYYY, Einlass hh:mm', 'Programm 24.12.2026, Einlass 19:30', '2026-12-24T19:30:00+01:00'],
    ['DD.MM.YYYY hh:mm', '2026-12-24T19:30Z', '2026-12-24T20:30:00+01:00'],
    // A time is read in any spelling, after a day of the format.
    ['DD.MM.YYYY hh:mm', '24.12.2026 19.30 Uhr', '2026-12-24T19:30:00+01:00'],
    ['DD.MM.YYYY hh:mm', '24.12.2026 24:00', '2026-12-25T00:00:00+01:00'],
    // Clocks go forward over it, and back over it (RFC 5545 §3.3.5).
    ['DD.MM.YYYY hh:mm', '29.03.2026 02:30', '2026-03-29T03:30:00+02:00'],
    ['DD.MM.YYYY hh:mm', '25.10.2026 02:30', '2026-10-25T02:30:00+02:00'],
  ])('reads by %p the date %p', async (format, written, Start) => {
    const texts = `delimiter: ';', dates: ['${format}']`
    const found = await one(
      texts,
      EVENTS.replace('Name: Titel, ', ''),
      'Nr;Beginn;Ende',
      `7;${written};2036-06-21 22:00`,
    )
    expect(found).toMatchObject({ Start })
  })

  it.each([
    ['DD.MM.YYYY hh:mm', '4.12.2026 19:30'],
    ['DD.MM.YYYY hh:mm', '24.12.26 19:30'],
    ['DD.MM.YYYY hh:mm', '24.12.2026 19'],
    ['DD.MM.YYYY hh:mm', '24.12.2026'],
    ['DD.MM.YYYY hh:mm', '31.02.2026 19:30'],
    ['DD.MM.YYYY hh:mm', '24.12.2026 24:01'],
    ['MM/DD/YYYY hh:mm A', '24/12/2026 07:30 PM'],
    ['MM/DD/YYYY hh:mm A', '12/24/2026 19:30 PM'],
  ])('withholds by %p the date %p', async (format, written) => {
    const texts = `delimiter: ';', dates: ['${format}']`
    const found = await one(
      texts,
      EVENTS.replace('Name: Titel, ', ''),
      'Nr;Beginn;Ende',
      `7;${written};2036-06-21 22:00`,
    )
    expect(found).toEqual({ said: `unreadable Beginn ${JSON.stringify(written)}` })
  })

  it.each([
    ['', 'Ende', '2026-12-25', '2026-12-25T23:59:59+01:00'],
    ['', 'Ende', '2026-10-25', '2026-10-25T23:59:59+01:00'],
    [', dates: [YYYY-MM-DD]', 'Beginn', '2026-12-24', '2026-12-24T23:59:59+01:00'],
    [", dates: ['D.M.YYYY']", 'Ende', '25. 12. 2026', '2026-12-25T23:59:59+01:00'],
    [", dates: ['DD/MM/YY']", 'Ende', '25/12/26', '2026-12-25T23:59:59+01:00'],
    [", dates: ['M/D/YYYY 12:00:00 AM']", 'Ende', '12/25/2026 12:00:00 AM', '2026-12-25T23:59:59+01:00'],
    [", dates: ['YYYY-MM-DDT00:00:00.000Z']", 'Ende', '2026-12-25T00:00:00.000Z', '2026-12-25T23:59:59+01:00'],
    ['', '{ column: Ende, wallTimeIn: America/New_York }', '2026-12-24', '2026-12-25T05:59:59+01:00'],
    ['', '{ lasting: day }', '', '2026-12-24T23:59:59+01:00'],
    ['', '{ column: Ende, whenBlank: { lasting: day } }', '', '2026-12-24T23:59:59+01:00'],
    ['', '{ column: Ende, whenBlank: 2026-12-26 }', '', '2026-12-26T23:59:59+01:00'],
    ['', 'Ende', '2026-12-25T00:00', '2026-12-25T00:00:00+01:00'],
  ])(
    'ends at the end of a Finish that is a day, and lasts the day%s: %s %s',
    async (dates, finish, written, Finish) => {
      const events = `events: { from: Spielplan.csv, fields: { Id: Nr, Start: Beginn, Finish: ${finish} }, showOnWeb: null }`
      const start = finish === 'Beginn' ? written : '2026-12-24T19:30'
      // A second row, whose Finish has a time.
      const row = `7;${start};${written}\n8;2026-12-24T19:30;2026-12-24T21:00`
      expect(await one(`delimiter: ';'${dates}`, events, 'Nr;Beginn;Ende', row)).toMatchObject({ Finish })
    },
  )

  it('needs a format for the days of a Finish beside a time, and for a Start', async () => {
    const joined =
      'events: { from: Spielplan.csv, fields: { Id: Nr, Start: Beginn, Finish: { join: [Tag, Ende] } }, showOnWeb: null }'
    const row = '7;2026-12-24T19:30;2026-12-25;'
    const head = 'Nr;Beginn;Tag;Ende'
    expect(await one("delimiter: ';'", joined, head, row)).toEqual({ said: 'unreadable Tag + Ende "2026-12-25"' })
    expect(await one("delimiter: ';', dates: [YYYY-MM-DD]", joined, head, row)).toMatchObject({
      Finish: '2026-12-25T23:59:59+01:00',
    })
    const started = await one(
      "delimiter: ';'",
      EVENTS.replace('Name: Titel, ', ''),
      'Nr;Beginn;Ende',
      '7;2026-12-24;2026-12-25',
    )
    expect(started).toEqual({ said: 'unreadable Beginn "2026-12-24"' })
  })

  it.each([
    ['24.12.2026;19:30;22:15', '2026-12-24T19:30:00+01:00', '2026-12-24T22:15:00+01:00'],
    ['24.12.2026;22:00;01:30', '2026-12-24T22:00:00+01:00', '2026-12-25T01:30:00+01:00'],
    ['24.12.2026;19:30;19:30', '2026-12-24T19:30:00+01:00', '2026-12-24T19:30:00+01:00'],
    ['24.12.2026;19:30;', '2026-12-24T19:30:00+01:00', '2026-12-24T22:00:00+01:00'],
    // The night in which clocks go forward, and the one in which they go back: so long after Start, whatever they say.
    ['28.03.2026;23:00;04:00', '2026-03-28T23:00:00+01:00', '2026-03-29T04:00:00+02:00'],
    ['29.03.2026;01:00;', '2026-03-29T01:00:00+01:00', '2026-03-29T04:30:00+02:00'],
    ['25.10.2026;01:00;', '2026-10-25T01:00:00+02:00', '2026-10-25T02:30:00+01:00'],
  ])('joins a day and times: %p', async (row, Start, Finish) => {
    const both = 'Start: { join: [Datum, Von] }, Finish: { join: [Datum, Bis], whenBlank: { lasting: 2h30m } }'
    const events = `events: { from: Spielplan.csv, fields: { Id: Nr, ${both} }, showOnWeb: null }`
    const texts = "delimiter: ';', dates: [DD.MM.YYYY hh:mm]"
    expect(await one(texts, events, 'Nr;Datum;Von;Bis', `7;${row}`)).toMatchObject({ Start, Finish })
  })

  it('joins the columns of a text, and says by which columns a date cannot be read', async () => {
    const texts = "delimiter: ';', dates: [DD.MM.YYYY hh:mm]"
    const named = await one(
      texts,
      fields('Name: { join: [Titel, Zusatz] }'),
      'Nr;Beginn;Ende;Titel;Zusatz',
      `7;${DAY};Figaro;`,
    )
    expect(named).toMatchObject({ Name: 'Figaro' })
    const events = 'events: { from: Spielplan.csv, fields: { Id: Nr, Start: { join: [Datum, Von] } }, showOnWeb: null }'
    const found = await one(texts, events, 'Nr;Datum;Von', '7;24.12.2026;abends')
    expect(found).toEqual({ said: 'unreadable Datum + Von "24.12.2026 abends"' })
  })

  it('reads what the configuration says of blank cells as the configuration writes it', async () => {
    const texts = "delimiter: ';', decimal: ','"
    const source = fields("Price: { column: Preis, whenBlank: '12.50' }, TicketCapacity: { value: '1e3' }")
    expect(await one(texts, source, 'Nr;Beginn;Ende;Preis', `7;${DAY};`)).toMatchObject({
      Price: '12.50',
      TicketCapacity: 1000,
    })
  })

  it('splits tags at what is said, and reads words for yes and no in any case', async () => {
    const texts = "delimiter: ';', tags: ['/', ','], yes: [ja, X], no: ['-']"
    const stock = fields('Tags: Sparte').replace(', showOnWeb: null', '')
    const head = 'Nr;Beginn;Ende;Sparte;ShowOnWeb;Active'
    expect(await one(texts, stock, head, `7;${DAY};Oper, Gala/ Kinder ,;x;JA`)).toMatchObject({
      Tags: ['Oper', 'Gala', 'Kinder'],
    })
    expect(await one(texts, stock, head, `7;${DAY};;JA;-`)).toEqual({ said: 'inactive Active null' })
    expect(await one(texts, stock, head, `7;${DAY};;wahr;ja`)).toEqual({ said: 'unreadable ShowOnWeb "wahr"' })
  })

  it('reads Windows-1252, and UTF-16 with its mark', async () => {
    const events = EVENTS.replace('Titel', 'Stück')
    const text = `Nr;Stück;Beginn;Ende\n7;Café €;${DAY}\n`
    const cp1252 = Buffer.from(text.replace('€', '\x80'), 'latin1')
    writeFileSync(join(folder, 'Spielplan.csv'), cp1252)
    expect(eventIn(await read(`texts: { delimiter: ';', encoding: windows-1252 }, ${events}`), '7')).toMatchObject({
      Name: 'Café €',
    })
    write('Spielplan.csv', `\ufeff${text}`, 'utf16le')
    expect(eventIn(await read(`texts: { delimiter: ';', encoding: utf-16le }, ${events}`), '7')).toMatchObject({
      Name: 'Café €',
    })
  })

  it('says near which line a byte is that the encoding does not have', async () => {
    const rows = Array.from({ length: 40_000 }, (_, index) => `${index};x;${DAY}`)
    const text = `Nr;Titel;Beginn;Ende\n${rows.join('\n')}\n`
    writeFileSync(join(folder, 'Spielplan.csv'), Buffer.from(text.replace('30000;x', '30000;\xd2'), 'latin1'))
    const { failures } = await read(`texts: { delimiter: ';', encoding: iso-8859-7 }, ${EVENTS}`)
    const said =
      /^Spielplan\.csv, line (\d+): a byte in this line or below is not iso-8859-7, as crm\.texts\.encoding says$/
    const line = Number(said.exec(failures[0]?.failure.message ?? '')?.[1])
    expect(line).toBeLessThanOrEqual(30_002)
    // It was read in the same piece of 64 KB.
    expect(line).toBeGreaterThan(27_000)
  })

  it('skips what stands above the header, blank rows and columns without a name', async () => {
    const rows = [
      'Spielplan;;;;;',
      '',
      'Nr;Titel;Beginn;Ende;;',
      ';;;;;',
      `7;Figaro;${DAY};;`,
      `8;Tosca;${DAY}`,
      ' ;"";;;;',
    ]
    write('Spielplan.csv', rows.join('\r\n'))
    const crm = await read(`texts: { delimiter: ';', headerRow: 3 }, ${EVENTS}`)
    expect(eventIn(crm, '7')).toMatchObject({ Name: 'Figaro' })
    expect(crm.lists.events.list.size).toBe(2)
    expect(eventIn(await read(`texts: { delimiter: ';', headerRow: 2 }, ${EVENTS}`), '7')).toBe(
      'Spielplan.csv, line 3: a header row is expected in row 2, as crm.texts.headerRow says',
    )
  })

  it('counts blank rows, and takes the first row with something in it for the header where nobody says which it is', async () => {
    write('Spielplan.csv', `;;;\n\nNr;Titel;Beginn;Ende\n;;;\n7;Figaro;${DAY}\n;;;\n`)
    const crm = await read(`texts: { delimiter: ';' }, ${EVENTS}`)
    expect(eventIn(crm, '7')).toMatchObject({ Name: 'Figaro' })
    const noticed = crm.observations.flatMap((seen) => (seen.kind === 'crm-noticed' ? [seen.message] : []))
    expect(noticed).toEqual(['Spielplan.csv: 3 blank rows are skipped'])
  })

  it.each([
    ["decimal: '.'", '1,250.00', '1250.00'],
    ["decimal: '.'", '1,250', '1250'],
    ["decimal: '.'", '1 250.5', '1250.5'],
    ["decimal: '.'", '1e3', '1000'],
    ["currency: ['£', GBP]", '£12.00', '12.00'],
    ["currency: ['£', GBP]", '12.00 GBP', '12.00'],
    ["decimal: ',', currency: ['€']", '1.250,50 €', '1250.50'],
  ])('reads with { %s } the price %p', async (texts, written, Price) => {
    const row = `7;${DAY};${written}`
    expect(await one(`delimiter: ';', ${texts}`, fields('Price: Preis'), 'Nr;Beginn;Ende;Preis', row)).toMatchObject({
      Price,
    })
  })

  it.each([
    ["decimal: '.'", '1,25'],
    ["decimal: '.'", '1,2500'],
    ["decimal: '.'", '1.250,00'],
    ["currency: ['£']", '€12.00'],
    ["currency: ['£']", '£'],
    ["currency: ['£']", '££12.00'],
    ['encoding: utf-8', '1,250'],
  ])('withholds with { %s } the price %p', async (texts, written) => {
    const row = `7;${DAY};${written}`
    const found = await one(`delimiter: ';', ${texts}`, fields('Price: Preis'), 'Nr;Beginn;Ende;Preis', row)
    expect(found).toEqual({ said: `unreadable Preis ${JSON.stringify(written)}` })
  })

  it('numbers columns of one name', async () => {
    const texts = "delimiter: ';'"
    const source = fields("Price: 'Preis (2)'")
    expect(await one(texts, source, 'Nr;Beginn;Ende;Preis;Preis', `7;${DAY};1;2`)).toMatchObject({ Price: '2' })
  })

  it('reads 0.125 as no number where commas are decimal: no thousand begins with 0', async () => {
    const served = await one(
      "delimiter: ';', decimal: ','",
      fields('Price: Preis'),
      'Nr;Beginn;Ende;Preis',
      `7;${DAY};0.125`,
    )
    expect(served['said']).toContain('0.125')
  })

  it('serves a long text whole, also from a column that happens to be called Links', async () => {
    const text = 'x'.repeat(40_000)
    const served = await one("delimiter: ';'", fields('Name: Links'), 'Nr;Beginn;Ende;Links', `7;${DAY};${text}`)
    expect(served).toMatchObject({ Name: text })
  })

  it('numbers forty thousand columns of one name in no more than their time', async () => {
    const source = fields("Price: 'Preis (40000)'")
    const head = `Nr;Beginn;Ende${';Preis'.repeat(40_000)}`
    expect(await one("delimiter: ';'", source, head, `7;${DAY}${';1'.repeat(39_999)};2`)).toMatchObject({ Price: '2' })
  })

  it('takes what `sep=` says, unless somebody says otherwise', async () => {
    write('Spielplan.csv', `sep=;\r\nNr;Titel;Beginn;Ende\r\n7;Figaro;${DAY}\r\n`)
    expect(eventIn(await read(EVENTS), '7')).toMatchObject({ Name: 'Figaro' })
    expect(eventIn(await read(`texts: { delimiter: tab }, ${EVENTS}`), '7')).toBe(
      "Spielplan.csv, line 2: the header row has only one name, which contains semicolons; if they separate cells, set crm.texts.delimiter: ';'",
    )
  })

  it('refuses a repeated name and `sep=` in a list without a block, also if texts are configured', async () => {
    const said = async (head: string): Promise<unknown> => {
      write('events.csv', `${head}\n7;${DAY};yes;Figaro;Figaro\n`)
      return eventIn(await read("texts: { delimiter: ';' }"), '7')
    }
    const head = 'Id;Start;Finish;ShowOnWeb;Name'
    expect(await said(`${head};Name`)).toBe('events.csv, line 1: the header names "Name" twice')
    expect(await said(`sep=;\n${head};Notes`)).toStartWith(
      'events.csv, line 1: no column has a name that Marquee knows',
    )
    expect(await said(`${head};Notes`)).toMatchObject({ Name: 'Figaro' })
  })

  it('guesses no separator', async () => {
    write('Spielplan.csv', `Nr;Titel;Beginn;Ende\n7;Figaro;${DAY}\n`)
    expect(eventIn(await read(EVENTS), '7')).toBe(
      "Spielplan.csv, line 1: the header row has only one name, which contains semicolons; if they separate cells, set crm.texts.delimiter: ';'",
    )
  })

  it('says which named column a CSV file lacks, and which is near; JSON may leave out what is blank', async () => {
    write('Spielplan.csv', `Nr,Titel,Begin,Ende\n7,Figaro,${DAY.replace(';', ',')}\n`)
    expect((await read(EVENTS)).failures[0]?.failure).toMatchObject({
      kind: 'misconfigured',
      message:
        'Spielplan.csv has no column "Beginn" (crm.events.fields.Start; did you mean "Begin"?); it has "Nr", "Titel", "Ende", "Begin"',
    })
    write('Spielplan.ndjson', '{"Nr":7,"Titel":"Figaro","Begin":"2036-06-21 19:30","Ende":null}\n')
    expect((await read(EVENTS.replace('csv', 'ndjson'))).failures).toEqual([])
  })

  it('knows a row again by numbers and names, and only where the mapping is the same', async () => {
    const row = (id: string): string =>
      `{"Titel":"Figaro","Nr":${id},"Beginn":"2036-06-21 19:30","Ende":"2036-06-21 22:00"}`
    write('Spielplan.ndjson', `${row('7')}\n${row('"Ä 8"')}\n${row('9')}\n`)
    const versions = new Map<string, number>()
    const kindsOf = async (events: string, more = ''): Promise<readonly string[]> => {
      const crm = openFilesCrm(await settingsOf(events, more), {
        showIn: UTC,
        time: systemTime,
        observe: () => {},
        limits: () => ({ requestTimeoutMs: 10_000, maxAgeMs: 30_000 }),
      })
      const held = { size: versions.size, version: (id: string) => versions.get(id) ?? Number.NaN }
      const pages = crm.events.read({ kind: 'full', cursor: null, held, signal: new AbortController().signal })
      const kinds: string[] = []
      for await (const { changes } of pages) {
        for (const change of changes) {
          kinds.push(change.kind)
          if (change.kind === 'record') versions.set(change.id, change.version)
        }
      }
      return kinds
    }
    const events = EVENTS.replace('csv', 'ndjson')
    const [fresh, known] = [Array(3).fill('record'), Array(3).fill('unchanged')]
    expect(await kindsOf(events)).toEqual(fresh)
    expect(await kindsOf(events)).toEqual(known)
    expect(await kindsOf(events.replace('Name: Titel', 'Name: { value: x }'))).toEqual(fresh)
    expect(await kindsOf(events)).toEqual(fresh)
    expect(await kindsOf(events, 'timeZone: Asia/Tokyo,')).toEqual(fresh)
    write('Spielplan.ndjson', `${row('7')}\n${row('"Ä 8"').replace('Figaro', 'Tosca')}\n${row('9')}\n`)
    await kindsOf(events)
    write('Spielplan.ndjson', `${row('7')}\n${row('"Ä 8"')}\n${row('9')}\n`)
    expect(await kindsOf(events)).toEqual(['unchanged', 'record', 'unchanged'])
  })
})
