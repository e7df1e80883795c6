import type { WithheldFault } from '../domain/withheld.ts'
import type { RecordList } from '../replica/record-list.ts'

/** How many rows of a list are withheld for each reason. Builds nothing for a row: it is asked for every few seconds. */
export function countWithheld<Item>({ shards, extras }: RecordList<Item>): Readonly<Record<WithheldFault, number>> {
  const counts = { inactive: 0, 'not-shown': 0, missing: 0, unreadable: 0, 'no-id': 0, 'duplicate-id': 0 }
  for (const { withheld } of shards) for (const { fault } of withheld.values()) counts[fault]++
  for (const { withheld } of extras) counts[withheld.fault]++
  return counts
}
