import { describe, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import fc from 'fast-check'
import { parseDateTimeText } from './date-time.ts'
import { type Zone, instantOfWall, openNamedZone, openZone, showInstant } from './zone.ts'
import { ZONE_DATA_VERSION, ZONE_NAMES } from './zone-data.ts'

function zoneOf(id: string): Zone {
  const zone = openZone(id)
  if (zone === null) throw new Error(`no zone ${id}`)
  return zone
}

/** Shows a text in a zone. A text without an offset is a wall time of that zone. */
function shown(text: string, id: string): string | null {
  const parsed = parseDateTimeText(text)
  if (parsed === null) throw new Error(`no date-time ${text}`)
  const zone = zoneOf(id)
  return showInstant(parsed.kind === 'instant' ? parsed.instant : instantOfWall(parsed.wall, zone), zone)
}

const LAST = 253_402_300_799
const YEAR_1970 = 0

/** The zones whose data was corrected after the release of the database that Bun 1.4.5 has. Temporal is wrong there. */
const CORRECTED: ReadonlySet<string> = new Set([
  'Africa/Casablanca',
  'Africa/El_Aaiun',
  'America/Bogota',
  'America/Edmonton',
  'America/Havana',
  'America/Inuvik',
  'America/Rainy_River',
  'America/Vancouver',
  'America/Winnipeg',
  'America/Yellowknife',
  'Asia/Tehran',
  'Canada/Central',
  'Canada/Mountain',
  'Canada/Pacific',
  'Cuba',
  'Iran',
])
const ZONES = ZONE_NAMES.filter((name) => !CORRECTED.has(name))

/** Prints how a runtime shows times of 1970 to 2040, as instants and as wall times, in every zone. */
const SHOW_ALL = `
const { openZone, showInstant, instantOfWall } = await import('./src/domain/zone.ts')
const { ZONE_NAMES } = await import('./src/domain/zone-data.ts')
let drawn = Number(process.env.SEED)
for (const name of ZONE_NAMES) {
  const zone = openZone(name)
  let line = zone.id
  for (let count = 0; count < 60; count++) {
    drawn = (drawn * 1103515245 + 12345) % 2147483648
    const seconds = Math.floor((drawn / 2147483648) * 2208988800)
    const { until } = zone.spanAt(seconds)
    for (const at of [seconds, until - 1, until]) {
      if (at === Infinity) continue
      line += ' ' + showInstant({ epochSeconds: at, ticks: 0 }, zone)
      line += ' ' + instantOfWall({ seconds: at, ticks: 0 }, zone).epochSeconds
    }
  }
  console.log(line)
}`

function shownBy(runtime: 'bun' | 'node'): string {
  const root = join(import.meta.dirname, '../..')
  const program = runtime === 'bun' ? process.execPath : join(root, 'node_modules/.bin/node')
  const seed = process.env['MARQUEE_SEED'] ?? '1000'
  const options = { cwd: root, encoding: 'utf8', env: { ...process.env, SEED: seed }, maxBuffer: 2 ** 27 } as const
  const { stdout, stderr, status } = spawnSync(program, ['--input-type=module', '--eval', SHOW_ALL], options)
  if (status !== 0) throw new Error(stderr)
  return stdout
}

describe('openZone', () => {
  it.each([
    ['Europe/London', 'Europe/London'],
    ['europe/LONDON', 'Europe/London'],
    ['UTC', 'UTC'],
    ['utc', 'UTC'],
    ['GB', 'GB'],
    ['US/Eastern', 'US/Eastern'],
    ['Asia/Calcutta', 'Asia/Calcutta'],
    ['Etc/GMT-14', 'Etc/GMT-14'],
  ])('opens %s as %s', (id, spelt) => expect(openZone(id)?.id).toBe(spelt))

  it.each([
    '',
    ' ',
    'Mars/Phobos',
    '+01:00',
    '-05',
    '\u221201:00',
    'Z',
    'Europe/London ',
    'GMT Standard Time',
    '2026-07-12T00:00Z',
    '__proto__',
  ])('knows no zone %j', (id) => expect(openZone(id)).toBeNull())
})

describe('openNamedZone', () => {
  it('opens a zone once, however many texts name none', () => {
    for (let index = 0; index < 1500; index++) expect(openNamedZone(`Hall ${index}`)).toBeNull()
    const zone = openNamedZone('Asia/Ulaanbaatar')
    expect(zone?.id).toBe('Asia/Ulaanbaatar')
    expect(openNamedZone('Asia/Ulaanbaatar')).toBe(zone)
  })

  it.each([
    ['UTC+2', 120],
    ['UTC-3.5', -210],
    ['UTC+0', 0],
    ['UTC+5.75', 345],
    ['UTC+13.75', 825],
    ['UTC+5:30', 330],
    ['utc+02', 120],
    ['UTC +2', 120],
    ['GMT+1', 60],
    ['GMT-03:30', -210],
    ['UTC\u22123', -180],
    ['UTC\u00b100:00', 0],
    ['+02:00', 120],
    ['-0330', -210],
    ['+14', 840],
    ['-5', -300],
    ['Z', 0],
    ['UTC', 0],
    ['GMT', 0],
    // IANA counts these the other way round.
    ['Etc/GMT+2', -120],
  ])('reads the offset %s as %i minutes ahead of UTC', (written, minutes) => {
    expect(openNamedZone(written)?.offsetSecondsAt(1_774_746_000)).toBe(minutes * 60)
  })

  it.each(['+', 'UTC+', 'UTC+15', 'UTC-13', '+99:00', '+02:60', 'UTC+5.33', '5', '+120', '+530', '(UTC+01:00) Berlin'])(
    'reads no offset of %j',
    (written) => expect(openNamedZone(written)).toBeNull(),
  )
})

describe('the time zone data (IANA)', () => {
  it('is of 2026f or later', () => expect(ZONE_DATA_VERSION >= '2026f').toBe(true))

  it('has every zone of Intl', () => {
    const unknown = Intl.supportedValuesOf('timeZone').filter((name) => openZone(name)?.id !== name)
    expect(unknown).toEqual([])
  })

  // What Bun 1.4.5 and Node 26.10 say is given where they differ.
  it.each([
    ['2027-01-15T19:30:00', 'America/Vancouver', '2027-01-15T19:30:00-07:00', 'Bun: -08:00'],
    ['2027-01-15T19:30:00', 'America/Edmonton', '2027-01-15T19:30:00-06:00', 'Bun: -07:00'],
    ['2027-06-01T19:30:00', 'Africa/Casablanca', '2027-06-01T19:30:00+00:00', 'Bun: +01:00'],
    ['2027-01-15T19:30:00', 'America/Winnipeg', '2027-01-15T19:30:00-05:00', 'both: -06:00'],
    ['2027-01-15T19:30:00', 'Canada/Central', '2027-01-15T19:30:00-05:00', 'both: -06:00'],
    ['2027-01-15T19:30:00', 'Europe/Berlin', '2027-01-15T19:30:00+01:00', ''],
    ['2040-07-15T19:30:00', 'Europe/Berlin', '2040-07-15T19:30:00+02:00', ''],
    ['2499-12-31T19:30:00', 'Australia/Sydney', '2499-12-31T19:30:00+11:00', ''],
    ['2500-01-31T19:30:00', 'Australia/Sydney', '2500-01-31T19:30:00+11:00', 'after the end of the data'],
    ['9999-07-15T19:30:00', 'Europe/Berlin', '9999-07-15T19:30:00+02:00', ''],
  ])('shows %s in %s as %s %s', (wall, id, text) => expect(shown(wall, id)).toBe(text))

  it('shows the same on Bun and Node, in every zone', () => {
    const byBun = shownBy('bun')
    expect(byBun.split('\n').length).toBe(ZONE_NAMES.length + 1)
    expect(byBun === shownBy('node')).toBe(true)
  })
})

describe('offsetSecondsAt', () => {
  it.each([
    ['Europe/London', -3_852_662_326, -75],
    ['Europe/London', -3_852_662_325, 0],
    ['Europe/London', 1_774_745_999, 0],
    ['Europe/London', 1_774_746_000, 3600],
    ['Asia/Kolkata', 1_405_173_600, 19_800],
    ['Africa/Monrovia', 0, -2670],
    ['Pacific/Apia', 1_325_239_199, -36_000],
    ['Pacific/Apia', 1_325_239_200, 50_400],
  ])('of %s at %i is %i', (id, epochSeconds, offset) => expect(zoneOf(id).offsetSecondsAt(epochSeconds)).toBe(offset))

  it('agrees with Temporal at any time from 1970 in every zone', () => {
    const any = fc.integer({ min: YEAR_1970, max: LAST })
    const lively = fc.integer({ min: YEAR_1970, max: 4_500_000_000 })
    for (const id of ZONES) {
      const zone = zoneOf(id)
      fc.assert(
        fc.property(fc.oneof(any, lively), (seconds) => {
          const { offsetNanoseconds } = new Temporal.ZonedDateTime(BigInt(seconds) * 1_000_000_000n, id)
          expect(zone.offsetSecondsAt(seconds)).toBe(offsetNanoseconds / 1_000_000_000)
        }),
        { numRuns: 20 },
      )
    }
  })

  it('agrees with Temporal on both sides of each change, in any order of lookups', () => {
    const question = fc.record({
      id: fc.constantFrom(...ZONES),
      start: fc.oneof(
        fc.integer({ min: YEAR_1970, max: 4_500_000_000 }),
        fc.integer({ min: YEAR_1970, max: LAST - 100_000_000 }),
      ),
    })
    fc.assert(
      fc.property(question, ({ id, start }) => {
        const change = new Temporal.ZonedDateTime(BigInt(start) * 1_000_000_000n, id).getTimeZoneTransition('next')
        if (change === null) return
        const at = change.epochMilliseconds / 1000
        const zone = zoneOf(id)
        for (const seconds of [at, at - 1, at + 1, start, at - 1, at]) {
          const { offsetNanoseconds } = new Temporal.ZonedDateTime(BigInt(seconds) * 1_000_000_000n, id)
          expect(zone.offsetSecondsAt(seconds)).toBe(offsetNanoseconds / 1_000_000_000)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('gives the span of each second', () => {
    const zone = zoneOf('Europe/London')
    const summer = zone.spanAt(1_774_746_000)
    const winter = zone.spanAt(1_774_745_999)
    expect(summer.from).toBe(winter.until)
    for (const second of [summer.from, summer.from + 1, summer.until - 1]) {
      expect(zone.spanAt(0).offsetSeconds).toBe(3600)
      expect(zone.spanAt(second)).toEqual(summer)
    }
    expect(zone.spanAt(winter.from)).toEqual(winter)
  })

  // The data ends with 2499; the spans of later years must meet like all others.
  it.each(['Europe/London', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata'])(
    'leaves no gap between the spans of %s up to 2950',
    (id) => {
      const zone = zoneOf(id)
      let { until } = zone.spanAt(0)
      let count = 0
      while (until < Date.UTC(2950, 0) / 1000) {
        const next = zone.spanAt(until)
        expect([next.from, next.until > until]).toEqual([until, true])
        expect(next.offsetSeconds).not.toBe(zone.offsetSecondsAt(until - 1))
        until = next.until
        count++
      }
      expect(count === 0 || count > 1900).toBe(true)
    },
  )
})

describe('instantOfWall (RFC 5545 §3.3.5)', () => {
  it.each([
    ['2026-07-12T19:30:00', 'Europe/London', '2026-07-12T19:30:00+01:00', 'summer'],
    ['2026-03-29T00:59:59', 'Europe/London', '2026-03-29T00:59:59+00:00', 'before a gap'],
    ['2026-03-29T01:00:00', 'Europe/London', '2026-03-29T02:00:00+01:00', 'a gap begins'],
    ['2026-03-29T01:30:00', 'Europe/London', '2026-03-29T02:30:00+01:00', 'in a gap'],
    ['2026-03-29T02:00:00', 'Europe/London', '2026-03-29T02:00:00+01:00', 'after a gap'],
    ['2026-10-25T01:00:00', 'Europe/London', '2026-10-25T01:00:00+01:00', 'an overlap begins'],
    ['2026-10-25T01:59:59.9', 'Europe/London', '2026-10-25T01:59:59.9+01:00', 'in an overlap'],
    ['2026-10-25T02:00:00', 'Europe/London', '2026-10-25T02:00:00+00:00', 'after an overlap'],
    ['2011-12-30T12:00:00', 'Pacific/Apia', '2011-12-31T12:00:00+14:00', 'a day that Samoa left out'],
    ['2026-04-05T01:45:00', 'Australia/Lord_Howe', '2026-04-05T01:45:00+11:00', 'half an hour doubled'],
  ])('reads %s in %s as %s: %s', (wall, id, text) => expect(shown(wall, id)).toBe(text))

  it('agrees with Temporal near changes and far from them', () => {
    const question = fc.record({
      id: fc.constantFrom(...ZONES),
      start: fc.oneof(fc.integer({ min: YEAR_1970, max: LAST }), fc.integer({ min: YEAR_1970, max: 4_500_000_000 })),
      isNear: fc.boolean(),
      shift: fc.integer({ min: -100_000, max: 100_000 }),
    })
    fc.assert(
      fc.property(question, ({ id, start, isNear, shift }) => {
        const zoned = new Temporal.ZonedDateTime(BigInt(start) * 1_000_000_000n, id)
        const change = isNear ? zoned.getTimeZoneTransition('next') : null
        const near = change === null ? start : change.epochMilliseconds / 1000 + shift
        const seconds = Math.min(Math.max(near, YEAR_1970), LAST)
        const wall = Temporal.Instant.fromEpochMilliseconds(seconds * 1000)
          .toZonedDateTimeISO('UTC')
          .toPlainDateTime()
        expect(instantOfWall({ seconds, ticks: 7 }, zoneOf(id))).toEqual({
          epochSeconds: wall.toZonedDateTime(id).epochMilliseconds / 1000,
          ticks: 7,
        })
      }),
      { numRuns: 3000 },
    )
  })
})

describe('showInstant (contract §2)', () => {
  it.each([
    ['2026-07-12T18:30:00Z', 'Europe/London', '2026-07-12T19:30:00+01:00'],
    ['2026-01-12T18:30:00Z', 'Europe/London', '2026-01-12T18:30:00+00:00'],
    ['2026-07-12T18:30:00Z', 'UTC', '2026-07-12T18:30:00+00:00'],
    ['2026-07-12T18:30:00.5000000Z', 'UTC', '2026-07-12T18:30:00.5+00:00'],
    ['2026-07-12T18:30:00.0000001Z', 'UTC', '2026-07-12T18:30:00.0000001+00:00'],
    ['2026-07-12T18:30:00.12345678Z', 'UTC', '2026-07-12T18:30:00.1234567+00:00'],
    ['2026-07-12T18:30:00.100Z', 'America/St_Johns', '2026-07-12T16:00:00.1-02:30'],
    ['1969-12-31T23:59:59.9Z', 'UTC', '1969-12-31T23:59:59.9+00:00'],
    ['2014-11-23T01:30:00.5+06:00', 'Europe/London', '2014-11-22T19:30:00.5+00:00'],
    ['2014-07-22T23:00:00Z', 'Europe/London', '2014-07-23T00:00:00+01:00'],
    ['2014-07-12T14:00:00Z', 'Asia/Kolkata', '2014-07-12T19:30:00+05:30'],
    ['0001-01-01T00:00:00Z', 'UTC', '0001-01-01T00:00:00+00:00'],
    ['9999-12-31T23:59:59.9999999Z', 'UTC', '9999-12-31T23:59:59.9999999+00:00'],
  ])('shows %s in %s as %s', (text, id, canonical) => expect(shown(text, id)).toBe(canonical))

  it.each([
    ['1800-01-01T00:00:00Z', 'Europe/London', '1799-12-31T23:59:00-00:01', 'London was 1:15 behind'],
    ['1900-01-01T00:00:00Z', 'Africa/Monrovia', '1899-12-31T23:17:00-00:43', 'Monrovia was 43:08 behind'],
    ['1850-01-01T00:00:00Z', 'Africa/Abidjan', '1849-12-31T23:44:00-00:16', 'Abidjan was 16:08 behind'],
    ['1850-01-01T00:00:00Z', 'Europe/Paris', '1850-01-01T00:09:00+00:09', 'Paris was 9:21 ahead'],
  ])('cuts the offset of %s in %s toward zero, and the wall time follows: %s (%s)', (text, id, canonical) => {
    expect(shown(text, id)).toBe(canonical)
  })

  it.each([
    ['0001-01-01T00:00:00Z', 'America/New_York'],
    ['0001-01-01T00:00:00+01:00', 'UTC'],
    ['9999-12-31T23:59:59Z', 'Asia/Tokyo'],
    ['9999-12-31T23:59:59-01:00', 'UTC'],
  ])('cannot show %s in %s, whose years there are not 1 to 9999', (text, id) => expect(shown(text, id)).toBeNull())

  it.each([
    ['0001-01-01T00:00:00+09:00', 'Asia/Tokyo', '0001-01-01T00:18:00+09:18'],
    ['9999-12-31T23:59:59-04:00', 'America/New_York', '9999-12-31T22:59:59-05:00'],
  ])('shows %s in %s, although the year in UTC is different: %s', (text, id, canonical) => {
    expect(shown(text, id)).toBe(canonical)
  })

  it('names the given instant, and agrees with Temporal on wall time and offset', () => {
    const question = fc.record({
      id: fc.constantFrom(...ZONES),
      epochSeconds: fc.integer({ min: YEAR_1970, max: LAST - 86_400 }),
      ticks: fc.integer({ min: 0, max: 9_999_999 }),
    })
    fc.assert(
      fc.property(question, ({ id, epochSeconds, ticks }) => {
        const text = showInstant({ epochSeconds, ticks }, zoneOf(id)) ?? ''
        expect(parseDateTimeText(text)).toEqual({ kind: 'instant', instant: { epochSeconds, ticks } })
        const exact = BigInt(epochSeconds) * 1_000_000_000n + BigInt(ticks) * 100n
        const offset = new Temporal.ZonedDateTime(exact, id).offsetNanoseconds / 60_000_000_000
        const minutes = Math.trunc(offset)
        const sign = minutes < 0 ? '-' : '+'
        const hours = String(Math.trunc(Math.abs(minutes) / 60)).padStart(2, '0')
        const zone = `${sign}${hours}:${String(Math.abs(minutes) % 60).padStart(2, '0')}`
        expect(text).toBe(new Temporal.ZonedDateTime(exact, zone).toString({ timeZoneName: 'never' }))
      }),
      { numRuns: 2000 },
    )
  })
})
