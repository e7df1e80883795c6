import { describe, expect, it } from 'bun:test'
import type { Connector, Context, Row, Stream } from '../../src/crm/connector/marquee-connector.d.ts'
import { openShippedCrm } from '../../src/crm/context/shipped-crm.ts'
import { rowOfCells } from '../../src/crm/connector/row-host.ts'
import { DecimalText } from '../../src/crm/cells/cell.ts'
import type { Guid } from '../../src/domain/guid.ts'
import { openZone } from '../../src/domain/zone.ts'
import { openHttpClient } from '../../src/runtime/outgoing.ts'
import { type Crm, failed } from '../../src/sync/port.ts'
import { systemTime } from '../../src/time/time.ts'
import { JsonServer } from './json-server.ts'
import { Reader, ShiftedTime, type TestRow, eventRow, fields, idNumbered, openOwn } from './own-crm.ts'

const rowsTo = (last: number): Row[] => Array.from({ length: last }, (_, index) => ({ ...eventRow(index + 1) }))
const message = (outcome: Awaited<ReturnType<Reader['full']>>): string =>
  outcome.ok ? 'no fault' : `${outcome.failure.kind}: ${outcome.failure.message}`

describe('the cursor of a list', () => {
  it('is that of its full read, which takes precedence over that of changes', async () => {
    const asked: (string | null)[] = []
    const stream = (given: string | null): Stream => ({
      fields,
      async *full() {
        yield rowsTo(2)
        return { cursor: 'of full' }
      },
      async *changes(_, cursor) {
        asked.push(cursor)
        yield []
        return cursor === null ? given : 'next'
      },
    })
    for (const given of ['of changes', null]) {
      const reader = new Reader((await openOwn(stream(given))).events)
      expect(await reader.full()).toMatchObject({ ok: true, cursor: 'of full' })
      expect(await reader.changes()).toMatchObject({ ok: true, confirms: true, cursor: 'next' })
    }
    expect(asked).toEqual([null, 'of full', null, 'of full'])
  })

  it('is missing if neither gives one: the list is then read in full, at half the maximum age', async () => {
    let reads = 0
    const stream: Stream = {
      fields,
      async *full() {
        reads++
        yield rowsTo(2)
      },
      async *changes() {
        yield []
        return null
      },
    }
    const time = new ShiftedTime()
    const { events } = await openOwn(stream, { time, maxAgeMs: 30_000 })
    const reader = new Reader(events)
    expect(await reader.full()).toMatchObject({ ok: true, complete: true })
    expect(events.reportsChanges).toBe(false)
    const early = { ok: true, complete: false, confirms: false, cursor: reader.cursor }
    expect(await reader.full({ served: reader.served() })).toMatchObject(early)
    expect(reads).toBe(1)
    // A read that is not believed leaves the cursor of the one before it.
    expect(await reader.full({ served: reader.served(), cursor: null })).toMatchObject({ complete: true })
    expect(await reader.full({ served: reader.served(), mustConfirm: true })).toMatchObject({ complete: true })
    time.aheadMs = 15_000
    expect(await reader.full({ served: reader.served() })).toMatchObject({ ok: true, complete: true, confirms: true })
    expect(reads).toBe(4)
  })

  it('is missing if neither gives one: its reads take no more than a third of the budget of requests', async () => {
    const server = await JsonServer.open(() => ({ json: [] }))
    const stream: Stream = {
      fields,
      async *full({ http, settings }) {
        for (let page = 0; page < 4; page++) await http.get(String(settings['url']))
        yield rowsTo(2)
      },
      async *changes() {
        yield []
        return null
      },
    }
    const time = new ShiftedTime()
    const requests = { most: 30, per: '60s' }
    const options = { time, maxAgeMs: 10_000, values: { url: server.url } }
    const { events } = await openOwn(stream, options, { settings: { url: 'url' }, requests })
    const reader = new Reader(events)
    for (const [aheadMs, asked] of [
      [0, 4],
      [23_000, 4],
      [24_500, 8],
    ] as const) {
      time.aheadMs = aheadMs
      expect(await reader.full({ served: reader.served() })).toMatchObject({ ok: true })
      expect(server.asked.length).toBe(asked)
    }
    await server.close()
  })

  it('is not asked for during a quarter of an hour once five in a row have expired', async () => {
    const asked: (string | null)[] = []
    const stream: Stream = {
      fields,
      async *full() {
        yield rowsTo(1)
      },
      async *changes(context, cursor) {
        asked.push(cursor)
        if (cursor !== null) context.fail('expired', 'too old')
        yield []
        return 'c1'
      },
    }
    const time = new ShiftedTime()
    const { events } = await openOwn(stream, { time })
    const reader = new Reader(events)
    for (let times = 1; times <= 5; times++) {
      expect(await reader.full()).toMatchObject({ ok: true, cursor: 'c1' })
      expect(message(await reader.changes())).toBe('cursor-refused: events: too old')
    }
    asked.length = 0
    expect(await reader.full()).toMatchObject({ ok: true, complete: true })
    expect(events.reportsChanges).toBe(false)
    expect(asked).toEqual([])
    time.aheadMs = 15 * 60_000
    expect(await reader.full()).toMatchObject({ ok: true, cursor: 'c1' })
  })
})

