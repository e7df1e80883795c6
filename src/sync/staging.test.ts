import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { eventOf, formatter, guidOf } from '../../test/model/records.ts'
import { FaultCounts } from '../domain/fault-counts.ts'
import type { EventRecord } from '../domain/event.ts'
import { eventKind } from '../records/list-kinds.ts'
import { RecordList } from '../records/record-list.ts'
import { type Change, type Page, REPEATED } from './port.ts'
import type { StagingContext } from './row-writer.ts'
import { Staging } from './staging.ts'
import { Tombstones } from './tombstones.ts'

const id = guidOf(1)

type Changes = readonly Change<EventRecord>[]

/** A list and the reads of it. */
function scene() {
  const list = new RecordList<EventRecord>(eventKind(formatter))
  const tombstones = new Tombstones()
  let reads = 0
  const begin = (begunAt: number, context: Partial<StagingContext<EventRecord>> = {}): Staging<EventRecord> =>
    new Staging({
      list,
      tombstones,
      kind: 'changes',
      nextNumber: () => ++reads,
      begunAt,
      repeatedId: 'serves-later',
      idColumn: 'Id',
      ticketsAt: () => Number.NEGATIVE_INFINITY,
      keepsFaults: false,
      audit: false,
      timesChanges: false,
      newlyWithheld: new FaultCounts(),
      wallS: () => Math.floor(begunAt / 1000),
      pause: () => Promise.resolve(),
      ...context,
    })
  /** Writes everything that is staged, as a reader does at the end of a read that is believed. */
  const end = async (staging: Staging<EventRecord>): Promise<void> => {
    await staging.add(true)
    staging.keepUnreadable()
    await staging.remove()
    await staging.withdrawUnreadable()
  }
  const read = async (
    begunAt: number,
    changes: Changes,
    context: Partial<StagingContext<EventRecord>> = {},
    sourceLagMs = 0,
  ): Promise<Staging<EventRecord>> => {
    const staging = begin(begunAt, context)
    staging.stage(pageOf(changes, 0, sourceLagMs))
    await end(staging)
    return staging
  }
  const shown = (): string => {
    const held = list.get(id)
    return held === null ? 'none' : `${held.Name} ${held.TicketsAvailable}`
  }
  return { list, tombstones, begin, end, read, shown }
}

function pageOf(changes: Changes, pass = 0, sourceLagMs = 0): Page<EventRecord> {
  return { sourceLagMs, pass, changes, whereIs: (index) => `row ${index + 1}` }
}

function record(Name: string, TicketsAvailable = 1, version = Number.NaN): Change<EventRecord> {
  return { kind: 'record', id, record: eventOf(id, { Name, TicketsAvailable }), version }
}

function tickets(TicketsAvailable: number): Change<EventRecord> {
  return { kind: 'availability', id, TicketCapacity: 100, TicketsAvailable }
}

const deleted: Change<EventRecord> = { kind: 'deleted', id }
const unchanged: Change<EventRecord> = { kind: 'unchanged', id }
const withheld: Change<EventRecord> = {
  kind: 'withheld',
  id,
  withheld: { fault: 'inactive', column: 'state', where: 'row 1', expected: null, found: null },
  version: Number.NaN,
}
const faulty: Change<EventRecord> = { ...withheld, withheld: { ...withheld.withheld, fault: 'unreadable' } }

