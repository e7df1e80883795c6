import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'bun:test'
import { DirtyRows } from '../../src/records/row-records.ts'
import { eventOf, guidOf } from '../model/records.ts'
import { failureOf } from '../../src/sync/port.ts'
import { type SnapshotState, listStanding } from '../../src/sync/served-list.ts'
import { SnapshotFile } from '../../src/snapshot/snapshot-file.ts'
import { emptyDirectory, put, Rig, started, type Tables, tables, until, written } from './rig.ts'
import { eventually } from '../support/eventually.ts'

const DAY_MS = 24 * 3_600_000
describe('a snapshot in a file', () => {
  it('spares a restart the full read: what is held is the same after one read of changes', async () => {
    const both = tables(2500, 10)
    both.events.withhold(guidOf(5))
    both.events.nameless = 3
    const before = await written(both)
    const rig = await started(both, before)
    expect([both.events.reads, both.venues.reads]).toEqual([['changes'], ['changes']])
    expect(rig.held).toEqual(before.held)
    expect(rig.said).toEqual(['snapshot-read'])
    expect(rig.keeper.onDisk()).toMatchObject({ rows: 2510, bytes: statSync(rig.path).size })
    await rig.stop()
  })

  it('shows what changed, came and went while nothing ran', async () => {
    const both = tables(30)
    const before = await written(both)
    put(both, 'events', 1, 'changed')
    put(both, 'events', 31, 'came')
    both.events.delete(guidOf(2))
    both.events.withhold(guidOf(3))
    const rig = await started(both, before)
    const { list } = rig.replica.events
    expect([1, 2, 3, 31].map((number) => list.get(guidOf(number))?.Name)).toEqual([
      'changed',
      undefined,
      undefined,
      'came',
    ])
    expect([list.served, list.withheld]).toEqual([29, 1])
    await rig.stop()
  })

  it('is served only once a read that began here has confirmed it, and its age counts from there', async () => {
    const both = tables()
    const before = await written(both)
    const gate = Promise.withResolvers<void>()
    both.events.gate = gate.promise
    const rig = new Rig(both, { directory: before.directory })
    const begunMs = performance.now()
    const start = rig.start()
    await until(() => both.events.reads.length > 0)
    const { events } = rig.replica
    const now = { monotonicMs: performance.now(), wallMs: Date.now() }
    expect([events.list.served, events.ageMs(now), events.reader.isLoaded]).toEqual([3, null, false])
    gate.resolve()
    await start
    expect(events.reader.isLoaded).toBe(true)
    const ageMs = events.ageMs({ monotonicMs: performance.now(), wallMs: Date.now() })
    expect(ageMs).toBeLessThanOrEqual(performance.now() - begunMs)
    expect(events.reader.freshness.auditedAgeMs(now)).toBeNull()
    await rig.stop()
  })

  describe('with staleIfError, while the CRM fails at the start', () => {
    const HOUR_MS = 3_600_000
    const limits = { maxAgeMs: 30_000, staleIfErrorMs: 12 * HOUR_MS, shrinkGuardMs: 86_400_000 }
    const bridged = async (
      both: Tables,
      { directory }: Rig,
      { staleIfErrorMs = limits.staleIfErrorMs, aheadMs = HOUR_MS } = {},
    ): Promise<{ readonly rig: Rig; readonly ageMs: number | null; readonly standing: string }> => {
      const rig = await new Rig(both, { directory, staleIfErrorMs, aheadMs }).start()
      const now = rig.now()
      const { events } = rig.replica
      return { rig, ageMs: events.ageMs(now), standing: listStanding(events, { ...limits, staleIfErrorMs }, now) }
    }
    const failing = (both: Tables, failure = failureOf('unreachable', 'no answer')): void => {
      for (const table of [both.events, both.venues]) table.failure = failure
    }

    it('is served with its age by the wall clock, also by the process after that, until a read confirms it', async () => {
      const both = tables(30)
      const before = await written(both, limits)
      failing(both)
      const first = await bridged(both, before)
      expect(first.standing).toBe('stale')
      expect(first.ageMs ?? 0).toBeGreaterThanOrEqual(HOUR_MS)
      expect(first.ageMs ?? 0).toBeLessThan(HOUR_MS + 10_000)
      await first.rig.stop()
      const second = await bridged(both, before, { aheadMs: 2 * HOUR_MS })
      expect(second.standing).toBe('stale')
      expect(second.ageMs ?? 0).toBeGreaterThanOrEqual(2 * HOUR_MS)
      for (const table of [both.events, both.venues]) table.failure = null
      put(both, 'events', 1, 'changed')
      await second.rig.read()
      const { events } = second.rig.replica
      expect(both.events.reads.at(-1)).toBe('changes')
      expect([events.list.get(guidOf(1))?.Name, events.reader.isBridging]).toEqual(['changed', false])
      expect(events.ageMs(second.rig.now()) ?? HOUR_MS).toBeLessThan(10_000)
      await second.rig.stop()
    })

    it('is not served without staleIfError, when it is too old, and when the clock was set back', async () => {
      const both = tables(30)
      const before = await written(both, limits)
      failing(both)
      for (const setting of [{ staleIfErrorMs: 0 }, { aheadMs: 13 * HOUR_MS }, { aheadMs: -HOUR_MS }]) {
        const { rig, standing } = await bridged(both, before, setting)
        expect([setting, standing, rig.replica.events.reader.isLoaded]).toEqual([setting, 'empty', false])
        await rig.kill()
      }
    })

    it('holds since when the CRM fails, though the process that saw it fail was killed', async () => {
      const both = tables(30)
      const before = await written(both, limits)
      const rig = await new Rig(both, { directory: before.directory, ...limits, aheadMs: HOUR_MS }).start()
      failing(both)
      await rig.read()
      await until(() => rig.file.writes > 0)
      await rig.file.last
      await rig.kill()
      const after = await bridged(both, before, { aheadMs: HOUR_MS + 60_000 })
      expect(after.ageMs ?? HOUR_MS).toBeLessThan(70_000)
      await after.rig.stop()
    })
  })

  it('holds the pause that the CRM asked for: the next process asks nothing before it ends, not even after a kill', async () => {
    const both = tables(30)
    const before = await written(both)
    both.events.failure = failureOf('throttled', 'too many requests', 120_000)
    const rig = await started(both, before)
    await until(() => rig.file.writes > 0)
    await rig.file.last
    await rig.kill()
    both.events.failure = null
    both.events.reads.splice(0)
    const during = await new Rig(both, { directory: before.directory, aheadMs: 60_000 }).start()
    const { events } = during.replica
    expect(both.events.reads).toEqual([])
    expect(events.lastFailure).toMatchObject({
      kind: 'throttled',
      message: 'the CRM asked for a pause before the restart',
    })
    expect(events.nextTryInMs).toBeGreaterThan(40_000)
    expect(events.nextTryInMs).toBeLessThanOrEqual(60_000)
    expect(during.observed.find(({ kind }) => kind === 'read-paused')).toMatchObject({ list: 'events' })
    await during.stop()
    const after = await new Rig(both, { directory: before.directory, aheadMs: 121_000 }).start()
    expect([both.events.reads, after.replica.events.isFailing]).toEqual([['changes'], false])
    await after.stop()
  })

  it('whose cursor the CRM no longer knows is read over in full, and nothing is served before', async () => {
    const both = tables(30)
    const before = await written(both)
    both.events.knowsCursors = false
    both.events.rows.delete(guidOf(2))
    const rig = await started(both, before)
    expect(both.events.reads).toEqual(['changes', 'full'])
    expect(rig.replica.events.list.served).toBe(29)
    await rig.stop()
  })

  it('has the large rows that changed while it was written, in as many chunks as they take', async () => {
    const both = tables(3000)
    const large = randomBytes(15_000).toString('base64')
    const change: { once: (() => void) | null } = { once: null }
    const rig = new Rig(both, { onPause: () => change.once?.() })
    await rig.start()
    await until(() => rig.said.includes('snapshot-written'))
    const { list } = rig.replica.events
    change.once = () => {
      change.once = null
      for (let number = 1; number <= 900; number++) {
        const record = eventOf(guidOf(number), { Name: `${number} ${large}` })
        list.serve(list.find(record.Id) ?? list.insert(record.Id), record)
      }
    }
    rig.aheadMs += 400_000
    put(both, 'events', 1, 'changed')
    await rig.read()
    await rig.file.last
    expect(rig.said).toEqual(['snapshot-written'])
    await rig.kill()
    const after = await new Rig(both, { directory: rig.directory }).start()
    expect(after.replica.events.list.get(guidOf(900))?.Name).toBe(`900 ${large}`)
    await after.stop()
  })

  it('that cannot be written does not make what is held grow', async () => {
    const both = tables(3)
    const directory = emptyDirectory()
    writeFileSync(join(directory, 'file'), '')
    const rig = new Rig(both, { directory: join(directory, 'file') })
    await rig.start()
    const [dirty] = rig.replica.events.list.listeners
    for (let number = 4; number < 1000; number++) put(both, 'events', number, 'comes')
    await rig.read()
    for (let number = 4; number < 1000; number++) both.events.delete(guidOf(number))
    const dirtyRowsLater = async (): Promise<number> => {
      // A try may begin with the read of the venues, before the events are noted: the next one clears those.
      rig.aheadMs += 400_000
      await rig.read()
      return dirty instanceof DirtyRows ? dirty.size : Number.NaN
    }
    expect(await eventually(dirtyRowsLater, (size) => size === 0)).toBe(0)
    expect(rig.keeper.failure).not.toBeNull()
    await rig.kill()
  })

  it('is what the shrink guard measures a full read by', async () => {
    const both = tables(30)
    const before = await written(both)
    both.events.knowsCursors = false
    for (let number = 1; number <= 25; number++) both.events.rows.delete(guidOf(number))
    const rig = await started(both, before)
    const { events } = rig.replica
    expect(events.reader.guard.shrunk).toMatchObject({ absent: 25, unreadable: 0 })
    // Served on, at its age since the process before confirmed it.
    expect([
      events.list.served,
      events.isLoaded,
      (events.ageMs({ monotonicMs: performance.now(), wallMs: Date.now() }) ?? 0) > 0,
    ]).toEqual([30, true, true])
    await rig.stop()
  })

  it('has no cursor while a list is not believed, so the next process does not believe it either', async () => {
    const both = tables(30)
    const before = await written(both)
    const rig = await started(both, before)
    for (let number = 1; number <= 25; number++) both.events.rows.delete(guidOf(number))
    rig.aheadMs += 20_000
    await rig.replica.events.audit.attempt()
    expect(rig.replica.events.reader.guard.shrunk).not.toBeNull()
    await rig.stop()
    both.events.reads.splice(0)
    const after = await started(both, rig)
    expect(both.events.reads).toEqual(['full'])
    expect(after.replica.events.reader.guard.shrunk).not.toBeNull()
    await after.stop()
  })

  it('is written as soon as the shrink guard holds a list, so that being killed does not begin its time anew', async () => {
    const both = tables(30)
    const before = await written(both)
    const rig = await started(both, before)
    for (let number = 1; number <= 25; number++) both.events.rows.delete(guidOf(number))
    await rig.replica.events.audit.attempt()
    await rig.file.last
    await rig.kill()
    const after = new Rig(both, { directory: rig.directory })
    after.aheadMs = 7_200_000
    await after.start()
    const { shrunk } = after.replica.events.reader.guard
    const heldMs = performance.now() + after.aheadMs - (shrunk?.since.monotonicMs ?? Number.NaN)
    expect(heldMs).toBeWithin(7_200_000, 7_300_000)
    await after.stop()
  })

  it('is written as soon as a shorter list is accepted, so that being killed does not bring the old one back', async () => {
    const both = tables(30)
    const before = await written(both)
    const rig = await started(both, before)
    for (let number = 1; number <= 25; number++) both.events.rows.delete(guidOf(number))
    await rig.replica.events.audit.attempt()
    await rig.file.last
    rig.replica.acceptShorter()
    await rig.replica.events.audit.attempt()
    await rig.file.last
    await rig.kill()
    const after = await started(both, rig)
    expect([after.replica.events.reader.guard.shrunk, after.replica.events.list.served]).toEqual([null, 5])
    await after.stop()
  })

  it('is written after the first full read though no cursor travels, so that the next process has an old list', async () => {
    const both = tables(30)
    both.events.travels = both.venues.travels = false
    const rig = await new Rig(both).start()
    await rig.file.last
    await rig.kill()
    for (let number = 1; number <= 25; number++) both.events.rows.delete(guidOf(number))
    const after = await started(both, rig)
    const { events } = after.replica
    expect([events.reader.guard.shrunk?.absent, events.list.served]).toEqual([25, 30])
    await after.stop()
  })

  it('is written again only after an hour where full reads bring nothing new', async () => {
    const both = tables(30)
    both.events.knowsCursors = both.venues.knowsCursors = false
    const rig = await new Rig(both).start()
    await rig.file.last
    for (let number = 1; number <= 3; number++) {
      rig.aheadMs += 400_000
      await rig.read()
    }
    expect([both.events.reads.filter((kind) => kind === 'full').length, rig.file.writes]).toEqual([4, 1])
    rig.aheadMs += 2_500_000
    await rig.read()
    await rig.file.last
    await rig.kill()
    expect(rig.file.writes).toBe(2)
  })

  it('of a list whose cursor means nothing elsewhere spares the other list its full read', async () => {
    const both = tables()
    both.events.travels = false
    const before = await written(both)
    const rig = await started(both, before)
    expect([both.events.reads, both.venues.reads]).toEqual([['full'], ['changes']])
    await rig.stop()
  })

  it('has the audit come when that of the process before would have, and at most a full interval later', async () => {
    const both = tables()
    const before = await written(both)
    for (const [aheadMs, least, most] of [
      [0, 700_000, 900_000],
      [600_000, 100_000, 300_000],
      [-DAY_MS, 700_000, 900_000],
    ] as const) {
      const rig = new Rig(both, { directory: before.directory })
      rig.aheadMs = aheadMs
      await rig.start()
      expect(rig.replica.events.audit.nextTryInMs).toBeWithin(least, most + 1)
      await rig.kill()
    }
    // One restart after another puts it off no further.
    const again = new Rig(both, { directory: before.directory })
    again.aheadMs = 600_000
    await again.start()
    put(both, 'events', 1, 'changed')
    await again.read()
    await again.stop()
    const late = new Rig(both, { directory: before.directory })
    late.aheadMs = 800_000
    await late.start()
    expect(late.replica.events.audit.nextTryInMs).toBeWithin(10_000, 100_001)
    await late.kill()
    const due = new Rig(both, { directory: before.directory })
    due.aheadMs = 1_000_000
    await due.start()
    await until(() => both.events.reads.includes('full'))
    await due.kill()
  })

  it('holds rows and cursors of one moment, though rows change while it is written', async () => {
    const both = tables(5000, 20)
    const changing = { left: 40 }
    let held: unknown = null
    const rig: Rig = new Rig(both, {
      onPause() {
        if (changing.left-- <= 0) return
        const number = changing.left * 100 + 1
        put(both, 'events', number, `again ${number}`)
        both.events.delete(guidOf(number + 1))
        put(both, 'events', 100_000 + number, 'came')
        void rig.replica.events.refresh.attempt()
      },
    })
    await rig.start()
    await until(() => rig.said.includes('snapshot-written'))
    await rig.read()
    held = rig.held
    await rig.kill()
    both.events.reads.splice(0)
    const after = await started(both, rig)
    expect(both.events.reads).toEqual(['changes'])
    expect(after.held).toEqual(held)
    await after.kill()
  })
})

