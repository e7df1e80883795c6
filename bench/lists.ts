import { closeSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Chance } from '../test/model/chance.ts'

/** Two lists as NDJSON files, and a file with the ids of the events, one per line. */
export interface Lists {
  readonly directory: string
  readonly ids: readonly string[]
  readonly lastId: string
  readonly idsFile: string
  readonly eventsFile: string
}

const WORDS = 'winter gala lecture of the harbour society with open rehearsal and reception for members friends'.split(
  ' ',
)
const TAGS = ['Dinner', 'Black Tie', 'Family', 'Café', 'Talk & Tour', 'Konzert', '音楽', 'Free']
const ROWS_A_WRITE = 1000

/** Writes `count` events with bodies of about 1 kB, and a tenth as many venues. The same count gives the same lists. */
export function writeLists(directory: string, count: number): Lists {
  const chance = new Chance(count)
  const venues = Array.from({ length: Math.max(1, Math.floor(count / 10)) }, () => guid(chance))
  const ids = Array.from({ length: count }, () => guid(chance))
  writeLines(join(directory, 'venues.ndjson'), venues, venueRow)
  const eventsFile = join(directory, 'events.ndjson')
  writeLines(eventsFile, ids, (id, index) => eventRow(id, venues[index % venues.length] ?? '', index, chance))
  const idsFile = join(directory, 'ids.txt')
  writeLines(idsFile, ids, (id) => id)
  return { directory, ids, lastId: ids.at(-1) ?? '', idsFile, eventsFile }
}

/** As `writeLists`, in CSV. The tickets are the first column, in three digits, for the writer of the list. */
export function writeCsv(directory: string, count: number): Lists {
  const lists = writeLists(directory, count)
  const columns = 'TicketsAvailable Id Name VenueId TicketCapacity Start Finish Price Tags ShowOnWeb'
  const eventsFile = toCsv(directory, 'events', columns.split(' '))
  toCsv(directory, 'venues', ['Id', 'Name', 'AddressStreet1', 'AddressCity', 'Longitude', 'Latitude'])
  return { ...lists, eventsFile }
}

function toCsv(directory: string, name: string, columns: readonly string[]): string {
  const ndjson = join(directory, `${name}.ndjson`)
  const rows = readFileSync(ndjson, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  const csv = join(directory, `${name}.csv`)
  const cell = (value: unknown): string => (Array.isArray(value) ? value.join('; ') : String(value))
  const line = (row: Readonly<Record<string, unknown>>): string => columns.map((column) => cell(row[column])).join(',')
  writeFileSync(csv, `${[columns.join(','), ...rows.map(line)].join('\n')}\n`)
  rmSync(ndjson)
  return csv
}

/** Writes in parts: a million rows exceed the longest string of some runtimes. */
function writeLines(file: string, ids: readonly string[], lineOf: (id: string, index: number) => string): void {
  const to = openSync(file, 'w')
  for (let at = 0; at < ids.length; at += ROWS_A_WRITE) {
    const lines = ids.slice(at, at + ROWS_A_WRITE).map((id, index) => `${lineOf(id, at + index)}\n`)
    writeSync(to, lines.join(''))
  }
  closeSync(to)
}

function eventRow(id: string, venue: string, index: number, chance: Chance): string {
  return JSON.stringify({
    Id: id,
    Name: `${Array.from({ length: 12 }, () => chance.pick(WORDS)).join(' ')} ${index}`,
    VenueId: venue,
    TicketCapacity: 250,
    // Always three digits, so the list writer can change it in place.
    TicketsAvailable: 100 + (index % 150),
    Start: '2036-11-22T19:30:00+00:00',
    Finish: '2036-11-22T23:00:00+00:00',
    Price: '12.50',
    Tags: [TAGS[index % 8], TAGS[(index * 3) % 8]],
    ShowOnWeb: true,
    Links: [{ Rel: 'tickets', Href: `https://tickets.example.org/${id}`, Title: 'Book' }],
  })
}

function venueRow(id: string, index: number): string {
  return JSON.stringify({
    Id: id,
    Name: `Hall ${index}`,
    AddressStreet1: `${index} Harbour Street`,
    AddressCity: 'Bristol',
    Longitude: '-2.5879',
    Latitude: '51.4545',
  })
}

function guid(chance: Chance): string {
  const hex = (): string =>
    Math.floor(chance.next() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0')
  const [first, second, third, fourth] = [hex(), hex(), hex(), hex()]
  return `${first}-${second.slice(0, 4)}-4${second.slice(5)}-a${third.slice(1, 4)}-${third.slice(4)}${fourth}`
}
