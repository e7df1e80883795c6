import { describe, expect, it } from 'bun:test'
import { CutOver } from '../../src/cluster/cut-over.ts'
import { FollowedLists } from '../../src/cluster/followed-lists.ts'
import { Member } from '../../src/cluster/member.ts'
import { decodeRows, encodeRow } from '../../src/cluster/row-bytes.ts'
import { OwnTicks } from '../../src/cluster/ticks.ts'
import { override } from '../model/override.ts'
import { guidOf } from '../model/records.ts'
import type { Moment } from '../../src/time/time.ts'
import { planSeeds } from '../support/depth.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { begun, follower, MAX_AGE_MS, must, token } from './directed.ts'
import { Fleet } from './fleet.ts'
import type { Instance } from './instance.ts'

type OnFleet = (fleet: Fleet) => void
/** What happens to a fleet, and what its checker then holds against it. */
type Plan = (seed: number, onFleet?: OnFleet) => Promise<readonly string[]>
type Mutation = (fleet: () => Fleet) => () => void

const SEEDS = planSeeds(3)
/** Each plan finds its mutant by each of these. */
const MUTANT_SEEDS = [1, 2, 3]

const told = (at: number) => ({ at, untold: false, lateByMs: 0, silent: false })

function fleetOf(seed: number, onFleet: OnFleet = () => {}, given: Partial<typeof token> = {}): Fleet {
  const fleet = new Fleet({ ...token, inspectEveryMs: 50, ...given }, seed)
  onFleet(fleet)
  return fleet
}

/** All events change, and nothing after them does. */
function changeAll({ tables: { events }, time, history }: Fleet): void {
  history.end()
  for (const event of events.shown()) events.change(event, {}, told(time.trueMs))
}

function shows({ tables }: Fleet, { cluster }: Instance): boolean {
  const [event] = tables.events.shown()
  return event !== undefined && Number(cluster.served.events.list.get(event.id)?.Name) === event.state?.epoch
}

/** A leader whose writes lie in a socket for seconds before the store gets them. */
const writesLie: Plan = async (seed, onFleet) => {
  const fleet = fleetOf(seed, onFleet, { changeEveryMs: 100 })
  const first = await begun(fleet)
  const second = await follower(fleet)
  // A leader so slow would be replaced.
  second.cluster.member.isFit = false
  first.writesLie = 1
  first.liesMs = 2500
  await fleet.pass(2 * MAX_AGE_MS)
  return fleet.checker.wrong
}

/** A beat that was not there at the last look counts as written since. */
const byAbsence: Mutation = () => {
  const looks = new WeakMap<OwnTicks, Moment[]>()
  const undoNext = override(
    OwnTicks.prototype,
    'next',
    (original) =>
      function next(this: OwnTicks, said) {
        const text = original.call(this, said)
        const noted = this.notedOf(Number(/"tick":(\d+)/.exec(text)?.[1]))
        looks.set(this, [...(looks.get(this) ?? []), ...(noted === null ? [] : [noted])].slice(-2))
        return text
      },
  )
  const undoNoted = override(
    OwnTicks.prototype,
    'notedAt',
    () =>
      function notedAt(this: OwnTicks) {
        return looks.get(this)?.[0] ?? null
      },
  )
  return () => {
    undoNext()
    undoNoted()
  }
}

/** An instance that was stopped finds another leading, which began with an older store and cannot read the CRM yet. */
const storeGoesBack: Plan = async (seed, onFleet) => {
  const fleet = fleetOf(seed, onFleet)
  const first = await begun(fleet)
  const second = await follower(fleet)
  await fleet.pass(MAX_AGE_MS / 2)
  const saved = fleet.store.save()
  changeAll(fleet)
  await must(fleet, () => shows(fleet, second), MAX_AGE_MS)
  await fleet.pass(1000)
  fleet.kill(first)
  second.machine.stop(20 * MAX_AGE_MS)
  fleet.store.restore(saved)
  fleet.store.breakConnections()
  fleet.weather.downUntilMs = fleet.time.trueMs + MAX_AGE_MS / 3
  const third = fleet.start()
  await must(fleet, () => third.cluster.member.role === 'leader', MAX_AGE_MS / 3)
  second.machine.wake()
  await fleet.pass(2 * MAX_AGE_MS)
  return fleet.checker.wrong
}

