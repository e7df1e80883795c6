import { describe, expect, it } from 'bun:test'
import { suspicionSaid } from '../../src/faults/fault-words.ts'
import { eventually } from '../support/eventually.ts'
import type { Batches, Batch as RowBatch, FullEnd, Row, Stream } from '../../src/crm/connector/marquee-connector.d.ts'
import { outlineOf } from '../../src/crm/context/connector-run.ts'
import { listSuspicions } from '../../src/crm/mapping/suspicions.ts'
import { Reader, ShiftedTime, type TestRow, eventRow, fields, guidNumbered, idNumbered, openOwn } from './own-crm.ts'

type Batch = readonly Row[] | RowBatch

function rowsFrom(first: number, last: number): TestRow[] {
  return Array.from({ length: last - first + 1 }, (_, index) => eventRow(first + index))
}

const asBatch = (rows: readonly TestRow[]): Row[] => rows.map((row) => ({ ...row }))

function listOf(pages: () => Iterable<Batch>, more: Partial<Stream> = {}): Stream {
  return {
    fields,
    async *full() {
      yield* pages()
    },
    ...more,
  }
}

async function* batchesOf(given: unknown): AsyncGenerator<Batch, void> {
  yield given as Batch
}

const message = (outcome: Awaited<ReturnType<Reader['full']>>): string =>
  outcome.ok ? 'no fault' : `${outcome.failure.kind}: ${outcome.failure.message}`

describe('a list that is only read in full', () => {
  it('is complete, from no single moment, and reports no changes', async () => {
    const { events } = await openOwn(listOf(() => [asBatch(rowsFrom(1, 3)), asBatch(rowsFrom(4, 5))]))
    const reader = new Reader(events)
    expect(events.reportsChanges).toBe(false)
    expect(await reader.full()).toMatchObject({
      ok: true,
      complete: true,
      oneMoment: false,
      confirms: true,
      cursor: null,
    })
    expect(reader.said).toEqual([1, 2, 3, 4, 5].map((number) => [number, `event ${number}`]))
  })

  it('calls a row unchanged whose bytes are those of the last read, and maps one that differs', async () => {
    let rows = rowsFrom(1, 2)
    const { events } = await openOwn(listOf(() => [asBatch(rows)]))
    const reader = new Reader(events)
    await reader.full()
    rows = [eventRow(1), eventRow(2, { name: 'another name' })]
    await reader.full()
    expect(reader.said).toEqual([
      [1, 'unchanged'],
      [2, 'another name'],
    ])
  })

  it('comes in pages of at most 1,000 rows, and is known as of the beginning of the read', async () => {
    const time = new ShiftedTime()
    const stream = listOf(function* () {
      time.aheadMs += 5000
      yield asBatch(rowsFrom(1, 2500))
      time.aheadMs += 5000
      yield asBatch(rowsFrom(2501, 2600))
    })
    const { events } = await openOwn(stream, { time })
    const reader = new Reader(events)
    expect(await reader.full()).toMatchObject({ ok: true, asOf: null })
    expect(reader.said).toHaveLength(2600)
    expect(Math.max(...reader.pages.map(({ changes }) => changes.length))).toBeLessThanOrEqual(1000)
  })

  it('gives signs of life while a page is on its way', async () => {
    const signs = (): number => reader.pages.filter(({ changes }) => changes.length === 0).length
    const stream: Stream = {
      fields,
      async *full() {
        await eventually(
          async () => signs(),
          (count) => count >= 3,
        )
        yield asBatch(rowsFrom(1, 1))
      },
    }
    const { events } = await openOwn(stream, { requestTimeoutMs: 50 })
    const reader = new Reader(events)
    expect(await reader.full()).toMatchObject({ ok: true })
  })

  it('ends soon after an abort, whatever the connector does', async () => {
    const { events } = await openOwn({
      fields,
      async *full() {
        await new Promise(() => {})
        yield []
      },
    })
    const reading = new AbortController()
    const outcome = new Reader(events).full({ signal: reading.signal })
    await Bun.sleep(20)
    reading.abort()
    expect(message(await outcome)).toBe('internal: the read was given up')
  })

  it('is read a second time where served rows are missing, unless rows cannot have moved', async () => {
    let reads = 0
    let isStable = false
    const pages = (): Batch[] => {
      const rows = ++reads === 2 ? rowsFrom(1, 3) : rowsFrom(1, 4)
      return [rows.slice(0, 2), rows.slice(2)].map((part) => ({
        rows: asBatch(part),
        ...(isStable ? { stable: 'order' as const } : {}),
      }))
    }
    const { events } = await openOwn(listOf(pages))
    const reader = new Reader(events)
    await reader.full()
    await reader.full({ served: reader.served() })
    expect(reads).toBe(3)
    expect(reader.pages.at(-1)?.pass).toBe(1)
    reads = 1
    isStable = true
    await reader.full({ served: reader.served() })
    expect(reads).toBe(2)
    expect(reader.said.map(([number]) => number)).toEqual([1, 2, 3])
  })
})

