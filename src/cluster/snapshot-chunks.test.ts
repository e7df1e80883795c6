import { Buffer } from 'node:buffer'
import { describe, expect, it } from 'bun:test'
import { pack, unpack } from './snapshot-chunks.ts'

describe('bodies', () => {
  it('are given back whatever their size, and compressed above 1 kB', () => {
    for (const length of [0, 1, 1024, 1025, 100_000]) {
      const bytes = Buffer.alloc(length, 'abc')
      const packed = pack(bytes)
      expect(unpack(packed).equals(bytes)).toBe(true)
      expect(packed.length).toBeLessThan(1024 + 5)
    }
  })

  it('are refused with a sentence where they are cut short: no runtime gives back a part', () => {
    const random = Buffer.from(Array.from({ length: 40_000 }, (_, at) => (at * at * 31) >> 3))
    const packed = pack(random)
    for (let length = 0; length < packed.length; length += length < 40 ? 1 : 997) {
      expect(() => unpack(packed.subarray(0, length))).toThrow(/^a body /)
    }
  })

  it('have a ceiling before and after they are unpacked', () => {
    expect(() => pack(Buffer.alloc(16 * 1024 * 1024 + 1))).toThrow('more than one body may hold')
    expect(() => unpack(Buffer.alloc(4 * 1024 * 1024 + 5))).toThrow('too large')
    const bomb = pack(Buffer.alloc(1_000_000))
    bomb.writeUInt32BE(0xffffffff, 0)
    expect(() => unpack(bomb)).toThrow('too large')
    bomb.writeUInt32BE(1000, 0)
    expect(() => unpack(bomb)).toThrow('cannot be decompressed')
  })
})
