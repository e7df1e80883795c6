import { describe, expect, it } from 'bun:test'
import { eventOf, guidOf } from '../../test/model/records.ts'
import type { EventRecord } from '../domain/event.ts'
import type { Guid } from '../domain/guid.ts'
import type { Observation } from '../observe/observation.ts'
import type { Attempt } from './poller.ts'
import type { ListReaderOptions } from './list-reader.ts'
import type { Change, Cursor, ListSource } from './port.ts'
import { type Changes, type Script, DOWN, readerScene } from '../../test/support/reader-scene.ts'

const ids = Array.from({ length: 30 }, (_, index) => guidOf(index + 1))

function scene(given: Partial<ListSource<EventRecord>> = {}, options: Partial<ListReaderOptions<EventRecord>> = {}) {
  const { reader, run, ...rest } = readerScene(given, 86_400_000, options)
  const refresh = (...script: Script[]): Promise<Attempt> => run(() => reader.refresh(), ...script)
  const ageMs = (): number | null => reader.freshness.confirmedAgeMs(rest.time.peek())
  return { ...rest, reader, run, refresh, ageMs }
}

function rows(of: readonly Guid[], Name = 'A'): Changes {
  return of.map((id) => ({ kind: 'record', id, record: eventOf(id, { Name }), version: Number.NaN }))
}

function gone(id: Guid): Change<EventRecord> {
  return { kind: 'deleted', id }
}