describe('a full read fails', () => {
  const faultOf = async (stream: Stream, limits = {}): Promise<string> =>
    message(await new Reader((await openOwn(stream, limits)).events).full())

  it('where a page has only rows of earlier pages', async () => {
    expect(await faultOf(listOf(() => [asBatch(rowsFrom(1, 2)), asBatch(rowsFrom(1, 2))]))).toBe(
      'broken: events: page 2 has only rows of earlier pages; is paging.by right?',
    )
  })

  it.each<[string, Partial<Stream>]>([
    ['broken: events: a row is undefined', { full: () => batchesOf([undefined]) }],
    ['broken: events: full yielded totla; did you mean total?', { full: () => batchesOf({ rows: [], totla: 3 }) }],
    ['broken: events: my sentence', { full: (context) => context.fail('nonsense' as 'broken', 'my sentence') }],
    [
      'refused: events: the connector called fail("refused") without a sentence',
      { full: (context) => context.fail('refused', undefined as unknown as string) },
    ],
    [
      'internal: events: our crm threw TypeError',
      {
        full() {
          throw Object.assign(new TypeError('a row'), { stack: null })
        },
      },
    ],
  ])('where a connector in JavaScript does what its types forbid: %s', async (sentence, more) => {
    expect(await faultOf(listOf(() => [], more))).toBe(sentence)
  })

  it('unless a member that has almost the name of another one is beside it, as an API may have totals', async () => {
    const answer = { rows: asBatch(rowsFrom(1, 2)), total: 2, totals: { sold: 80 } }
    expect(await faultOf(listOf(() => [], { full: () => batchesOf(answer) }))).toBe('no fault')
  })

  it('where the CRM told of more rows than came', async () => {
    const pages = (total: number): Batch[] => [{ rows: asBatch(rowsFrom(1, 2)), total }]
    expect(await faultOf(listOf(() => pages(3)))).toBe(
      'broken: events: the CRM says that there are 3 rows, but returned 2',
    )
    expect(await faultOf(listOf(() => pages(2)))).toBe('no fault')
  })

  it('where its pages never end', async () => {
    const endless = function* (): Generator<Batch> {
      for (;;) yield []
    }
    expect(await faultOf(listOf(endless))).toBe('broken: events: the pages do not end: 20,000 came')
  })

  it('where it takes longer than the interval of full reads', async () => {
    const time = new ShiftedTime()
    const stream = listOf(function* () {
      yield []
      time.aheadMs += 61_000
      yield []
    })
    expect(await faultOf(stream, { time, requestTimeoutMs: 1000, fullReadEveryMs: 60_000 })).toBe(
      'timeout: events: the read did not end within 60 s (freshness.fullReadEvery)',
    )
  })

  it('where no row has an id, but not where an API leaves out what is blank', async () => {
    const stream = listOf(() => [asBatch(rowsFrom(1, 2))])
    expect(await faultOf({ ...stream, fields: { ...fields, Id: 'idd' } })).toStartWith(
      'misconfigured: events: no row has "idd" (events.fields.Id; did you mean "id"?); rows have ',
    )
    expect(await faultOf({ ...stream, fields: { ...fields, Tags: 'notice', VenueId: 'place.ID' } })).toBe('no fault')
  })

  it.each([
    [{ at: new Date(0) }, 'a row holds at, which is a Date: use toISOString()'],
    [{ deep: { price: Number.NaN } }, 'a row holds deep.price, which is NaN'],
    [{ price: 1n }, 'a row holds price, which is a bigint: write it as a text'],
    [{ made: () => 1 }, 'a row holds made, which is a function: write it as a text'],
    [{ tags: new Set() }, 'a row holds tags, which is an instance of a class'],
  ])('where a row has %p', async (more, sentence) => {
    const stream = listOf(() => [[{ ...eventRow(1), ...more }] as unknown as Batch])
    expect(await faultOf(stream)).toBe(`broken: events: ${sentence}`)
  })

  it('by name and line where the connector throws, never by its message', async () => {
    const stream = listOf(() => {
      throw new TypeError('the row of Ada Lovelace')
    })
    expect(await faultOf(stream)).toBe('internal: events: our crm threw TypeError')
  })

  it('by its own reason, whatever its clean-up throws after that', async () => {
    const failing = (next: () => Promise<IteratorResult<Batch>>): Stream => ({
      fields,
      full: () =>
        ({
          [Symbol.asyncIterator]: () => ({
            next,
            return: () => Promise.reject(new TypeError('the clean-up')),
          }),
        }) as unknown as Batches<Row, FullEnd>,
    })
    const undefinedRow = failing(() => Promise.resolve({ done: false, value: [undefined] as unknown as Batch }))
    expect(await faultOf(undefinedRow)).toBe('broken: events: a row is undefined')
    const throwing = failing(() => Promise.reject(new RangeError('a row')))
    expect(await faultOf(throwing)).toBe('internal: events: our crm threw RangeError')
    expect(await faultOf(failing(() => Promise.resolve({ done: true, value: undefined })))).toBe('no fault')
  })

  it('but not where a batch has getters, as one of a class has', async () => {
    class Answer {
      get rows(): Row[] {
        return asBatch(rowsFrom(1, 2))
      }
      get total(): number {
        return 3
      }
    }
    expect(await faultOf(listOf(() => [new Answer()]))).toBe(
      'broken: events: the CRM says that there are 3 rows, but returned 2',
    )
  })

  it('in the words of fail', async () => {
    const stream: Stream = {
      fields,
      async *full(context) {
        yield []
        context.fail('misconfigured', 'there is no table of that name')
      },
    }
    expect(await faultOf(stream)).toBe('misconfigured: events: there is no table of that name')
  })

  it('where a method gives no rows', async () => {
    const plain = { fields, full: () => [] } as unknown as Stream
    expect(await faultOf(plain)).toContain('misconfigured: events: full does not return an async iterable')
    expect(await faultOf(listOf(() => ['rows'] as unknown as Batch[]))).toContain('neither a list of rows nor { rows }')
  })
})

