import { describe, expect, it } from 'bun:test'
import type { Batches, Context, Row, Stream } from '../../src/crm/connector/marquee-connector.d.ts'
import { digits } from '../dataverse/environment.ts'
import { type TestRow, eventRow, fields, idNumbered, openOwn } from './own-crm.ts'

const ROWS: readonly TestRow[] = Array.from({ length: 42 }, (_, index) => eventRow(index + 1))
const TIMELESS: readonly Row[] = ROWS.map((row) => ({ ...row, changed: null }))

async function* pagesOf(rows: readonly Row[]): Batches {
  for (let at = 0; at < rows.length; at += 20) yield rows.slice(at, at + 20)
}

/** A connector that keeps all promises. */
const GOOD: Stream = {
  fields,
  updatedAt: 'changed',
  full: () => pagesOf(ROWS),
  since: (_, time) => pagesOf(ROWS.filter(({ changed }) => changed >= time)),
  async *ids() {
    yield ROWS.map(({ id, changed }) => [id, changed] as const)
  },
  byId: (_, ids) => pagesOf(ROWS.filter(({ id }) => ids.includes(id))),
}

async function findingsOf(events: Stream, isThorough = true): Promise<readonly string[]> {
  const { crm } = await openOwn(events)
  const found = (await crm.conform?.(isThorough)) ?? []
  await crm.close()
  return found.map(({ sentence, losesRows }) => `${losesRows ? 'loses rows' : 'warning'}: ${sentence}`)
}

describe('the examination of a connector', () => {
  it('finds nothing where all is well, neither quickly nor thoroughly', async () => {
    expect(await findingsOf(GOOD)).toEqual([])
    expect(await findingsOf(GOOD, false)).toEqual([])
  })

  it.each([null, ''])('looks for no row whose id is %p: it is withheld', async (id) => {
    const nameless = {
      full: () => pagesOf([{ ...eventRow(43), id }, ...ROWS]),
      async *ids() {
        yield [[id as string, null] as const, ...ROWS.map((row) => [row.id, row.changed] as const)]
      },
    }
    expect(await findingsOf({ ...GOOD, ...nameless })).toEqual([])
  })

  let reads = 0
  const planted: readonly (readonly [string, Partial<Stream>, string])[] = [
    [
      'a full read that differs each time',
      { full: () => pagesOf(++reads % 2 === 0 ? ROWS : ROWS.slice(1)) },
      'loses rows: events: two full reads in a row returned different rows',
    ],
    ['since that is ignored', { since: () => pagesOf(ROWS) }, 'the API ignores the parameter'],
    [
      'since that is ignored, of rows without a time',
      { full: () => pagesOf(TIMELESS), since: () => pagesOf(TIMELESS) },
      'returned a row without a time: the API ignores the parameter',
    ],
    [
      'ids that lack a row',
      {
        async *ids() {
          yield ROWS.slice(1).map(({ id, changed }) => [id, changed] as const)
        },
      },
      'loses rows: events: ids lacks 1 of 42 rows of full',
    ],
    [
      'full that lacks a row',
      { full: () => pagesOf(ROWS.slice(1)) },
      'loses rows: events: full lacks 1 of 42 rows of ids',
    ],
    [
      'byId that gives nothing',
      { byId: () => pagesOf([]) },
      `loses rows: events: byId did not return the row ${idNumbered(1)}`,
    ],
    [
      'byId that gives everything',
      { byId: () => pagesOf(ROWS) },
      'warning: events: byId returned 39 rows that were not requested',
    ],
    [
      'availability that lacks a column',
      {
        async *availability() {
          yield ROWS.map(({ id, seats }) => ({ id, seats: seats ?? null }))
        },
      },
      'loses rows: events: no row of availability has sold',
    ],
    [
      'changes that give all',
      {
        async *changes(_: Context, cursor: string | null) {
          if (cursor !== null) yield ROWS
          return 'next'
        },
      },
      'warning: events: changes returned 42 rows right after full returned 42',
    ],
    [
      'changes that never end',
      {
        async *changes(_: Context, cursor: string | null) {
          if (cursor !== null) for (;;) yield ROWS
          return 'next'
        },
      },
      'loses rows: events: more than 1,084 rows came: does it end? (changes)',
    ],
    [
      'ids that never end',
      {
        async *ids() {
          for (;;) yield ROWS.map(({ id, changed }) => [id, changed] as const)
        },
      },
      'loses rows: events: more than 1,084 rows came: does it end? (ids)',
    ],
    [
      'changes without a cursor',
      {
        async *changes() {
          yield []
          return ''
        },
      },
      'loses rows: events: changes returned no cursor (changes)',
    ],
    [
      'ids that are floats',
      { full: () => pagesOf([{ ...eventRow(1), id: 12_345_678_901_234_567_000 }]) },
      'loses rows: events: id is the number 12345678901234567000, which may have lost digits in a float',
    ],
    [
      'a price that went through a float',
      { full: () => pagesOf([eventRow(1, { price: 0.1 + 0.2 })]), fields: { ...fields, Price: 'price' } },
      'warning: events: price is 0.30000000000000004, which went through a float',
    ],
    [
      'an answer that fails',
      { byId: (context: Context) => context.fail('misconfigured', 'there is no such path') },
      'loses rows: events: there is no such path (byId)',
    ],
    [
      'a throw',
      {
        since() {
          throw new TypeError('a row')
        },
      },
      'loses rows: events: our crm threw TypeError (since)',
    ],
    [
      'rows that are no plain objects',
      { full: () => pagesOf([{ ...eventRow(1), at: new Date(0) } as unknown as Row]) },
      'loses rows: events: a row holds at, which is a Date: use toISOString() (full)',
    ],
  ]

  it.each(planted)('names %s', async (_, fault, sentence) => {
    const found = await findingsOf({ ...GOOD, ...fault })
    expect(found.join('\n')).toContain(sentence)
  })

  it('does not suspect numbers of a column in which some have more digits than a float', async () => {
    const texts = ['9007199254741003', '9007199254741014']
    const rows = texts.map((id, index) => ({ ...eventRow(index + 1), id: digits(id) as number }))
    expect(await findingsOf({ fields, full: () => pagesOf(rows) })).toEqual([])
  })

  it('asks no more than five requests where it is quick', async () => {
    let requests = 0
    const counted: Stream = {
      ...GOOD,
      full: async function* () {
        for await (const batch of pagesOf(ROWS)) {
          requests++
          yield batch
        }
      },
      since: (_, time) => (requests++, pagesOf(ROWS.filter(({ changed }) => changed >= time))),
      byId: (_, ids) => (requests++, pagesOf(ROWS.filter(({ id }) => ids.includes(id)))),
    }
    await findingsOf(counted, false)
    expect(requests).toBeLessThanOrEqual(5)
  })
})