describe('ListReader (architecture: The port to a CRM)', () => {
  it('reads in full first, then changes from the cursor, and in full at once if the cursor is refused', async () => {
    const { asked, refresh, list } = scene()
    await refresh({ pages: [rows(ids)] })
    await refresh({ pages: [[gone(guidOf(1))]] })
    expect(list.served).toBe(29)
    await refresh({ pages: [], end: { ...DOWN, kind: 'cursor-refused' } }, { pages: [rows(ids)] })
    expect(asked.map(({ kind, cursor }) => [kind, cursor])).toEqual([
      ['full', null],
      ['changes', 'cursor 1' as Cursor],
      ['changes', 'cursor 2' as Cursor],
      ['full', null],
    ])
    expect(list.served).toBe(30)
  })

  it('knows that prices are read once a row has the column, until no row of a full read has it', async () => {
    const told: { readsPrice: boolean | null } = { readsPrice: null }
    const { refresh, audit, list, reader, time } = scene({ readsPrice: () => told.readsPrice })
    const readsPriceAfter = async (readsPrice: boolean | null, read: () => Promise<Attempt>): Promise<boolean> => {
      told.readsPrice = readsPrice
      await read()
      expect(reader.stateAt(time.peek()).readsPrice).toBe(list.readsPrice)
      return list.readsPrice
    }
    const changes = (): Promise<Attempt> => refresh({})
    const all = (): Promise<Attempt> => audit({ pages: [rows(ids)] })
    expect(await readsPriceAfter(false, () => refresh({ pages: [rows(ids)] }))).toBe(false)
    expect(await readsPriceAfter(true, changes)).toBe(true)
    expect(await readsPriceAfter(false, changes)).toBe(true)
    expect(await readsPriceAfter(null, all)).toBe(true)
    expect(await readsPriceAfter(false, () => audit({ pages: [rows(ids)], end: DOWN }))).toBe(true)
    expect(await readsPriceAfter(false, all)).toBe(false)
  })

  it('keeps the fingerprint of a list after a read that failed, and forgets it once rows of such a read are written', async () => {
    const { asked, refresh, list } = scene({ reportsChanges: false })
    await refresh({ pages: [rows(ids)] })
    await refresh({ pages: [rows(ids, 'B')], end: DOWN })
    await refresh({ pages: [rows(ids.slice(0, 1), 'B')] })
    await refresh({ pages: [rows(ids)] })
    expect(asked.map(({ cursor }) => cursor)).toEqual([null, 'cursor 1' as Cursor, 'cursor 1' as Cursor, null])
    expect(list.served).toBe(30)
  })

  it('takes back the rows of a read that was too large, so that later reads are not too large as well', async () => {
    const limit = { bytes: Infinity }
    const { refresh, audit, list } = scene(
      {},
      { memory: () => ({ takenBytes: list.sizeBytes, limitBytes: limit.bytes }) },
    )
    await refresh({ pages: [rows(ids)] })
    const mostBytes = list.sizeBytes * 2
    limit.bytes = mostBytes
    const many = Array.from({ length: 40_000 }, (_, index) => guidOf(index + 1))
    for (const read of [refresh, audit]) {
      const attempt = await read({ pages: [rows(many.slice(0, 20_000), 'B'), rows(many.slice(20_000), 'B')] })
      expect(attempt).toMatchObject({ ok: false, failure: { kind: 'too-large' } })
      expect([list.served, list.sizeBytes <= mostBytes]).toEqual([30, true])
    }
    expect(await refresh({ pages: [rows(ids, 'C'), [gone(guidOf(1))]] })).toEqual({ ok: true })
    expect([list.served, list.get(guidOf(2))?.Name]).toEqual([29, 'C'])
  })

  it('says what a list that is too large needs and may take, and that the previous one is kept if there is one', async () => {
    const limit = { bytes: 3_000_000 }
    const { refresh, list } = scene({}, { memory: () => ({ takenBytes: list.sizeBytes, limitBytes: limit.bytes }) })
    const many = Array.from({ length: 40_000 }, (_, index) => guidOf(index + 1))
    const said = async (): Promise<string> => {
      const attempt = await refresh({ pages: [rows(many.slice(0, 20_000)), rows(many.slice(20_000))] })
      return attempt.ok ? 'ok' : attempt.failure.message
    }
    const soFar =
      /^the lists need more than [\d.]+ MB \(after [24]0,000 rows of the events\), and limits.memory is 3 MB: raise it$/
    expect(await said()).toMatch(soFar)
    await refresh({ pages: [rows(ids)] })
    expect(await said()).toMatch(/: raise it; the previous list is kept$/)
  })

  it('believes the first list that it reads to the end, whatever a read that failed half-way has left', async () => {
    const { refresh, reader, list } = scene()
    const many = Array.from({ length: 1000 }, (_, index) => guidOf(index + 1))
    await refresh({ pages: [rows(many)], end: DOWN })
    expect(await refresh({ pages: [rows(ids)] })).toEqual({ ok: true })
    expect([list.served, reader.isLoaded, reader.guard.shrunk]).toEqual([30, true, null])
  })

  it('counts as drift what an audit found and its own refresh did not report, unless that one fails', async () => {
    const { audit, refresh, list, observed, scripts, reader } = scene()
    const [silent, told] = [guidOf(98), guidOf(99)]
    const found = (): Observation[] => observed.filter(({ kind }) => kind === 'drift-found')
    await refresh({ pages: [rows(ids)] })
    scripts.push({ pages: [rows([told])] })
    await audit({ pages: [rows([...ids, told])] })
    expect([list.served, found()]).toEqual([31, []])
    scripts.push({ end: DOWN })
    await audit({ pages: [rows([...ids, told], 'B')] })
    expect([list.get(told)?.Name, found()]).toEqual(['B', []])
    await audit({ pages: [rows([...ids, told, silent], 'B')] })
    expect(found()).toEqual([{ kind: 'drift-found', list: 'events', byColumn: { '(row)': 1 } }])
    await audit({ pages: [rows([...ids, told, silent], 'C')] })
    expect([reader.reports.drift.records, Object.fromEntries(reader.reports.drift.byColumn)]).toEqual([
      33,
      { '(row)': 1, Name: 32 },
    ])
  })

  it('forgets the version of a row that an audit did not find although an id scan saw it since: it was absent, and may have changed', async () => {
    const { refresh, scripts, run, reader, time, list } = scene()
    const hidden = guidOf(1)
    const others = ids.slice(1)
    const versions = rows(ids).map((row) => ({ ...row, version: 7 }) as const)
    const unchanged = ids.map((id) => ({ kind: 'unchanged', id }) as const)
    await refresh({ pages: [versions] })
    scripts.push({ pages: [versions.slice(1), []], audit: true })
    const auditing = run(() => reader.audit())
    await time.pass(50)
    await refresh({ pages: [unchanged], end: { complete: true } })
    await auditing
    expect(list.served).toBe(30)
    expect(list.version(hidden)).toBeNaN()
    expect(others.map((id) => list.version(id))).toEqual(others.map(() => 7))
    // The next id scan reads it.
    await refresh({ pages: [versions.slice(0, 1), unchanged.slice(1)], end: { complete: true } })
    expect(list.version(hidden)).toBe(7)
  })

  it('is not read in full by an id scan, which confirms the list but sees no change without its time', async () => {
    const { refresh, audit, reader, time, ageMs } = scene()
    const auditedMs = (): number | null => reader.freshness.auditedAgeMs(time.peek())
    await refresh({ pages: [rows(ids)] })
    await time.pass(60_000)
    await refresh({ pages: [ids.map((id) => ({ kind: 'unchanged', id }))], end: { complete: true } })
    expect([(ageMs() ?? 60_000) < 60_000, (auditedMs() ?? 0) >= 60_000]).toEqual([true, true])
    await audit({ pages: [rows(ids)] })
    expect(auditedMs() ?? 60_000).toBeLessThan(60_000)
  })

  it('gives up a page that does not come in time, and never uses it later', async () => {
    const { refresh, time, list } = scene()
    await refresh({ pages: [rows(ids)] })
    expect(await refresh({ pages: [rows(ids, 'late')], slowMs: 5000 })).toMatchObject({ failure: { kind: 'timeout' } })
    await time.pass(10_000)
    expect(list.get(guidOf(1))?.Name).toBe('A')
  })

  it('ends a read as failed if a page cannot be applied, logs no row of it, and can read again', async () => {
    const { refresh, list } = scene()
    const broken = { kind: 'record', id: guidOf(1), record: null, version: 0 } as unknown as Change<EventRecord>
    const attempt = await refresh({ pages: [[broken]] })
    expect(attempt).toMatchObject({
      ok: false,
      failure: { kind: 'internal', message: expect.stringContaining('TypeError') as string },
    })
    await refresh({ pages: [rows(ids)] })
    expect(list.served).toBe(30)
  })

  it('reads no details if the tickets cannot be read', async () => {
    const { refresh, asked, ageMs } = scene({ readsTickets: true })
    await refresh({ pages: [rows(ids)] })
    expect(await refresh({ end: DOWN })).toEqual({ ok: false, failure: DOWN })
    expect(asked.map(({ kind }) => kind)).toEqual(['full', 'availability'])
    expect(ageMs()).toBeGreaterThan(100)
  })

  it('reads in full again after an audit that found a new row, but not its tickets as they are now', async () => {
    const { refresh, audit, asked, list, ageMs, scripts } = scene({ readsTickets: true })
    await refresh({ pages: [rows(ids)] })
    const silent = guidOf(99)
    scripts.push({}, {})
    await audit({ pages: [rows([...ids, silent])] })
    expect(list.serves(silent)).toBe(false)
    await refresh({}, { pages: [rows([...ids, silent])] })
    expect(asked.map(({ kind }) => kind).slice(-2)).toEqual(['availability', 'full'])
    expect([list.serves(silent), (ageMs() ?? 0) < 300]).toEqual([true, true])
  })

  it('writes what it has added before its end if that takes much memory, but removes nothing early', async () => {
    const { refresh, audit, list } = scene()
    const many = Array.from({ length: 60_000 }, (_, index) => guidOf(index + 1))
    await refresh({ pages: [rows(many)] })
    const seen: string[] = []
    const look = (): Changes => (seen.push(`${list.get(guidOf(1))?.Name} ${list.served}`), [])
    const withheld = { fault: 'inactive', column: null, where: 'row', expected: null, found: null } as const
    const hidden = { kind: 'withheld', id: guidOf(60_000), withheld, version: Number.NaN } as const
    const name = 'B'.repeat(300)
    await audit({
      pages: [[hidden, ...rows(many.slice(0, 10_000), name)], look, rows(many.slice(10_000, 59_999), name), look],
    })
    expect(seen).toEqual(['A 60000', `${name} 60000`])
    expect(list.served).toBe(59_999)
  })

  it('keeps the rows without an id of their own until the next full read, despite reads of changes', async () => {
    const { refresh, list } = scene()
    const withheld = { fault: 'no-id', column: 'Id', where: 'row 1', expected: null, found: null } as const
    await refresh({ pages: [[{ kind: 'withheld', id: null, withheld, version: Number.NaN }]] })
    await refresh({ pages: [[]], end: { complete: true } })
    expect(list.unidentified).toHaveLength(1)
  })
})

