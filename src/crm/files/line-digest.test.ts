import { expect, it } from 'bun:test'
import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { digestOf } from './line-digest.ts'

it('is a function of the bytes alone', () => {
  const bytes = Buffer.from('..{"Id":1}..')
  expect(digestOf(bytes.subarray(2, 10))).toBe(digestOf(Buffer.from('{"Id":1}')))
  expect(digestOf(bytes, 2, 10)).toBe(digestOf(Buffer.from('{"Id":1}')))
})

it('is a whole number of 53 bits', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const digest = digestOf(bytes)
      expect(Number.isSafeInteger(digest) && digest >= 0).toBe(true)
    }),
  )
})

it('differs among 300,000 lines that differ in little, in each half too', () => {
  const digests = new Set<number>()
  const [high, low] = [new Set<number>(), new Set<number>()]
  for (let index = 0; index < 300_000; index++) {
    const digest = digestOf(Buffer.from(`{"Id":"${index}","Name":"Gala","TicketsAvailable":${index % 250}}`))
    digests.add(digest)
    high.add(Math.floor(digest / 2 ** 32))
    low.add(digest % 2 ** 32)
  }
  expect(digests.size).toBe(300_000)
  // As many as 300,000 draws of 2²¹ and of 2³² leave different: 280 thousand, and all but some ten.
  expect(high.size).toBeGreaterThan(275_000)
  expect(low.size).toBeGreaterThan(299_900)
})

it('differs where one bit does', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.nat(), (bytes, bit) => {
      const before = digestOf(bytes)
      const at = bit % (bytes.length * 8)
      bytes[at >> 3] = (bytes[at >> 3] ?? 0) ^ (1 << (at & 7))
      expect(digestOf(bytes)).not.toBe(before)
    }),
  )
})
