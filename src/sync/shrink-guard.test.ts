import { describe, expect, it } from 'bun:test'
import { eventOf, guidOf } from '../../test/model/records.ts'
import type { DateTime } from '../domain/date-time.ts'
import type { EventRecord } from '../domain/event.ts'
import type { Guid } from '../domain/guid.ts'
import type { RowFault, Withheld } from '../domain/withheld.ts'
import { type SnapshotList, servedUntil, untilOf } from './served-list.ts'
import { ShrinkGuard } from './shrink-guard.ts'
import type { Moment } from '../time/time.ts'
import type { Attempt } from './poller.ts'
import { DirtyRows } from '../records/row-records.ts'
import type { Cursor, ListSource } from './port.ts'
import { type Changes, type Script, DOWN, readerScene } from '../../test/support/reader-scene.ts'

const DAY_MS = 86_400_000
const ids = Array.from({ length: 100 }, (_, index) => guidOf(index + 1))

function scene(given: Partial<ListSource<EventRecord>> = {}, shrinkGuardMs: number | null = DAY_MS) {
  const { reader, list, ...rest } = readerScene({ travels: () => true, ...given }, shrinkGuardMs)
  const dirtyRows = new DirtyRows({ events: list }.events)
  const told = (attempt: Attempt): string => (attempt.ok ? 'ok' : attempt.failure.kind)
  const run = async (read: () => Promise<Attempt>, script: Script): Promise<string> =>
    told(await rest.run(read, script))
  const refresh = (...changes: Changes[]): Promise<string> => run(() => reader.refresh(), { pages: changes })
  const auditOf = async (...script: Script[]): Promise<string> => told(await rest.audit(...script))
  const audit = (...pages: Changes[]): Promise<string> => auditOf({ pages })
  const fail = (...changes: Changes[]): Promise<string> => run(() => reader.refresh(), { pages: changes, end: DOWN })
  return { ...rest, reader, list, dirtyRows, run, refresh, audit, auditOf, fail }
}

function rows(of: readonly Guid[], Name = 'A', version = 1): Changes {
  return of.map((id) => ({ kind: 'record', id, record: eventOf(id, { Name }), version }))
}

function unreadable(of: readonly Guid[], version = 2, also: readonly RowFault[] = []): Changes {
  const withheld: Withheld = { ...faultOf('unreadable', 'Start'), where: 'row', also }
  return of.map((id) => ({ kind: 'withheld', id, withheld, version }))
}

function faultOf(fault: RowFault['fault'], column: string): RowFault {
  return { fault, column, expected: null, found: null }
}

describe('the beginning and the end of a hold', () => {
  const { list } = scene()
  const since: Moment = { monotonicMs: 100.75, wallMs: 5000 }

  it('are whole milliseconds, the same each time, though the two clocks run apart by fractions', () => {
    for (const [monotonicMs, wallMs] of [
      [100.75, 5000],
      [1100.99, 6000],
      [2100.2, 7001],
      [86_400_900.5, 86_405_000],
    ] as const) {
      const now = { monotonicMs, wallMs }
      expect([untilOf({ since }, 0, now), untilOf({ since }, DAY_MS, now)]).toEqual([5000, 5000 + DAY_MS])
    }
  })

  it('follow the wall clock where it is set back', () => {
    expect(untilOf({ since }, DAY_MS, { monotonicMs: 60_100.75, wallMs: 5000 })).toBe(5000 - 60_000 + DAY_MS)
  })

  it('the end is not before the list reaches the maximum age', () => {
    const now = { monotonicMs: 1100.75, wallMs: 6000 }
    const until = (shrinkGuardMs: number): number =>
      servedUntil({ since }, 2000, { shrinkGuardMs, maxAgeMs: 30_000 }, now)
    expect([until(0), until(DAY_MS)]).toEqual([34_000, 5000 + DAY_MS])
  })

  it('are the same to the millisecond after a restart', () => {
    const guard = new ShrinkGuard()
    guard.shrunk = { since, absent: 26, unreadable: 0 }
    const writtenAt = { monotonicMs: 1100.99, wallMs: 6000 }
    const told = guard.toldAt(writtenAt)
    const next = new ShrinkGuard()
    if (told !== null) next.resume(list, told, { monotonicMs: -8999.3, wallMs: 6000 })
    if (next.shrunk === null) throw new Error('it is held')
    expect(untilOf(next.shrunk, DAY_MS, { monotonicMs: 2.25, wallMs: 15_002 })).toBe(5000 + DAY_MS)
  })
})

