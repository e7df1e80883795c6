import { describe, expect, it } from 'bun:test'
import { VirtualTime } from '../../test/model/virtual-time.ts'
import type { Time } from '../time/time.ts'
import { type ComparisonEnd, compareServices } from './comparison.ts'
import { Pace } from './pace.ts'
import type { Question } from './questions.ts'
import { type Reply, askRemote, rateOf } from './remote-service.ts'
import type { ComparedAnswer } from './tally.ts'

/** A clock that jumps to the next timer as soon as nothing else runs. */
function jumpingTime(): Time {
  const timers: { readonly atMs: number; readonly ring: () => void }[] = []
  let nowMs = 0
  const jump = (): void => {
    timers.sort((one, other) => one.atMs - other.atMs)
    const timer = timers.shift()
    if (timer === undefined) return
    nowMs = Math.max(nowMs, timer.atMs)
    timer.ring()
  }
  return {
    now: () => ({ monotonicMs: nowMs, wallMs: nowMs }),
    after(delayMs, then) {
      const timer = { atMs: nowMs + delayMs, ring: then }
      timers.push(timer)
      const immediate = setImmediate(jump)
      return () => {
        clearImmediate(immediate)
        const index = timers.indexOf(timer)
        if (index !== -1) timers.splice(index, 1)
      }
    },
    random: () => 0,
  }
}

function answer(price: number | string, more: Partial<Reply> = {}): Reply {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    etag: '"1"',
    age: '2',
    'cache-control': 'public, max-age=8',
  }
  return { status: 200, problem: null, headers, body: new TextEncoder().encode(`{"Price":${price}}`), ...more }
}

const ONE: Question = { method: 'GET', path: '/api/events/1', accept: 'text/json', weight: 1 }

/** Compares answers that are given one after the other. The last one is repeated. */
async function compared(old: readonly Reply[], fresh: readonly Reply[], questions: readonly Question[] = [ONE]) {
  const time = jumpingTime()
  const outcomes: ComparedAnswer[] = []
  const atMs: number[] = []
  let at = 0
  const ending: ComparisonEnd = await compareServices({
    questions,
    time,
    signal: new AbortController().signal,
    askOld: () => {
      atMs.push(time.now().monotonicMs)
      return Promise.resolve(old[Math.min(atMs.length, old.length) - 1] ?? answer(0))
    },
    askNew: () => Promise.resolve(fresh[Math.min(at++, fresh.length - 1)] ?? answer(0)),
    onOutcome: (outcome) => outcomes.push(outcome),
  })
  const judgements = outcomes.map(({ class: kind, findings }) =>
    [kind, ...findings.map((one) => `${one.class} ${one.at}`)].join(' '),
  )
  return { judgements, atMs, ending }
}

describe('when answers differ', () => {
  it.each<[says: string, old: readonly Reply[], fresh: readonly Reply[], judgements: string, times: number]>([
    ['asks twice if both services stay with what they said', [answer(1)], [answer(2)], 'different different /Price', 2],
    [
      'takes a CRM that changed between the two for changing',
      [answer(1), answer(2)],
      [answer(2)],
      'changing changing /Price',
      2,
    ],
    [
      'asks a third time if a service changed and they still differ',
      [answer(1), answer(2), answer(3)],
      [answer(3)],
      'changing changing /Price',
      3,
    ],
    [
      'takes an old service that says something else each time for changing',
      [answer(4), answer(5), answer(6)],
      [answer(3)],
      'changing changing /Price',
      3,
    ],
    [
      'takes a failure that is over for changing',
      [answer(1, { status: 500 }), answer(1)],
      [answer(1)],
      'changing changing status',
      2,
    ],
    ['asks once if nothing differs', [answer(1)], [answer(1)], 'sameBytes', 1],
    ['asks once if the meaning is the same', [answer('1.0')], [answer('1.00')], 'sameMeaning sameMeaning /Price', 1],
  ])('%s', async (_, old, fresh, judgements, times) => {
    const run = await compared(old, fresh)
    expect([run.judgements, run.atMs.length, run.ending]).toEqual([[judgements], times, { kind: 'complete' }])
  })

  it('waits for the maximum age that Marquee tells before it asks again, so that it has read the CRM since', async () => {
    const { atMs } = await compared([answer(1), answer(2), answer(3)], [answer(9)])
    expect(atMs).toEqual([0, 10_000, 20_000])
  })

  it('counts what differs always beside what changes by itself', async () => {
    const body = (name: number, price: number): Reply =>
      answer(0, { body: new TextEncoder().encode(`{"Name":${name},"Price":${price}}`) })
    const run = await compared([body(1, 5), body(2, 5), body(3, 5)], [body(0, 6)])
    expect(run.judgements).toEqual(['different changing /Name different /Price'])
  })
})

