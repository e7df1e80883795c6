/**
 * Updates the golden records of sample rows. Requires that RECORDS in src/crm/mapping/map-row.ts was raised, so
 * that earlier snapshots are not used.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { GOLDEN, goldenRows, mappedRows } from '../test/snapshot/mapped-rows.ts'

const now = await mappedRows()
const before = existsSync(GOLDEN) ? goldenRows() : ''
const numberOf = (text: string): string | undefined => text.split('\n')[0]
if (now !== before && numberOf(now) === numberOf(before)) {
  throw new Error(
    'rows become other records than before: raise RECORDS first, or no snapshot of an earlier release is refused',
  )
}
writeFileSync(GOLDEN, now)
