import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { clockText, parseDateTimeText } from './date-time.ts'

/** Returns the instant or the wall seconds of a text, and the ticks; `null` if the text is refused. */
function read(text: string): readonly [kind: string, seconds: number, ticks: number] | null {
  const parsed = parseDateTimeText(text)
  if (parsed === null) return null
  return parsed.kind === 'instant'
    ? ['instant', parsed.instant.epochSeconds, parsed.instant.ticks]
    : ['wall', parsed.wall.seconds, parsed.wall.ticks]
}

const SECONDS = Date.UTC(2026, 6, 12, 19, 30) / 1000

describe('parseDateTimeText', () => {
  it.each([
    ['2026-07-12T19:30:00Z', SECONDS, 0],
    ['2026-07-12T19:30Z', SECONDS, 0],
    ['2026-07-12 19:30Z', SECONDS, 0],
    [' \t2026-07-12T19:30:00Z\r\n', SECONDS, 0],
    ['2026-07-12T19:30:00+00:00', SECONDS, 0],
    ['2026-07-12T19:30:00-00:00', SECONDS, 0],
    ['2026-07-12T20:30:00+01:00', SECONDS, 0],
    ['2026-07-12T20:30:00+0100', SECONDS, 0],
    ['2026-07-12T20:30:00+01', SECONDS, 0],
    ['2026-07-12T14:00:00-05:30', SECONDS, 0],
    ['2026-07-13T13:30:00+18:00', SECONDS, 0],
    ['2026-07-12T19:30:00.5Z', SECONDS, 5_000_000],
    ['2026-07-12T19:30:00,5Z', SECONDS, 5_000_000],
    ['2026-07-12T19:30:00.1234567Z', SECONDS, 1_234_567],
    ['2026-07-12T19:30:00.12345678999Z', SECONDS, 1_234_567],
    ['2026-07-12T19:30:00.00000009Z', SECONDS, 0],
    [`2026-07-12T19:30:00.${'9'.repeat(100)}Z`, SECONDS, 9_999_999],
    ['1969-12-31T23:59:59.9Z', -1, 9_000_000],
    ['0001-01-01T00:00:00Z', -62_135_596_800, 0],
    ['9999-12-31T23:59:59.9999999Z', 253_402_300_799, 9_999_999],
    ['2016-02-29T23:59:59Z', Date.UTC(2016, 1, 29, 23, 59, 59) / 1000, 0],
  ])('reads the instant %s', (text, seconds, ticks) => expect(read(text)).toEqual(['instant', seconds, ticks]))

  it.each([
    ['2026-07-12T19:30:00', SECONDS, 0],
    ['2026-07-12 19:30:00.25', SECONDS, 2_500_000],
    ['2026-07-12T19:30', SECONDS, 0],
    [' 2026-07-12 19:30 ', SECONDS, 0],
  ])('reads the wall time %j', (text, seconds, ticks) => expect(read(text)).toEqual(['wall', seconds, ticks]))

  it.each([
    ['2026-07-12', 'a date alone'],
    ['2026-07-12Z', 'a date alone'],
    ['2026-W28-7T19:30:00Z', 'a week date'],
    ['2026-193T19:30:00Z', 'an ordinal date'],
    ['20260712T193000Z', 'the basic format'],
    ['2026-07-12T1930Z', 'the basic format'],
    ['2026-07-12T193000Z', 'the basic format'],
    ['2026-07-12T19Z', 'no minutes'],
    ['2026-07-12T23:59:60Z', 'a leap second'],
    ['2026-07-12T24:00:00Z', 'hour 24'],
    ['2026-07-12T19:60:00Z', 'minute 60'],
    ['0000-01-01T00:00:00Z', 'the year 0'],
    ['12026-07-12T19:30:00Z', 'a year of five digits'],
    ['+002026-07-12T19:30:00Z', 'a year of six digits'],
    ['-2026-07-12T19:30:00Z', 'a year before the common era'],
    ['26-07-12T19:30:00Z', 'a year of two digits'],
    ['2026-02-30T19:30:00Z', 'a day February lacks'],
    ['2026-02-29T19:30:00Z', 'a day this February lacks'],
    ['1900-02-29T19:30:00Z', 'a day that February lacked'],
    ['2026-04-31T19:30:00Z', 'a day April lacks'],
    ['2026-00-12T19:30:00Z', 'month 0'],
    ['2026-13-12T19:30:00Z', 'month 13'],
    ['2026-07-00T19:30:00Z', 'day 0'],
    ['2026-7-12T19:30:00Z', 'a month of one digit'],
    ['2026-07-12t19:30:00Z', 'a small t'],
    ['2026-07-12T19:30:00z', 'a small z'],
    ['2026-07-12  19:30:00Z', 'two spaces'],
    ['2026-07-12\t19:30:00Z', 'a tab between'],
    ['2026-07-12T19:30:00 Z', 'a space before the offset'],
    ['2026-07-12T19:30:00 +01:00', 'a space before the offset'],
    ['2026-07-12T19:30:00.Z', 'a point and no fraction'],
    ['2026-07-12T19:30:00.', 'a point and no fraction'],
    ['2026-07-12T19:30.5Z', 'a fraction of a minute'],
    ['2026-07-12T19:30:5Z', 'a second of one digit'],
    ['2026-07-12T19:30:', 'no second'],
    ['2026-07-12T19:30:00+18:01', 'an offset no clock has'],
    ['2026-07-12T19:30:00-24:00', 'an offset no clock has'],
    ['2026-07-12T19:30:00+01:60', 'minute 60 of an offset'],
    ['2026-07-12T19:30:00+1', 'an offset of one digit'],
    ['2026-07-12T19:30:00+1:00', 'an offset of three digits'],
    ['2026-07-12T19:30:00+01:', 'half an offset'],
    ['2026-07-12T19:30:00+010', 'half an offset'],
    ['2026-07-12T19:30:00+01:00:00', 'seconds in an offset'],
    ['2026-07-12T19:30:00\u221201:00', 'a typographic minus'],
    ['2026-07-12T19:30:00Z[UTC]', 'a zone in brackets'],
    ['2026-07-12T19:30:00ZZ', 'two offsets'],
    ['2026-07-12T19:30:00Europe/London', 'a zone for an offset'],
    ['12/07/2026 19:30:00', 'the day first'],
    ['2026/07/12 19:30:00', 'slashes'],
    ['/Date(1405189800000)/', 'an old .NET date'],
    ['1405189800', 'seconds'],
    ['Sun, 12 Jul 2026 19:30:00 GMT', 'an HTTP date'],
    ['\u0662026-07-12T19:30:00Z', 'other digits'],
    ['', 'nothing'],
    [' ', 'a blank'],
  ])('refuses %j: %s', (text) => expect(parseDateTimeText(text)).toBeNull())

  it('agrees with Date on every instant of the years 1 to 9999', () => {
    const milliseconds = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 })
    fc.assert(
      fc.property(milliseconds, fc.constantFrom('T', ' '), (epochMs, separator) => {
        const text = new Date(epochMs).toISOString().replace('T', separator)
        const seconds = Math.floor(epochMs / 1000)
        expect(read(text)).toEqual(['instant', seconds, (epochMs - seconds * 1000) * 10_000])
      }),
      { numRuns: 1000 },
    )
  })

  it('reads a fraction of a million digits', () => {
    expect(read(`2026-07-12T19:30:00.1${'0'.repeat(1_000_000)}Z`)).toEqual(['instant', SECONDS, 1_000_000])
    expect(read(`2026-07-12T19:30:00.1${'0'.repeat(1_000_000)}x`)).toBeNull()
  })
})