/** Rows are loaded into the lists that are served. */
const inPlace: Mutation = (fleet) =>
  override(
    Member.prototype,
    'lose',
    (original) =>
      function lose(this: Member, lists) {
        original.call(this, lists)
        const instance = fleet().instances.find(({ cluster }) => cluster.member === this)
        const { events, venues } = this.cutOver.served
        instance?.loadInto({ events: events.list, venues: venues.list })
      },
  )

/** A follower that was stopped reads of an event twice; at the second time it has a new venue. */
const venueComesLater: Plan = async (seed, onFleet) => {
  const fleet = fleetOf(seed, onFleet, { latencyMs: 1, refreshEveryMs: 500, sliceMs: 300, inspectEveryMs: 20 })
  await begun(fleet)
  const second = await follower(fleet)
  const { tables, time, history, store } = fleet
  history.end()
  await fleet.pass(2000)
  second.machine.stop(MAX_AGE_MS / 3)
  const [event] = tables.events.shown()
  if (event === undefined) throw new Error('there are no events')
  const wrote = async (change: () => void): Promise<void> => {
    const { seq } = store.state
    change()
    await must(fleet, () => store.log.some((entry) => entry.seq > seq && entry.rows !== null), 5000)
    await fleet.pass(600)
  }
  await wrote(() => tables.events.change(event, {}, told(time.trueMs)))
  await wrote(() => {
    tables.venues.create(guidOf(0x1000 + 31), guidOf(0), told(time.trueMs))
    tables.events.change(event, { venue: guidOf(0x1000 + 31) }, told(time.trueMs))
  })
  await fleet.pass(MAX_AGE_MS)
  return fleet.checker.wrong
}

/** The stream carries ids: what is asked for is as it is by now. */
const byIds: Mutation = (fleet) =>
  override(
    FollowedLists.prototype,
    'take',
    (original) =>
      function take(this: FollowedLists, entry) {
        if (entry.rows === null) return original.call(this, entry)
        const now = [...decodeRows(entry.rows)].map((row) => {
          const bytes = encodeRow(row)
          return fleet().store.rows[row.list].get(bytes.toString('hex', 1, 17)) ?? bytes
        })
        return original.call(this, { ...entry, rows: Buffer.concat(now) })
      },
  )

/** An instance is cut off, reads the CRM for itself, and meets the store again, in which much has happened. */
const readsAlone: Plan = async (seed, onFleet) => {
  const fleet = fleetOf(seed, onFleet)
  const first = await begun(fleet)
  const second = await follower(fleet)
  await fleet.pass(MAX_AGE_MS / 3)
  second.isCut = true
  await must(fleet, () => second.cluster.member.role === 'standalone', 2 * MAX_AGE_MS)
  await fleet.pass(MAX_AGE_MS / 3)
  first.slowness = 20
  second.isCut = false
  await fleet.pass(2 * MAX_AGE_MS)
  return fleet.checker.wrong
}

/** Entries that arrive late are applied to the lists that were followed, though the CRM is read into them by now. */
const intoOwn: Mutation = (fleet) =>
  override(
    Member.prototype,
    'goAloneIfDue',
    (original) =>
      function goAloneIfDue(this: Member) {
        const { target: lists, own } = this
        original.call(this)
        if (lists === null || own !== null || this.own === null) return
        const { time, store } = fleet()
        const applyNext = (): void => {
          const [entry] = store.after(lists.position.seq, 1)
          if (entry !== undefined) lists.take(entry)
          if (this.role === 'standalone') time.inTheWorld(100, applyNext)
        }
        applyNext()
      },
  )