describe('a row', () => {
  it('of more than 256 KB is withheld as too large, and its neighbours are served', async () => {
    const large = eventRow(2, { note: 'x'.repeat(256 * 1024) })
    const { events } = await openOwn(listOf(() => [asBatch([eventRow(1), large, eventRow(3)])]))
    const reader = new Reader(events)
    expect(await reader.full()).toMatchObject({ ok: true })
    expect(reader.said).toEqual([
      [1, 'event 1'],
      [0, 'withheld'],
      [3, 'event 3'],
    ])
    const [change] = reader.pages.flatMap(({ changes }) => changes).filter(({ kind }) => kind === 'withheld')
    expect(change).toMatchObject({ withheld: { fault: 'too-large', column: null, where: 'events, row 2' } })
  })

  it('that comes twice in a read counts as it came last', async () => {
    const { events, notices } = await openOwn(listOf(() => [asBatch([eventRow(1), eventRow(1, { name: 'later' })])]))
    const reader = new Reader(events)
    await reader.full()
    expect(reader.said).toEqual([[1, 'later']])
    await reader.full()
    expect(notices).toEqual([
      `events, id ${idNumbered(1)}: one answer has two different rows of this id; the later one counts`,
    ])
  })

  it('that is withheld on purpose hides no other of its id, before it or after it', async () => {
    const [shown, gone] = [eventRow(1), eventRow(1, { name: 'gone', sold: 'x', state: 'gone' })]
    for (const rows of [
      [gone, shown],
      [shown, gone],
      [gone, gone, shown, gone],
    ]) {
      const active = { state: { not: ['gone'] } }
      const { events, notices } = await openOwn(listOf(() => [asBatch(rows)], { active }))
      const reader = new Reader(events)
      await reader.full()
      expect([reader.said, notices]).toEqual([[[1, 'event 1']], []])
    }
  })

  it('that comes twice alike, or again with a later page, is no mistake', async () => {
    const again = [asBatch([eventRow(1), eventRow(1)]), asBatch([eventRow(1, { name: 'later' }), eventRow(2)])]
    const { events, notices } = await openOwn(listOf(() => again))
    await new Reader(events).full()
    expect(notices).toEqual([])
  })
})

