import type { Page } from '../../replica/port.ts'
import { Fault } from './fault.ts'
import { emptyPage } from './known-table.ts'
import type { StampWindow } from './stamp-window.ts'
import type { Strays } from './strays.ts'
import type { Opened } from './table-reader.ts'

/** Reads every row, in whatever order the server finds them. */
export async function* readFull<Item>(
  { transaction, known }: Opened<Item>,
  window: StampWindow,
  strays: Strays,
): AsyncGenerator<Page<Item>, Fault | null, void> {
  const { snapshot } = transaction
  const scan = await transaction.scan(known.select())
  if (scan instanceof Fault) return scan
  let isEmpty = true
  for (;;) {
    const answer = await scan.next()
    if (answer instanceof Fault) return answer
    if (answer === null) break
    const rows = known.rowsOf(answer)
    for (const { version, id } of rows) {
      window.add(version)
      strays.look(version, id)
    }
    isEmpty = false
    yield known.pageOf(snapshot, rows)
  }
  // A table without rows has no page to tell how far behind it was read.
  if (isEmpty) yield emptyPage(snapshot)
  return null
}
