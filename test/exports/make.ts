// Writes the exports whose bytes no editor shows as they are: ./bun test/exports/make.ts
// german: as Excel saves "CSV (Trennzeichen-getrennt)". titled: with a title above the header. workbook: an .xlsx that is called .csv.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'

const VENUE = '9f2c4e81-6b07-4d3a-8c15-a7e0d94b63f2'
const TITLES = ['Die Zauberflöte', 'Hänsel und Gretel', 'Führung „Hinter den Kulissen“', 'Neujahrskonzert']

function idOf(number: number): string {
  return `0d9b6a14-7c3e-4f58-92a1-${String(number).padStart(12, '0')}`
}

/** Bytes of Windows-1252, which has these quotes where Unicode has controls. */
function windows1252(text: string): Buffer {
  return Buffer.from(text.replaceAll('„', '\x84').replaceAll('“', '\x93'), 'latin1')
}

function write(path: string, bytes: string | Buffer): void {
  mkdirSync(join(import.meta.dirname, path, '..'), { recursive: true })
  writeFileSync(join(import.meta.dirname, path), bytes)
}

const german = ['Id;Name;VenueId;TicketCapacity;TicketsAvailable;Start;Finish;Price;Tags;ShowOnWeb']
for (let row = 0; row < 12; row++) {
  const day = `${20 + (row % 8)}.12.2026`
  const shown = row < 9 ? 'x' : row < 11 ? 'ja' : 'WAHR'
  const cells = [idOf(row), TITLES[row % 4], VENUE, row % 3 === 0 ? '1.250' : '450', row === 4 ? '1.000' : row * 7]
  german.push([...cells, `${day} 19:30`, `${day} 22:00`, `${18 + row},50`, 'Oper, Premiere', shown].join(';'))
}
german.push(';;;;;;;;;', '')
write('german/events.csv', windows1252(german.join('\r\n')))
const house = `Id;Name;AddressStreet1;AddressCity;Latitude\r\n${VENUE};Großes Haus;Königstraße 12;Würzburg;49,7913\r\n`
write('german/venues.csv', windows1252(house))

const titled = [
  'Autumn season 2026 (as of 1 September),,,,,,,,,',
  ',,,,,,,,,',
  'Id,Name ,VenueId,TicketCapacity,TicketsAvailable,Start,Finish,Price,tags,ShowOnWeb',
]
for (let row = 0; row < 6; row++) {
  const day = `10/${String(row + 3).padStart(2, '0')}/2026`
  titled.push(
    `${idOf(row)},Evening ${row},${VENUE},"1,200",${row},${day} 7:30 PM,${day} 10:00 PM,£${12 + row}.00,Talk,Yes`,
  )
}
write('titled/events.csv', [...titled, ',,,,,,,,,', ''].join('\r\n'))
write('titled/venues.csv', `Venues,,\r\nId,Name,AddressCity\r\n${VENUE},Guildhall,Ludlow\r\n`)

/** A ZIP archive whose parts are not compressed. */
function zip(parts: Readonly<Record<string, string>>): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, text] of Object.entries(parts)) {
    const body = Buffer.from(text)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt32LE(crc32(body), 10)
    common.writeUInt32LE(body.length, 14)
    common.writeUInt32LE(body.length, 18)
    common.writeUInt16LE(name.length, 22)
    const entry = Buffer.concat([
      Buffer.from('PK\x01\x02\x14\0', 'latin1'),
      common,
      Buffer.alloc(14),
      Buffer.from(name),
    ])
    entry.writeUInt32LE(offset, 42)
    directory.push(entry)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, Buffer.from(name), body])
    bodies.push(local)
    offset += local.length
  }
  const entries = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(directory.length, 8)
  end.writeUInt16LE(directory.length, 10)
  end.writeUInt32LE(entries.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, entries, end])
}

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const RELATION = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const SHEET = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
write(
  'workbook/events.csv',
  zip({
    '[Content_Types].xml': `${HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPE}.worksheet+xml"/></Types>`,
    '_rels/.rels': `${HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${RELATION}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `${HEAD}<workbook xmlns="${SHEET}" xmlns:r="${RELATION}"><sheets><sheet name="Events" sheetId="1" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `${HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${RELATION}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    'xl/worksheets/sheet1.xml': `${HEAD}<worksheet xmlns="${SHEET}"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>Id</t></is></c></row></sheetData></worksheet>`,
  }),
)
write('workbook/Venues.CSV', `Id,Name\r\n${VENUE},Guildhall\r\n`)