describe('a list with changes', () => {
  const seen: (string | null)[] = []
  let log: { rows: TestRow[]; deleted: string[] } = { rows: [], deleted: [] }
  let next = 'c1'
  const stream = listOf(() => [asBatch(rowsFrom(1, 3))], {
    async *changes(context, cursor) {
      seen.push(cursor)
      if (cursor === 'old') context.fail('expired', 'the token is too old')
      if (cursor !== null) yield { rows: asBatch(log.rows), deleted: log.deleted, lagMs: 1500 }
      return next
    },
  })

  it('asks where changes begin before it reads in full, then goes on from there', async () => {
    const { events } = await openOwn(stream)
    const reader = new Reader(events)
    expect(events.reportsChanges).toBe(true)
    expect(await reader.full()).toMatchObject({ ok: true, complete: true, cursor: 'c1' })
    log = { rows: [eventRow(2, { name: 'moved' })], deleted: [idNumbered(3), 'no id of ours'] }
    next = 'c2'
    expect(await reader.changes()).toMatchObject({ ok: true, complete: false, confirms: true, cursor: 'c2' })
    expect(reader.said).toEqual([
      [2, 'moved'],
      [3, 'deleted'],
    ])
    expect(reader.pages.at(-1)?.sourceLagMs).toBe(1500)
    expect(seen).toEqual([null, 'c1'])
  })

  it.each([
    ['too large', eventRow(2, { note: 'x'.repeat(256 * 1024) })],
    ['without an id', { ...eventRow(2), id: '' }],
  ])('is read in full where a row is %s: nobody knows which row is no longer as it is served', async (_, row) => {
    const { events } = await openOwn(stream)
    const reader = new Reader(events)
    next = 'c1'
    await reader.full()
    log = { rows: [eventRow(1, { name: 'moved' }), row], deleted: [] }
    expect(message(await reader.changes())).toBe(
      'cursor-refused: events: the list is read in full, because a changed row is too large, or has no usable id of its own',
    )
    log = { rows: [], deleted: [] }
  })

  it('is read in full if only the hidden row of an id changed: the other row of the id is still served', async () => {
    const [shown, gone] = [eventRow(1), eventRow(1, { name: 'gone', state: 'gone' })]
    const active = { state: { not: ['gone'] } }
    const { events } = await openOwn({ ...stream, ...listOf(() => [asBatch([shown, gone])], { active }) })
    const reader = new Reader(events)
    next = 'c1'
    await reader.full()
    log = { rows: [gone], deleted: [] }
    expect(message(await reader.changes())).toContain('the list is read in full, because a changed row')
    expect(reader.said).toEqual([])
    log = { rows: [gone, eventRow(1, { name: 'moved' })], deleted: [] }
    expect([message(await reader.changes()), reader.said]).toEqual(['no fault', [[1, 'moved']]])
    log = { rows: [], deleted: [] }
  })

  it('keeps the cursor of a failed read, and reads in full where the cursor is refused', async () => {
    const { events } = await openOwn(stream)
    const reader = new Reader(events)
    await reader.full()
    reader.cursor = 'old' as NonNullable<Reader['cursor']>
    expect(message(await reader.changes())).toBe('cursor-refused: events: the token is too old')
    next = 'x'.repeat(16_385)
    reader.cursor = 'c1' as NonNullable<Reader['cursor']>
    expect(message(await reader.changes())).toContain('more than 16384 characters')
    next = ''
    expect(message(await reader.changes())).toBe('broken: events: changes returned no cursor')
    expect(reader.cursor).toBe('c1' as NonNullable<Reader['cursor']>)
  })
})

it('tells when the CRM changed a row, for the delay of its publication, if the connector has updatedAt', async () => {
  const rows = [eventRow(1, { changed: '2026-11-20 10:00:00' }), eventRow(2, { changed: 'yesterday' })]
  const timesOf = async (more: Partial<Stream>): Promise<unknown> => {
    const { events } = await openOwn(listOf(() => [asBatch(rows)], more))
    const reader = new Reader(events)
    await reader.full()
    return reader.pages.flatMap((page) => page.changes.map((_, index) => page.updatedAtMs?.(index)))
  }
  expect(await timesOf({ updatedAt: 'changed' })).toEqual([Date.UTC(2026, 10, 20, 10), Number.NaN])
  expect(await timesOf({})).toEqual([undefined, undefined])
})