describe('a snapshot is written', () => {
  it('5 minutes after the last one if a row has changed, reported by the CRM or found by an audit, and not else', async () => {
    const both = tables(100)
    const rig = await written(both).then((before) => started(both, before))
    const isWritten = async (change: () => void, aheadMs: number): Promise<boolean> => {
      const { writes } = rig.file
      change()
      rig.aheadMs += aheadMs
      await rig.read()
      await rig.file.last
      return rig.file.writes > writes
    }
    const few = (): void => put(both, 'events', 1, String(Math.random()))
    expect(await isWritten(() => {}, 1_000_000)).toBe(false)
    expect(await isWritten(few, 20_000)).toBe(true)
    expect(await isWritten(few, 20_000)).toBe(false)
    expect(await isWritten(() => {}, 290_000)).toBe(true)
    expect(await isWritten(() => {}, 310_000)).toBe(false)
    const id = guidOf(50)
    both.events.alter(id, eventOf(id, { Name: 'unreported' }))
    const { writes } = rig.file
    await rig.replica.events.audit.attempt()
    await rig.file.last
    expect(rig.file.writes).toBe(writes + 1)
    await rig.kill()
  })

  it('at a stop, with what changed since', async () => {
    const both = tables(100)
    const rig = await written(both).then((before) => started(both, before))
    put(both, 'events', 1, 'changed')
    await rig.read()
    await rig.stop()
    both.events.reads.splice(0)
    const known = both.events.rows.size
    const after = new Rig(both, { directory: rig.directory })
    both.events.gate = new Promise(() => {})
    void after.start()
    await until(() => after.replica.events.list.served === known)
    expect(after.replica.events.list.get(guidOf(1))?.Name).toBe('changed')
  })

  it('so nobody else can read or change it, and what was never finished goes', async () => {
    const both = tables()
    const directory = join(emptyDirectory(), 'made')
    mkdirSync(directory, { mode: 0o700 })
    const left = join(directory, `0123456789ab.snapshot.${crypto.randomUUID()}`)
    const old = join(directory, 'aaaaaaaaaaaa.snapshot')
    const others = join(directory, 'notes.txt')
    for (const path of [left, old, others]) {
      writeFileSync(path, '')
      utimesSync(path, 0, 0)
    }
    const rig = await new Rig(both, { directory }).start()
    await until(() => rig.said.includes('snapshot-written'))
    await until(() => !existsSync(old))
    await rig.stop()
    expect(readdirSync(directory).toSorted()).toEqual(['0123456789ab.snapshot', 'notes.txt'])
    expect(statSync(rig.path).mode & 0o777).toBe(0o600)
    const fresh = await new Rig(both, { directory: join(emptyDirectory(), 'a', 'b') }).start()
    await until(() => fresh.said.includes('snapshot-written'))
    await fresh.stop()
    expect(statSync(fresh.directory).mode & 0o777).toBe(0o700)
  })

  it('and what was never finished goes even where nothing can be written: it may be what fills the disk', async () => {
    const directory = emptyDirectory()
    const left = [1, 2, 3].map(() => join(directory, `0123456789ab.snapshot.${crypto.randomUUID()}`))
    for (const path of left) writeFileSync(path, 'x'.repeat(1000))
    for (const path of left.slice(1)) utimesSync(path, Date.now() / 1000, Date.now() / 1000 - 660)
    const { replica } = await new Rig(tables()).start()
    const limits = { memoryBytes: 100 }
    const file = new SnapshotFile({
      directory,
      fingerprint: () => '0123456789ab',
      limits: () => limits,
      pause: async () => {},
    })
    const describeLists = (): SnapshotState => {
      if (replica.snapshotState === null) throw new Error('the lists are loaded')
      return replica.snapshotState
    }
    const write = file.write(replica.lists, [], describeLists, new AbortController().signal)
    expect(await write.catch(String)).toBe('Error: it would be larger than limits.memory')
    // Another process may be writing this one.
    expect(left.map((path) => existsSync(path))).toEqual([true, false, false])
  })

  it('without what was found in rows that are withheld', async () => {
    const both = tables()
    both.events.withhold(guidOf(1))
    const rig = await written(both)
    expect(gunzipSync(readFileSync(rig.path)).includes('secret')).toBe(false)
  })

  it('not where it cannot be, which is said once', async () => {
    const both = tables()
    const blocked = join(emptyDirectory(), 'a-file')
    writeFileSync(blocked, '')
    const other = await new Rig(both, { directory: join(blocked, 'under') }).start()
    await until(() => other.said.length > 0)
    other.aheadMs += 400_000
    await other.read()
    await other.stop()
    expect(other.said).toEqual(['snapshot-not-written: a file has the name of its directory'])
  })

  it.if(process.platform === 'linux')('not where no directory can be made, which is said in words', async () => {
    const rig = await new Rig(tables(), { directory: '/proc/marquee' }).start()
    await until(() => rig.said.length > 0)
    await rig.stop()
    expect(rig.said).toEqual(['snapshot-not-written: its directory cannot be created'])
  })
})
