import { Admissions, Freshness } from '../../src/sync/served-list.ts'
import { Poller } from '../../src/sync/poller.ts'
import { HeldCursor } from '../../src/sync/held-cursor.ts'
import { KeptFaults } from '../../src/records/kept-faults.ts'
import { ListReader } from '../../src/sync/list-reader.ts'
import { ListReplica } from '../../src/sync/list-replica.ts'
import { Pages } from '../../src/sync/pages.ts'
import { RecordList } from '../../src/records/record-list.ts'
import { Staging } from '../../src/sync/staging.ts'
import { ShrinkGuard } from '../../src/sync/shrink-guard.ts'
import type { Time } from '../../src/time/time.ts'
import { Tombstones } from '../../src/sync/tombstones.ts'
import { CURSORS_DIE, HALF_WRITTEN, ID_SCANS_SELDOM } from './plans.ts'
import { override, overrideGetter } from './override.ts'
import type { Stage } from './run-model.ts'
import { type Setting, settingOf } from './setting.ts'
import { ID_SCAN, POSITION } from './time-delta.ts'
import type { VirtualTime } from './virtual-time.ts'

/** The replica with one defect. Mutants exist only in the tests: the real classes have no switch for them. */
export interface Mutant {
  readonly name: string
  /** The setting in which the defect is found soonest. */
  readonly setting: Setting
  /** Breaks a class. Returns a function that restores it. */
  readonly breakIt?: (time: () => VirtualTime) => () => void
  /** Breaks one instance. */
  readonly onStage?: (stage: Stage) => void
  readonly timeFor?: (time: VirtualTime) => Time
}

