import type { Buffer } from 'node:buffer'
import { DirtyRows } from '../../src/records/row-records.ts'
import { RowRecordWriter } from '../../src/records/row-records.ts'
import { FollowedList, FollowedLists } from '../../src/cluster/followed-lists.ts'
import { OwnNonces } from '../../src/cluster/nonces.ts'
import { Member } from '../../src/cluster/member.ts'
import { Publisher } from '../../src/cluster/publisher.ts'
import { Session } from '../../src/cluster/store.ts'
import { Signing } from '../../src/cluster/entries.ts'
import { override, overrideGetter } from '../model/override.ts'
import type { Fleet, FleetSetting } from './fleet.ts'
import { fleetSettingOf } from './fleet.ts'

/** The fleet with one thing wrong. It lives in the tests: the real classes have no switch for it. */
export interface FleetMutant {
  readonly name: string
  readonly setting: FleetSetting
  /** Breaks a class; returns what puts it right again. */
  readonly breakIt?: (fleet: () => Fleet) => () => void
}

const usual = fleetSettingOf({ strategy: 'full-read', maxAgeMs: 30_000 })
const token = fleetSettingOf({ strategy: 'token-delta', maxAgeMs: 30_000 })
const busy = fleetSettingOf({
  strategy: 'token-delta',
  maxAgeMs: 30_000,
  changeEveryMs: 200,
  thinkMs: 300,
  clients: 12,
  inspectEveryMs: 300,
})

export const FLEET_MUTANTS: readonly FleetMutant[] = [
  {
    name: "counts the age from a heartbeat's arrival",
    setting: usual,
    breakIt: (fleet) => {
      const drawnMs = new Map<string, number>()
      const undoNext = override(
        OwnNonces.prototype,
        'next',
        (original) =>
          function next(this: OwnNonces, notes) {
            const text = original.call(this, notes)
            drawnMs.set(numberIn(text), fleet().time.trueMs)
            return text
          },
      )
      const undoNoted = override(
        OwnNonces.prototype,
        'notedIn',
        (original) =>
          function notedIn(this: OwnNonces, body) {
            const noted = original.call(this, body)
            const sinceMs = fleet().time.trueMs - (drawnMs.get(numberOf(this.instance, body)) ?? 0)
            return noted && { monotonicMs: noted.monotonicMs + sinceMs, wallMs: noted.wallMs + sinceMs }
          },
      )
      return () => {
        undoNext()
        undoNoted()
      }
    },
  },
  {
    name: 'takes an entry over a gap',
    setting: token,
    breakIt: () => override(FollowedLists.prototype, 'isNext', () => () => true),
  },
  {
    name: 'goes on without looking at the top',
    setting: token,
    breakIt: () => override(Publisher.prototype, 'leadershipAt', () => () => 'goes-on'),
  },
  {
    name: 'sends a heartbeat before its rows',
    setting: { ...busy, storeDelayMs: 150 },
    breakIt: () => {
      let beating = 0
      const undoHeartbeat = override(
        Publisher.prototype,
        'heartbeat',
        (original) =>
          async function heartbeat(this: Publisher, session) {
            beating++
            try {
              return await original.call(this, session)
            } finally {
              beating--
            }
          },
      )
      const undoSend = override(
        Publisher.prototype,
        'sendOutbox',
        (original) =>
          async function sendOutbox(this: Publisher, session) {
            return beating > 0 || original.call(this, session)
          },
      )
      return () => {
        undoHeartbeat()
        undoSend()
      }
    },
  },
  {
    name: 'loses removals in the set',
    setting: token,
    breakIt: () => override(DirtyRows.prototype, 'noteRemoval', () => () => {}),
  },
  {
    name: 'lets a candidate publish',
    setting: token,
    breakIt: () =>
      override(
        Member.prototype,
        'goAloneIfDue',
        (original) =>
          function goAloneIfDue(this: Member) {
            const { own, target } = this
            original.call(this)
            if (own === null && this.own !== null && target !== null) this.takeOver(target.position, false)
          },
      ),
  },
  {
    name: 'keeps no versions in a snapshot',
    setting: fleetSettingOf({ strategy: 'time-delta', maxAgeMs: 30_000 }),
    breakIt: () =>
      override(
        RowRecordWriter.prototype,
        'add',
        (original) =>
          function add(this: RowRecordWriter, frame) {
            original.call(this, frame.says === 'version' ? frame : { ...frame, version: Number.NaN })
          },
      ),
  },
  {
    name: 'believes what nobody signed',
    setting: { ...token, mishaps: ['entry forged', 'kill', 'start'] },
    breakIt: () => override(Signing.prototype, 'believes', () => () => true),
  },
  {
    name: 'does not go past an entry of a kind that it does not know',
    setting: { ...token, newer: 1, mishaps: ['kill', 'start'] },
    breakIt: () =>
      override(
        FollowedLists.prototype,
        'take',
        (original) =>
          function take(this: FollowedLists, entry, isInLog) {
            return entry.head.kind === 'unknown' ? Promise.resolve(false) : original.call(this, entry, isInLog)
          },
      ),
  },
  {
    name: 'waits for a store that says nothing for as long as it takes',
    setting: { ...token, mishaps: ['connections half open', 'kill', 'start'] },
    breakIt: () =>
      override(
        Session,
        'open',
        (original) => (store, time, _limitMs, signal) => original.call(Session, store, time, 1e9, signal),
      ),
  },
  {
    name: 'answers past the maximum age though nothing fails',
    setting: { ...token, staleIfErrorMs: 60_000, mishaps: ['kill', 'stop', 'sleep', 'start'] },
    breakIt: () => overrideGetter(FollowedList.prototype, 'isFailing', () => true),
  },
  {
    name: 'wakes nobody who waits for a heartbeat',
    setting: { ...token, mishaps: ['kill', 'stop', 'sleep', 'start'] },
    breakIt: () => override(FollowedList.prototype, 'help', () => () => {}),
  },
  {
    name: 'takes a hand-over for the word that a shorter list is right',
    setting: {
      ...fleetSettingOf({ strategy: 'full-read', maxAgeMs: 30_000 }),
      mishaps: ['rights lost', 'kill', 'start', 'terminate'],
    },
    breakIt: () =>
      overrideGetter(FollowedList.prototype, 'resumeState', (_, resumeState) => ({
        ...resumeState(),
        accepting: true,
      })),
  },
  { name: 'hands over a cursor that does not travel', setting: { ...token, cursorsStay: true, handsOverAnyway: true } },
]

/**
 * The age by the store's clock: the time of the server that added the heartbeat, against the time of the one that is
 * asked later.
 */
export function takeStoresClock(fleet: () => Fleet): () => void {
  return override(
    OwnNonces.prototype,
    'notedIn',
    (original) =>
      function notedIn(this: OwnNonces, body) {
        const noted = original.call(this, body)
        const { store, instances } = fleet()
        const one = instances.find(({ cluster }) => cluster.member.instance === this.instance)
        const lateMs = Math.max(0, store.clockMs() - store.addedAtMs(body))
        const now = one?.machine.peek()
        return noted && now ? { monotonicMs: now.monotonicMs - lateMs, wallMs: now.wallMs - lateMs } : noted
      },
  )
}

function numberIn(text: string): string {
  return /[0-9a-f]{16}/.exec(text)?.[0] ?? ''
}

/** The number that a heartbeat carries of an instance. */
function numberOf(instance: string, body: Buffer): string {
  for (let at = 0; at + 16 <= body.length; at += 16) {
    if (body.toString('hex', at, at + 8) === instance) return body.toString('hex', at + 8, at + 16)
  }
  return ''
}