describe('changes that may be incomplete', () => {
  it('are asked for again at once; the last round confirms, and of a row its last change counts', async () => {
    const asked: (string | null)[] = []
    const stream = (rounds: number): Stream => ({
      fields,
      async *full() {
        yield rowsTo(3)
        return { cursor: '0' }
      },
      async *changes(_, cursor) {
        asked.push(cursor)
        if (cursor === null) return null
        const round = Number(cursor) + 1
        yield [{ ...eventRow(2, { name: `round ${round}` }) }]
        return round < rounds ? { cursor: String(round), more: true } : String(round)
      },
    })
    const reader = new Reader((await openOwn(stream(3))).events)
    await reader.full()
    expect(await reader.changes()).toMatchObject({ ok: true, confirms: true, complete: false, cursor: '3' })
    expect(reader.said.at(-1)).toEqual([2, 'round 3'])
    expect(reader.pages.map(({ pass }) => pass)).toEqual([0, 1, 2])
    const busy = new Reader((await openOwn(stream(100))).events)
    await busy.full()
    expect(await busy.changes()).toMatchObject({ ok: true, confirms: false, complete: false, cursor: '5' })
    expect(await busy.changes()).toMatchObject({ ok: true, confirms: false, complete: false, cursor: '10' })
  })
})

describe('a list with a version', () => {
  it('is read only if its version differs from that of the last full read', async () => {
    let version: string | null = 'one'
    let reads = 0
    const stream: Stream = {
      fields,
      async *full() {
        reads++
        yield rowsTo(reads)
        return reads === 3 ? { version: 'read' } : {}
      },
      version: () => Promise.resolve(version),
    }
    const { events } = await openOwn(stream)
    expect(events.reportsChanges).toBe(false)
    const reader = new Reader(events)
    expect(await reader.full()).toMatchObject({ ok: true, complete: true, unchanged: false })
    expect(await reader.full()).toMatchObject({ ok: true, complete: false, unchanged: true, confirms: true })
    expect(reads).toBe(1)
    version = 'two'
    expect(await reader.full()).toMatchObject({ ok: true, complete: true, unchanged: false })
    // The version of what was read counts, if full knows it.
    version = 'three'
    expect(await reader.full()).toMatchObject({ ok: true, complete: true })
    version = 'read'
    expect(await reader.full()).toMatchObject({ ok: true, unchanged: true })
    version = null
    expect(await reader.full()).toMatchObject({ ok: true, complete: true, cursor: null })
    expect(reads).toBe(4)
    // Another process has to map every row once.
    const cursor = reader.cursor
    expect(cursor === null || events.travels?.(cursor)).toBe(true)
  })
})

describe('a list that may still be being written', () => {
  it('is read with the reason why its end may be missing', async () => {
    const unsure = 'events.csv was written 1 s ago'
    const stream: Stream = {
      fields,
      async *full() {
        yield { rows: rowsTo(3), stable: 'moment', unsure }
      },
    }
    const reader = new Reader((await openOwn(stream)).events)
    expect(await reader.full()).toMatchObject({ ok: true, oneMoment: true })
    expect(reader.pages.map((page) => page.unsure).filter((reason) => reason !== undefined)).toEqual([unsure])
  })

  it('fails as waiting if the connector says so', async () => {
    const stream: Stream = {
      fields,
      async *full(context) {
        yield rowsTo(1)
        context.fail('waiting', 'the export runs')
      },
    }
    expect(message(await new Reader((await openOwn(stream)).events).full())).toBe('waiting: events: the export runs')
  })
})

