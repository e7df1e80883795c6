import { describe, expect, it } from 'bun:test'
import type { Carried } from '../../src/replica/base.ts'
import { cursorOf } from '../../src/replica/port.ts'
import { FollowedList } from '../../src/share/followed-list.ts'
import { Following } from '../../src/share/follower.ts'
import { Member } from '../../src/share/member.ts'
import { begun, BOUND_MS, follower, hideMost, token } from './directed.ts'
import { Fleet } from './fleet.ts'
import { override } from './mutants.ts'

function topOf(fleet: Fleet): readonly [number, number] {
  const [term = 0, number = 0] = (fleet.store.log?.at(-1)?.id ?? '0-0').split('-').map(Number)
  return [term, number]
}

/** A store goes back below a term, which another then claims as well, while a follower of the first one sleeps. */
async function reignComesAgain(seed: number): Promise<readonly string[]> {
  const fleet = new Fleet(token, seed)
  const first = await begun(fleet)
  const second = await follower(fleet)
  await fleet.pass(BOUND_MS / 2)
  const saved = fleet.store.save()
  fleet.kill(first)
  expect(await fleet.until(() => second.share.role === 'reader', BOUND_MS)).toBeTrue()
  const sleeper = await follower(fleet)
  const [term, number] = topOf(fleet)
  sleeper.machine.stop(20 * BOUND_MS)
  fleet.kill(second)
  fleet.store.restore(saved)
  fleet.store.breakConnections()
  // It never saw the term that was lost.
  const third = fleet.start()
  expect(await fleet.until(() => third.share.role === 'reader', 2 * BOUND_MS)).toBeTrue()
  expect(topOf(fleet)[0]).toBe(term)
  expect(await fleet.until(() => topOf(fleet)[1] > number + 5, 18 * BOUND_MS)).toBeTrue()
  sleeper.machine.wake()
  await fleet.pass(3 * BOUND_MS)
  return fleet.checker.wrong
}

/** A log is cut under a stopped follower, before a claim that goes on from what is no longer there. */
async function logIsCut(seed: number): Promise<readonly string[]> {
  const fleet = new Fleet(token, seed)
  const first = await begun(fleet)
  const second = await follower(fleet)
  const sleeper = await follower(fleet)
  sleeper.machine.stop(20 * BOUND_MS)
  await fleet.pass(BOUND_MS)
  fleet.kill(first)
  expect(await fleet.until(() => second.share.role === 'reader', BOUND_MS)).toBeTrue()
  const [term] = topOf(fleet)
  fleet.store.trimBefore(`${term}-0`)
  sleeper.machine.wake()
  await fleet.pass(3 * BOUND_MS)
  return fleet.checker.wrong
}

/** The reader wakes and writes between a slow claimant's look at the log and its claim. */
async function readerWakesLate(seed: number): Promise<readonly string[]> {
  const fleet = new Fleet({ ...token, inspectEveryMs: 50 }, seed)
  const first = await begun(fleet)
  const second = await follower(fleet)
  await fleet.pass(BOUND_MS / 10)
  const third = await follower(fleet)
  let looks = 0
  fleet.store.onTop = () => looks++
  second.slowness = third.slowness = 300
  first.machine.stop(20 * BOUND_MS)
  expect(await fleet.until(() => looks > 0, BOUND_MS)).toBeTrue()
  first.machine.wake()
  await fleet.pass(300)
  // Nothing that the claimant reads later makes up for what it did not take.
  fleet.weather.downUntilMs = fleet.time.trueMs + BOUND_MS / 2
  await fleet.pass(BOUND_MS)
  return fleet.checker.wrong
}

async function foundBy(
  plan: (seed: number) => Promise<readonly string[]>,
  breakIt: () => () => void,
): Promise<boolean> {
  for (let seed = 1; seed <= 25; seed++) {
    const putRight = breakIt()
    try {
      if ((await plan(seed)).length > 0) return true
    } finally {
      putRight()
    }
  }
  return false
}