describe('how long a change took to be served (surface: Names on the operations side)', () => {
  const delaysOf = (observed: readonly Observation[]): readonly (readonly number[])[] =>
    observed.flatMap((observation) => (observation.kind === 'changes-published' ? [observation.delaysMs] : []))

  it('counts from the time the CRM gives each change, once a read', async () => {
    const { refresh, observed, time } = scene()
    await refresh({ pages: [rows(ids)], updatedAtMs: time.peek().wallMs })
    expect(delaysOf(observed)).toEqual([])
    const updatedAtMs = time.peek().wallMs - 400
    await refresh({ pages: [rows(ids.slice(0, 2), 'B'), rows(ids, 'B')], updatedAtMs })
    expect(delaysOf(observed).map((delays) => [delays.length, Math.round(delays[0] ?? 0)])).toEqual([[30, 600]])
  })

  it('counts withdrawn rows too, even if the withdrawal waits for the end of the read', async () => {
    for (const reportsChanges of [true, false]) {
      const { refresh, observed, time } = scene({ reportsChanges })
      const withheld = { fault: 'inactive', column: null, where: 'row', expected: null, found: null } as const
      await refresh({ pages: [rows(ids)] })
      const updatedAtMs = time.peek().wallMs
      const change = { kind: 'withheld', id: guidOf(1), withheld, version: Number.NaN } as const
      await refresh({ pages: [[change, ...rows(ids.slice(1))]], updatedAtMs })
      expect(delaysOf(observed).map((delays) => delays.length)).toEqual([1])
    }
  })

  it('leaves out what an audit finds, and times that are in the future, more than a day ago, or missing', async () => {
    const { refresh, audit, observed, time } = scene()
    await refresh({ pages: [rows(ids)] })
    await audit({ pages: [rows(ids, 'B')], updatedAtMs: time.peek().wallMs })
    for (const updatedAtMs of [time.peek().wallMs + 60_000, time.peek().wallMs - 90_000_000, Number.NaN]) {
      await refresh({ pages: [rows(ids, `${updatedAtMs}`)], updatedAtMs })
    }
    await refresh({ pages: [rows(ids, 'C')] })
    expect(delaysOf(observed)).toEqual([])
  })
})