it('a notice is told once, and again after a read that lacked it', async () => {
  let said = ['no change tracking', 'a second one']
  const stream: Stream = {
    fields,
    async *full(context) {
      for (const sentence of said) context.notice(sentence)
      yield rowsTo(1)
    },
  }
  const { events, notices } = await openOwn(stream)
  const reader = new Reader(events)
  await reader.full()
  await reader.full()
  expect(notices).toEqual(['events: no change tracking', 'events: a second one'])
  said = ['a second one']
  await reader.full()
  said = ['no change tracking']
  await reader.full()
  expect(notices).toEqual(['events: no change tracking', 'events: a second one', 'events: no change tracking'])
})

it('two rows of an id reach the list as its repeats say, each with its own place', async () => {
  const twice = [eventRow(1, { name: 'one' }), eventRow(1, { name: 'other' })]
  const stream: Stream = {
    fields,
    async *full() {
      yield { rows: twice, stable: 'moment', at: (index) => `events.csv, line ${index + 2}` }
    },
  }
  const seen = async (more: Partial<Stream>): Promise<unknown> => {
    const { events } = await openOwn({ ...stream, ...more })
    const reader = new Reader(events)
    await reader.full()
    const [page] = reader.pages.filter(({ changes }) => changes.length > 0)
    return [events.repeatedId, reader.said.map(([, name]) => name), page?.whereIs(0)]
  }
  expect(await seen({})).toEqual(['serves-later', ['other'], 'events.csv, line 3'])
  expect(await seen({ repeats: 'first' })).toEqual(['serves-first', ['one', 'other'], 'events.csv, line 2'])
  expect(await seen({ repeats: 'neither' })).toEqual(['serves-neither', ['one', 'other'], 'events.csv, line 2'])
})

it('a row may be its JSON as bytes, of which a line break ends none', async () => {
  const bytes = (row: TestRow): Row => new TextEncoder().encode(JSON.stringify(row, null, 1))
  const stream: Stream = {
    fields,
    async *full() {
      yield [bytes(eventRow(1)), eventRow(2)]
    },
  }
  const reader = new Reader((await openOwn(stream)).events)
  await reader.full()
  expect(reader.said).toEqual([
    [1, 'event 1'],
    [2, 'event 2'],
  ])
  await reader.full()
  expect(reader.said).toEqual([
    [1, 'unchanged'],
    [2, 'unchanged'],
  ])
})

describe('a hint', () => {
  interface Hinting {
    readonly events: Crm['events']
    readonly reader: Reader
    readonly asked: string[]
    hint: (ids?: readonly string[] | 'all') => void
    /** The rows that byId has. */
    byId: readonly TestRow[]
    deleted: readonly string[]
  }

  async function hinting(hasIds = true): Promise<Hinting> {
    const table = [1, 2, 3].map((number) => eventRow(number))
    const stream: Stream = {
      fields,
      updatedAt: 'changed',
      async *full() {
        yield table
      },
      async *since() {
        yield []
      },
      async *byId(_, ids) {
        scene.asked.push(`byId ${ids.map((id) => Number.parseInt(id.slice(-4), 16)).join()}`)
        yield { rows: scene.byId.filter(({ id }) => ids.includes(id)), deleted: scene.deleted }
      },
      watch(_, hint) {
        scene.hint = hint
        return () => {}
      },
      ...(hasIds
        ? {
            async *ids() {
              scene.asked.push('ids')
              yield table.map(({ id, changed }) => [id, changed] as const)
            },
          }
        : {}),
    }
    const { events } = await openOwn(stream)
    const scene: Hinting = { events, reader: new Reader(events), asked: [], hint: () => {}, byId: [], deleted: [] }
    events.onHint?.(() => {})
    await scene.reader.full()
    return scene
  }

  it('has held rows looked up by byId: as changed, or as deleted', async () => {
    const scene = await hinting()
    scene.byId = [eventRow(1, { name: 'changed' })]
    scene.deleted = [idNumbered(2)]
    scene.hint([idNumbered(1), idNumbered(2), idNumbered(9), 'no id'])
    expect(await scene.reader.changes()).toMatchObject({ ok: true, confirms: false })
    expect(scene.asked).toEqual(['byId 1,2'])
    expect(scene.reader.said).toEqual([
      [1, 'changed'],
      [2, 'deleted'],
    ])
    await scene.reader.changes()
    expect(scene.asked).toHaveLength(1)
  })

  it('of a read that is given up is looked up by the next one', async () => {
    const scene = await hinting()
    const { cursor, versions } = scene.reader
    scene.byId = [eventRow(1, { name: 'changed' })]
    scene.hint([idNumbered(1)])
    const held = { size: versions.size, version: (id: Guid) => versions.get(id) ?? Number.NaN }
    const reading = scene.events.read({ kind: 'changes', cursor, held, signal: new AbortController().signal })
    expect((await reading.next()).done).toBe(false)
    await reading.return(failed('internal', 'given up'))
    await scene.reader.changes()
    expect(scene.reader.said).toEqual([[1, 'changed']])
  })

  it('of an id that byId neither brings nor reports as deleted has all ids compared', async () => {
    const scene = await hinting()
    scene.hint([idNumbered(2)])
    expect(await scene.reader.changes()).toMatchObject({ ok: true, complete: true, confirms: true })
    expect(scene.asked).toEqual(['byId 2', 'ids'])
  })

  it('of all rows has all ids compared, unless there are no ids', async () => {
    const scene = await hinting()
    scene.hint('all')
    expect(await scene.reader.changes()).toMatchObject({ ok: true, complete: true, confirms: true })
    expect(scene.asked).toEqual(['ids'])
    const without = await hinting(false)
    without.hint('all')
    expect(await without.reader.changes()).toMatchObject({ ok: true, complete: false })
    expect(without.asked).toEqual([])
  })
})

