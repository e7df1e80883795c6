import { Buffer } from 'node:buffer'
import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { guidOf } from '../../test/model/records.ts'
import { UNREVISED } from '../domain/revision.ts'
import type { RowRecord } from '../records/row-records.ts'
import { decodeRows, encodeRow } from './row-bytes.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 40 })
const record: fc.Arbitrary<RowRecord> = fc.record({
  list: fc.constantFrom('events' as const, 'venues' as const),
  says: fc.constantFrom('served' as const, 'withheld' as const, 'removed' as const),
  id: fc.nat(1000).map(guidOf),
  version: fc.double(),
  revision: fc.record({ sinceS: fc.nat({ max: 0xffffffff }), sequence: fc.nat({ max: 0xffffffff }) }),
  text,
})

function bytesOf(records: readonly RowRecord[]): Buffer {
  return Buffer.concat(records.map(encodeRow))
}

describe('rows as the store holds them', () => {
  it('are read back unchanged', () => {
    fc.assert(fc.property(fc.array(record), (records) => expect([...decodeRows(bytesOf(records))]).toEqual(records)))
  })

  it('begin with their kind, id, version, revision and length', () => {
    const id = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34' as RowRecord['id']
    const bytes = bytesOf([
      { list: 'venues', says: 'removed', id, version: 1.5, revision: { sinceS: 1, sequence: 2 }, text: '' },
    ])
    expect(bytes.toString('hex')).toBe(`06${id.replaceAll('-', '')}3ff8000000000000000000010000000200000000`)
    const kinds = (['served', 'withheld', 'removed'] as const).flatMap((says) =>
      (['events', 'venues'] as const).map(
        (list) => bytesOf([{ list, says, id, version: 0, revision: UNREVISED, text: '' }])[0],
      ),
    )
    expect(kinds).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('are refused with a sentence if they are cut short at any byte', () => {
    const bytes = bytesOf([
      { list: 'events', says: 'served', id: guidOf(1), version: 1, revision: UNREVISED, text: 'a text' },
    ])
    for (let length = 1; length < bytes.length; length++) {
      expect(() => [...decodeRows(bytes.subarray(0, length))]).toThrow(/^the row at byte 0 is (?:cut short|longer)/)
    }
  })

  it('are refused if their kind is unknown or their length exceeds the available bytes', () => {
    const bytes = bytesOf([
      { list: 'events', says: 'served', id: guidOf(1), version: 1, revision: UNREVISED, text: '' },
    ])
    for (const kind of [0, 7, 255]) {
      bytes[0] = kind
      expect(() => [...decodeRows(bytes)]).toThrow(`the row at byte 0 is of kind ${kind}, which is unknown`)
    }
    bytes[0] = 1
    bytes.writeUInt32BE(0xffffffff, 33)
    expect(() => [...decodeRows(bytes)]).toThrow('longer than the remaining bytes')
  })
})
