// Writes the exports whose bytes no editor shows as they are: ./bun test/exports/make.ts german: as Excel saves "CSV
// (Trennzeichen-getrennt)". titled: with a title above the header. workbook: an .xlsx that is called .csv. excel: a
// workbook with a title above its header, and its venues as Excel saves a CSV. What is in libreoffice LibreOffice made
// of Spielplan.fods, which says how: so no run needs to install it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SheetCell } from '../support/workbook-file.ts'
import { serial, STYLES, workbook } from '../support/workbook-file.ts'

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

const noon = serial(0.5, 'time')
const columns = [
  'Nr',
  'Titel',
  'Ort',
  'Datum',
  'Beginn',
  'Ende',
  'Plätze',
  'Verkauft',
  'Preis',
  'Sparte',
  'Veröffentlicht',
]
/** 2036-06-21 and the days after it. */
const day = (after: number): SheetCell => serial(49_847 + after, 'date')
const evening = serial(0.8125, 'time')
const plays: readonly (readonly SheetCell[])[] = [
  [1, 'Die Zauberflöte', 'Stadthalle', day(0), evening, serial(0.9375, 'time'), 1250, 250, 25.5, 'Oper; Klassik', 'x'],
  [
    2,
    'Silvester',
    'Stadthalle',
    day(193),
    evening,
    serial(1.5 / 24, 'time'),
    1250,
    12,
    money('19.989999999999998'),
    'Gala',
    'x',
  ],
  [3, 'Lesung', 'Café', day(3), noon, null, 80, 0, null, 'Lesung', 'x'],
  [4, 'Probe', 'Café', day(4), noon, null, 80, 0, 0, 'Lesung', null],
]
write(
  'excel/Spielplan.xlsx',
  workbook([
    { name: 'Spielplan', rows: [['Spielplan 2036'], [], columns, ...plays.slice(0, 2), [], ...plays.slice(2)] },
  ]),
)
const places = ['Name;Straße;PLZ;Stadt', 'Stadthalle;Marktplatz 12;01067;Dresden', 'Café;Gasse 3;01067;Dresden', '']
write('excel/Orte.csv', windows1252(places.join('\r\n')))

const contract = 'Id,Name,VenueId,TicketCapacity,TicketsAvailable,Start,Finish,Price,Tags,ShowOnWeb'.split(',')
const talks = ['Founders’ Day', 'Café Scientifique', 'Draft'].map((title, row): readonly SheetCell[] => {
  const at = (time: number): SheetCell => serial(49_847 + row + time, 'dateTime')
  return [idOf(row), title, VENUE, 450, row * 7, at(0.8125), at(0.9375), money('18.5'), 'Talk; Members', row < 2]
})
write('workbook/events.csv', workbook([{ name: 'Events', rows: [contract, ...talks] }]))
write('workbook/Venues.CSV', `Id,Name\r\n${VENUE},Guildhall\r\n`)

/** A price by the digits that Excel stores. */
function money(digits: string): SheetCell {
  return { xml: `<c s="${STYLES.money}"><v>${digits}</v></c>` }
}
