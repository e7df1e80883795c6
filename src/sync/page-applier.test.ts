import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { eventOf, formatter, guidOf } from '../../test/model/records.ts'
import type { EventRecord } from '../domain/event.ts'
import type { Guid } from '../domain/guid.ts'
import { Drift } from './drift.ts'
import { FaultCounts } from '../domain/fault-counts.ts'
import { eventKind } from '../records/packing.ts'
import { type Change, type Page, REPEATED } from './port.ts'
import { PageApplier } from './page-applier.ts'
import type { PageApplierContext } from './page-context.ts'
import { RecordList } from '../records/record-list.ts'
import { Tombstones } from './tombstones.ts'

const id = guidOf(1)

type Changes = readonly Change<EventRecord>[]

/** A list to which pages are applied at given times. */
function scene() {
  const list = new RecordList<EventRecord>(eventKind(formatter))
  const tombstones = new Tombstones()
  const drift = new Drift()
  const clock = { ms: 0 }
  let reads = 0
  const read = (context: Partial<PageApplierContext<EventRecord>> = {}): PageApplier<EventRecord> =>
    new PageApplier({
      list,
      tombstones,
      keepsFaults: false,
      newlyWithheld: new FaultCounts(),
      drift,
      kind: 'changes',
      nextNumber: () => ++reads,
      begunAt: 0,
      repeatedId: 'serves-later',
      idColumn: 'Id',
      audit: false,
      timesChanges: false,
      postponeRemovals: false,
      now: () => clock.ms,
      wallS: () => Math.floor(clock.ms / 1000),
      ...context,
    })
  /** Applies a page begun at `begunMs` at the moment `atMs`. Returns the applier. */
  const apply = (
    begunMs: number,
    atMs: number,
    changes: readonly Change<EventRecord>[],
    context: Partial<PageApplierContext<EventRecord>> = {},
    sourceLagMs = 0,
  ): PageApplier<EventRecord> => {
    clock.ms = atMs
    const applier = read({ begunAt: begunMs, ...context })
    applier.apply(pageOf(begunMs, changes, sourceLagMs))
    return applier
  }
  const shown = (): string => {
    const held = list.get(id)
    return held === null ? 'none' : `${held.Name} ${held.TicketsAvailable}`
  }
  const isHeld = (held: Guid): boolean => list.find(held) !== null
  return { list, tombstones, drift, isHeld, clock, read, apply, shown }
}

function pageOf(begunMs: number, changes: readonly Change<EventRecord>[], sourceLagMs = 0): Page<EventRecord> {
  return {
    begunAt: { monotonicMs: begunMs, wallMs: begunMs },
    sourceLagMs,
    changes,
    whereIs: (index) => `row ${index + 1}`,
  }
}

function record(Name: string, TicketsAvailable = 1, version = Number.NaN): Change<EventRecord> {
  return { kind: 'record', id, record: eventOf(id, { Name, TicketsAvailable }), version }
}

function tickets(TicketsAvailable: number): Change<EventRecord> {
  return { kind: 'availability', id, TicketCapacity: 100, TicketsAvailable }
}

const deleted: Change<EventRecord> = { kind: 'deleted', id }
const withheld: Change<EventRecord> = {
  kind: 'withheld',
  id,
  withheld: { fault: 'inactive', column: 'state', where: 'row 1', expected: null, found: null },
  version: Number.NaN,
}

const faulty: Change<EventRecord> = { ...withheld, withheld: { ...withheld.withheld, fault: 'unreadable' } }

