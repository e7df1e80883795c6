import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import type { EventRecord } from '../domain/event.ts'
import { FURTHER_TYPES, type FurtherField, type FurtherType, type FurtherValue } from '../domain/further.ts'
import type { Guid } from '../domain/guid.ts'
import { withFurther } from './further-packing.ts'
import { eventPacking, readSortKey, unpackTags } from './packing.ts'

const id = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34' as Guid
/** Mostly the characters that the packing itself uses: NUL, U+0001 and the letters of its escapes. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom('\u0000', '\u0001', 'a', 'b', '€'), maxLength: 6 }),
  fc.string({ unit: 'binary' }),
)
const values: Readonly<Record<FurtherType, fc.Arbitrary<FurtherValue>>> = {
  text,
  integer: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  decimal: fc.constantFrom('0', '-1.50', '79228162514264337593543950335'),
  'date-time': fc.constantFrom('0001-01-01T00:00:00+00:00', '2026-07-12T19:30:00.5+01:00'),
  flag: fc.boolean(),
  texts: fc.array(text, { maxLength: 3 }),
}
const event = {
  Id: id,
  VenueId: id,
  TicketCapacity: 1,
  TicketsAvailable: 1,
  Start: '2026-07-12T19:30:00+01:00',
  Finish: '2026-07-12T19:30:00+01:00',
  Price: '0',
} as unknown as EventRecord

/** Any further fields, and any record that has them. */
const declared = fc.array(fc.constantFrom(...FURTHER_TYPES), { minLength: 1, maxLength: 6 }).chain((types) =>
  fc.record({
    fields: fc.constant(types.map((type, index): FurtherField => ({ name: `Field${index}`, type }))),
    record: fc.record({
      Name: fc.option(text),
      Tags: fc.array(text, { maxLength: 2 }),
      Links: fc.array(fc.record({ Rel: text, Href: text, Title: fc.option(text) }), { maxLength: 2 }),
      Further: fc.tuple(...types.map((type) => fc.option(values[type]))),
    }),
  }),
)

describe('the packing of records with further fields', () => {
  it('returns any record unchanged, whatever its further fields are', () => {
    fc.assert(
      fc.property(declared, ({ fields, record }) => {
        const packing = withFurther(eventPacking, fields)
        const whole: EventRecord = { ...event, ...record }
        const packed = packing.pack(whole)
        expect(packing.unpack(id, packed)).toEqual(whole)
        expect(packing.pack(packing.unpack(id, packed))).toBe(packed)
        expect(unpackTags(readSortKey(packed).tags)).toEqual(record.Tags)
      }),
    )
  })

  it('distinguishes null, an empty text, no text and an empty text in a list', () => {
    const packing = withFurther(eventPacking, [
      { name: 'A', type: 'text' },
      { name: 'B', type: 'texts' },
    ])
    const all = [null, ''].flatMap((one) => [null, [], [''], ['', '']].map((other) => [one, other]))
    const packed = all.map((Further) => packing.pack({ ...event, Name: null, Tags: [], Links: [], Further }))
    expect(new Set(packed).size).toBe(8)
    expect(packed.map((each) => packing.unpack(id, each).Further)).toEqual(all)
  })

  it('is the packing itself without further fields', () => {
    expect(withFurther(eventPacking, [])).toBe(eventPacking)
  })

  it('refuses a record that was packed without them', () => {
    const packing = withFurther(eventPacking, [{ name: 'A', type: 'text' }])
    expect(() => packing.unpack(id, '')).toThrow('cut short')
  })
})