describe('clockText (contract §3)', () => {
  it.each([
    ['2014-11-22T00:00:00+00:00', '11/22/2014 12:00:00 AM'],
    ['2014-11-22T00:30:00+00:00', '11/22/2014 12:30:00 AM'],
    ['2014-11-22T12:00:00+00:00', '11/22/2014 12:00:00 PM'],
    ['2014-11-22T12:30:00+00:00', '11/22/2014 12:30:00 PM'],
    ['2014-01-05T09:05:07+00:00', '1/5/2014 9:05:07 AM'],
    ['2014-01-05T21:05:07+00:00', '1/5/2014 9:05:07 PM'],
    ['2014-10-20T10:10:10.9999999+05:30', '10/20/2014 10:10:10 AM'],
    ['2014-11-22T11:59:59-08:00', '11/22/2014 11:59:59 AM'],
    ['2014-11-22T23:59:59-08:00', '11/22/2014 11:59:59 PM'],
    ['0001-01-01T00:00:00+00:00', '1/1/0001 12:00:00 AM'],
    ['9999-12-31T23:59:59.9999999+00:00', '12/31/9999 11:59:59 PM'],
    ['2026-07-12T19:30:00+01:00', '7/12/2026 7:30:00 PM'],
  ])('shows %s as %s', (canonical, clock) => expect(clockText(canonical)).toBe(clock))

  it('agrees with Intl', () => {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: 'UTC',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: '2-digit',
      second: '2-digit',
      hour12: true,
    })
    const milliseconds = fc.integer({ min: Date.UTC(1900, 0), max: Date.UTC(9999, 11, 31) })
    fc.assert(
      fc.property(milliseconds, (epochMs) => {
        const date = new Date(epochMs)
        expect(clockText(date.toISOString())).toBe(format.format(date).replace(',', '').replace('\u202f', ' '))
      }),
    )
  })
})
