import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { Utf8Gate } from './read-list-file.ts'

function pass(bytes: Uint8Array, size: number): { readonly text: string; readonly brokenIn: number | null } {
  const gate = new Utf8Gate()
  const passed: Buffer[] = []
  for (let from = 0; from < bytes.length; from += size) {
    const chunk = Buffer.from(bytes.subarray(from, from + size))
    const valid = gate.pass(chunk)
    if (valid === null) return { text: Buffer.concat(passed).toString(), brokenIn: gate.line }
    passed.push(Buffer.from(valid))
    chunk.fill(0)
  }
  return { text: Buffer.concat(passed).toString(), brokenIn: gate.finish() ? gate.line : null }
}

describe('letting UTF-8 through', () => {
  it.each([1, 2, 3, 4, 5, 1000])('drops one byte order mark, and no other (%d bytes a chunk)', (size) => {
    expect(pass(Buffer.from('\ufeffa\ufeffé'), size)).toEqual({ text: 'a\ufeffé', brokenIn: null })
  })

  it.each([1, 2, 3, 4, 1000])('says in which line the bytes are not UTF-8 (%d bytes a chunk)', (size) => {
    const windows1252 = Buffer.concat([Buffer.from('Id,Name\n1,Caf'), Buffer.from([0xe9]), Buffer.from('\n2,x\n')])
    expect(pass(windows1252, size).brokenIn).toBe(2)
    expect(pass(Buffer.from([0xff, 0xfe, 0x49, 0]), size).brokenIn).toBe(1)
    expect(pass(Buffer.from([0x0a, 0x0a, 0xe2, 0x82]), size).brokenIn).toBe(3)
    expect(pass(Buffer.from([0xed, 0xa0, 0x80]), size).brokenIn).toBe(1)
  })

  it('agrees with a fatal decoder on any bytes in any chunks', () => {
    const bytes = fc.array(
      fc.constantFrom(0x41, 0x0a, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0xff, 0xef, 0xbb, 0xbf),
    )
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 7 }), (list, size) => {
        let decoded: string | null = null
        try {
          decoded = new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(list))
        } catch {
          decoded = null
        }
        const passed = pass(Uint8Array.from(list), size)
        expect(passed.brokenIn === null ? passed.text : null).toBe(decoded)
      }),
      { numRuns: 3000 },
    )
  })
})