describe('a read of several moments that misses many rows', () => {
  it('is confirmed by one that began after its end, not by one that ran beside it', () => {
    const { list } = scene()
    for (const [index, id] of ids.entries()) {
      const row = list.insert(id)
      list.serve(row, eventOf(id))
      if (index < 70) row.seenAt = Infinity
    }
    const guard = new ShrinkGuard()
    const judged = (number: number, begunAt: number, endedAt: number): string => {
      const begun = { monotonicMs: begunAt, wallMs: begunAt }
      const read = { number, begunAt, names: () => false, kind: 'full', begun, sinceMs: begunAt, removed: 0 } as const
      const now = { monotonicMs: endedAt, wallMs: endedAt }
      const circumstances = { shrinkGuardMs: DAY_MS, maxAgeMs: 30_000, now, observe: () => {}, serveOld: () => 0 }
      return guard.judge(list, { ...read, complete: true, oneMoment: false }, circumstances).failure?.kind ?? 'ok'
    }
    expect(judged(1, 0, 100)).toBe('unconfirmed')
    expect(judged(2, 50, 150)).toBe('unconfirmed')
    expect(judged(3, 150, 200)).toBe('ok')
  })
})

describe('the shrink guard, if rows became unreadable (architecture: The shrink guard)', () => {
  it('keeps the old records of a full read that made more than half of them unreadable, and applies the others', async () => {
    const { refresh, audit, list, reader, observed } = scene()
    await refresh(rows(ids))
    expect(await audit(unreadable(ids.slice(0, 51)), rows(ids.slice(51), 'B'))).toBe('shrunk')
    expect([list.served, list.withheld]).toEqual([100, 0])
    expect([list.get(guidOf(1))?.Name, list.get(guidOf(100))?.Name]).toEqual(['A', 'B'])
    expect(reader.guard.shrunk).toMatchObject({ absent: 0, unreadable: 51 })
    const told = observed.filter(({ kind }) => kind === 'shrunk')
    const faults = [{ column: 'Start', fault: 'unreadable', count: 51 }]
    expect(told).toMatchObject([{ unreadable: 51, records: 100, faults }])
  })

  it('counts absence and new faults together', async () => {
    const { refresh, audit, list, reader } = scene()
    await refresh(rows(ids))
    expect(await audit(rows(ids.slice(0, 70)), unreadable(ids.slice(50, 70)))).toBe('ok')
    const other = scene()
    await other.refresh(rows(ids))
    expect(await other.audit(rows(ids.slice(0, 49)), unreadable(ids.slice(49, 75)))).toBe('shrunk')
    expect([list.served, other.list.served]).toEqual([50, 100])
    expect([reader.guard.shrunk, other.reader.guard.shrunk]).toMatchObject([null, { absent: 25, unreadable: 26 }])
  })

  it('lets rows go that no longer meet a condition, even if the rest of the row is unreadable', async () => {
    const { refresh, list } = scene()
    await refresh(rows(ids))
    expect(await refresh(unreadable(ids.slice(0, 60), 2, [faultOf('inactive', 'Active')]))).toBe('ok')
    expect(list.served).toBe(40)
  })

  it('counts the faults of reads of changes together, since the last full read that was believed', async () => {
    const { refresh, audit, list, asked } = scene()
    await refresh(rows(ids))
    expect(await refresh(unreadable(ids.slice(0, 30)))).toBe('ok')
    expect(await refresh(unreadable(ids.slice(30, 50)))).toBe('ok')
    expect(await refresh(unreadable(ids.slice(50, 51)))).toBe('shrunk')
    expect(list.served).toBe(50)
    expect(await audit(unreadable(ids.slice(0, 51)), rows(ids.slice(51)))).toBe('shrunk')
    expect(await refresh(rows(ids.slice(40, 51), 'A', 3))).toBe('ok')
    expect(asked.at(-1)?.cursor).toBe('cursor 3' as Cursor)
    expect(await audit(unreadable(ids.slice(0, 40)), rows(ids.slice(40)))).toBe('ok')
    expect(await refresh(unreadable(ids.slice(70, 99)))).toBe('ok')
    expect(list.served).toBe(31)
  })

  it('keeps the cursor of a read of changes that is not believed, and the version of each row it keeps', async () => {
    const { refresh, list, asked, dirtyRows } = scene()
    await refresh(rows(ids))
    dirtyRows.clear()
    for (let times = 0; times < 2; times++) {
      expect(await refresh(unreadable(ids.slice(0, 60), 7))).toBe('shrunk')
      expect(asked.at(-1)?.cursor).toBe('cursor 1' as Cursor)
    }
    expect([list.version(guidOf(1)), list.version(guidOf(61))]).toEqual([7, 1])
    expect(dirtyRows.size).toBe(0)
    expect([...dirtyRows.take(10)]).toEqual([])
    expect(await refresh(rows(ids.slice(0, 60), 'B', 8))).toBe('ok')
    expect([list.served, list.kept.size, dirtyRows.size]).toEqual([100, 0, 60])
  })

  it('forgets the findings of a read that failed: the next one finds them again', async () => {
    const { refresh, fail, list } = scene()
    await refresh(rows(ids))
    expect(await fail(unreadable(ids.slice(0, 20)))).toBe('unreachable')
    expect([list.served, list.kept.size]).toEqual([100, 0])
    expect(await refresh([])).toBe('ok')
    expect(list.served).toBe(100)
  })

  it('lets a refresh ignore what a running audit has found so far', async () => {
    const { refresh, audit, reader, list, time } = scene()
    await refresh(rows(ids))
    const pages = [unreadable(ids.slice(0, 40)), unreadable(ids.slice(40, 80)), rows(ids.slice(80))]
    const auditing = audit(...pages)
    await time.pass(150)
    void reader.refresh()
    expect(await auditing).toBe('shrunk')
    expect(list.served).toBe(100)
  })

  it('never lets an older page replace a row that became unreadable, and always a newer one', async () => {
    const { refresh, audit, list, time } = scene()
    await refresh(rows(ids))
    const auditing = audit(rows(ids, 'older'))
    await time.pass(50)
    await refresh(unreadable(ids.slice(0, 60)))
    await auditing
    expect([list.kept.size, list.get(guidOf(1))?.Name]).toEqual([60, 'A'])
  })

  it('is released by a read as thorough as the one that was not believed', async () => {
    const { refresh, audit, reader } = scene()
    await refresh(rows(ids))
    await audit(unreadable(ids))
    await refresh([])
    expect(reader.guard.shrunk).not.toBeNull()
    await audit(rows(ids, 'B', 3))
    expect(reader.guard.shrunk).toBeNull()
  })

  it('believes at once what the operator accepts, and counts from then on', async () => {
    const { refresh, reader, list } = scene()
    await refresh(rows(ids))
    await refresh(unreadable(ids.slice(0, 80)))
    reader.acceptShorter()
    expect(await refresh(unreadable(ids.slice(0, 80)))).toBe('ok')
    expect([list.served, reader.guard.shrunk, reader.guard.acceptsShorter]).toEqual([20, null, false])
    expect(await refresh(unreadable(ids.slice(80, 85)))).toBe('ok')
  })

  it('can be turned off, from the next read on', async () => {
    const { refresh, list, settings } = scene()
    await refresh(rows(ids))
    expect(await refresh(unreadable(ids))).toBe('shrunk')
    settings.shrinkGuardMs = null
    expect(await refresh(unreadable(ids))).toBe('ok')
    expect(list.served).toBe(0)
  })

  it('keeps records whose ids suddenly occur twice, until a full read meets them once', async () => {
    const { refresh, audit, list } = scene({ repeatedId: 'serves-neither' })
    await refresh(rows(ids))
    expect(await audit([...rows(ids, 'B'), ...rows(ids, 'C')])).toBe('shrunk')
    expect(list.served).toBe(100)
    expect(await audit(rows(ids, 'D'))).toBe('ok')
    expect([list.served, list.get(guidOf(1))?.Name]).toEqual([100, 'D'])
  })

  it.each([
    [10, 6, 'shrunk'],
    [10, 5, 'ok'],
    [4, 3, 'shrunk'],
    [3, 2, 'ok'],
    [3, 3, 'shrunk'],
    [1, 1, 'shrunk'],
  ])('of a list of %d that a read makes %d of unreadable: %s', async (count, lost, outcome) => {
    const { refresh, list } = scene()
    await refresh(rows(ids.slice(0, count)))
    expect(await refresh(unreadable(ids.slice(0, lost)))).toBe(outcome)
    expect(list.served).toBe(outcome === 'ok' ? count - lost : count)
  })
})