it('stops after 20 answers in a row that cannot be used, and not if one among them can', async () => {
  const many = Array.from({ length: 60 }, (_, index) => ({ ...ONE, path: `/api/events/${index}` }))
  const down = answer(0, { status: 500 })
  const stopped = await compared([down], [answer(0)], many)
  expect(stopped.ending).toEqual({ kind: 'unusable', last: 'the last one was 500' })
  expect(stopped.atMs.length).toBeLessThanOrEqual(22)
  const replies = many.map((_, index) => (index % 15 === 14 ? answer(0) : down))
  const went = await compared([...replies, answer(0)], [answer(0)], many)
  expect([went.ending, went.judgements.length]).toEqual([{ kind: 'complete' }, 60])
})

describe('asking over HTTP', () => {
  function remote(statuses: readonly number[], headers: Readonly<Record<string, string>> = {}) {
    const time = jumpingTime()
    const atMs: number[] = []
    const web = {
      send: () => {
        atMs.push(time.now().monotonicMs)
        return Promise.resolve({
          status: statuses[Math.min(atMs.length, statuses.length) - 1] ?? 200,
          headers,
          body: new Uint8Array(),
        })
      },
      close() {},
    }
    return { atMs, ask: askRemote({ web, address: 'https://old.example.org', headers: {}, time, perSecond: 4 }) }
  }
  const { signal } = new AbortController()

  it('spaces requests evenly, also those that come at once, and makes up for no pause', async () => {
    const { ask, atMs } = remote([200])
    await Promise.all([ask(ONE, signal), ask(ONE, signal), ask(ONE, signal)])
    expect(atMs).toEqual([0, 250, 500])
  })

  it.each([429, 503])('after %i it waits as long as Retry-After says, and asks the same again', async (status) => {
    const { ask, atMs } = remote([status, 200], { 'retry-after': '7' })
    const [first] = await Promise.all([ask(ONE, signal), ask({ ...ONE, path: '/api/events/2' }, signal)])
    expect(first?.status).toBe(200)
    expect(atMs).toEqual([0, 7000, 7250])
  })

  it('keeps the longest pause of those that answers to requests at once ask for', async () => {
    const time = new VirtualTime(1)
    const pace = new Pace(time, 4)
    for (const ms of [7000, 1000]) pace.pauseFor(ms)
    let isAllowed = false
    const turn = pace.turn(signal).then(() => (isAllowed = true))
    await time.pass(6900)
    expect(isAllowed).toBe(false)
    await time.pass(200)
    expect(await turn).toBe(true)
  }, 5000)

  it('waits longer each time if there is no Retry-After, and gives up after three times', async () => {
    const { ask, atMs } = remote([503])
    expect((await ask(ONE, signal)).status).toBe(503)
    expect(atMs).toEqual([0, 5000, 15_000])
  })

  it.each([
    ['5/s', 5],
    ['0.5/s', 0.5],
    ['30/min', 0.5],
    ['0/s', null],
    ['5', null],
    ['-1/s', null],
    ['5/h', null],
    ['', null],
  ])('reads the rate %p as %p a second', (text, rate) => {
    expect(rateOf(text)).toBe(rate)
  })
})
