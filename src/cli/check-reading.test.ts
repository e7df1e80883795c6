import { describe, expect, it } from 'bun:test'
import type { ListReading } from '../sync/port.ts'
import { readingLines, readingWarnings } from './check.ts'

const READING: ListReading = {
  list: 'events',
  ways: new Set(['full']),
  updatedAt: null,
  rows: 250,
  pages: 3,
  pageRows: 100,
  isFirstFull: true,
  isEndEmpty: true,
  total: 250,
  budget: { most: 600, perMs: 60_000 },
  requests: new Map(),
  readsTickets: false,
}
const freshness = { maxAgeMs: 30_000, refreshEveryMs: 5000, fullReadEveryMs: 900_000 }

describe('how a list is read', () => {
  it.each([
    [['full'], 'in full every 5 s, about 2,880 requests an hour'],
    [
      ['full', 'since', 'ids'],
      'by changes of changed, all ids every 15 s, in full every 15 min, about 2,416 requests an hour',
    ],
    [['full', 'since'], 'by changes of changed, in full every 15 s, about 2,416 requests an hour'],
    [['full', 'changes'], 'by the changes that the CRM reports, in full every 15 min, about 736 requests an hour'],
  ])('is told for %j, with what it costs', (ways, how) => {
    const [line] = readingLines([{ ...READING, ways: new Set(ways), updatedAt: 'changed' }], { freshness })
    expect(line).toBe(
      `The events are read ${how}: 250 rows, 3 pages, 100 rows on page 1; the CRM counts 250; the list ended with an empty page.`,
    )
  })

  it('costs what was counted: requests for linked rows, for deletions and for the tickets', () => {
    const lineOf = (reading: Partial<ListReading>, others: readonly ListReading[] = []): string => {
      const ways = new Set(['full', 'since', 'ids'])
      return readingLines([{ ...READING, pages: 1, ways, ...reading }, ...others], { freshness })[0] ?? ''
    }
    // Odoo: a page of events, then its tickets and its tags, each with an empty page.
    const odoo = new Map(Object.entries({ full: 6, since: 1 }))
    expect(lineOf({ requests: odoo })).toContain('in full every 15 min, about 4,824 requests an hour: ')
    expect(lineOf({ requests: odoo, readsTickets: true })).toContain(
      'in full every 15 min, the tickets every 5 s, about 6,264 requests an hour: ',
    )
    // Salesforce: the rows, and those in the recycle bin. Since was tried on the other list.
    const other = { ...READING, requests: new Map([['since', 2]]) }
    const salesforce = { isEndEmpty: false, requests: new Map([['full', 1]]) }
    expect(lineOf(salesforce, [other])).toContain('about 1,684 requests an hour: ')
  })

  it('costs nothing that Marquee could count if the connector sends its requests by itself', () => {
    const reading = { ...READING, rows: 1, pages: 1, isFirstFull: false, isEndEmpty: false, total: null, budget: null }
    expect(readingLines([reading], { freshness })).toEqual(['The events are read in full every 5 s: 1 row.'])
    expect(readingWarnings([reading], { freshness: { ...freshness, maxAgeMs: 5000 } })).toEqual([])
  })

  it('is warned of if its only page is as full as it can be, and nothing says how many rows there are', () => {
    const one = { ...READING, pages: 1, pageRows: 7, rows: 7, isEndEmpty: false, total: null }
    const sentence = 'events: the whole list is one answer of exactly 7 rows: is it only the first page?'
    expect(readingWarnings([one], { freshness })).toEqual([sentence])
    const changes = new Set(['full', 'changes'])
    const others = [{ isFirstFull: false }, { total: 7 }, { isEndEmpty: true }, { pages: 2 }, { ways: changes }]
    for (const other of others) expect(readingWarnings([{ ...one, ...other }], { freshness })).toEqual([])
    const round = { ...one, isFirstFull: false, rows: 10, budget: null }
    expect(readingWarnings([round], { freshness })).toEqual([sentence.replace('7', '10')])
  })

  it('is warned of if the budget, or a pause, is too much for the maximum age', () => {
    const small = { ...READING, budget: { most: 10, perMs: 60_000 } }
    expect(readingWarnings([READING, READING], { freshness })).toEqual([])
    expect(readingWarnings([small, small], { freshness: { ...freshness, maxAgeMs: 10_000 } })).toEqual([
      'both lists need about 5,760 requests an hour, and the budget allows 600: raise requests, or freshness.maxAge and freshness.refreshEvery',
      'a 429 or 503 without Retry-After costs a pause of 10 s, which is too long for freshness.maxAge',
    ])
  })
})