describe('the shrink guard (architecture: The port to a CRM)', () => {
  it('does not believe that more than half are gone if they are merely absent', async () => {
    const { refresh, audit, list, observed, reader } = scene()
    await refresh({ pages: [rows(ids)] })
    expect(await audit({ pages: [rows(ids.slice(0, 14))] })).toMatchObject({ ok: false, failure: { kind: 'shrunk' } })
    expect(list.served).toBe(30)
    expect(reader.guard.shrunk).not.toBeNull()
    expect(observed.find(({ kind }) => kind === 'shrunk')).toMatchObject({
      list: 'events',
      absent: 16,
      unreadable: 0,
      records: 30,
    })
    await audit({ pages: [rows(ids.slice(0, 15))] })
    expect(list.served).toBe(15)
    expect(reader.guard.shrunk).toBeNull()
  })

  it.each([
    ['all of ten', 10, [0], 10],
    ['all of three', 3, [0], 3],
    ['all of one', 1, [0], 1],
    ['more than half of four', 4, [1], 4],
    ['more than half of seven', 7, [3], 7],
    ['half of four', 4, [2], 2],
    ['most of three', 3, [1], 1],
    ['one by one until none is left', 5, [4, 3, 2, 1, 0], 0],
    ['the only one, after the list grew to it', 0, [1, 0], 1],
  ] as const)('of a short list, a read takes %s', async (_, before, left, served) => {
    const { refresh, audit, list, reader } = scene()
    await refresh({ pages: [rows(ids.slice(0, before))] })
    for (const count of left) await audit({ pages: [rows(ids.slice(0, count))] })
    expect(list.served).toBe(served)
    expect(reader.guard.shrunk !== null).toBe(left.at(-1) !== served)
  })

  it('lets explicit deletions and withheld rows pass', async () => {
    const { refresh, list } = scene({ reportsChanges: false })
    await refresh({ pages: [rows(ids)] })
    expect(await refresh({ pages: [[gone(guidOf(1))]] })).toMatchObject({ failure: { kind: 'shrunk' } })
    expect(list.served).toBe(29)
  })

  it('is released by the operator, for the first read of all rows that began since', async () => {
    const { refresh, audit, list, reader } = scene()
    await refresh({ pages: [rows(ids)] })
    await audit({ pages: [[]] })
    reader.acceptShorter()
    await audit({ pages: [rows(ids)], lagMs: 10_000 })
    expect(reader.guard.acceptsShorter).toBe(true)
    await audit({ pages: [rows(ids.slice(0, 1))] })
    expect(list.served).toBe(1)
    expect(reader.guard.acceptsShorter).toBe(false)
  })

  it('holds for a lagging source too, although not all of its rows would be removed at once', async () => {
    const { refresh, audit, list, time } = scene()
    await refresh({ pages: [rows(ids)] })
    await time.pass(3000)
    expect(await audit({ pages: [rows(ids.slice(0, 1))], lagMs: 10_000 })).toMatchObject({
      failure: { kind: 'shrunk' },
    })
    expect(list.served).toBe(30)
  })
})

