import type { Change, Held, Page } from '../../replica/port.ts'
import { Fault } from './fault.ts'
import type { Suspicion } from './suspects.ts'
import { heldOf } from './suspects.ts'
import { quote } from './table-name.ts'
import type { Opened } from './table-reader.ts'

/** Looks for the rows that may be gone; one that is not there is told as deleted. Whether all rows are to be looked at. */
export async function* seekSuspects<Item>(
  { transaction, known }: Opened<Item>,
  suspicion: Suspicion,
  held: Held,
): AsyncGenerator<Page<Item>, Fault | boolean, void> {
  const { wanted, hasOthers } = heldOf(suspicion, held, (text) => known.idOf(text), known.idType)
  if (wanted.size === 0) return hasOthers
  const select = `${known.select([known.idColumn])} WHERE ${quote(known.idColumn)} = ANY ($1)`
  const answer = await transaction.query(select, [[...wanted.values()]])
  if (answer instanceof Fault) return answer
  const present = new Set(answer.rows.map(([text = null]) => (text === null ? null : known.idOf(text))))
  const gone = [...wanted].filter(([id]) => !present.has(id))
  const changes = gone.map(([id]): Change<Item> => ({ kind: 'deleted', id }))
  if (changes.length > 0) yield known.pageOfIds(transaction.snapshot, changes, (index) => gone[index]?.[1] ?? null)
  return hasOthers
}
