import type { Guid } from '../../domain/guid.ts'
import type { Change, Held, Page } from '../../replica/port.ts'
import { REPEATED } from '../../replica/port.ts'
import type { Answer } from './connection.ts'
import { Fault } from './fault.ts'
import type { KnownTable } from './known-table.ts'
import { emptyPage } from './known-table.ts'
import { microsOf } from './stamp.ts'
import type { Strays } from './strays.ts'
import { quote } from './table-name.ts'
import type { Opened } from './table-reader.ts'

/** Reads of changes name a row first, the sweep once more. */
const PASS = 1
/** So many rows are asked for by their ids at once: each time a slow view may be computed as a whole. */
const MOST_WANTED = 10_000

/** Names every row: those whose stamp is another than the one held, or that are not held, with all they hold. */
export async function* sweep<Item>(
  opened: Opened<Item>,
  held: Held,
  strays: Strays,
): AsyncGenerator<Page<Item>, Fault | null, void> {
  const { transaction, known } = opened
  const { snapshot } = transaction
  // A table without rows has no other page to tell how far behind it was read.
  yield { ...emptyPage(snapshot), pass: PASS }
  const scan = await transaction.scan(known.select([known.idColumn, known.stampColumn]))
  if (scan instanceof Fault) return scan
  let wanted: string[] = []
  for (;;) {
    const answer = await scan.next()
    if (answer instanceof Fault) return answer
    const { ids, texts } = compare(answer, known, held, strays, wanted)
    const changes = ids.map((id): Change<Item> => ({ kind: 'unchanged', id }))
    if (changes.length > 0) yield known.pageOfIds(snapshot, changes, (index) => texts[index] ?? null, PASS)
    if (wanted.length >= MOST_WANTED || (answer === null && wanted.length > 0)) {
      const unread = yield* readRows(opened, wanted)
      if (unread !== null) return unread
      wanted = []
    }
    if (answer === null) return null
  }
}

/** The ids that are as they are held, and as the database writes them; the others' go to `wanted`. */
function compare<Item>(
  answer: Answer | null,
  known: KnownTable<Item>,
  held: Held,
  strays: Strays,
  wanted: string[],
): { readonly ids: readonly Guid[]; readonly texts: readonly string[] } {
  const ids: Guid[] = []
  const texts: string[] = []
  for (const [text = null, stamp = null] of answer?.rows ?? []) {
    const id = text === null ? null : known.idOf(text)
    if (text === null || id === null) continue
    const version = held.version(id)
    const micros = microsOf(stamp)
    strays.look(micros, text)
    if (version === micros || version === REPEATED) {
      ids.push(id)
      texts.push(text)
    } else {
      // A row that is new here may have been hidden by the view; one that is held has been changed.
      if (!Number.isNaN(version)) strays.found(micros, text)
      wanted.push(text)
    }
  }
  return { ids, texts }
}

async function* readRows<Item>(
  { transaction, known }: Opened<Item>,
  ids: readonly string[],
): AsyncGenerator<Page<Item>, Fault | null, void> {
  const select = `${known.select()} WHERE ${quote(known.idColumn)} = ANY ($1)`
  const scan = await transaction.scan(select, [ids], 'marquee_rows')
  if (scan instanceof Fault) return scan
  for (;;) {
    const answer = await scan.next()
    if (answer instanceof Fault) return answer
    if (answer === null) return await scan.close()
    yield known.pageOf(transaction.snapshot, known.rowsOf(answer), PASS)
  }
}