/** A row is gone from the store when an instance loads it, and no sizes are compared by those who load. */
const rowEvicted: Plan = async (seed, onFleet) => {
  const putRight = override(FollowedLists.prototype, 'isOfSize', () => () => true)
  try {
    const fleet = fleetOf(seed, onFleet)
    await begun(fleet)
    fleet.history.end()
    await fleet.pass(2 * MAX_AGE_MS)
    // The next heartbeat would have it stored again.
    const { seq } = fleet.store.state
    await must(fleet, () => fleet.store.state.seq > seq, 1000)
    fleet.store.rows.events.delete(fleet.tables.events.shown()[0]?.id.replaceAll('-', '') ?? '')
    const late = fleet.start()
    await must(fleet, () => fleet.answers(late), MAX_AGE_MS)
    // Until others are loaded beside them, and confirmed.
    await fleet.until(() => false, 2 * token.refreshEveryMs)
    const { wrongs } = fleet.checker
    await fleet.until(() => false, MAX_AGE_MS)
    return fleet.checker.wrongs === wrongs ? [] : fleet.checker.wrong
  } finally {
    putRight()
  }
}

/** Who holds the position of the leader goes on when it fills the store again. */
const fillsForAll: Mutation = (fleet) => {
  const { store } = fleet()
  store.claiming = (claim) => (claim.isNew && claim.after === null ? { ...claim, after: claim.seen } : claim)
  return () => {}
}

/** A leader that lost the store has read what the next one cannot read yet, and follows that one. */
const knowsMore: Plan = async (seed, onFleet) => {
  const fleet = fleetOf(seed, onFleet)
  const first = await begun(fleet)
  const second = await follower(fleet)
  await fleet.pass(MAX_AGE_MS / 2)
  second.machine.stop(20 * MAX_AGE_MS)
  first.isCut = true
  changeAll(fleet)
  await must(fleet, () => shows(fleet, first), MAX_AGE_MS)
  fleet.weather.downUntilMs = fleet.time.trueMs + MAX_AGE_MS / 2
  second.machine.wake()
  await must(fleet, () => second.cluster.member.role === 'leader', MAX_AGE_MS)
  first.isCut = false
  await fleet.pass(2 * MAX_AGE_MS)
  return fleet.checker.wrong
}

/** A follower is stopped while all events change, and something happens to the stream before it wakes. */
async function sleepsThrough(
  fleet: Fleet,
  happens: (first: Instance, second: Instance) => Promise<void>,
): Promise<readonly string[]> {
  const first = await begun(fleet)
  const second = await follower(fleet)
  const sleeper = await follower(fleet)
  sleeper.machine.stop(20 * MAX_AGE_MS)
  // Its last read of the stream is answered with something else.
  await fleet.pass(600)
  changeAll(fleet)
  await must(fleet, () => shows(fleet, second), MAX_AGE_MS)
  await happens(first, second)
  // Nothing that the sleeper would read itself makes up for what it did not take.
  fleet.weather.downUntilMs = fleet.time.trueMs + MAX_AGE_MS / 2
  sleeper.machine.wake()
  await fleet.pass(3 * MAX_AGE_MS)
  return fleet.checker.wrong
}

const streamIsCut: Plan = (seed, onFleet) => {
  const fleet = fleetOf(seed, onFleet)
  return sleepsThrough(fleet, async () => {
    await fleet.pass(1000)
    fleet.store.cut(1)
  })
}

/** The sizes in a beat show most of what is missing. */
function withoutSizes(undo: () => void): () => void {
  const undoSizes = override(FollowedLists.prototype, 'isOfSize', () => () => true)
  return () => {
    undo()
    undoSizes()
  }
}

const overGaps: Mutation = () => withoutSizes(override(FollowedLists.prototype, 'isNext', () => () => true))

const storeIsEmptied: Plan = (seed, onFleet) => {
  const fleet = fleetOf(seed, onFleet)
  return sleepsThrough(fleet, async () => {
    fleet.store.empty()
    await must(fleet, () => fleet.store.state.isReady, MAX_AGE_MS)
  })
}

const anyClaim: Mutation = () =>
  withoutSizes(
    override(
      FollowedLists.prototype,
      'follows',
      (original) =>
        function follows(this: FollowedLists, entry) {
          return entry.claim !== null || original.call(this, entry)
        },
    ),
  )