describe('PageApplier (architecture: The port to a CRM)', () => {
  it('lets a page change a row only if its request began after the row was written', () => {
    const { apply, shown } = scene()
    apply(10, 20, [record('new')])
    expect(apply(19, 30, [record('old')]).ignored).toBe(1)
    expect(shown()).toBe('new 1')
    expect(apply(20, 30, [record('newer')]).ignored).toBe(0)
    expect(shown()).toBe('newer 1')
  })

  it('lets nothing older delete or withhold a row', () => {
    const { apply, shown } = scene()
    apply(10, 20, [record('new')])
    expect(apply(19, 30, [deleted]).ignored).toBe(1)
    expect(apply(19, 30, [withheld]).ignored).toBe(1)
    expect(shown()).toBe('new 1')
    apply(20, 30, [withheld])
    expect(shown()).toBe('none')
  })

  it('lets nothing older bring a deleted row back', () => {
    const { apply, shown } = scene()
    apply(10, 20, [record('new')])
    apply(21, 30, [deleted])
    expect(apply(29, 40, [record('ghost')]).ignored).toBe(1)
    expect(shown()).toBe('none')
    apply(31, 40, [record('again')])
    expect(shown()).toBe('again 1')
  })

  it('treats availability and details separately: each is as new as the newest page with it', () => {
    const { apply, shown } = scene()
    apply(10, 20, [record('first', 10)])
    apply(25, 30, [tickets(9)])
    apply(28, 40, [record('second', 10)])
    expect(shown()).toBe('second 9')
    apply(39, 45, [tickets(8)])
    apply(35, 50, [record('old', 7)])
    expect(shown()).toBe('second 8')
    apply(29, 60, [tickets(10)])
    expect(shown()).toBe('second 8')
  })

  it("counts in the source's time: a lagging page is as old as its source says", () => {
    const { apply, shown } = scene()
    apply(100, 110, [record('new')])
    apply(120, 125, [record('replayed')], {}, 30)
    expect(shown()).toBe('new 1')
    apply(141, 145, [record('newer')], {}, 30)
    expect(shown()).toBe('newer 1')
  })

  it('postpones removals until the read has ended, if absence is the only sign or events must be removed first', () => {
    const { apply, shown, read, clock } = scene()
    apply(10, 20, [record('shown')])
    clock.ms = 30
    const applier = read({ kind: 'full', begunAt: 25, postponeRemovals: true })
    applier.apply(pageOf(25, [withheld]))
    expect(shown()).toBe('shown 1')
    expect(applier.leavingIds).toEqual([id])
    applier.removePostponed()
    expect(shown()).toBe('none')
  })

  it('does not remove what a later page of the same read brought back', () => {
    const { apply, shown, read, clock } = scene()
    apply(10, 20, [record('shown')])
    const applier = read({ kind: 'full', begunAt: 25, postponeRemovals: true })
    clock.ms = 30
    applier.apply(pageOf(25, [withheld]))
    clock.ms = 40
    applier.apply(pageOf(31, [record('back')]))
    applier.removePostponed()
    expect(shown()).toBe('back 1')
    expect(applier.ignored).toBe(0)
  })

  it('removes what its id scan then names with the same version: the row may have been hidden within a second', () => {
    const ended = (...pages: readonly Change<EventRecord>[]): string => {
      const { apply, shown, read, clock } = scene()
      apply(10, 20, [record('shown', 1, 183)])
      const applier = read({ begunAt: 25, postponeRemovals: true })
      pages.forEach((change, pass) => {
        clock.ms = 30 + 10 * pass
        applier.apply({ ...pageOf(25 + 10 * pass, [change]), pass })
      })
      applier.removePostponed()
      return shown()
    }
    const unchanged: Change<EventRecord> = { kind: 'unchanged', id }
    expect(ended({ ...withheld, version: 183 }, unchanged)).toBe('none')
    // It was hidden later, and shows its earlier row again.
    expect(ended({ ...withheld, version: 184 }, unchanged)).toBe('shown 1')
    expect(ended(deleted, unchanged)).toBe('shown 1')
  })

  it.each([false, true])(
    'lets the later of two pages of one request win, whether it changes or deletes a row (removals postponed: %p)',
    (postponeRemovals) => {
      const told = (...pages: readonly Changes[]): string => {
        const { apply, shown, read, clock } = scene()
        apply(10, 20, [record('known')])
        const applier = read({ begunAt: 25, postponeRemovals })
        pages.forEach((changes, index) => {
          clock.ms = 30 + index
          applier.apply(pageOf(25, changes))
        })
        applier.removePostponed()
        return `${shown()}, ignored ${applier.ignored}`
      }
      expect(told([record('first')], [record('second')])).toBe('second 1, ignored 0')
      expect(told([record('first')], [deleted])).toBe('none, ignored 0')
      expect(told([deleted], [record('back')])).toBe('back 1, ignored 0')
      expect(told([withheld], [record('back')], [deleted])).toBe('none, ignored 0')
    },
  )

  it('removes what a later page of the request deleted, although pages of further requests come before the end', () => {
    const { apply, shown, read, clock } = scene()
    apply(10, 20, [record('known')])
    const applier = read({ begunAt: 25, postponeRemovals: true })
    for (const [begunMs, atMs, changes] of [
      [25, 30, [record('first')]],
      [25, 31, [deleted]],
      [32, 40, []],
    ] as const) {
      clock.ms = atMs
      applier.apply(pageOf(begunMs, changes))
    }
    applier.removePostponed()
    expect([shown(), applier.ignored]).toEqual(['none', 0])
  })

  it('lets a later page of a request change nothing that a newer request wrote in between', () => {
    const { apply, shown, read, clock } = scene()
    const applier = read({ begunAt: 25 })
    clock.ms = 30
    applier.apply(pageOf(25, [record('first')]))
    apply(31, 35, [record('newer')])
    clock.ms = 40
    applier.apply(pageOf(25, [record('second')]))
    applier.apply(pageOf(25, [deleted]))
    expect(shown()).toBe('newer 1')
    expect(applier.ignored).toBe(2)
  })

  it('serves the first of several rows with the same Id if the source says so', () => {
    const { apply, shown } = scene()
    const applier = apply(10, 20, [record('first'), record('second')], { kind: 'full', repeatedId: 'serves-first' })
    expect(shown()).toBe('first 1')
    expect([...applier.unidentified]).toMatchObject([{ id, withheld: { fault: 'duplicate-id', where: 'row 2' } }])
    const again: Change<EventRecord> = { kind: 'unchanged', id }
    const second = apply(30, 40, [again, again], { kind: 'full', repeatedId: 'serves-first' })
    expect([...second.unidentified]).toMatchObject([{ id, withheld: { fault: 'duplicate-id', where: 'row 2' } }])
  })

  it.each(['serves-first', 'serves-neither'] as const)(
    'lets no row that is withheld on purpose hide another of its Id (%s)',
    (repeatedId) => {
      const unchanged: Change<EventRecord> = { kind: 'unchanged', id }
      const orders: readonly (readonly Change<EventRecord>[])[] = [
        [withheld, record('shown')],
        [record('shown'), withheld],
        [withheld, withheld, record('shown'), withheld],
        [withheld, unchanged],
        [unchanged, withheld, withheld],
      ]
      const { apply, shown } = scene()
      for (const [index, changes] of orders.entries()) {
        const setting = { kind: 'full', repeatedId, postponeRemovals: true } as const
        const applier = apply(100 * index + 10, 100 * index + 20, changes, setting)
        applier.release()
        expect(shown()).toBe('shown 1')
        const faults = [...applier.unidentified].map((row) => row.withheld.fault)
        expect(faults.filter((fault) => fault !== 'inactive')).toEqual([])
      }
      const applier = apply(1000, 1010, [withheld, withheld], { kind: 'full', repeatedId, postponeRemovals: true })
      applier.release()
      expect(shown()).toBe('none')
    },
  )

  it('suspects drift if an audit finds an unreported change, and clears it if the change is reported after all', () => {
    const { apply, drift, isHeld } = scene()
    apply(10, 20, [record('first')])
    apply(30, 40, [record('silent')], { kind: 'full', audit: true })
    expect(drift.countUnreported(39, isHeld).size).toBe(0)
    expect([...drift.countUnreported(40, isHeld)]).toEqual([['Name', 1]])
    apply(50, 60, [record('told late')], { kind: 'full', audit: true })
    apply(61, 70, [record('told late')])
    expect(drift.countUnreported(100, isHeld).size).toBe(0)
    expect(drift.records).toBe(1)
  })

  it('counts drift at once if the row changed and its version did not', () => {
    const { apply, drift, isHeld } = scene()
    apply(10, 20, [record('first', 1, 7)])
    apply(30, 40, [record('first', 2, 7)], { kind: 'full', audit: true })
    expect([...drift.countUnreported(0, isHeld)]).toEqual([['TicketsAvailable', 1]])
    apply(50, 60, [record('third', 2, 8)], { kind: 'full', audit: true })
    expect(drift.countUnreported(100, isHeld).size).toBe(0)
  })

  it('shows the newest details and the newest availability of any order of pages, late and repeated ones included', () => {
    const kind = fc.constantFrom('record', 'availability', 'deleted')
    const page = fc.record({ begun: fc.nat(50), took: fc.integer({ min: 1, max: 30 }), kind })
    fc.assert(
      fc.property(fc.array(page, { maxLength: 12 }), (pages) => {
        const { apply, shown } = scene()
        // The state of the CRM at time t is t, for details and tickets. A page shows the state at its beginning.
        let details = { at: Number.NEGATIVE_INFINITY, value: 'none' }
        let availability = { at: Number.NEGATIVE_INFINITY, value: 0 }
        const arrivals = pages
          .map((each, index) => ({
            ...each,
            begun: each.begun + index / 16,
            arrives: each.begun + each.took + index / 16,
          }))
          .toSorted((left, right) => left.arrives - right.arrives)
        for (const { begun, arrives, kind: brought } of arrivals) {
          const isLater = begun >= details.at
          if (brought === 'record') {
            apply(begun, arrives, [record(`${begun}`, begun)])
            const wasShown = details.value !== 'none'
            if (begun >= availability.at && (isLater || wasShown)) availability = { at: arrives, value: begun }
            if (isLater) details = { at: arrives, value: `${begun}` }
          } else if (brought === 'availability') {
            apply(begun, arrives, [tickets(begun)])
            if (details.value !== 'none' && begun >= availability.at) availability = { at: arrives, value: begun }
          } else {
            apply(begun, arrives, [deleted])
            // The page's beginning also counts for a row that is absent anyway.
            if (isLater || details.value === 'none')
              [details, availability] = [
                { at: arrives, value: 'none' },
                { at: Number.NEGATIVE_INFINITY, value: 0 },
              ]
          }
          expect(shown()).toBe(details.value === 'none' ? 'none' : `${details.value} ${availability.value}`)
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('a duplicate id of which neither row is served (surface: The other CRMs)', () => {
  /** Reads that each show one moment. `next` is the time. */
  function moments() {
    const { list, apply, shown, read, clock } = scene()
    let ms = 0
    const whole = (kind: 'full' | 'changes', passes: readonly Changes[], audit = false): PageApplier<EventRecord> => {
      const begunAt = (ms += 10)
      const applier = read({ kind, begunAt, audit, repeatedId: 'serves-neither' })
      clock.ms = ms += 10
      passes.forEach((changes, pass) => applier.apply({ ...pageOf(begunAt, changes), pass }))
      return applier
    }
    const full = (...changes: Changes): PageApplier<EventRecord> => {
      const applier = whole('full', [changes])
      applier.release()
      return applier
    }
    const changed = (...changes: Changes): PageApplier<EventRecord> => whole('changes', [changes])
    return { list, apply, shown, read, clock, whole, full, changed }
  }
  const unchanged: Change<EventRecord> = { kind: 'unchanged', id }
  const fault = { fault: 'duplicate-id', column: 'Id', found: id }

  it('is withheld as a whole, and each further row is counted beside it', () => {
    const { list, shown, full } = moments()
    const applier = full(record('a'), record('b'))
    expect(shown()).toBe('none')
    expect(list.find(id)).toMatchObject({ isServed: false, withheld: { ...fault, where: 'row 2' } })
    expect([...applier.unidentified]).toMatchObject([{ id, withheld: fault }])
    expect(list.version(id)).toBe(REPEATED)
  })

  it('is found by every kind of read, in one page or in several', () => {
    for (const rows of [
      [record('a'), record('b')],
      [record('a'), faulty],
      [faulty, record('a')],
      [unchanged, unchanged],
      [unchanged, record('b')],
      [record('a'), unchanged],
    ]) {
      for (const kind of ['full', 'changes'] as const) {
        const { shown, full, read, clock } = moments()
        full(record('first'))
        expect(shown()).toBe('first 1')
        const applier = read({ kind, begunAt: 50, repeatedId: 'serves-neither' })
        for (const row of rows) {
          clock.ms += 50
          applier.apply(pageOf(50, [row]))
        }
        expect(shown()).toBe('none')
      }
    }
  })

  it('stays withheld despite reads of changes, until a full read that meets it once has ended', () => {
    const { shown, list, whole, full, changed } = moments()
    full(record('a'), record('b'))
    expect(changed(record('c'), deleted, unchanged).ignored).toBe(1)
    full(record('a'), record('b'))
    expect(changed(record('c')).ignored).toBe(0)
    changed(unchanged)
    expect(shown()).toBe('none')
    const applier = whole('full', [[record('d')]])
    expect(shown()).toBe('none')
    expect(list.find(id)?.withheld).toMatchObject(fault)
    applier.release()
    expect(shown()).toBe('d 1')
    changed(record('e'))
    expect(shown()).toBe('e 1')
  })

  it('never shows between two pages of a full read that meets it twice again', () => {
    const { shown, full, read, clock } = moments()
    full(record('a'), record('b'))
    const applier = read({ kind: 'full', begunAt: 100, repeatedId: 'serves-neither' })
    for (const name of ['a', 'b', 'c']) {
      clock.ms += 100
      applier.apply(pageOf(100, [record(name)]))
      expect(shown()).toBe('none')
    }
    applier.release()
    expect(shown()).toBe('none')
    expect(applier.unidentified).toHaveLength(2)
  })

  it('does not include a row that a delta names and the id scan after it names again', () => {
    const { shown, whole } = moments()
    whole('changes', [[record('a')], [unchanged]])
    expect(shown()).toBe('a 1')
    whole('changes', [[record('b')], [record('b')]])
    expect(shown()).toBe('b 1')
  })

  it('is found by an audit although a refresh names the row between its pages', () => {
    const { shown, full, read, clock, whole } = moments()
    full(record('a'))
    const audit = read({ kind: 'full', begunAt: 100, audit: true, repeatedId: 'serves-neither' })
    clock.ms = 100
    audit.apply(pageOf(100, [record('a')]))
    whole('changes', [[record('b')]])
    clock.ms = 200
    audit.apply(pageOf(100, [record('b')]))
    expect(shown()).toBe('none')
  })

  it('does not include a new row in the slot of a removed one', () => {
    const { list, read, clock } = moments()
    const other = guidOf(2)
    const audit = read({ kind: 'full', begunAt: 10, audit: true, repeatedId: 'serves-neither' })
    clock.ms = 20
    audit.apply(pageOf(10, [record('a')]))
    read({ begunAt: 21 }).apply(pageOf(21, [deleted]))
    audit.apply(pageOf(10, [{ kind: 'record', id: other, record: eventOf(other), version: Number.NaN }]))
    expect(list.get(other)).not.toBeNull()
  })

  it('is withheld exactly while it is a duplicate, for any sequence of reads', () => {
    const read = fc.record({ isFull: fc.boolean(), names: fc.array(fc.constantFrom('a', 'b', '='), { maxLength: 3 }) })
    fc.assert(
      fc.property(fc.array(read, { maxLength: 10 }), (reads) => {
        const { shown, list, full, changed } = moments()
        let expected = 'none'
        let isRepeated = false
        for (const { isFull, names } of reads) {
          const isHeld = list.find(id) !== null
          const rows = names.map((name) => (name === '=' ? unchanged : record(name)))
          if (isFull) full(...rows)
          else changed(...rows)
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
      { numRuns: 1000 },
    )
  })
})