describe('a source whose servers lag differently', () => {
  it('never makes a row look unseen', async () => {
    const { refresh, audit, list, time } = scene()
    await refresh({ pages: [rows(ids)] })
    await time.pass(20_000)
    await refresh({ pages: [rows(ids)] })
    // The read shows the moment 10 s before, when the row did not exist yet.
    await refresh({ pages: [rows(ids)], lagMs: 19_000 })
    await audit({ pages: [rows(ids.slice(0, 29))], lagMs: 10_000 })
    expect(list.get(guidOf(30))).not.toBeNull()
  })
})

describe('a list that is read at several moments (architecture: One moment)', () => {
  const many = Array.from({ length: 300 }, (_, index) => guidOf(index + 1))
  const several = { oneMoment: false }

  it('loses ten, or a twentieth, after one read, and more only if a second one agrees', async () => {
    for (const [all, left, reads] of [
      [30, 20, 1],
      [30, 19, 2],
      [300, 285, 1],
      [300, 284, 2],
    ] as const) {
      const { refresh, audit, list, asked } = scene()
      await refresh({ pages: [rows(many.slice(0, all))] })
      const short: Script = { pages: [rows(many.slice(0, left))], end: several }
      expect(await audit(short, short)).toEqual({ ok: true })
      expect(asked.filter(({ kind }) => kind === 'full')).toHaveLength(1 + reads)
      expect(list.served).toBe(left)
    }
  })

  it('keeps rows that the second read names, and loses those that both miss', async () => {
    const { refresh, audit, list } = scene()
    await refresh({ pages: [rows(many)] })
    const first: Script = { pages: [rows(many.slice(0, 200))], end: several }
    await audit(first, { pages: [rows(many.slice(0, 290))], end: several })
    expect(list.served).toBe(290)
    await audit(
      { pages: [rows(many.slice(0, 200))], end: several },
      { pages: [rows(many.slice(3, 195))], end: several },
    )
    expect(list.served).toBe(192)
  })

  it('loses nothing if the second read misses other rows; the next one must then agree with it', async () => {
    const { refresh, audit, list, observed } = scene()
    await refresh({ pages: [rows(many)] })
    const [front, back]: Script[] = [many.slice(0, 200), many.slice(100)].map((of) => ({
      pages: [rows(of)],
      end: several,
    }))
    expect(await audit(front ?? {}, back ?? {})).toMatchObject({ ok: false, failure: { kind: 'unconfirmed' } })
    expect(list.served).toBe(300)
    await audit(back ?? {})
    expect(list.served).toBe(200)
    const outcomes = observed.flatMap((one) =>
      one.kind === 'read-ended' && one.read.kind === 'full' ? [one.read.outcome] : [],
    )
    expect(outcomes).toEqual(['ok', 'unconfirmed', 'unconfirmed', 'ok'])
  })

  it('reads no more than twice in one attempt, and is not confirmed, if the list never stops changing', async () => {
    const { refresh, asked, list, ageMs, time } = scene({ reportsChanges: false })
    await refresh({ pages: [rows(many)] })
    for (let attempt = 0; attempt < 5; attempt++) {
      const [front, back]: Script[] = [many.slice(0, 200), many.slice(100)].map((of) => ({
        pages: [rows(of)],
        end: several,
      }))
      await time.pass(1000)
      expect(await refresh(front ?? {}, back ?? {})).toMatchObject({ failure: { kind: 'unconfirmed' } })
    }
    expect(asked).toHaveLength(11)
    expect(list.served).toBe(300)
    expect(ageMs()).toBeGreaterThan(5000)
  })

  it('does not count a read as the second one if it began before the first had ended', async () => {
    const { refresh, scripts, run, reader, time, list } = scene()
    await refresh({ pages: [rows(many)] })
    const short = { pages: [rows(many.slice(0, 200))], end: several }
    scripts.push({ ...short, slowMs: 400, audit: true })
    const auditing = run(() => reader.audit())
    await time.pass(50)
    // The same change cut short an id scan beside the audit, which cannot be repeated; then comes the audit's own
    // second read.
    const scan = { ...short, end: { ...several, complete: true }, slowMs: 800 }
    scripts.push(scan, { end: DOWN }, { pages: [rows(many)], audit: true })
    await refresh()
    expect(await auditing).toEqual({ ok: true })
    expect(list.served).toBe(300)
  })

  it('is judged by the shrink guard on the later read', async () => {
    const { refresh, audit, list, reader, asked } = scene()
    await refresh({ pages: [rows(many)] })
    const half: Script = { pages: [rows(many.slice(0, 140))], end: several }
    expect(await audit(half, { pages: [rows(many)], end: several })).toEqual({ ok: true })
    expect(reader.guard.shrunk).toBeNull()
    const nothing: Script = { pages: [rows(many.slice(0, 1))], end: several }
    expect(await audit(nothing, nothing)).toMatchObject({ failure: { kind: 'shrunk' } })
    expect(list.served).toBe(300)
    const audits = (): number => asked.filter(({ purpose }) => purpose === 'audit').length
    const before = audits()
    expect(await audit(nothing)).toMatchObject({ failure: { kind: 'shrunk' } })
    expect(audits()).toBe(before + 1)
  })

  it('is read in full after an id scan that missed much, and again in the next attempt if that fails', async () => {
    const { refresh, asked, list } = scene()
    await refresh({ pages: [rows(many)] })
    const scan: Script = { pages: [rows(many.slice(0, 200))], end: { ...several, complete: true } }
    expect(await refresh(scan, { end: DOWN })).toEqual({ ok: false, failure: DOWN })
    await refresh({ pages: [rows(many.slice(0, 200))], end: several })
    expect(asked.map(({ kind }) => kind)).toEqual(['full', 'changes', 'full', 'full'])
    expect(list.served).toBe(200)
  })

  it('loses at once what one state of the CRM does not have', async () => {
    const { refresh, audit, list } = scene()
    await refresh({ pages: [rows(many)] })
    await audit({ pages: [rows(many.slice(0, 200))] })
    expect(list.served).toBe(200)
  })
})