/** A leader is held up, another leads, and the first one wakes with changes to write. */
const wakesLate: Plan = async (seed, onFleet) => {
  const fleet = fleetOf(seed, onFleet, { changeEveryMs: 50 })
  const first = await begun(fleet)
  const second = await follower(fleet)
  await follower(fleet)
  await fleet.pass(MAX_AGE_MS / 3)
  for (let round = 0; round < 4; round++) {
    first.machine.stop(20 * MAX_AGE_MS)
    await fleet.until(() => second.cluster.member.role === 'leader', MAX_AGE_MS)
    await fleet.pass(MAX_AGE_MS / 10)
    first.machine.wake()
    await fleet.pass(MAX_AGE_MS / 3)
    second.machine.stop(20 * MAX_AGE_MS)
    await fleet.pass(MAX_AGE_MS / 2)
    second.machine.wake()
    await fleet.pass(MAX_AGE_MS / 3)
    if (fleet.leader === second) second.machine.stop(MAX_AGE_MS)
    await fleet.until(() => fleet.leader === first || fleet.checker.wrongs > 0, 2 * MAX_AGE_MS)
  }
  return fleet.checker.wrong
}

/** Nothing compares who may write. */
const unfenced: Mutation = () =>
  override(
    MemoryStore.prototype,
    'write',
    (original) =>
      function write(this: MemoryStore, given, name) {
        const { token: own, seq } = this.state
        const written = original.call(this, { ...given, at: { token: own, seq } }, name)
        return written
      },
  )

const PLANS: readonly (readonly [string, Plan, string, Mutation])[] = [
  [
    'a leader whose writes arrive seconds late',
    writesLie,
    'counts what was absent at the last look as written since',
    byAbsence,
  ],
  ['an instance that meets a store from the past', storeGoesBack, 'loads rows into the lists that it serves', inPlace],
  ['an event whose venue comes in a later entry', venueComesLater, 'asks the store for what the stream names', byIds],
  [
    'an instance that read for itself and follows again',
    readsAlone,
    'applies entries to lists that are read into',
    intoOwn,
  ],
  [
    'a row that is evicted when somebody loads',
    rowEvicted,
    'lets all go on when the store is filled again',
    fillsForAll,
  ],
  [
    'a leader that read more than the next one',
    knowsMore,
    'swaps lists at once',
    () => override(CutOver.prototype, 'isLater', () => () => true),
  ],
  ['a stream that is cut under a stopped follower', streamIsCut, 'takes entries over a gap', overGaps],
  ['a store that is emptied under a stopped follower', storeIsEmptied, 'goes on from any claim', anyClaim],
  ['a leader that wakes late', wakesLate, 'writes whoever leads', unfenced],
]

describe.each(PLANS)('%s (instances: Tests)', (_, plan, mutant, breakIt) => {
  it('gives no wrong answer', async () => {
    for (const seed of SEEDS) expect(await plan(seed)).toEqual([])
  }, 600_000)

  it(`finds the mutant that ${mutant}`, async () => {
    const missed: number[] = []
    for (const seed of MUTANT_SEEDS) {
      const broken: { fleet?: Fleet; putRight?: () => void } = {}
      const fleet = (): Fleet => {
        if (broken.fleet === undefined) throw new Error('no plan has begun')
        return broken.fleet
      }
      try {
        const wrong = await plan(seed, (one) => {
          broken.fleet = one
          broken.putRight = breakIt(fleet)
        })
        if (wrong.length === 0) missed.push(seed)
      } finally {
        broken.putRight?.()
      }
    }
    expect(missed).toEqual([])
  }, 600_000)
})

describe('a candidate that follows again (instances: Failures)', () => {
  it('leaves the reading to who has it, however slow the store is', async () => {
    for (const seed of planSeeds(50)) {
      const fleet = new Fleet({ ...token, storeDelayMs: 200 }, seed)
      await begun(fleet)
      const second = await follower(fleet)
      second.isCut = true
      await must(fleet, () => second.cluster.member.role === 'standalone', 2 * MAX_AGE_MS)
      let taken = 0
      const { onAdded } = fleet.store
      fleet.store.onAdded = (entry, name) => {
        if (entry.claim !== null && entry.claim.who === second.cluster.member.instance) taken++
        onAdded(entry, name)
      }
      second.isCut = false
      await fleet.pass(2 * MAX_AGE_MS)
      expect([seed, fleet.checker.wrong, taken]).toEqual([seed, [], 0])
    }
  }, 600_000)
})