describe('events that are over', () => {
  /** A list of events that last two hours each, and end so long after the beginning. */
  const programme = async (...endsAfterMs: number[]) => {
    const played = scene()
    const beganMs = played.time.peek().wallMs
    const at = (afterMs: number): DateTime =>
      `${new Date(beganMs + afterMs).toISOString().slice(0, 19)}+00:00` as DateTime
    const changes = endsAfterMs.map((afterMs, index) => {
      const id = guidOf(index + 1)
      const record = eventOf(id, { Start: at(afterMs - 7_200_000), Finish: at(afterMs) })
      return { kind: 'record', id, record, version: 1 } as const
    })
    await played.refresh(changes)
    /** Reads all but the first events, in full. */
    const without = (gone: number): Promise<string> => played.audit(changes.slice(gone))
    return { ...played, changes, without, at }
  }
  const HOUR_MS = 3_600_000

  it('may leave the list all at once: the last event of a view of coming events, and a whole festival', async () => {
    for (const count of [1, 3, 12]) {
      const { time, without, list, observed } = await programme(...Array.from({ length: count }, () => HOUR_MS))
      await time.pass(HOUR_MS + 1000)
      expect(await without(count)).toBe('ok')
      expect([list.served, observed.some(({ kind }) => kind === 'shrunk')]).toEqual([0, false])
    }
  })

  it('are over once the later of Start and Finish has passed, not before', async () => {
    const { time, without, list } = await programme(HOUR_MS)
    await time.pass(HOUR_MS - 1000)
    expect([await without(1), list.served]).toEqual(['shrunk', 1])
    await time.pass(1001)
    expect([await without(1), list.served]).toEqual(['ok', 0])
    const other = await programme(HOUR_MS)
    // Its Finish was entered wrongly.
    const [row] = other.changes
    if (row === undefined) throw new Error('it has an event')
    await other.audit([{ ...row, record: { ...row.record, Start: other.at(3 * HOUR_MS) } }])
    await other.time.pass(2 * HOUR_MS)
    expect(await other.without(1)).toBe('shrunk')
  })

  it('hide no loss of others: half of the coming ones, or all, are held back', async () => {
    const past = Array.from({ length: 8 }, () => HOUR_MS)
    const coming = [2 * HOUR_MS, 2 * HOUR_MS, 2 * HOUR_MS, 2 * HOUR_MS]
    for (const [gone, outcome] of [
      [8, 'ok'],
      [10, 'ok'],
      [11, 'shrunk'],
      [12, 'shrunk'],
    ] as const) {
      const { time, without, reader, observed } = await programme(...past, ...coming)
      await time.pass(HOUR_MS + 1000)
      expect([gone, await without(gone)]).toEqual([gone, outcome])
      const told = observed.filter(({ kind }) => kind === 'shrunk')
      if (outcome === 'ok') expect([reader.guard.shrunk, told]).toEqual([null, []])
      else expect(told).toMatchObject([{ absent: gone - 8, unreadable: 0, records: 4 }])
    }
  })

  it('do not count as taken one by one: the last coming event is held back after they have left', async () => {
    const { time, without, list } = await programme(HOUR_MS, HOUR_MS, HOUR_MS, 2 * HOUR_MS)
    await time.pass(HOUR_MS + 1000)
    expect([await without(3), await without(4), list.served]).toEqual(['ok', 'shrunk', 1])
  })

  it('count as before if they were over for more than a month: that was no list of coming events', async () => {
    const { time, without, list } = await programme(HOUR_MS, HOUR_MS)
    await time.pass(HOUR_MS + 33 * 24 * HOUR_MS)
    expect([await without(2), list.served]).toEqual(['shrunk', 2])
  })

  it('count as before if their rows became unreadable', async () => {
    const { time, audit, changes, list } = await programme(HOUR_MS, HOUR_MS, HOUR_MS, HOUR_MS)
    await time.pass(HOUR_MS + 1000)
    const of = changes.map(({ id }) => id)
    expect([await audit(unreadable(of)), list.served]).toEqual(['shrunk', 4])
    expect([await audit([...unreadable(of.slice(0, 2), 3), ...changes.slice(2)]), list.served]).toEqual(['ok', 2])
  })

  it('are removed by a read of several moments only if a second one misses them too', async () => {
    const { time, auditOf, changes, list } = await programme(...Array.from({ length: 12 }, () => HOUR_MS))
    await time.pass(HOUR_MS + 1000)
    const [short, whole] = [[], changes].map((page) => ({ pages: [page], end: { oneMoment: false } }))
    if (short === undefined || whole === undefined) throw new Error('there are two')
    for (const [second, served] of [
      [whole, 12],
      [short, 0],
    ] as const) {
      expect([await auditOf(short, second), list.served]).toEqual(['ok', served])
    }
  })
})