/** Whether rows are vouched for as of a time at which the CRM hid most of them, the brake held, and another began to read. */
async function vouchesBraked(seed: number): Promise<boolean> {
  const fleet = new Fleet({ ...token, fullReadEveryMs: BOUND_MS }, seed)
  const first = await begun(fleet)
  const second = await follower(fleet)
  fleet.history.end()
  await fleet.pass(BOUND_MS)
  hideMost(fleet)
  expect(await fleet.until(() => first.isBraked, 4 * BOUND_MS)).toBeTrue()
  const brakedMs = fleet.time.trueMs
  await fleet.pass(2000)
  fleet.kill(first)
  expect(await fleet.until(() => second.share.role === 'reader', BOUND_MS)).toBeTrue()
  return fleet.until(() => {
    const ageMs = second.share.served.events.ageMs(second.machine.peek()) ?? Infinity
    return fleet.time.trueMs - ageMs > brakedMs + 1000
  }, BOUND_MS)
}

describe('a term that comes again (instances: What a follower accepts)', () => {
  it('is another reign', async () => {
    for (let seed = 1; seed <= 5; seed++) expect(await reignComesAgain(seed)).toEqual([])
  }, 600_000)

  it('shows where reigns have no names', async () => {
    const breakIt = (): (() => void) =>
      override(
        Member.prototype,
        'nextReign',
        (original) =>
          function nextReign(this: Member, top) {
            return { ...original.call(this, top), reign: '00' }
          },
      )
    expect(await foundBy(reignComesAgain, breakIt)).toBeTrue()
  }, 600_000)
})

describe('a log that is cut under a stopped follower (instances: What a follower accepts)', () => {
  it('is not gone on from', async () => {
    for (let seed = 1; seed <= 5; seed++) expect(await logIsCut(seed)).toEqual([])
  }, 600_000)

  it('shows where a claim is taken without an inclusive look', async () => {
    const breakIt = (): (() => void) =>
      override(
        Following.prototype,
        'take',
        (original) =>
          function take(this: Following, entry) {
            return original.call(this, entry, () => Promise.resolve(true))
          },
      )
    expect(await foundBy(logIsCut, breakIt)).toBeTrue()
  }, 600_000)
})

describe('a claim (instances: Taking over)', () => {
  it('is followed up before anything is read', async () => {
    for (let seed = 1; seed <= 5; seed++) expect(await readerWakesLate(seed)).toEqual([])
  }, 600_000)

  it('shows where what came before it is not held', async () => {
    const breakIt = (): (() => void) =>
      override(
        Member.prototype,
        'won',
        () =>
          function won(this: Member, { position, anew }) {
            this.takeOver(position, anew)
          },
      )
    expect(await foundBy(readerWakesLate, breakIt)).toBeTrue()
  }, 600_000)
})

describe('a hand-over (instances: Taking over)', () => {
  it('keeps the brake', async () => {
    expect(await vouchesBraked(1)).toBeFalse()
  }, 600_000)

  it('vouches for what is not believed where the brake is forgotten', async () => {
    const carried = Object.getOwnPropertyDescriptor(FollowedList.prototype, 'carried')
    if (carried === undefined) throw new Error('what is handed over has another name')
    Object.defineProperty(FollowedList.prototype, 'carried', {
      ...carried,
      get(this: FollowedList<unknown>): Carried {
        const { whole, cursor, extras, accepting } = this.state
        const { freshness } = this
        const known = cursor === null ? null : cursorOf(cursor)
        return { freshness, isLoaded: whole, cursor: known, extras, braked: null, accepting, firstReadInMs: 0 }
      },
    })
    try {
      expect(await vouchesBraked(1)).toBeTrue()
    } finally {
      Object.defineProperty(FollowedList.prototype, 'carried', carried)
    }
  }, 600_000)
})
