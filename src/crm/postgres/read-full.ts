import type { Page } from '../../replica/port.ts'
import type { Position } from './cursor.ts'
import { emptyPage } from './known-table.ts'
import { Fault } from './fault.ts'
import { StampTally } from './stamp-tally.ts'
import type { TableReader } from './table-reader.ts'

/** Reads every row, and ends with where to read changes from. */
export async function* readFull<Item>(reader: TableReader<Item>): AsyncGenerator<Page<Item>, Position | Fault, void> {
  const scan = reader.scan(({ columns }) => columns)
  const tally = new StampTally()
  try {
    for (;;) {
      const next = await scan.next()
      if (next instanceof Fault) return next
      if (next === null) break
      const { known, transaction } = next
      const rows = known.rowsOf(next.answer)
      tally.add(rows, transaction.snapshot)
      scan.park()
      yield known.pageOf(transaction.snapshot, rows)
    }
    // A table without rows has no page to tell its clock, and how far behind it was read.
    const { snapshot } = scan
    tally.add([], snapshot)
    if (snapshot !== null) yield emptyPage(snapshot)
  } finally {
    await scan.finish()
  }
  return tally.positionAfter(null)
}
