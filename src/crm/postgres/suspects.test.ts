import { describe, expect, it } from 'bun:test'
import { parseGuid } from '../../domain/guid.ts'
import type { Held } from '../../sync/port.ts'
import { SuspectQueue, heldOf } from './listening.ts'

const A = '0000000a-0000-4000-8000-000000000000'
const B = '0000000b-0000-4000-8000-000000000000'

const held: Held = { size: 1, version: (id) => (id === A ? 1 : Number.NaN) }

function looksFor(payload: string, type = 'uuid'): { readonly ids: readonly string[]; readonly scanIds: boolean } {
  const suspects = new SuspectQueue()
  suspects.add(payload)
  const taken = suspects.take()
  const { wanted, hasOthers } = heldOf(taken, held, parseGuid, type)
  return { ids: [...wanted.values()], scanIds: taken.ofAll || hasOthers }
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
    expect(suspects.take()).toEqual({ ids: new Set(), ofAll: true })
    suspects.giveBack(taken)
    expect(suspects.take()).toEqual({ ids: new Set([A]), ofAll: false })
  })
})