describe('the shrink guard over a restart (architecture: The shrink guard)', () => {
  const listIn = (reader: ReturnType<typeof scene>['reader'], at: Moment): SnapshotList => {
    const list = reader.snapshotListAt(at)
    if (list === null) throw new Error('it was read in full')
    return { ...list, askedUntilMs: null }
  }
  const restarted = async (snapshot: SnapshotList, writtenAt: Moment, of: readonly Guid[]) => {
    const after = scene()
    for (const id of of) {
      const row = after.list.insert(id)
      after.list.serve(row, eventOf(id, { Name: 'A' }))
    }
    await after.time.pass(200_000)
    after.reader.resume(snapshot, writtenAt)
    return after
  }

  it('continues to serve the old list at its age, once a read has failed to prove it, until the same deadline', async () => {
    const before = scene()
    await before.refresh(rows(ids))
    await before.audit(unreadable(ids))
    const writtenAt = before.time.peek()
    const snapshotList = listIn(before.reader, writtenAt)
    expect(snapshotList).toMatchObject({ served: 100, shrunk: { absent: 0, unreadable: 100 } })
    const after = await restarted(snapshotList, writtenAt, ids)
    expect(after.reader.isLoaded).toBe(false)
    expect(await after.refresh(unreadable(ids))).toBe('shrunk')
    expect([after.reader.isLoaded, after.list.served]).toEqual([true, 100])
    const now = after.time.peek()
    const ageMs = after.reader.freshness.confirmedAgeMs(now) ?? 0
    expect(now.wallMs - ageMs).toBeCloseTo(snapshotList.confirmedAtMs ?? 0, 0)
    expect(after.reader.guard.shrunk?.since.wallMs).toBeCloseTo(writtenAt.wallMs - (snapshotList.shrunk?.forMs ?? 0), 0)
  })

  it('counts the faults from before the restart, too', async () => {
    const before = scene()
    await before.refresh(rows(ids))
    await before.refresh(unreadable(ids.slice(0, 50)))
    const writtenAt = before.time.peek()
    const snapshotList = listIn(before.reader, writtenAt)
    const after = await restarted(snapshotList, writtenAt, ids.slice(50))
    expect(await after.refresh(unreadable(ids.slice(50, 51)))).toBe('shrunk')
  })
})
