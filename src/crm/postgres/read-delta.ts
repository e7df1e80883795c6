import type { Page } from '../../replica/port.ts'
import { Fault } from './fault.ts'
import { stampOf } from './stamp.ts'
import type { StampWindow } from './stamp-window.ts'
import { quote } from './table-name.ts'
import type { Opened } from './table-reader.ts'

/**
 * Reads the rows whose stamp is in the window. That both its ends are named matters where the server has no statistics of the
 * column: it then expects few rows and uses the index, where without the second it would expect a third of all.
 */
export async function* readDelta<Item>(
  { transaction, known }: Opened<Item>,
  window: StampWindow,
): AsyncGenerator<Page<Item>, Fault | null, void> {
  const stamp = quote(known.stampColumn)
  const inWindow = `${stamp} > '${stampOf(window.after)}' AND ${stamp} <= '${stampOf(window.last)}'`
  const scan = await transaction.scan(`${known.select()} WHERE ${inWindow}`, [], 'marquee_delta')
  if (scan instanceof Fault) return scan
  for (;;) {
    const answer = await scan.next()
    if (answer instanceof Fault) return answer
    if (answer === null) return null
    const rows = known.rowsOf(answer)
    for (const { version } of rows) window.add(version)
    yield known.pageOf(transaction.snapshot, rows)
  }
}