describe('Staging (architecture: The port to a CRM)', () => {
  it('changes nothing before the end of the read', async () => {
    const { begin, end, read, shown } = scene()
    await read(10, [record('old')])
    const staging = begin(20)
    staging.stage(pageOf([record('new')]))
    expect(shown()).toBe('old 1')
    await end(staging)
    expect(shown()).toBe('new 1')
  })

  it('writes what a read adds before what it removes, and withdraws unreadable rows last', async () => {
    const { begin, read, list } = scene()
    const [added, faultyId] = [guidOf(2), guidOf(3)]
    await read(10, [record('known'), { kind: 'record', id: faultyId, record: eventOf(faultyId), version: 0 }])
    const staging = begin(20, { keepsFaults: true })
    staging.stage(
      pageOf([deleted, { ...faulty, id: faultyId }, { kind: 'record', id: added, record: eventOf(added), version: 0 }]),
    )
    const served = (): string => [id, added, faultyId].map((one) => (list.serves(one) ? 'x' : '-')).join('')
    await staging.add(true)
    expect(served()).toBe('xxx')
    staging.keepUnreadable()
    expect(staging.leavingIds).toEqual([id])
    await staging.remove()
    expect([served(), list.kept.size]).toEqual(['-xx', 1])
    await staging.withdrawUnreadable()
    expect([served(), list.kept.size]).toEqual(['-x-', 0])
  })

  it('lets a read change a row only if it began after the row was established', async () => {
    const { read, shown } = scene()
    await read(20, [record('new')])
    for (const older of [record('old'), deleted, withheld]) expect((await read(19, [older])).ignored).toBe(1)
    expect(shown()).toBe('new 1')
    expect((await read(21, [record('newer')])).ignored).toBe(0)
    expect(shown()).toBe('newer 1')
  })

  it('lets nothing older bring a deleted row back', async () => {
    const { read, shown } = scene()
    await read(10, [record('new')])
    await read(30, [deleted])
    expect((await read(29, [record('ghost')])).ignored).toBe(1)
    expect(shown()).toBe('none')
    await read(31, [record('again')])
    expect(shown()).toBe('again 1')
  })

  it("counts in the source's time: a lagging read is as old as its source says", async () => {
    const { read, shown } = scene()
    await read(100, [record('new')])
    await read(120, [record('replayed')], {}, 30)
    expect(shown()).toBe('new 1')
    await read(141, [record('newer')], {}, 30)
    expect(shown()).toBe('newer 1')
  })

  it('lets the later of two rows with one id win, whether it changes or deletes the row', async () => {
    const told = async (...pages: readonly Changes[]): Promise<string> => {
      const { begin, end, read, shown } = scene()
      await read(10, [record('known')])
      const staging = begin(25)
      for (const changes of pages) staging.stage(pageOf(changes))
      await end(staging)
      return `${shown()}, ignored ${staging.ignored}`
    }
    expect(await told([record('first')], [record('second')])).toBe('second 1, ignored 0')
    expect(await told([record('first')], [record('known')])).toBe('known 1, ignored 0')
    expect(await told([record('first')], [deleted])).toBe('none, ignored 0')
    expect(await told([deleted], [record('back')])).toBe('back 1, ignored 0')
    expect(await told([withheld], [record('back')], [deleted])).toBe('none, ignored 0')
  })

  it('removes what its id scan then names with the same version: the row may have been hidden within a second', async () => {
    const ended = async (...passes: readonly Change<EventRecord>[]): Promise<string> => {
      const { begin, end, read, shown } = scene()
      await read(10, [record('shown', 1, 183)])
      const staging = begin(25)
      passes.forEach((change, pass) => staging.stage(pageOf([change], pass)))
      await end(staging)
      return shown()
    }
    expect(await ended({ ...withheld, version: 184 }, unchanged)).toBe('none')
    expect(await ended({ ...withheld, version: 184 }, record('shown', 1, 183))).toBe('shown 1')
    expect(await ended(deleted, unchanged)).toBe('shown 1')
  })

  it('names the versions of the rows as the read will leave them, so that an id scan reads no row again', async () => {
    const { begin, read } = scene()
    await read(10, [record('known', 1, 7)])
    const staging = begin(20)
    expect(staging.held.version(id)).toBe(7)
    staging.stage(pageOf([record('new', 1, 8)]))
    expect(staging.held.version(id)).toBe(8)
    staging.stage(pageOf([deleted]))
    expect(staging.held.version(id)).toBeNaN()
  })

  it('keeps a served row that became unreadable until it is judged, and forgets the fault if a later read can read it', async () => {
    const { begin, read, list, shown } = scene()
    await read(10, [record('known')])
    const staging = begin(20, { keepsFaults: true })
    staging.stage(pageOf([faulty]))
    await staging.add(true)
    staging.keepUnreadable()
    await staging.remove()
    expect([shown(), list.kept.size]).toEqual(['known 1', 1])
    expect((await read(19, [record('older')])).ignored).toBe(1)
    await read(30, [record('known')], { keepsFaults: true })
    expect([shown(), list.kept.size, list.find(id)?.detailsAt]).toEqual(['known 1', 0, 30])
  })

  it('takes the tickets of an older read of them, if it was the last one', async () => {
    const { read, shown } = scene()
    await read(10, [record('first', 10)])
    await read(20, [tickets(9)], { kind: 'availability' })
    expect(shown()).toBe('first 9')
    await read(30, [record('second', 8)], { ticketsAt: () => 20 })
    expect(shown()).toBe('second 8')
  })

  it('keeps tickets that were read after an audit has begun, and adds no row of which it does not know them', async () => {
    const { read, list, shown } = scene()
    await read(10, [record('first', 10)])
    await read(30, [tickets(9)], { kind: 'availability' })
    const other = guidOf(2)
    const audit = await read(
      20,
      [record('silent', 10), { kind: 'record', id: other, record: eventOf(other), version: Number.NaN }],
      { kind: 'full', audit: true, ticketsAt: () => 30 },
    )
    expect([shown(), list.serves(other), audit.outdated]).toEqual(['silent 9', false, 1])
  })

  it('counts the changes of an audit by column, if it is told to', async () => {
    const { begin, end, read } = scene()
    await read(10, [record('first')])
    for (const [countsDrift, drifted] of [
      [false, 0],
      [true, 1],
    ] as const) {
      const audit = begin(20, { kind: 'full', audit: true })
      audit.countsDrift = countsDrift
      audit.stage(pageOf([record(`changed ${countsDrift}`)]))
      await end(audit)
      expect([audit.drifted, Object.fromEntries(audit.drift)]).toEqual([drifted, countsDrift ? { Name: 1 } : {}])
    }
  })

  it('knows how much memory it takes, and by how much the list will grow', async () => {
    const { begin, read } = scene()
    await read(10, [record('known')])
    const staging = begin(20)
    staging.stage(pageOf([deleted, { ...record('new'), id: guidOf(2) }]))
    const { addedBytes } = staging
    expect(addedBytes).toBeGreaterThan(200)
    expect(staging.grownBytes).toBe(addedBytes)
    staging.stage(pageOf([record('changed')]))
    expect(staging.addedBytes).toBeGreaterThan(addedBytes)
    expect(staging.grownBytes).toBe(addedBytes)
    await staging.add(false)
    expect([staging.addedBytes, staging.grownBytes]).toEqual([0, 0])
  })

  it('serves the first of several rows with the same Id if the source says so', async () => {
    const { read, shown } = scene()
    const context = { kind: 'full', repeatedId: 'serves-first' } as const
    const repeated = [{ id, withheld: { fault: 'duplicate-id', where: 'row 2' } }]
    const staging = await read(10, [record('first'), record('second')], context)
    expect(shown()).toBe('first 1')
    expect([...staging.unidentified]).toMatchObject(repeated)
    expect([...(await read(30, [unchanged, unchanged], context)).unidentified]).toMatchObject(repeated)
    expect([...(await read(40, [record('first'), record('first')], context)).unidentified]).toMatchObject(repeated)
  })

  it.each(['serves-first', 'serves-neither'] as const)(
    'lets no row that is withheld on purpose hide another of its Id (%s)',
    async (repeatedId) => {
      const orders: readonly Changes[] = [
        [withheld, record('shown')],
        [record('shown'), withheld],
        [withheld, withheld, record('shown'), withheld],
        [withheld, unchanged],
        [unchanged, withheld, withheld],
      ]
      const { read, shown } = scene()
      for (const [index, changes] of orders.entries()) {
        const staging = await read(100 * index + 10, changes, { kind: 'full', repeatedId })
        expect([index, shown()]).toEqual([index, 'shown 1'])
        const faults = [...staging.unidentified].map((row) => row.withheld.fault)
        expect(faults.filter((fault) => fault !== 'inactive')).toEqual([])
      }
      await read(1000, [withheld, withheld], { kind: 'full', repeatedId })
      expect(shown()).toBe('none')
    },
  )

  it('shows the state of the newest read of any order of ends', async () => {
    const kind = fc.constantFrom('record', 'deleted')
    const page = fc.record({ begun: fc.nat(50), took: fc.integer({ min: 1, max: 30 }), kind })
    await fc.assert(
      fc.asyncProperty(fc.array(page, { maxLength: 12 }), async (pages) => {
        const { read, shown } = scene()
        let newest = { at: Number.NEGATIVE_INFINITY, value: 'none' }
        const reads = pages
          .map(({ begun, took, ...each }, index) => ({ ...each, begun: begun + index / 16, ends: begun + took }))
          .toSorted((left, right) => left.ends - right.ends)
        for (const { begun, kind: brought } of reads) {
          const isRecord = brought === 'record'
          await read(begun, [isRecord ? record(`${begun}`) : deleted])
          if (begun >= newest.at) newest = { at: begun, value: isRecord ? `${begun} 1` : 'none' }
          expect(shown()).toBe(newest.value)
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('a duplicate id of which neither row is served (surface: The other CRMs)', () => {
  const fault = { fault: 'duplicate-id', column: 'Id', found: id }

  /** Reads that each show one moment. */
  function moments() {
    const { read, ...rest } = scene()
    let ms = 0
    const whole = (kind: 'full' | 'changes', ...changes: Changes): Promise<Staging<EventRecord>> =>
      read((ms += 10), changes, { kind, repeatedId: 'serves-neither' })
    const full = (...changes: Changes): Promise<Staging<EventRecord>> => whole('full', ...changes)
    const changed = (...changes: Changes): Promise<Staging<EventRecord>> => whole('changes', ...changes)
    return { ...rest, full, changed, whole }
  }

  it('is withheld as a whole, and each further row is counted beside it', async () => {
    const { list, shown, full } = moments()
    const staging = await full(record('a'), record('b'))
    expect(shown()).toBe('none')
    expect(list.find(id)).toMatchObject({ isServed: false, withheld: { ...fault, where: 'row 2' } })
    expect([...staging.unidentified]).toMatchObject([{ id, withheld: fault }])
    expect(list.version(id)).toBe(REPEATED)
  })

  it('is found by every kind of read', async () => {
    for (const rows of [
      [record('a'), record('b')],
      [record('a'), faulty],
      [faulty, record('a')],
      [unchanged, unchanged],
      [unchanged, record('b')],
      [record('a'), unchanged],
    ]) {
      for (const kind of ['full', 'changes'] as const) {
        const { shown, full, whole } = moments()
        await full(record('first'))
        expect(shown()).toBe('first 1')
        await whole(kind, ...rows)
        expect(shown()).toBe('none')
      }
    }
  })

  it('stays withheld despite reads of changes, until a full read that meets it once has ended', async () => {
    const { shown, begin, end, full, changed } = moments()
    await full(record('a'), record('b'))
    await changed(record('c'))
    await changed(unchanged)
    expect(shown()).toBe('none')
    const staging = begin(1000, { kind: 'full', repeatedId: 'serves-neither' })
    staging.stage(pageOf([record('d')]))
    await staging.add(false)
    expect(shown()).toBe('none')
    await end(staging)
    expect(shown()).toBe('d 1')
  })

  it('does not include a row that a delta names and the id scan after it names again', async () => {
    for (const second of [unchanged, record('b')]) {
      const { begin, end, shown } = moments()
      const staging = begin(10, { repeatedId: 'serves-neither' })
      staging.stage(pageOf([record('b')]))
      staging.stage(pageOf([second], 1))
      await end(staging)
      expect(shown()).toBe('b 1')
    }
  })

  it('is withheld exactly while it is a duplicate, for any sequence of reads', async () => {
    const anyRead = fc.record({
      isFull: fc.boolean(),
      names: fc.array(fc.constantFrom('a', 'b', '='), { maxLength: 3 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(anyRead, { maxLength: 10 }), async (reads) => {
        const { shown, list, full, changed } = moments()
        let expected = 'none'
        let isRepeated = false
        for (const { isFull, names } of reads) {
          const isHeld = list.find(id) !== null
          const rows = names.map((name) => (name === '=' ? unchanged : record(name)))
          await (isFull ? full(...rows) : changed(...rows))
          // A row that is reported as unchanged and is not held is unknown.
          const met = isHeld ? names : names.slice(names.findIndex((name) => name !== '='))
          if (!isHeld && names.every((name) => name === '=')) continue
          const last = met.findLast((name) => name !== '=')
          if (met.length > 1) isRepeated = true
          else if (isFull && last !== undefined) isRepeated = false
          if (isRepeated) expected = 'none'
          else if (last !== undefined) expected = `${last} 1`
          expect(shown()).toBe(expected)
        }
      }),
      { numRuns: 500 },
    )
  })
})