it.each([
  [{ showOnweb: { web: [true] } }, {}, 'events has showOnweb; did you mean showOnWeb?'],
  [{ byID() {} }, {}, 'events has byID; did you mean byId?'],
  [{}, { request: { most: 60 } }, 'has request; did you mean requests?'],
])('refuses a misspelt member, which would be ignored: %p %p', (list, more, sentence) => {
  const events = listOf(() => [])
  const misspelt = { api: 2, events: { ...events, ...list }, venues: events, ...more } as const
  expect(outlineOf(misspelt)).toBe(sentence)
  const mine = { token: null, request: {}, requests: { most: 60 } }
  const own = { api: 2, events: { ...events, pageOf() {} }, venues: events, ...mine } as const
  expect(outlineOf(own)).toBeObject()
})

describe('a list that is read in full again and again', () => {
  const suspicious = async (rows: readonly Row[], more: Partial<Stream>): Promise<readonly string[]> => {
    const suspicions = listSuspicions()
    const { events } = await openOwn(
      listOf(() => [rows], more),
      { suspicions },
    )
    const reader = new Reader(events)
    await reader.full()
    await reader.full()
    suspicions.events.judge(rows.length)
    return suspicions.events
      .list(() => true)
      .map(suspicionSaid)
      .map(({ column, what, count }) => `${column} ${what} (${count})`)
  }
  const priced = { ...fields, Price: null }

  it('has no fewer columns at the second read', async () => {
    expect(await suspicious(asBatch(rowsFrom(1, 80)), { fields: priced, updatedAt: 'changed' })).toEqual([])
    const blank = rowsFrom(1, 80).map((row) => ({ ...row, hint: '' }))
    expect(await suspicious(blank, { fields: { ...priced, Tags: 'hint' }, updatedAt: 'changed' })).toEqual([
      'hint exists, but is blank in every row (80)',
    ])
  })

  it.each([{ changed: null }, { changed: undefined }, { changed: ' ' }])(
    'is suspicious if every row has %p',
    async (blank) => {
      const rows = rowsFrom(1, 5).map((row) => JSON.parse(JSON.stringify({ ...row, ...blank })) as Row)
      expect(await suspicious(rows, { fields: priced, updatedAt: 'changed' })).toEqual([
        'changed is blank in every row: updatedAt names it, and it never shows that a row has changed (5)',
      ])
    },
  )
})

/** A table that is asked by time, by ids, or in full. */
class Table {
  rows = rowsFrom(1, 4)
  readonly asked: string[] = []
  isSinceIgnored = false
  readonly stream: Stream = {
    fields,
    updatedAt: 'changed',
    full: () => this.#give('full', this.rows),
    since: (_, time) =>
      this.#give(`since ${time}`, this.isSinceIgnored ? this.rows : this.rows.filter(({ changed }) => changed >= time)),
    ids: () => this.#ids(),
    byId: (_, ids) =>
      this.#give(
        `byId ${ids.length}`,
        this.rows.filter(({ id }) => ids.includes(id)),
      ),
  }

  /** The stream with these methods alone. */
  offering(...ways: readonly string[]): Stream {
    const methods = ['full', 'since', 'ids', 'byId']
    return Object.fromEntries(
      Object.entries(this.stream).filter(([name]) => !methods.includes(name) || ways.includes(name)),
    ) as unknown as Stream
  }

  async *#give(asked: string, rows: readonly TestRow[]): AsyncGenerator<Batch> {
    this.asked.push(asked)
    yield asBatch(rows)
  }

  async *#ids(): AsyncGenerator<readonly (readonly [string, string])[]> {
    this.asked.push('ids')
    yield this.rows.map(({ id, changed }) => [id, changed] as const)
  }

  change(number: number, changed: string, name: string): void {
    this.rows = this.rows.map((row) => (row.id === idNumbered(number) ? { ...row, changed, name } : row))
  }
}