it('an error of http has the status and the answer of the API, which a connector may explain', async () => {
  const server = await JsonServer.open()
  server.answer = () => ({ status: 410, json: { error: { code: 'GONE', sync: 'full' } } })
  const stream: Stream = {
    fields,
    async *full(context: Context) {
      const { http, settings } = context
      yield []
      await http.get(`${settings['url']}/events`).catch((error: unknown) => {
        context.fail(
          'broken',
          JSON.stringify([Reflect.get(Object(error), 'status'), Reflect.get(Object(error), 'answer')]),
        )
      })
    },
  }
  const { crm, reader } = await open(
    { api: 2, settings: { url: 'url' }, events: stream, venues: stream },
    { url: server.url },
  )
  const outcome = await reader.full()
  await Promise.all([crm.close(), server.close()])
  expect(message(outcome)).toBe('broken: events: [410,{"error":{"code":"GONE","sync":"full"}}]')
})

it('a connector that ships may give cells, which are not written as JSON', async () => {
  const row = { ...eventRow(1), seats: new DecimalText('100'), sold: 40 }
  const stream: Stream = {
    fields,
    async *full({ purpose }) {
      yield [rowOfCells({ ...row, name: `for a ${purpose}` }), rowOfCells({ ...row, id: 'x'.repeat(300_000) })]
    },
  }
  const { crm, reader } = await open({ api: 2, events: stream, venues: stream }, {}, true)
  await reader.full({ purpose: 'audit' })
  expect(reader.said).toEqual([
    [1, 'for a audit'],
    [0, 'withheld'],
  ])
  await crm.close()
})

it('is closed once, after its reads have been aborted', async () => {
  const seen: string[] = []
  const stream: Stream = {
    fields,
    async *full({ signal }) {
      yield rowsTo(1)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      seen.push('aborted')
    },
  }
  const close = async (): Promise<void> => void seen.push('closed')
  const { crm, reader } = await open({ api: 2, events: stream, venues: stream, close })
  const reading = reader.full()
  await Bun.sleep(20)
  await crm.close()
  await reading
  expect(seen.toSorted()).toEqual(['aborted', 'closed'])
})

async function open(
  connector: Connector,
  values: Readonly<Record<string, string>> = {},
  givesCells = false,
): Promise<{ readonly crm: Awaited<ReturnType<typeof openShippedCrm>>; readonly reader: Reader }> {
  const zone = openZone('UTC')
  if (zone === null) throw new Error('the runtime has no zones')
  const said = { kind: 'ours', idNamespace: null, timeZone: zone, availability: null, events: null, venues: null }
  const settings = { ...said, proxy: null, ca: null, allowInsecure: true, givesCells }
  const limits = { requestTimeoutMs: 5000, maxAgeMs: 30_000 }
  const context = { showIn: zone, time: systemTime, observe: () => {}, limits: () => limits, env: {}, openHttpClient }
  const crm = await openShippedCrm(connector, values, settings, context)
  return { crm, reader: new Reader(crm.events) }
}
