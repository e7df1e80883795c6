import { describe, expect, it } from 'bun:test'
import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { bodyOf, etagOf, textOf } from './body.ts'

describe('a body as it is kept', () => {
  it('is a string if it is ASCII, else bytes', () => {
    expect(bodyOf('{"Name":"Gala"}')).toBe('{"Name":"Gala"}')
    expect(bodyOf('Café')).toEqual(new Uint8Array([0x43, 0x61, 0x66, 0xc3, 0xa9]))
  })

  it('has as many bytes as its length, and reads back, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const body = bodyOf(text)
        expect(body.length).toBe(Buffer.byteLength(text))
        expect(textOf(body)).toBe(text.toWellFormed())
      }),
    )
  })

  it('has the same entity tag as a string and as bytes', () => {
    const bytes = new TextEncoder().encode('plain')
    expect(etagOf(bytes)).toBe(etagOf('plain'))
  })
})