/** Audits that overlap reads of changes, one after the other. */
const OVERLAPPING = {
  strategy: 'token-delta',
  maxAgeMs: 1000,
  trouble: 0,
  latencyMs: 150,
  patienceMs: 10_000,
  fullReadEveryMs: 3000,
  changeEveryMs: 60,
} as const
const token = settingOf({ strategy: 'token-delta', maxAgeMs: 1000 })
const calm = { strategy: 'token-delta', maxAgeMs: 1000, trouble: 0 } as const
const pages = settingOf({ strategy: 'full-read', maxAgeMs: 1000 })
const garbling = settingOf({ strategy: 'token-delta', maxAgeMs: 1000, garbles: true, shrinkGuardMs: 60_000 })
const lagging = settingOf({ strategy: 'time-delta', maxAgeMs: 30_000, serverLagsMs: [0, 3000, 20_000] })
const apart = settingOf({
  strategy: 'token-delta',
  maxAgeMs: 30_000,
  readsTickets: true,
  trouble: 0,
  latencyMs: 400,
  patienceMs: 10_000,
  changeEveryMs: 150,
  thinkMs: 300,
})

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'serves past the maximum age',
    setting: token,
    breakIt: () =>
      override(
        Admissions.prototype,
        'ageNow',
        () => (list) => (list.ageMs({ monotonicMs: 0, wallMs: 0 }) === null ? -1 : 0),
      ),
  },
  {
    name: 'says that the data is younger than it is',
    setting: token,
    breakIt: () =>
      override(
        Admissions.prototype,
        'ageNow',
        (original) =>
          function ageNow(this: Admissions, list) {
            const ageMs = original.call(this, list)
            return ageMs < 0 ? ageMs : ageMs / 2
          },
      ),
  },
  {
    name: 'removes by absence after half a read',
    setting: pages,
    breakIt: () =>
      override(
        Pages.prototype,
        'next',
        (original) =>
          async function next(this: Pages<unknown>) {
            const result = await original.call(this)
            if (result.kind === 'page' || result.outcome.ok || result.outcome.failure.kind !== 'unreachable')
              return result
            const end = {
              ok: true,
              cursor: null,
              complete: true,
              oneMoment: false,
              unchanged: false,
              asOf: null,
              confirms: true,
            } as const
            return { kind: 'end', outcome: end }
          },
      ),
  },
  {
    name: 'lets an older read win',
    setting: settingOf(OVERLAPPING),
    breakIt: () => override(RecordList.prototype, 'knownAt', () => () => Number.NEGATIVE_INFINITY),
  },
  {
    name: 'forgets tombstones',
    setting: settingOf({ ...calm, latencyMs: 150, patienceMs: 10_000, fullReadEveryMs: 2000, changeEveryMs: 60 }),
    breakIt: () => override(Tombstones.prototype, 'absentSince', () => () => Number.NEGATIVE_INFINITY),
  },
  {
    name: "counts the age from the read's end",
    setting: token,
    breakIt: (now) =>
      override(
        Freshness.prototype,
        'confirm',
        (original) =>
          function confirm(this: Freshness, _asOf, lagMs) {
            original.call(this, now().now(), lagMs)
          },
      ),
  },
  {
    name: 'counts the age from the beginning of the details, though the tickets were read before',
    setting: apart,
    onStage: ({ replica }) => Object.defineProperty(replica.events.reader, 'tickets', { get: () => null, set() {} }),
  },
  {
    name: 'reads the tickets after the details',
    setting: apart,
    onStage: ({ replica }) => {
      const { reader } = replica.events
      const [refresh, readTickets] = [reader.refresh.bind(reader), reader.readTickets.bind(reader)]
      Object.defineProperty(reader, 'tickets', { get: () => null, set() {} })
      reader.readTickets = () => Promise.resolve({ ok: true })
      reader.refresh = async () => {
        const attempt = await refresh()
        return attempt.ok ? readTickets() : attempt
      }
    },
  },
  {
    name: 'ignores the shrink guard',
    setting: pages,
    breakIt: () =>
      override(
        ShrinkGuard.prototype,
        'judge',
        (original) =>
          function judge(this: ShrinkGuard, list, read, circumstances) {
            return original.call(this, list, read, { ...circumstances, shrinkGuardMs: null })
          },
      ),
  },
  {
    name: 'confirms changes while the shrink guard holds',
    setting: token,
    breakIt: () =>
      override(
        ShrinkGuard.prototype,
        'judge',
        (original) =>
          function judge(this: ShrinkGuard, ...given) {
            const verdict = original.apply(this, given)
            this.shrunk = null
            return verdict
          },
      ),
  },
  {
    name: 'believes any number of rows that became unreadable',
    setting: garbling,
    breakIt: () => {
      const mends = [
        overrideGetter(KeptFaults.prototype, 'size', () => 0),
        overrideGetter(KeptFaults.prototype, 'fromRefreshes', () => 0),
      ]
      return () => mends.forEach((mend) => mend())
    },
  },
  {
    name: 'withholds rows that became unreadable before the shrink guard has judged',
    setting: garbling,
    breakIt: () =>
      override(
        Staging.prototype,
        'keepUnreadable',
        (original) =>
          function keepUnreadable(this: Staging<unknown>) {
            original.call(this)
            void this.withdrawUnreadable()
          },
      ),
  },
  {
    name: 'releases the shrink guard before the lost rows are removed',
    setting: settingOf({
      strategy: 'full-read',
      maxAgeMs: 1000,
      shrinkGuardMs: 600_000,
      patienceMs: 2000,
      latencyMs: 100,
      thinkMs: 40,
      waiting: 0,
    }),
    breakIt: () =>
      override(
        ShrinkGuard.prototype,
        'judge',
        (original) =>
          function judge(this: ShrinkGuard, ...given) {
            const verdict = original.apply(this, given)
            verdict.release()
            return verdict
          },
      ),
  },
  {
    name: 'restarts the time of the shrink guard with each read',
    setting: { ...garbling, trouble: 2, shrinkGuardMs: 2000 },
    breakIt: () =>
      override(
        ShrinkGuard.prototype,
        'judge',
        (original) =>
          function judge(this: ShrinkGuard, list, read, circumstances) {
            const verdict = original.call(this, list, read, circumstances)
            if (this.shrunk !== null) this.shrunk = { ...this.shrunk, since: read.begun }
            return verdict
          },
      ),
  },
  {
    name: 'forgets over a restart what it did not believe',
    setting: settingOf({ strategy: 'token-delta', maxAgeMs: 1000, restartEveryMs: 4000 }),
    breakIt: () =>
      override(
        ListReader.prototype,
        'snapshotListAt',
        (original) =>
          function snapshotListAt(this: ListReader<unknown>, now) {
            const snapshot = original.call(this, now)
            return snapshot && { ...snapshot, shrunk: null }
          },
      ),
  },
  {
    name: 'skips the lag',
    setting: lagging,
    breakIt: () =>
      override(
        Staging.prototype,
        'stage',
        (original) =>
          function stage(this: Staging<unknown>, page) {
            original.call(this, { ...page, sourceLagMs: 0 })
          },
      ),
  },
  seenBeforeWritten(),
  {
    name: 'adds venues without comparing ids',
    setting: settingOf(ID_SCANS_SELDOM),
    breakIt: () =>
      override(ID_SCAN, 'isAskedFor', (original) => (request) => request.purpose !== 'addition' && original(request)),
  },
  {
    name: 'removes rows to save memory before the shrink guard has judged',
    setting: settingOf({
      strategy: 'full-read',
      maxAgeMs: 1000,
      mostStagedBytes: 500,
      serverFilters: false,
      garbles: true,
      shrinkGuardMs: 60_000,
    }),
    breakIt: () =>
      override(
        Staging.prototype,
        'add',
        (original) =>
          async function add(this: Staging<unknown>, isEnd) {
            await original.call(this, isEnd)
            await this.remove()
          },
      ),
  },
  {
    name: 'writes what it adds of a list that may be half-written',
    setting: settingOf({ ...HALF_WRITTEN, mostStagedBytes: 0 }),
    breakIt: () =>
      override(
        Staging.prototype,
        'stage',
        (original) =>
          function stage(this: Staging<unknown>, page) {
            original.call(this, page)
            if (page.unsure !== undefined) void this.add(false)
          },
      ),
  },
  {
    name: 'believes a list that may be half-written',
    setting: settingOf(HALF_WRITTEN),
    breakIt: () =>
      override(
        Pages.prototype,
        'next',
        (original) =>
          async function next(this: Pages<unknown>) {
            const result = await original.call(this)
            if (result.kind === 'end') return result
            const { unsure: _, ...page } = result.page
            return { ...result, page }
          },
      ),
  },
  {
    name: 'counts any read as one that began since',
    setting: settingOf({ strategy: 'full-read', maxAgeMs: 0 }),
    breakIt: () =>
      override(
        Freshness.prototype,
        'isConfirmedSince',
        () =>
          function isConfirmedSince(this: Freshness) {
            return this.confirmedAgeMs({ monotonicMs: 0, wallMs: 0 }) !== null
          },
      ),
  },
  {
    name: 'does not notice that the machine slept',
    setting: settingOf({ strategy: 'time-delta', maxAgeMs: 1000, clocks: 'suspended' }),
    timeFor: (virtual) => ({
      now: () => ({ monotonicMs: virtual.now().monotonicMs, wallMs: 0 }),
      after: (delayMs, then) => virtual.after(delayMs, then),
      random: () => virtual.random(),
    }),
  },
  {
    name: 'never audits',
    setting: { ...token, trouble: 0 },
    breakIt: () => override(ListReader.prototype, 'audit', () => () => Promise.resolve({ ok: true })),
  },
  {
    name: 'drops rows of an audit that no read of changes ever reported',
    setting: settingOf({
      ...calm,
      maxAgeMs: 3000,
      refreshEveryMs: 500,
      latencyMs: 250,
      patienceMs: 10_000,
      fullReadEveryMs: 2000,
    }),
    breakIt: () => override(Tombstones.prototype, 'duringAudit', () => () => {}),
  },
  {
    name: 'shows events before their venues',
    setting: { ...token, changeEveryMs: 100, trouble: 0, latencyMs: 150, patienceMs: 10_000, fullReadEveryMs: 60_000 },
    breakIt: () => override(RecordList.prototype, 'serves', () => () => true),
  },
  {
    name: 'shows events before venues whose own read waits for the events',
    setting: settingOf({ ...calm, changeEveryMs: 100, fullReadEveryMs: 60_000 }),
    breakIt: () => override(ListReader.prototype, 'readAdditions', () => () => Promise.resolve({ ok: true })),
  },
  {
    name: 'shows events though their venues could not be read',
    setting: { ...token, trouble: 3, changeEveryMs: 100 },
    breakIt: () =>
      override(
        ListReplica.prototype,
        'add',
        (original) =>
          async function add(this: ListReplica<unknown>, missing) {
            await original.call(this, missing)
            return null
          },
      ),
  },
  {
    name: 'answers 404 for the venue of an event though a list past its maximum age cannot tell',
    setting: settingOf({
      strategy: 'token-delta',
      maxAgeMs: 1000,
      staleIfErrorMs: 60_000,
      trouble: 3,
      changeEveryMs: 100,
    }),
    breakIt: () => override(Admissions.prototype, 'isGuessing', () => () => false),
  },
  {
    name: 'removes venues after a read of the events that cannot report deletions',
    setting: settingOf(ID_SCANS_SELDOM),
    breakIt: () => override(ListReader.prototype, 'confirmSince', () => () => {}),
  },
  {
    name: 'removes venues although events still refer to them, until an id scan',
    setting: settingOf(ID_SCANS_SELDOM),
    breakIt: () => override(RecordList.prototype, 'someServed', () => () => Promise.resolve(false)),
  },
  {
    name: 'believes half of a list that changed while it was read',
    setting: pages,
    breakIt: () =>
      override(
        Pages.prototype,
        'next',
        (original) =>
          async function next(this: Pages<unknown>) {
            const result = await original.call(this)
            if (result.kind === 'page' || !result.outcome.ok) return result
            return { kind: 'end', outcome: { ...result.outcome, oneMoment: true } }
          },
      ),
  },
  {
    name: 'never gives up a cursor that does not work',
    setting: settingOf(CURSORS_DIE),
    breakIt: () => override(HeldCursor.prototype, 'isGivenUp', () => (failure) => failure?.kind === 'cursor-refused'),
  },
  {
    // A defect of the connector: only connectors know updatedAt.
    name: 'continues from the newest updatedAt, although its clock is ahead',
    setting: settingOf(ID_SCANS_SELDOM),
    breakIt: () => override(POSITION, 'after', () => (newestS) => newestS),
  },
  {
    name: 'serves its snapshot before a read has confirmed it',
    setting: settingOf({ ...calm, restartEveryMs: 10_000 }),
    breakIt: (now) =>
      override(
        ListReader.prototype,
        'resume',
        (original) =>
          function resume(this: ListReader<unknown>, ...given) {
            original.call(this, ...given)
            this.isLoaded = true
            this.freshness.confirm(now().now(), 0)
          },
      ),
  },
  {
    name: 'sends a wrong Retry-After',
    setting: { ...token, maxAgeMs: 30_000 },
    onStage: ({ replica }) => {
      for (const list of [replica.events, replica.venues]) Object.defineProperty(list, 'nextTryInMs', { get: () => 0 })
    },
  },
  {
    name: 'never recovers from a failure',
    setting: pages,
    breakIt: () =>
      override(
        Poller.prototype,
        'attempt',
        (original) =>
          function attempt(this: Poller) {
            return this.lastFailure === null
              ? original.call(this)
              : Promise.resolve({ ok: false, failure: this.lastFailure })
          },
      ),
  },
]

/** Counts rows as seen that a read found different and has not written: if it fails, an audit keeps what is gone. */
function seenBeforeWritten(): Mutant {
  const stage: { lists: readonly RecordList<unknown>[] } = { lists: [] }
  return {
    name: 'counts rows as seen before they are written',
    setting: settingOf({
      strategy: 'token-delta',
      maxAgeMs: 1000,
      trouble: 2,
      fullReadEveryMs: 3000,
      changeEveryMs: 60,
    }),
    onStage: ({ replica }) => {
      stage.lists = [replica.events.list as RecordList<unknown>, replica.venues.list as RecordList<unknown>]
    },
    breakIt: (now) =>
      override(
        Staging.prototype,
        'stage',
        (original) =>
          function stageAndSee(this: Staging<unknown>, page) {
            original.call(this, page)
            for (const { id } of page.changes) {
              const row = id === null ? null : stage.lists.map((list) => list.find(id)).find((held) => held !== null)
              if (row) row.seenAt = now().peek().monotonicMs
            }
          },
      ),
  }
}
