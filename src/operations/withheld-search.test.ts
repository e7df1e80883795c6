import { describe, expect, it } from 'bun:test'
import { parseGuid } from '../domain/guid.ts'
import type { WithheldFault, WithheldRow } from '../domain/withheld.ts'
import { type WithheldQuery, SearchQueue, searchWithheld, withheldQuery } from './record-search.ts'

function row(index: number, fault: WithheldFault = 'unreadable'): WithheldRow {
  const id = parseGuid(`00000000-0000-4000-8000-${String(index).padStart(12, '0')}`)
  const withheld = {
    fault,
    column: 'Price',
    where: `events.csv, row ${index}`,
    expected: { kind: 'text' } as const,
    found: `"x${index}"`,
  }
  return { id, withheld }
}

function search(rows: readonly WithheldRow[], query: Partial<WithheldQuery> = {}, pause = async () => {}) {
  const { signal } = new AbortController()
  const wholeQuery = { list: 'events', words: [], fault: null, column: null, offset: 0, ...query } as const
  return searchWithheld(rows, wholeQuery, signal, pause)
}

describe('the search of withheld rows', () => {
  const rows = Array.from({ length: 250 }, (_, index) => row(index, index % 2 === 0 ? 'missing' : 'unreadable'))

  it('gives at most 20 rows a page, every row on one page', async () => {
    const pages = await Promise.all(
      Array.from({ length: 14 }, (_, page) => page * 20).map((offset) => search(rows, { offset })),
    )
    expect(pages.map((page) => page?.rows.length)).toEqual([...Array<number>(12).fill(20), 10, 0])
    const ids = pages.flatMap((page) => page?.rows.map(({ id }) => id))
    expect(new Set(ids).size).toBe(250)
    expect(pages[13]).toMatchObject({ total: 250, matching: 250 })
  })

  it('tells the key that would make a value readable', async () => {
    const { signal } = new AbortController()
    const wholeQuery = { list: 'events', words: [], fault: null, column: null, offset: 0 } as const
    const found = await searchWithheld(
      [row(1)],
      wholeQuery,
      signal,
      async () => {},
      ([text]) => `write ${text} otherwise`,
    )
    expect(found.rows[0]?.remedy).toBe('Correct Price, or write x1 otherwise.')
    expect(found.rows[0]?.faults[0]?.remedy).toBe('Correct Price, or write x1 otherwise.')
  })

  it('finds by all words, in id, place and reason, in any case, and by kind of fault', async () => {
    expect((await search(rows, { words: ['price', 'row 7'] }))?.matching).toBe(11)
    expect((await search(rows, { words: ['000000000042'] }))?.rows[0]?.where).toBe('events.csv, row 42')
    expect((await search(rows, { words: ['x41'] }))?.matching).toBe(1)
    expect((await search(rows, { fault: 'missing' }))?.matching).toBe(125)
    expect((await search(rows, { words: ['nowhere'] }))?.matching).toBe(0)
  })

  it('finds by name, and rows with a fault in a column, be it not their first one', async () => {
    const named = rows.map((one, index) => ({
      ...one,
      withheld: {
        ...one.withheld,
        name: `Gala ${index}`,
        also: index < 3 ? [{ fault: 'missing' as const, column: 'Start', expected: null, found: null }] : [],
      },
    }))
    expect(await search(named, { words: ['gala 177'] })).toMatchObject({ matching: 1, rows: [{ name: 'Gala 177' }] })
    expect((await search(named, { column: 'Start', fault: 'missing' }))?.matching).toBe(3)
    expect((await search(named, { column: 'Start', fault: 'unreadable' }))?.matching).toBe(0)
    expect((await search(named, { column: 'Price', fault: 'mistakes' }))?.matching).toBe(250)
  })

  it('lets requests pass between slices, and ends where nobody waits for it', async () => {
    let pauses = 0
    const many = Array.from({ length: 5000 }, (_, index) => row(index))
    await search(many, {}, async () => {
      pauses++
    })
    expect(pauses).toBe(10)
    const gone = AbortSignal.abort()
    const ended = await searchWithheld(many, { list: 'events', words: [], fault: null, column: null, offset: 0 }, gone)
    expect(ended.total).toBe(500)
  })

  it('runs one at a time and turns the ninth away', async () => {
    const held = Promise.withResolvers<void>()
    const many = Array.from({ length: 500 }, (_, index) => row(index))
    const queue = new SearchQueue()
    const query = { list: 'events', words: [], fault: null, column: null, offset: 0 } as const
    const { signal } = new AbortController()
    const run = () => queue.run(() => searchWithheld(many, query, signal, () => held.promise))
    const eight = Array.from({ length: 8 }, run)
    expect(await run()).toBe(null)
    held.resolve()
    expect((await Promise.all(eight)).every((page) => page?.total === 500)).toBe(true)
    expect(await run()).not.toBe(null)
  })

  it('reads a query with its defaults, and cuts what is long', () => {
    expect(withheldQuery(() => undefined)).toEqual({ list: 'events', words: [], fault: null, column: null, offset: 0 })
    const long = withheldQuery((name) => (name === 'q' ? `Ä ${'b '.repeat(5000)}` : undefined))
    expect(long?.words.length).toBe(100)
    expect(long?.words[0]).toBe('ä')
  })
})
