import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Data {
  readonly directory: string
  readonly ids: readonly string[]
}

const WORDS = 'winter gala lecture of the harbour society with open rehearsal and reception for members friends'.split(
  ' ',
)
const TAGS = ['Dinner', 'Black Tie', 'Family', 'Café', 'Talk & Tour', 'Konzert', '音楽', 'Free']

/** Writes `count` events of about 1 kB a body and a tenth as many venues, the same ones for the same count. */
export function writeData(directory: string, count: number, format: 'ndjson' | 'json' = 'ndjson'): Data {
  const random = mulberry(count)
  const venues = Array.from({ length: Math.max(1, Math.floor(count / 10)) }, () => guid(random))
  const ids = Array.from({ length: count }, () => guid(random))
  const write = (name: string, rows: readonly string[]): void => {
    const text = format === 'json' ? `[\n${rows.join(',\n')}\n]\n` : `${rows.join('\n')}\n`
    writeFileSync(join(directory, `${name}.${format}`), text)
  }
  write(
    'venues',
    venues.map((id, index) => JSON.stringify(venueRow(id, index))),
  )
  write(
    'events',
    ids.map((id, index) => eventRow(id, venues[index % venues.length] ?? '', index, random)),
  )
  return { directory, ids }
}

/** The row of an event as text, so that its price keeps its digits. */
export function eventRow(id: string, venue: string, index: number, random: () => number): string {
  const words = Array.from({ length: 12 }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ')
  const row = {
    Id: id,
    Name: `${words} ${index}`,
    VenueId: venue,
    TicketCapacity: 250,
    TicketsAvailable: index % 250,
    Start: '2036-11-22T19:30:00+00:00',
    Finish: '2036-11-22T23:00:00+00:00',
    Price: '12.50',
    Tags: [TAGS[index % 8], TAGS[(index * 3) % 8]],
    ShowOnWeb: true,
    Links: [{ Rel: 'tickets', Href: `https://tickets.example.org/${id}`, Title: 'Book' }],
  }
  return JSON.stringify(row)
}

function venueRow(id: string, index: number): Record<string, unknown> {
  return {
    Id: id,
    Name: `Hall ${index}`,
    AddressStreet1: `${index} Harbour Street`,
    AddressCity: 'Bristol',
    Longitude: '-2.5879',
    Latitude: '51.4545',
  }
}

function guid(random: () => number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
}

/** A small seeded generator (mulberry32). */
function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
