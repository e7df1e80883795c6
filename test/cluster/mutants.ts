import { FollowedList } from '../../src/cluster/followed-lists.ts'
import { Outbox } from '../../src/cluster/own-reading.ts'
import { Session } from '../../src/cluster/store.ts'
import { DirtyRows } from '../../src/records/row-records.ts'
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

const token = fleetSettingOf({ strategy: 'token-delta', maxAgeMs: 30_000 })
const busy = { ...token, changeEveryMs: 200, thinkMs: 300, clients: 12, inspectEveryMs: 300 }

/** Those that chance finds. The others have plans of their own (plans.test.ts). */
export const FLEET_MUTANTS: readonly FleetMutant[] = [
  {
    name: 'sends a heartbeat before its rows',
    setting: { ...busy, mishaps: ['kill', 'start'] },
    breakIt: (fleet) =>
      overrideGetter(Outbox.prototype, 'count', (_, count) => (fleet().time.trueMs % 4000 < 2000 ? 0 : count())),
  },
  {
    name: 'loses removals in the set',
    setting: token,
    breakIt: () => override(DirtyRows.prototype, 'noteRemoval', () => () => {}),
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
