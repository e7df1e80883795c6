import type { Change, Held, Page } from '../../replica/port.ts'
import { cursorRefused } from './cursor.ts'
import { Fault } from './fault.ts'
import type { Suspects } from './suspects.ts'
import { quote } from './table-name.ts'
import type { TableReader } from './table-reader.ts'

/** Looks for the rows that may be gone; one that is not there is told as deleted. */
export async function* seekSuspects<Item>(
  reader: TableReader<Item>,
  suspects: Suspects,
  held: Held,
  server: string,
): AsyncGenerator<Page<Item>, Fault | null, void> {
  const known = reader.lastKnown
  if (known === null) return null
  const wanted = suspects.heldOf(held, (text) => known.idOf(text), known.idType)
  if (wanted.size === 0) return null
  const transaction = await reader.begin()
  if (transaction instanceof Fault) return transaction
  if (transaction.snapshot.server !== server) {
    // A standby that is behind may lack what is there: only the server that told of the changes knows.
    await transaction.end()
    return cursorRefused()
  }
  const select = `${known.select([known.idColumn])} WHERE ${quote(known.idColumn)} = ANY ($1)`
  const answer = await transaction.query(select, [[...wanted.values()]])
  await transaction.end()
  if (answer instanceof Fault) return answer
  const present = new Set(answer.rows.map(([text = null]) => (text === null ? null : known.idOf(text))))
  const changes: Change<Item>[] = []
  for (const gone of wanted.keys()) if (!present.has(gone)) changes.push({ kind: 'deleted', id: gone })
  suspects.settle(wanted.values())
  if (changes.length > 0) yield known.pageOfIds(transaction.snapshot, changes)
  return null
}