describe('a list with since and ids', () => {
  it('is asked with a look-back, confirms only when all ids were compared, and reads what differs by byId', async () => {
    const table = new Table()
    const time = new ShiftedTime()
    const { events } = await openOwn(table.stream, { time, maxAgeMs: 30_000 })
    const reader = new Reader(events)
    expect(await reader.full()).toMatchObject({ ok: true, complete: true, confirms: true })
    table.change(2, '2026-11-01T00:00:30Z', 'changed')
    expect(await reader.changes()).toMatchObject({ ok: true, complete: false, confirms: false })
    expect(reader.said).toContainEqual([2, 'changed'])
    // A stamp of the past, which since does not find; the comparison does.
    table.change(3, '2020-01-01T00:00:00Z', 'behind')
    table.rows = table.rows.filter(({ id }) => id !== idNumbered(4))
    time.aheadMs = 15_000
    table.asked.length = 0
    expect(await reader.changes()).toMatchObject({ ok: true, complete: true, confirms: true })
    expect(table.asked).toEqual(['since 2026-10-31T23:59:30Z', 'ids', 'byId 1'])
    expect(reader.said.filter(([number]) => number === 3)).toEqual([[3, 'behind']])
    expect(reader.said.some(([number]) => number === 4)).toBe(false)
  })

  it('compares at once where a caller waits', async () => {
    const table = new Table()
    const { events } = await openOwn(table.stream)
    const reader = new Reader(events)
    await reader.full()
    expect(await reader.changes({ mustConfirm: true })).toMatchObject({ ok: true, complete: true, confirms: true })
  })

  it('asks once for changes of the future, and fails where rows of the past come', async () => {
    const table = new Table()
    const { events } = await openOwn(table.stream)
    const reader = new Reader(events)
    await reader.full()
    await reader.changes()
    await reader.changes()
    const years = table.asked.filter((asked) => asked.startsWith('since')).map((asked) => asked.slice(6, 16))
    expect(years.slice(1)).toEqual(['2026-10-31', '2026-10-31'])
    expect(Date.parse(years[0] ?? '')).toBeGreaterThan(Date.now() + 24 * 3_600_000)
    const ignoring = new Table()
    ignoring.isSinceIgnored = true
    const other = new Reader((await openOwn(ignoring.stream)).events)
    await other.full()
    expect(message(await other.changes())).toBe(
      'misconfigured: events: since returned rows that changed before the requested time; does the API ignore its parameter?',
    )
  })

  it('reads in full where there is no byId', async () => {
    const table = new Table()
    const reader = new Reader((await openOwn(table.offering('full', 'since', 'ids'))).events)
    await reader.full()
    table.change(1, '2020-01-01T00:00:00Z', 'behind')
    table.asked.length = 0
    await reader.changes({ mustConfirm: true })
    expect(table.asked.slice(-2)).toEqual(['ids', 'full'])
    expect(reader.said).toContainEqual([1, 'behind'])
  })

  it('keeps a row that ids lists and byId lacks, unless a full read lacks it too', async () => {
    const table = new Table()
    let gone = ''
    const stream: Stream = {
      ...table.stream,
      full: () => batchesOf(table.rows.filter(({ id }) => id !== gone)),
      byId: () => batchesOf([]),
    }
    const reader = new Reader((await openOwn(stream)).events)
    await reader.full()
    table.change(1, '2020-01-01T00:00:00Z', 'behind')
    expect(await reader.changes({ mustConfirm: true })).toMatchObject({ ok: true, complete: true })
    expect(reader.said).toContainEqual([1, 'behind'])
    table.change(2, '2020-01-01T00:00:00Z', 'gone')
    gone = idNumbered(2)
    expect(await reader.changes({ mustConfirm: true })).toMatchObject({ ok: true, complete: true })
    expect(new Set(reader.said.map(([number]) => number))).toEqual(new Set([1, 3, 4]))
  })

  it('is not read in full for a row that byId itself reports as deleted', async () => {
    const table = new Table()
    const stream: Stream = { ...table.stream, byId: () => batchesOf({ rows: [], deleted: [idNumbered(1)] }) }
    const reader = new Reader((await openOwn(stream)).events)
    await reader.full()
    table.change(1, '2020-01-01T00:00:00Z', 'gone')
    table.asked.length = 0
    expect(await reader.changes({ mustConfirm: true })).toMatchObject({ ok: true, complete: true })
    expect(table.asked).not.toContain('full')
    expect(reader.said).toContainEqual([1, 'deleted'])
  })

  it('is as old as the oldest answer, also one of ids, or one without changes', async () => {
    const table = new Table()
    const stream: Stream = {
      ...table.stream,
      async *ids() {
        yield { rows: table.rows.map(({ id, changed }) => [id, changed] as const), lagMs: 300_000 }
      },
      async *since() {
        yield { rows: [], lagMs: 60_000 }
      },
    }
    const reader = new Reader((await openOwn(stream)).events)
    await reader.full()
    await reader.changes()
    expect(reader.lagMs).toBe(60_000)
    expect(await reader.changes({ mustConfirm: true })).toMatchObject({ ok: true, confirms: true })
    expect(reader.lagMs).toBe(300_000)
  })

  it('is compared twice where served rows are missing, unless rows cannot have moved', async () => {
    const table = new Table()
    // Since gives only the newest row again.
    table.change(1, '2026-11-02T00:00:00Z', 'newest')
    let scans = 0
    const stream = (stable: boolean): Stream => ({
      ...table.stream,
      async *ids() {
        const pairs = table.rows.map(({ id, changed }) => [id, changed] as const)
        // In every other scan the third row has moved from the second page to the first, which was read before.
        const second = pairs.slice(2).filter((_, at) => scans % 2 === 1 || at > 0)
        scans++
        yield* [pairs.slice(0, 2), second].map((rows) => ({ rows, ...(stable ? { stable: 'order' as const } : {}) }))
      },
    })
    const reader = new Reader((await openOwn(stream(false))).events)
    await reader.full()
    const served = reader.served()
    expect(await reader.changes({ mustConfirm: true, served })).toMatchObject({ ok: true, complete: true })
    expect([scans, served.countMissing()]).toEqual([2, 0])
    // What both scans lack is gone.
    table.rows = table.rows.slice(1)
    await reader.changes({ mustConfirm: true, served })
    expect([scans, served.countMissing()]).toEqual([4, 1])
    table.change(2, '2026-11-02T00:00:00Z', 'newest')
    const stable = new Reader((await openOwn(stream(true))).events)
    await stable.full()
    await stable.changes({ mustConfirm: true, served: stable.served() })
    expect([scans, stable.served().countMissing()]).toEqual([5, 1])
  })

  it.each(['test-1', ' ', null])(
    'skips the id %p, as a full read does, but fails where no id is usable',
    async (id) => {
      const table = new Table()
      let isAlone = false
      const stream: Stream = {
        ...table.stream,
        async *ids() {
          const pairs = table.rows.map((row) => [row.id, row.changed] as const)
          yield [...(isAlone ? [] : pairs), [id as string, null] as const]
        },
      }
      const reader = new Reader((await openOwn(stream)).events)
      await reader.full()
      expect(await reader.changes({ mustConfirm: true })).toMatchObject({ ok: true, complete: true, confirms: true })
      expect(reader.said.filter(([, said]) => said === 'unchanged').length).toBe(4)
      isAlone = true
      expect(message(await reader.changes({ mustConfirm: true }))).toBe(
        'broken: events: ids returned 1 row, but no usable id',
      )
    },
  )

  it.each([null, ''])('knows a row again whose time is blank, whether ids gives %p or it', async (blank) => {
    const table = new Table()
    table.rows = table.rows.map((row, at) => (at === 1 ? { ...row, changed: '' } : row))
    const stream: Stream = {
      ...table.stream,
      async *ids() {
        yield table.rows.map(({ id, changed }) => [id, changed === '' ? blank : changed] as const)
      },
    }
    const reader = new Reader((await openOwn(stream)).events)
    await reader.full()
    await reader.changes({ mustConfirm: true })
    expect(reader.said.filter(([number]) => number === 2)).toEqual([[2, 'unchanged']])
  })

  it('fails where fewer ids came than the CRM told of', async () => {
    const table = new Table()
    const stream: Stream = {
      ...table.stream,
      async *ids() {
        yield { rows: table.rows.slice(1).map(({ id, changed }) => [id, changed] as const), total: 4 }
      },
    }
    const reader = new Reader((await openOwn(stream)).events)
    await reader.full()
    expect(message(await reader.changes({ mustConfirm: true }))).toBe(
      'broken: events: the CRM says that there are 4 rows, but returned 3',
    )
  })

  it('fails where ids yields a Date, which would be another time at each scan', async () => {
    const table = new Table()
    const reader = new Reader(
      (await openOwn({ ...table.stream, ids: () => batchesOf([[idNumbered(1), new Date()]]) as never })).events,
    )
    await reader.full()
    expect(message(await reader.changes({ mustConfirm: true }))).toBe(
      'broken: events: ids yielded something that is not [id, updatedAt], each a text or a number',
    )
  })

  it('fails where an updatedAt is no time, and tells of one in the future by name', async () => {
    const table = new Table()
    table.rows = table.rows.map((row) => ({ ...row, changed: 'yesterday' }))
    const { events } = await openOwn(table.stream)
    expect(message(await new Reader(events).full())).toBe(
      'misconfigured: events: changed (updatedAt) holds "yesterday", not a time',
    )
    table.rows = table.rows.map((row) => ({ ...row, changed: '' }))
    expect(message(await new Reader(events).full())).toBe('no fault')
    const other = new Table()
    other.change(2, '2036-01-01T00:00:00Z', 'ahead')
    const opened = await openOwn(other.stream)
    const reader = new Reader(opened.events)
    await reader.full()
    expect(opened.notices.map((notice) => notice.replace(/\d+ days/, 'years'))).toEqual([
      `events, id ${idNumbered(2)}: updatedAt is in the future (by years), so such changes are seen only when all rows are compared, every 15 s`,
    ])
    await reader.changes()
    expect(other.asked.at(-1)).toBe('since 2026-10-31T23:59:00Z')
  })

  it('never asks for changes since a time ahead of the clock, whatever stamps came', async () => {
    const table = new Table()
    table.change(2, new Date(Date.now() + 3_600_000).toISOString(), 'an hour ahead')
    const reader = new Reader((await openOwn(table.stream)).events)
    await reader.full()
    await reader.changes()
    const since = Date.parse(table.asked.at(-1)?.slice(6) ?? '')
    expect(since).toBeLessThanOrEqual(Date.now() - 60_000)
  })

  it('takes no cursor of another connector', async () => {
    const reader = new Reader((await openOwn(new Table().stream)).events)
    reader.cursor = 'https://crm.example/delta?token=1' as NonNullable<Reader['cursor']>
    expect(message(await reader.changes())).toStartWith('cursor-refused: ')
  })
})

