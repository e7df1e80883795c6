import { describe, expect, it } from 'bun:test'
import { UNREVISED } from '../../src/domain/revision.ts'
import ICAL from 'ical.js'
import { parseDateTimeText, type DateTime } from '../../src/domain/date-time.ts'
import type { EventRecord } from '../../src/domain/event.ts'
import { openZone, showInstant } from '../../src/domain/zone.ts'
import { FeedFormatter } from '../../src/formats/feed-formatter.ts'
import { Chance } from '../model/chance.ts'
import { RandomRecords } from './random-records.ts'

const SETTINGS = {
  basePath: '/',
  namespace: 'EventsApi',
  links: { event: [], venue: [] },
  page: null,
  currency: 'GBP',
  calendarName: null,
  language: 'en-GB',
}

function formatterIn(zone?: string): FeedFormatter {
  const showIn = zone === undefined ? null : openZone(zone)
  return new FeedFormatter({ ...SETTINGS, ...(showIn === null ? {} : { zone: showIn }) })
}

/** A date as Marquee shows it in a zone. */
function shown(text: string, zone = 'Europe/Berlin'): DateTime {
  const read = parseDateTimeText(text)
  const showIn = openZone(zone)
  const date = read?.kind === 'instant' && showIn !== null ? showInstant(read.instant, showIn) : null
  if (date === null) throw new Error(`${text} is no instant`)
  return date
}

/** The dates of an event in a calendar, and in JSON-LD. */
function datesOf(start: DateTime, finish: DateTime, zone?: string): readonly unknown[] {
  const formatter = formatterIn(zone)
  const event: EventRecord = { ...new RandomRecords(new Chance(7)).event(null), Start: start, Finish: finish }
  const text = formatter.calendar(formatter.component(event, '', UNREVISED) ?? '')
  const [read] = ICAL.Component.fromString(text).getAllSubcomponents('vevent')
  const calendar = ['dtstart', 'dtend'].map((name) => {
    const value = read?.getFirstPropertyValue(name)
    return value instanceof ICAL.Time ? `${value.isDate ? 'day' : 'time'} ${value.toString()}` : null
  })
  const linked: unknown = JSON.parse(formatter.jsonLd(event, null, true))
  const members = new Map<string, unknown>(Object.entries(linked ?? {}))
  return [...calendar, members.get('startDate'), members.get('endDate')]
}

describe('an event of whole days', () => {
  it.each([
    ['2027-06-01T00:00:00+02:00', '2027-06-01T23:59:59+02:00', '2027-06-01', '2027-06-02', '2027-06-01'],
    ['2027-06-01T00:00:00+02:00', '2027-06-30T23:59:59+02:00', '2027-06-01', '2027-07-01', '2027-06-30'],
    ['2027-10-31T00:00:00+02:00', '2027-10-31T23:59:59+01:00', '2027-10-31', '2027-11-01', '2027-10-31'],
    ['2027-12-31T00:00:00+01:00', '2027-12-31T23:59:59+01:00', '2027-12-31', '2028-01-01', '2027-12-31'],
    ['2028-02-28T00:00:00+01:00', '2028-02-28T23:59:59+01:00', '2028-02-28', '2028-02-29', '2028-02-28'],
  ])('is dates in a calendar and in JSON-LD: %s to %s', (start, finish, first, after, last) => {
    expect(datesOf(shown(start), shown(finish))).toEqual([`day ${first}`, `day ${after}`, first, last])
  })

  it.each([
    ['Africa/Cairo', '2026-04-24T01:00:00+03:00', '2026-04-24T23:59:59+03:00', '2026-04-24', '2026-04-25'],
    ['Atlantic/Azores', '2026-03-29T01:00:00+00:00', '2026-03-29T23:59:59+00:00', '2026-03-29', '2026-03-30'],
    ['America/Santiago', '2026-09-06T01:00:00-03:00', '2026-09-06T23:59:59-03:00', '2026-09-06', '2026-09-07'],
  ])('begins at 01:00 where the clocks skip midnight: %s', (zone, start, finish, day, after) => {
    expect(datesOf(shown(start, zone), shown(finish, zone), zone)).toEqual([`day ${day}`, `day ${after}`, day, day])
    // On any other day 01:00 is a time.
    const [first] = datesOf(shown(start.replace(day, after), zone), shown(finish.replace(day, after), zone), zone)
    expect(first).toStartWith('time')
  })

  it('is one in the zone that Marquee shows, and in no other', () => {
    const [start, finish] = ['2027-06-01T00:00:00+02:00', '2027-06-01T23:59:59+02:00']
    expect(datesOf(shown(start, 'Europe/London'), shown(finish, 'Europe/London'))).toEqual([
      'time 2027-05-31T22:00:00Z',
      'time 2027-06-01T21:59:59Z',
      '2027-05-31T23:00:00+01:00',
      '2027-06-01T22:59:59+01:00',
    ])
  })

  it.each([
    ['2027-06-01T00:00:00+02:00', '2027-06-02T00:00:00+02:00'],
    ['2027-06-01T00:00:00.5+02:00', '2027-06-01T23:59:59+02:00'],
    ['2027-06-01T00:00:00+02:00', '2027-06-01T23:59:59.5+02:00'],
    ['2027-06-01T00:00:01+02:00', '2027-06-01T23:59:59+02:00'],
    ['9999-12-31T00:00:00+01:00', '9999-12-31T23:59:59+01:00'],
  ])('is none from %s to %s', (start, finish) => {
    const [calendar] = datesOf(shown(start), shown(finish))
    expect(calendar).toMatch(/^time /)
  })
})
