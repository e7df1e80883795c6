import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import type { MediaType } from './media-types.ts'
import { createNegotiator, LONGEST_KEPT } from './negotiation-cache.ts'
import { negotiate } from './negotiation.ts'

function counting(ceiling: number): { ask: (accept: string | null) => MediaType; asked: string[] } {
  const asked: string[] = []
  const ask = createNegotiator(ceiling, (accept) => {
    asked.push(accept)
    return negotiate(accept)
  })
  return { ask, asked }
}

describe('createNegotiator', () => {
  it('answers as negotiate does, the first time and every other (contract §1.4)', () => {
    const header = fc.constantFrom(
      null,
      '',
      '*/*',
      'text/xml',
      'TEXT/XML',
      'text/*;q=0.5',
      '*/json',
      'a/b, text/xml',
      'text/xml;a="\u0142"',
    )
    fc.assert(
      fc.property(fc.array(header), fc.integer({ min: 1, max: 6 }), (headers, ceiling) => {
        const ask = createNegotiator(ceiling)
        for (const accept of headers) expect(ask(accept)).toBe(negotiate(accept))
      }),
    )
  })

  it('decides once for a header that comes again', () => {
    const { ask, asked } = counting(8)
    for (let time = 0; time < 3; time++) expect(ask('application/hal+xml')).toBe('application/hal+xml')
    expect(asked).toEqual(['application/hal+xml'])
  })

  it('remembers a header in use through a flood of others', () => {
    const { ask, asked } = counting(8)
    for (let index = 0; index < 1000; index++) {
      ask('text/xml')
      ask(`a/b;c=${index}`)
    }
    expect(asked.filter((accept) => accept === 'text/xml')).toHaveLength(1)
  })

  it('never remembers more headers than its ceiling', () => {
    const { ask, asked } = counting(8)
    const flood = Array.from({ length: 100 }, (_, index) => `a/b;c=${index}`)
    for (const accept of flood) ask(accept)
    const before = asked.length
    for (const accept of flood.toReversed()) ask(accept)
    const remembered = flood.length - (asked.length - before)
    expect(remembered).toBeGreaterThanOrEqual(4)
    expect(remembered).toBeLessThanOrEqual(8)
  })

  it('remembers no header longer than its limit', () => {
    const { ask, asked } = counting(8)
    const longest = 'text/xml;a='.padEnd(LONGEST_KEPT, 'b')
    for (let time = 0; time < 2; time++) expect(ask(longest)).toBe('text/xml')
    expect(asked).toHaveLength(1)
    for (let time = 0; time < 2; time++) expect(ask(`${longest}b`)).toBe('text/xml')
    expect(asked).toHaveLength(3)
  })

  it('mistakes no header for one whose characters have the same low bytes', () => {
    const { ask } = counting(8)
    expect(ask('text/xm\u016c')).toBe('application/json')
    expect(ask('text/xml')).toBe('text/xml')
    expect(ask('text/xm\u016c')).toBe('application/json')
  })

  it('keeps no text alive that a header was cut from', () => {
    const ask = createNegotiator(256)
    const megabyte = 1_000_000
    const before = heldBytes()
    for (let index = 0; index < 50; index++) {
      const request = Buffer.alloc(megabyte, `text/xml;a=${index};b=`).toString('latin1')
      ask(request.slice(0, 300))
    }
    expect(heldBytes() - before).toBeLessThan(10 * megabyte)
    // Asked once more, so that what it remembers is in use until here.
    expect(ask('text/xml')).toBe('text/xml')
  })

  function heldBytes(): number {
    Bun.gc(true)
    return process.memoryUsage().heapUsed
  }
})