describe('a list with since alone', () => {
  it('looks quickly, and confirms by full reads at half the maximum age', async () => {
    const table = new Table()
    const time = new ShiftedTime()
    const reader = new Reader((await openOwn(table.offering('full', 'since'), { time })).events)
    await reader.full()
    expect(await reader.changes()).toMatchObject({ complete: false, confirms: false })
    time.aheadMs = 15_000
    expect(await reader.changes()).toMatchObject({ complete: true, confirms: true })
    expect(table.asked.at(-1)).toBe('full')
  })
})

describe('a list with availability', () => {
  it('gives capacity and availability alone, and leaves out rows that lack them', async () => {
    const stream = listOf(() => [asBatch(rowsFrom(1, 2))], {
      async *availability() {
        yield [
          { id: idNumbered(1), seats: 100, sold: 99 },
          { id: idNumbered(2), seats: 100 },
        ]
      },
    })
    const { events } = await openOwn(stream)
    expect(events.readsTickets).toBe(true)
    const reader = new Reader(events)
    expect(await reader.read({ kind: 'availability' })).toMatchObject({ ok: true, complete: false, confirms: true })
    expect(reader.pages.flatMap(({ changes }) => changes)).toEqual([
      { kind: 'availability', id: guidNumbered(1), TicketCapacity: 100, TicketsAvailable: 1 },
    ])
  })
})

