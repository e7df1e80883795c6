import { describe, expect, it } from 'bun:test'
import { VirtualTime } from '../../../test/model/virtual-time.ts'
import { Hints, SuspectQueue, heldOf } from './listening.ts'
import { parseGuid } from '../../domain/guid.ts'
import type { Held } from '../../sync/port.ts'

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
    hints.hint()
    expect(count()).toBe(1)
  })

  it('become one where they follow closely, and none is lost', async () => {
    const { time, hints, count } = counted()
    for (let hint = 0; hint < 1000; hint++) hints.hint()
    expect(count()).toBe(1)
    await time.pass(101)
    expect(count()).toBe(2)
    await time.pass(10_000)
    expect(count()).toBe(2)
  })

  it('reach nobody who has left', () => {
    const { hints, leave, count } = counted()
    leave()
    hints.hint()
    expect(count()).toBe(0)
  })

  it('end with the service', async () => {
    const { time, hints, count } = counted()
    hints.hint()
    hints.hint()
    hints.close()
    await time.pass(10_000)
    expect(count()).toBe(1)
  })
})

const A = '0000000a-0000-4000-8000-000000000000'
const B = '0000000b-0000-4000-8000-000000000000'

const held: Held = { size: 1, version: (id) => (id === A ? 1 : Number.NaN) }

function looksFor(payload: string, type = 'uuid'): { readonly ids: readonly string[]; readonly scanIds: boolean } {
  const suspects = new SuspectQueue()
  suspects.add(payload)
  const taken = suspects.take()
  const { wanted, hasOthers } = heldOf(taken, held, parseGuid, type)
  return { ids: [...wanted.values()], scanIds: taken.has('*') || hasOthers }
}

describe('what a notification says may be gone', () => {
  it.each([
    ['', [], false],
    ['*', [], true],
    [A, [A], false],
    [` ${A}, ${B} `, [A], false],
    [A.toUpperCase(), [A.toUpperCase()], false],
    ["'; DROP TABLE events --", [], false],
    [`(${A})`, [], true],
  ] as const)('%p', (payload, ids, scanIds) => {
    expect(looksFor(payload)).toEqual({ ids, scanIds })
  })

  it('is not looked for by an id that may be written in other ways', () => {
    expect(looksFor(A, 'text')).toEqual({ ids: [], scanIds: true })
  })

  it('is everything where too much is named', () => {
    const many = Array.from({ length: 1001 }, (_, number) => `${number}`).join(',')
    expect(looksFor(many)).toEqual({ ids: [], scanIds: true })
  })

  it('is forgotten once it was taken, unless it is given back', () => {
    const suspects = new SuspectQueue()
    suspects.add(A)
    const taken = suspects.take()
    suspects.add('*')
    expect(suspects.take()).toEqual(new Set(['*']))
    suspects.giveBack(taken)
    expect(suspects.take()).toEqual(new Set([A]))
  })
})
