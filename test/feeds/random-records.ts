import type { EventRecord } from '../../src/domain/event.ts'
import { EMPTY_GUID, parseGuid } from '../../src/domain/guid.ts'
import { parseDecimal, ZERO } from '../../src/domain/number.ts'
import { openZone, showInstant } from '../../src/domain/zone.ts'
import type { VenueRecord } from '../../src/domain/venue.ts'
import type { Chance } from '../model/chance.ts'

const ZONES = ['UTC', 'Europe/London', 'America/St_Johns', 'Pacific/Apia', 'Asia/Kathmandu'].map((name) => {
  const zone = openZone(name)
  if (zone === null) throw new Error(`${name} is not a zone`)
  return zone
})
const PIECES = [
  'Dinner',
  ' ',
  'é',
  '音楽',
  '🎭',
  ',',
  ';',
  '\\',
  '\n',
  '\r\n',
  '\r',
  '\u0085',
  '\u2028',
  '\t',
  '\u0000',
  '\u007f',
  '\u009f',
  '"',
  '<',
  '&',
  '</script>',
  ':',
  "'",
  '\ud800',
  '\udc00',
  '\ufffe',
  '\u00ad',
  '^n',
  '\\n',
  'a'.repeat(70),
  'ß'.repeat(40),
] as const
// Year 1 and year 9999, some days inside, so that every zone can show them.
const FIRST_SECOND = -62_135_500_000
const LAST_SECOND = 253_402_200_000

/** Records of any content that can be served. */
export class RandomRecords {
  readonly #chance: Chance

  constructor(chance: Chance) {
    this.#chance = chance
  }

  event(venue: VenueRecord | null): EventRecord {
    const zone = this.#one(ZONES)
    const start = this.#chance.next() < 0.1 ? this.#second(FIRST_SECOND, LAST_SECOND) : this.#second(0, 4e9)
    const lasts = this.#one([0, 0, 1, 5400, 86_400, -3600])
    const ticks = this.#one([0, 0, 1, 9_999_999])
    const shown = (seconds: number, fraction: number): EventRecord['Start'] => {
      const text = showInstant({ epochSeconds: Math.min(seconds, LAST_SECOND), ticks: fraction }, zone)
      if (text === null) throw new Error('beyond the years that are shown')
      return text
    }
    return {
      Id: this.#guid(),
      Name: this.#text(),
      VenueId: venue?.Id ?? EMPTY_GUID,
      TicketCapacity: this.#one([0, 1, 250]),
      TicketsAvailable: this.#one([0, -1, 42]),
      Start: shown(start, ticks),
      Finish: shown(start + lasts, this.#one([0, ticks])),
      Price:
        parseDecimal(
          this.#one([
            '0',
            '0.00',
            '12.50',
            '10',
            '-1.5',
            '1234567890123456789012345678',
            '0.0000000000000000000000000001',
          ]),
        ) ?? ZERO,
      Tags: Array.from({ length: this.#one([0, 1, 3]) }, () => this.#tag()),
      Links: [],
    }
  }

  venue(): VenueRecord {
    const [Latitude, Longitude] = this.#one([
      ['0', '0'],
      ['51.5051', '-0.0972'],
      ['0.0', '12'],
    ] as const)
    return {
      Id: this.#guid(),
      Name: this.#text(),
      AddressStreet1: this.#text(),
      AddressStreet2: this.#text(),
      AddressStreet3: this.#text(),
      AddressCity: this.#text(),
      AddressPostalCode: this.#text(),
      AddressState: this.#text(),
      AddressCountry: this.#text(),
      Longitude: parseDecimal(Longitude) ?? ZERO,
      Latitude: parseDecimal(Latitude) ?? ZERO,
      Telephone: this.#text(),
      Description: this.#text(),
      Website: this.#one([null, 'https://example.org/?a=1&b=2', 'www.example.org', 'javascript:alert(1)', '~/here']),
      Links: [],
    }
  }

  #text(): string | null {
    if (this.#chance.next() < 0.2) return null
    return Array.from({ length: this.#one([0, 1, 2, 5, 20]) }, () => this.#one(PIECES)).join('')
  }

  /** ical.js takes a comma after an escaped backslash for an escaped one, so no tag ends in a backslash. */
  #tag(): string {
    return (this.#text() ?? '').replace(/\\$/, '/')
  }

  #one<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.#chance.next() * items.length)]
    if (item === undefined) throw new Error('there is nothing to choose from')
    return item
  }

  #second(from: number, until: number): number {
    return Math.floor(from + this.#chance.next() * (until - from))
  }

  #guid(): EventRecord['Id'] {
    const digits = Array.from({ length: 32 }, () => Math.floor(this.#chance.next() * 16).toString(16)).join('')
    return parseGuid(digits) ?? EMPTY_GUID
  }
}
