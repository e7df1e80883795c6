import { describe, expect, it } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ICAL from 'ical.js'
import type { EventRecord } from '../../src/domain/event.ts'
import { tickOfDateTime } from '../../src/domain/date-time.ts'
import type { VenueRecord } from '../../src/domain/venue.ts'
import { FeedFormatter } from '../../src/formats/feed-formatter.ts'
import { ZERO } from '../../src/domain/number.ts'
import { Chance } from '../model/chance.ts'
import { RandomRecords } from './random-records.ts'

const GOLDEN = join(import.meta.dirname, '../golden/feeds')
const RECORDS = 10_000
const formatter = new FeedFormatter({
  basePath: '/',
  namespace: 'EventsApi',
  links: { event: [], venue: [] },
  page: 'https://www.example.org/whats-on/{Id}?in={Tags}',
  currency: 'GBP',
  calendarName: "What's on",
  language: 'en-GB',
})

// The judge of calendars is ical.js, which nobody here wrote.
describe('a calendar, read by ical.js (contract §6)', () => {
  it('holds in every golden file lines of at most 75 octets, and one event for each that was asked for', () => {
    const files = readdirSync(GOLDEN).filter((file) => file.endsWith('.ics'))
    expect(files.length).toBeGreaterThanOrEqual(13)
    for (const file of files) {
      const text = readFileSync(join(GOLDEN, file), 'utf8')
      expectLines(text)
      const events = eventsIn(text)
      expect([file, events.length > 1]).toEqual([file, file === 'subscription.ics'])
      for (const event of events) {
        expect(String(event.getFirstPropertyValue('uid'))).toMatch(/^[0-9a-f-]{36}@eventsapi$/)
        expect(event.getFirstPropertyValue('dtstart')).toBeInstanceOf(ICAL.Time)
      }
    }
  })

  it('writes the town of a venue after a postal code that begins with a digit, unless a state follows', () => {
    const venue = new RandomRecords(new Chance(1)).venue()
    const placeOf = (
      AddressCity: string | null,
      AddressPostalCode: string | null,
      AddressState: string | null,
    ): string =>
      formatter.venueLines({
        ...venue,
        Name: 'Oper',
        AddressStreet1: null,
        AddressStreet2: null,
        AddressStreet3: null,
        AddressCity,
        AddressPostalCode,
        AddressState,
        AddressCountry: null,
        Latitude: ZERO,
        Longitude: ZERO,
      })
    expect(placeOf('Dresden', '01067', null)).toBe('LOCATION:Oper\\, 01067 Dresden\r\n')
    expect(placeOf('Amsterdam', ' 1012 AB ', '')).toBe('LOCATION:Oper\\, 1012 AB Amsterdam\r\n')
    expect(placeOf('London', 'SE1 9DD', null)).toBe('LOCATION:Oper\\, London\\, SE1 9DD\r\n')
    expect(placeOf('Springfield', '62704', 'IL')).toBe('LOCATION:Oper\\, Springfield\\, 62704\\, IL\r\n')
    expect(placeOf(null, '01067', null)).toBe('LOCATION:Oper\\, 01067\r\n')
  })

  it(`says of ${RECORDS} random records what they are`, () => {
    const random = new RandomRecords(new Chance(32))
    let written = 0
    for (let count = 0; count < RECORDS; count++) {
      const venue = count % 3 === 0 ? null : random.venue()
      const event = random.event(venue)
      const revision = { sinceS: 1_767_225_600 + count, sequence: count }
      const component = formatter.component(event, formatter.venueLines(venue), revision)
      if (component === null) continue
      written++
      const text = formatter.calendar(component)
      expectLines(text)
      const [read] = eventsIn(text)
      if (read === undefined) throw new Error(`no event was read in ${text}`)
      expect(readBack(read)).toEqual({ ...expected(event, venue), since: revision.sinceS, sequence: count })
    }
    expect(written).toBeGreaterThan(RECORDS * 0.99)
  })
})

function eventsIn(text: string): readonly ICAL.Component[] {
  const calendar = ICAL.Component.fromString(text)
  return calendar.getAllSubcomponents('vevent')
}

function expectLines(text: string): void {
  for (const line of text.split('\r\n')) {
    if (Buffer.byteLength(line) > 75 || /[\r\n]/.test(line)) throw new Error(`a line is not one of RFC 5545: ${line}`)
  }
}

function readBack(event: ICAL.Component): object {
  const value = (name: string): unknown => event.getFirstPropertyValue(name) ?? null
  const secondsOf = (name: string): number | null => {
    const time = value(name)
    if (!(time instanceof ICAL.Time)) return null
    expect(time.zone).toBe(ICAL.Timezone.utcTimezone)
    // Not by ical.js's own count, which takes the year 42 for 1942.
    const { year, month, day, hour, minute, second } = time
    const read = Temporal.PlainDateTime.from({ year, month, day, hour, minute, second })
    return read.toZonedDateTime('UTC').epochMilliseconds / 1000
  }
  return {
    names: event.getAllProperties().map(({ name }) => name),
    since: secondsOf('dtstamp'),
    sequence: value('sequence'),
    summary: value('summary'),
    location: value('location'),
    categories: event.getFirstProperty('categories')?.getValues() ?? null,
    geo: value('geo'),
    url: value('url'),
    start: secondsOf('dtstart'),
    end: secondsOf('dtend'),
  }
}

function expected({ Id, Name, Start, Finish, Tags }: EventRecord, venue: VenueRecord | null): object {
  const [start, finish] = [tickOfDateTime(Start), tickOfDateTime(Finish)].map(({ ms }) => Math.floor(ms / 1000))
  const tags = Tags.filter((tag) => tag !== '')
  const parts =
    venue === null
      ? []
      : [
          venue.Name,
          venue.AddressStreet1,
          venue.AddressStreet2,
          venue.AddressStreet3,
          venue.AddressCity,
          venue.AddressPostalCode,
          venue.AddressState,
          venue.AddressCountry,
        ]
  const said = parts.filter((part): part is string => part !== null && !/^[\s\u0085]*$/.test(part))
  const geo =
    venue === null || (Number(venue.Latitude) === 0 && Number(venue.Longitude) === 0)
      ? null
      : [venue.Latitude, venue.Longitude].map(Number)
  const end = (finish ?? 0) > (start ?? 0) ? finish : null
  const names = {
    uid: Id,
    dtstamp: Start,
    'last-modified': Start,
    sequence: Start,
    dtstart: Start,
    dtend: end,
    summary: Name,
    location: said.join(''),
    geo,
    categories: tags.join(''),
    url: Id,
  }
  return {
    names: Object.entries(names).flatMap(([name, value]) => (value === null || value === '' ? [] : [name])),
    summary: Name === null || Name === '' ? null : carried(Name),
    location: said.length === 0 ? null : carried(said.join(', ')),
    categories: tags.length === 0 ? null : tags.map(carried),
    geo,
    url: `https://www.example.org/whats-on/${Id}?in=${Tags.map(encoded).join(',')}`,
    start,
    end,
  }
}

/** What a calendar can carry of a text. */
function carried(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n|[\r\u0085\u2028\u2029]/g, '\n')
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd')
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
