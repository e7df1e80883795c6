import { describe, expect, it } from 'bun:test'
import { VirtualTime } from '../../../test/model/virtual-time.ts'
import { type OnHint, Hints } from './listening.ts'

function counted(): {
  readonly time: VirtualTime
  readonly hints: Hints
  readonly leave: () => void
  readonly count: () => number
} {
  const time = new VirtualTime(1)
  const hints = new Hints(time)
  let count = 0
  const leave = hints.add(() => void count++)
  return { time, hints, leave, count: () => count }
}

describe('hints that something changed', () => {
  it('are passed on at once', () => {
    const { hints, count } = counted()
    hints.hint('')
    expect(count()).toBe(1)
  })

  it('become one where they follow closely, and none is lost', async () => {
    const { time, hints, count } = counted()
    for (let hint = 0; hint < 1000; hint++) hints.hint('')
    expect(count()).toBe(1)
    await time.pass(101)
    expect(count()).toBe(2)
    await time.pass(10_000)
    expect(count()).toBe(2)
  })

  it('reach nobody who has left', () => {
    const { hints, leave, count } = counted()
    leave()
    hints.hint('')
    expect(count()).toBe(0)
  })

  it('end with the service', async () => {
    const { time, hints, count } = counted()
    hints.hint('')
    hints.hint('')
    hints.close()
    await time.pass(10_000)
    expect(count()).toBe(1)
  })
})

describe('what a notification names', () => {
  async function hintsOf(...payloads: readonly string[]): Promise<unknown[]> {
    const time = new VirtualTime(1)
    const hints = new Hints(time)
    const seen: Parameters<OnHint>[0][] = []
    hints.add((ids) => void seen.push(ids))
    for (const payload of payloads) hints.hint(payload)
    await time.pass(1000)
    return seen
  }

  it.each([
    ['', []],
    ['*', 'all'],
    [' a, b ,a', ['a', 'b']],
    ['a,*', 'all'],
    [Array.from({ length: 1001 }, (_, number) => `${number}`).join(','), 'all'],
  ] as const)('%p', async (payload, ids) => {
    expect(await hintsOf(payload)).toEqual([ids])
  })

  it('is collected where notifications follow closely', async () => {
    expect(await hintsOf('a', 'b', '', 'c')).toEqual([['a'], ['b', 'c']])
  })
})
