import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { type DateTime, tickOfDateTime } from '../domain/date-time.ts'
import { formatter } from '../../test/model/records.ts'
import type { Decimal } from '../domain/number.ts'
import { type EventRecord, EVENTS } from '../domain/event.ts'
import { FURTHER_TYPES, type FurtherField, type FurtherType, type FurtherValue } from '../domain/further.ts'
import type { Guid } from '../domain/guid.ts'
import { type VenueRecord, VENUES } from '../domain/venue.ts'
import { Formatter } from '../formats/format.ts'
import { eventKind } from './list-kinds.ts'
import { packingOf } from './packing.ts'

const id = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34' as Guid
/**
 * Mostly the characters that the packing itself uses: NUL, U+0001 and the letters of its escapes.
 */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom('\u0000', '\u007f', '\u0080', 'a', 'b', '€'), maxLength: 6 }),
  fc.string({ unit: 'binary' }),
)
const nullable = fc.option(text, { freq: 3 })
const decimal = fc.constantFrom('0', '-1.50', '79228162514264337593543950335').map((digits) => digits as Decimal)
const dateTime = fc.constantFrom('0001-01-01T00:00:00+00:00', '2026-07-12T19:30:00.5+01:00').map((t) => t as DateTime)
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const links = fc.array(fc.record({ Rel: text, Href: text, Title: nullable }), { maxLength: 3 })

const event: fc.Arbitrary<EventRecord> = fc.record({
  Id: fc.constant(id),
  Name: nullable,
  VenueId: fc.uuid().map((uuid) => uuid as Guid),
  TicketCapacity: int32,
  TicketsAvailable: int32,
  Start: dateTime,
  Finish: dateTime,
  Price: decimal,
  Tags: fc.array(text, { maxLength: 3 }),
  Links: links,
})

const venue: fc.Arbitrary<VenueRecord> = fc.record({
  Id: fc.constant(id),
  Name: nullable,
  AddressStreet1: nullable,
  AddressStreet2: nullable,
  AddressStreet3: nullable,
  AddressCity: nullable,
  AddressPostalCode: nullable,
  AddressState: nullable,
  AddressCountry: nullable,
  Longitude: decimal,
  Latitude: decimal,
  Telephone: nullable,
  Description: nullable,
  Website: nullable,
  Links: links,
})

const values: Readonly<Record<FurtherType, fc.Arbitrary<FurtherValue>>> = {
  text,
  url: text,
  integer: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  decimal: fc.constantFrom('0', '-1.50', '79228162514264337593543950335'),
  'date-time': fc.constantFrom('0001-01-01T00:00:00+00:00', '2026-07-12T19:30:00.5+01:00'),
  flag: fc.boolean(),
  texts: fc.array(text, { maxLength: 3 }),
}
/** Any further fields, and any event that has them. */
const declared = fc.array(fc.constantFrom(...FURTHER_TYPES), { minLength: 1, maxLength: 6 }).chain((types) =>
  fc.record({
    fields: fc.constant(types.map((type, index): FurtherField => ({ name: `Field${index}`, type }))),
    own: event,
    Further: fc.tuple(...types.map((type) => fc.option(values[type]))),
  }),
)

const eventPacking = packingOf<EventRecord>(EVENTS, [])
const venuePacking = packingOf<VenueRecord>(VENUES, [])

describe('the packing of records', () => {
  it('returns any event unchanged', () => {
    fc.assert(
      fc.property(event, (record) => expect(eventPacking.unpack(id, eventPacking.pack(record))).toEqual(record)),
    )
  })

  it('returns any venue unchanged', () => {
    fc.assert(
      fc.property(venue, (record) => expect(venuePacking.unpack(id, venuePacking.pack(record))).toEqual(record)),
    )
  })

  it('returns a lone surrogate as U+FFFD (contract §3.2)', () => {
    const [sample] = fc.sample(venue, { numRuns: 1, seed: 1 })
    if (sample === undefined) throw new Error('no sample')
    const packed = venuePacking.pack({ ...sample, Name: 'a\ud800b', Website: '\udfff' })
    expect(packed.isWellFormed()).toBe(true)
    expect(venuePacking.unpack(id, packed)).toEqual({ ...sample, Name: 'a\ufffdb', Website: '\ufffd' })
  })

  it('distinguishes null from the empty text, and no tag from an empty one', () => {
    const [sample] = fc.sample(event, { numRuns: 1, seed: 1 })
    if (sample === undefined) throw new Error('no sample')
    for (const changed of [{ Name: null }, { Name: '' }, { Tags: [] }, { Tags: [''] }, { Tags: ['', ''] }]) {
      const record = { ...sample, ...changed, Links: [] }
      expect(eventPacking.unpack(id, eventPacking.pack(record))).toEqual(record)
    }
  })

  it('returns any event with further fields unchanged', () => {
    fc.assert(
      fc.property(declared, ({ fields, own, Further }) => {
        const packing = packingOf<EventRecord>(EVENTS, fields)
        const record = { ...own, Further }
        const packed = packing.pack(record)
        expect(packing.unpack(id, packed)).toEqual(record)
      }),
    )
  })

  it('knows the place of an event in the lists', () => {
    const { sortKeyOf } = eventKind(formatter)
    fc.assert(
      fc.property(event, (own) => {
        const [begins, ends] = [tickOfDateTime(own.Start), tickOfDateTime(own.Finish)]
        expect(sortKeyOf(own)).toEqual({
          start: begins,
          end: begins.ms > ends.ms ? begins : ends,
          venue: own.VenueId,
          tags: own.Tags,
          isAvailable: own.TicketsAvailable > 0,
        })
      }),
    )
  })

  it('leaves what is cancelled out of what has tickets, whatever precedes the status', () => {
    const statuses = fc.constantFrom(null, '', 'scheduled', ' Cancelled ', 'CANCELLED: ill', 'cancelledness')
    fc.assert(
      fc.property(declared, fc.boolean(), statuses, ({ fields, own, Further }, isLast, status) => {
        const all: readonly FurtherField[] = [...fields, { name: 'Status', type: 'text' }, ...(isLast ? [] : fields)]
        const kind = eventKind(
          new Formatter(() => ({
            basePath: '/',
            namespace: 'N',
            links: { event: [], venue: [] },
            further: { events: all, venues: [] },
          })),
        )
        const record = { ...own, Further: [...Further, status, ...(isLast ? [] : Further)] }
        const isCancelled = /^\s*cancelled(?![a-z])/i.test(status ?? '')
        expect(kind.sortKeyOf(record).isAvailable).toBe(own.TicketsAvailable > 0 && !isCancelled)
      }),
    )
  })

  it('distinguishes null, an empty text, no text and an empty text in a further field', () => {
    const packing = packingOf<EventRecord>(EVENTS, [
      { name: 'A', type: 'text' },
      { name: 'B', type: 'texts' },
    ])
    const [sample] = fc.sample(event, { numRuns: 1, seed: 1 })
    if (sample === undefined) throw new Error('no sample')
    const all = [null, ''].flatMap((one) => [null, [], [''], ['', '']].map((other) => [one, other]))
    const packed = all.map((Further) => packing.pack({ ...sample, Further }))
    expect(new Set(packed).size).toBe(8)
    expect(packed.map((each) => packing.unpack(id, each).Further)).toEqual(all)
  })

  it('refuses a text that is no whole record', () => {
    expect(() => eventPacking.unpack(id, '')).toThrow('cut short')
  })
})
