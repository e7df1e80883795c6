import { describe, expect, it } from 'bun:test'
import { guidOf } from '../../test/model/records.ts'
import type { Withheld } from '../domain/withheld.ts'
import { HeldRow } from './held-row.ts'
import { KeptFaults } from './kept-faults.ts'
import { UnidentifiedRows } from './unidentified-rows.ts'
import { WithheldDetails } from './withheld-details.ts'

const MANY = 100_000

function noId(number: number): Withheld {
  return { fault: 'no-id', column: 'Id', where: `row ${number}`, expected: { kind: 'id' }, found: String(number) }
}

describe('the details of withheld rows', () => {
  it('are kept for the first 100,000; of the rest the fault and the column are', () => {
    const details = new WithheldDetails()
    const kept = Array.from({ length: MANY + 2 }, (_, number) => details.keep(noId(number)))
    expect(kept[MANY - 1]).toEqual(noId(MANY - 1))
    expect(kept[MANY]).toMatchObject({ fault: 'no-id', column: 'Id', found: null })
    expect(kept[MANY + 1]).toBe(kept[MANY])
    expect(details.faults.ranked()).toEqual([{ fault: 'no-id', column: 'Id', count: MANY + 2 }])
    const { sizeBytes } = details
    for (const one of kept.slice(1)) details.drop(one)
    expect(details.faults.ranked()).toEqual([{ fault: 'no-id', column: 'Id', count: 1 }])
    expect(details.sizeBytes).toBeLessThan(sizeBytes / MANY + 1)
  })

  it('are the same if the row is read again, also where only the fault was kept', () => {
    const details = new WithheldDetails()
    for (let number = 0; number < MANY; number++) details.keep(noId(number))
    const shared = details.keep(noId(MANY))
    expect(details.isSame(shared, noId(MANY))).toBe(true)
    expect(details.isSame(shared, { ...noId(MANY), column: 'Nr' })).toBe(false)
    expect([details.isSame(noId(1), noId(1)), details.isSame(noId(1), noId(2))]).toEqual([true, false])
  })
})

describe('rows without an id of their own', () => {
  it('are all counted, and the first 100,000 listed', () => {
    const rows = new UnidentifiedRows()
    for (let number = 0; number <= MANY; number++) rows.add(number === 0 ? guidOf(1) : null, noId(number))
    expect([rows.length, [...rows].length]).toEqual([MANY + 1, MANY])
    expect([...rows].slice(0, 2)).toEqual([
      { id: guidOf(1), withheld: noId(0) },
      { id: null, withheld: noId(1) },
    ])
    expect(UnidentifiedRows.counted(rows.counts)).toHaveLength(MANY + 1)
    expect(UnidentifiedRows.counted(rows.counts).counts).toEqual(rows.counts)
  })
})

describe('kept faults', () => {
  it('are replaced and dropped with their row, and counted by who found them', () => {
    const kept = new KeptFaults()
    const [one, other] = [new HeldRow(guidOf(1)), new HeldRow(guidOf(2))]
    kept.keep(one, noId(1), { version: 1, at: 1, audit: false })
    kept.keep(one, noId(2), { version: 2, at: 2, audit: true })
    kept.keep(other, noId(3), { version: 3, at: 3, audit: false })
    expect([kept.size, kept.fromRefreshes, kept.get(one)?.withheld]).toEqual([2, 1, noId(2)])
    kept.drop(one)
    kept.drop(one)
    expect([kept.size, kept.fromRefreshes, kept.faults.ranked()]).toEqual([
      1,
      1,
      [{ fault: 'no-id', column: 'Id', count: 1 }],
    ])
  })
})
