import type { Change, Held, Page } from '../../replica/port.ts'
import type { Answer } from './connection.ts'
import { cursorRefused } from './cursor.ts'
import { emptyPage } from './known-table.ts'
import { Fault } from './fault.ts'
import type { KnownTable, ReadRow } from './known-table.ts'
import type { Transaction } from './read-session.ts'
import { microsOf } from './stamp.ts'
import { quote } from './table-name.ts'
import type { TableReader } from './table-reader.ts'

/** Names every row: those whose stamp is another than the one held, or that are not held, with all they hold. */
export async function* sweep<Item>(
  reader: TableReader<Item>,
  held: Held,
  server: string,
): AsyncGenerator<Page<Item>, Fault | null, void> {
  const scan = reader.scan(({ idColumn, stampColumn }) => [idColumn, stampColumn])
  try {
    for (;;) {
      const next = await scan.next()
      if (next instanceof Fault) return next
      if (next === null) break
      const { known, transaction } = next
      const { snapshot } = transaction
      if (snapshot.server !== server) return cursorRefused()
      const { unchanged, wanted } = compare(next.answer, known, held)
      const rows = wanted.length > 0 ? await readRows(transaction, known, wanted) : []
      if (rows instanceof Fault) return rows
      scan.park()
      if (unchanged.length > 0) yield known.pageOfIds(snapshot, unchanged)
      if (rows.length > 0) yield known.pageOf(snapshot, rows)
    }
    // A table without rows has no page to tell where, and how far behind, it was read.
    const { snapshot } = scan
    if (snapshot === null) return null
    if (snapshot.server !== server) return cursorRefused()
    yield emptyPage(snapshot)
    return null
  } finally {
    await scan.finish()
  }
}

interface Comparison<Item> {
  readonly unchanged: readonly Change<Item>[]
  /** The ids of the others, as the database writes them. */
  readonly wanted: readonly string[]
}

function compare<Item>({ rows }: Answer, known: KnownTable<Item>, held: Held): Comparison<Item> {
  const unchanged: Change<Item>[] = []
  const wanted: string[] = []
  for (const [text = null, stamp = null] of rows) {
    const id = text === null ? null : known.idOf(text)
    if (text === null || id === null) continue
    if (held.version(id) === microsOf(stamp)) unchanged.push({ kind: 'unchanged', id })
    else wanted.push(text)
  }
  return { unchanged, wanted }
}

async function readRows<Item>(
  transaction: Transaction,
  known: KnownTable<Item>,
  ids: readonly string[],
): Promise<readonly ReadRow<Item>[] | Fault> {
  const answer = await transaction.query(`${known.select()} WHERE ${quote(known.idColumn)} = ANY ($1)`, [ids])
  return answer instanceof Fault ? answer : known.rowsOf(answer)
}