describe('a cursor that keeps failing (architecture: The port to a CRM)', () => {
  it('is given up with the third failed read of changes: the list is read in full at once, and that cursor is taken', async () => {
    const { refresh, asked, ageMs } = scene()
    await refresh({ pages: [rows(ids)] })
    for (let attempt = 0; attempt < 2; attempt++) expect(await refresh({ end: DOWN })).toMatchObject({ ok: false })
    expect(await refresh({ end: DOWN }, { pages: [rows(ids)] })).toEqual({ ok: true })
    expect(ageMs()).toBeLessThan(200)
    await refresh({})
    expect(asked.map(({ kind, cursor }) => [kind, cursor]).slice(-3)).toEqual([
      ['changes', 'cursor 1' as Cursor],
      ['full', null],
      ['changes', 'cursor 5' as Cursor],
    ])
  })

  it('is given up after any failure except those after which a full read would only burden the CRM', async () => {
    const spared = ['throttled', 'refused', 'shrunk', 'too-large'] as const
    for (const kind of ['unreachable', 'timeout', 'broken', 'internal', 'misconfigured', ...spared] as const) {
      for (const retryAfterMs of [null, 500]) {
        const { refresh, asked } = scene()
        await refresh({ pages: [rows(ids)] })
        for (let attempt = 0; attempt < 3; attempt++) await refresh({ end: { kind, message: 'no', retryAfterMs } })
        const isSpared = retryAfterMs !== null || spared.some((one) => one === kind)
        expect([kind, retryAfterMs, asked.at(-1)?.kind]).toEqual([kind, retryAfterMs, isSpared ? 'changes' : 'full'])
      }
    }
  })

  it('is kept if failures do not follow each other', async () => {
    const { refresh, asked } = scene()
    await refresh({ pages: [rows(ids)] })
    for (let round = 0; round < 3; round++) {
      await refresh({ end: DOWN })
      await refresh({ end: DOWN })
      await refresh({})
    }
    expect(asked.filter(({ kind }) => kind === 'full')).toHaveLength(1)
  })

  it('is tried again with each attempt while full reads fail too, because an outage must not cost the cursor', async () => {
    const { refresh, asked } = scene()
    await refresh({ pages: [rows(ids)] })
    for (let attempt = 1; attempt <= 6; attempt++)
      await refresh(...Array.from({ length: attempt < 3 ? 1 : 2 }, () => ({ end: DOWN })))
    await refresh({})
    expect([asked.at(-1)?.kind, asked.at(-1)?.cursor]).toEqual(['changes', 'cursor 1' as Cursor])
  })

  it('is never replaced by that of an audit, which may be older than what refreshes have written', async () => {
    const { refresh, audit, asked, scripts } = scene()
    await refresh({ pages: [rows(ids)] })
    await refresh({ end: DOWN })
    scripts.push({ end: DOWN })
    expect(await audit({ pages: [rows(ids, 'B')] })).toEqual({ ok: true })
    await refresh({})
    expect([asked.at(-1)?.kind, asked.at(-1)?.cursor]).toEqual(['changes', 'cursor 1' as Cursor])
  })
})