describe('a list with availability that no row can be read of', () => {
  it.each([{ seats: 100 }, { seats: 100, sold: 'many' }])(
    'fails: the tickets that are served would be confirmed without being read (%p)',
    async (columns) => {
      const stream = listOf(() => [asBatch(rowsFrom(1, 1))], {
        async *availability() {
          yield [{ id: idNumbered(1), ...columns }]
        },
      })
      const reader = new Reader((await openOwn(stream)).events)
      await reader.full()
      expect(message(await reader.read({ kind: 'availability', served: reader.served() }))).toBe(
        'misconfigured: events: none of 1 row of availability has usable id, seats, sold',
      )
      // As long as no event is served, its row may be withheld for the same reason.
      reader.versions.clear()
      expect(await reader.read({ kind: 'availability', served: reader.served() })).toMatchObject({ ok: true })
    },
  )
})

describe('a list with watch', () => {
  it('hints at changes until it is told to end', async () => {
    const watching = { hint: (): void => {}, isOver: false }
    const stream = listOf(() => [[]], {
      watch(_, hint) {
        watching.hint = () => hint(['1'])
        return () => {
          watching.isOver = true
        }
      },
    })
    const { events } = await openOwn(stream)
    let hints = 0
    const end = events.onHint?.(() => hints++)
    watching.hint()
    expect(hints).toBe(1)
    end?.()
    expect(watching.isOver).toBe(true)
  })
})
