import type { WithheldFault } from '../domain/withheld.ts'
import { FAULTS } from '../replica/packed-withheld.ts'
import type { RecordList } from '../replica/record-list.ts'
import { WITHHELD } from '../replica/shard.ts'

/** How many rows of a list are withheld for each reason. Builds nothing for a row: it is asked for every few seconds. */
export function countWithheld<Item>({ shards, extras }: RecordList<Item>): Readonly<Record<WithheldFault, number>> {
  const counts = { inactive: 0, 'not-shown': 0, missing: 0, unreadable: 0, 'no-id': 0, 'duplicate-id': 0 }
  const byNumber = Float64Array.from(extras.counts)
  for (const { slots, state, fault } of shards) {
    for (let slot = 0; slot < slots; slot++) {
      const number = fault[slot] ?? 0
      if (state[slot] === WITHHELD) byNumber[number] = (byNumber[number] ?? 0) + 1
    }
  }
  for (const [number, fault] of FAULTS.entries()) counts[fault] = byNumber[number] ?? 0
  return counts
}
