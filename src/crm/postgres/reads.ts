import type { Guid } from '../../domain/guid.ts'
import { type Change, type Held, type Page, type PageStream, REPEATED } from '../../sync/port.ts'
import type { QueryAnswer } from './connection.ts'
import { PostgresFailure } from './postgres-failure.ts'
import { type KnownTable, emptyPage } from './known-table.ts'
import { quote } from './list-table.ts'
import { type UpdatedAtWindow, microsOf, timestampText } from './updated-at.ts'
import { type Suspects, heldOf } from './suspects.ts'
import type { Strays } from './id-scans.ts'
import type { Opened } from './table-reader.ts'

interface Scanning<Item> {
  readonly pageOf: (answer: QueryAnswer) => Page<Item>
  readonly values?: readonly (readonly string[])[]
  /** The cursor's name, unique among concurrent scans. */
  readonly name?: string
  /** Returns true if the scan must end early because others wait for a lock. */
  readonly givesWay?: () => boolean
}

/** Reads the rows of a `SELECT`, page by page as the server sends them. */
async function* scan<Item>(
  { transaction }: Opened<Item>,
  select: string,
  { pageOf, values, name, givesWay }: Scanning<Item>,
): PageStream<Item, PostgresFailure | null> {
  const answers = transaction.scan(select, values, name)
  for (;;) {
    const { value: answer } = await answers.next()
    if (answer === null || answer instanceof PostgresFailure) return answer
    yield pageOf(answer)
    if (givesWay?.() === true) return new PostgresFailure('timeout', GAVE_WAY, null, false)
  }
}

const GAVE_WAY = 'the full read stopped because another session is waiting for a lock on the table'

/** Reads all rows, in any order. */
export async function* readFull<Item>(
  opened: Opened<Item>,
  window: UpdatedAtWindow,
  strays: Strays,
  givesWay: () => boolean,
): PageStream<Item, PostgresFailure | null> {
  const { transaction, known } = opened
  // The pages report the server's lag, and an empty table yields no other page.
  yield emptyPage(transaction.moment)
  return yield* scan(opened, known.select(), {
    givesWay,
    pageOf(answer) {
      const rows = known.rowsOf(answer)
      for (const { version, id } of rows) {
        window.add(version)
        strays.look(version, id)
      }
      return known.pageOf(transaction.moment, rows)
    },
  })
}

/** Reads the rows whose updatedAt is in the window. */
export function readDelta<Item>(
  opened: Opened<Item>,
  window: UpdatedAtWindow,
): PageStream<Item, PostgresFailure | null> {
  const { transaction, known } = opened
  return scan(opened, known.selectUpdated(timestampText(window.after), timestampText(window.last)), {
    name: 'marquee_delta',
    pageOf(answer) {
      const rows = known.rowsOf(answer)
      for (const { version } of rows) window.add(version)
      return known.pageOf(transaction.moment, rows)
    },
  })
}

/** The pass number of an id scan's pages: the read of changes before it may have reported the same rows. */
const PASS = 1
/** The most rows read by id at once. A slow view may be computed as a whole for each such statement. */
const MOST_WANTED = 10_000

/** Reports every row: as unchanged if its updatedAt is the one held, else with its columns. */
export async function* scanIds<Item>(
  opened: Opened<Item>,
  held: Held,
  strays: Strays,
): PageStream<Item, PostgresFailure | null> {
  const { transaction, known } = opened
  const { moment } = transaction
  // The pages report the server's lag, and an empty table yields no other page.
  yield { ...emptyPage(moment), pass: PASS }
  const answers = transaction.scan(known.select([known.idColumn, known.updatedAtColumn]))
  let wanted: string[] = []
  for (;;) {
    const { value: answer } = await answers.next()
    if (answer instanceof PostgresFailure) return answer
    const { ids, texts } = compare(answer, known, held, strays, wanted)
    const changes = ids.map((id, index): Change<Item> => ({ kind: 'unchanged', id, idText: texts[index] ?? null }))
    if (changes.length > 0) yield known.pageOfIds(moment, changes, (index) => texts[index] ?? null, PASS)
    if (wanted.length >= MOST_WANTED || (answer === null && wanted.length > 0)) {
      const unread = yield* readRows(opened, wanted)
      if (unread !== null) return unread
      wanted = []
    }
    if (answer === null) return null
  }
}

/** Returns the ids of unchanged rows, also as the database writes them; adds the other rows' ids to `wanted`. */
function compare<Item>(
  answer: QueryAnswer | null,
  known: KnownTable<Item>,
  held: Held,
  strays: Strays,
  wanted: string[],
): { readonly ids: readonly Guid[]; readonly texts: readonly string[] } {
  const ids: Guid[] = []
  const texts: string[] = []
  for (const [text = null, time = null] of answer?.rows ?? []) {
    const id = text === null ? null : known.reading.idOf(text)
    if (text === null || id === null) continue
    const version = held.version(id)
    const micros = microsOf(time)
    strays.look(micros, text)
    if (version === micros || version === REPEATED) {
      ids.push(id)
      texts.push(text)
    } else {
      // A row that is not held may have been hidden by the view until now, so it is not late.
      if (!Number.isNaN(version)) strays.found(micros, text)
      wanted.push(text)
    }
  }
  return { ids, texts }
}

async function* readRows<Item>(opened: Opened<Item>, ids: readonly string[]): PageStream<Item, PostgresFailure | null> {
  const { transaction, known } = opened
  const select = `${known.select()} WHERE ${quote(known.idColumn)} = ANY ($1)`
  const name = 'marquee_rows'
  const pageOf = (answer: QueryAnswer): Page<Item> => known.pageOf(transaction.moment, known.rowsOf(answer), PASS)
  const failed = yield* scan(opened, select, { name, pageOf, values: [ids] })
  // Closed so that the cursor's name can be used again.
  const closed = failed ?? (await transaction.query(`CLOSE ${name}`))
  return closed instanceof PostgresFailure ? closed : null
}

/** Reports suspected rows that no longer exist as deleted. Returns true if an id scan is due. */
export async function* seekSuspects<Item>(
  { transaction, known }: Opened<Item>,
  taken: Suspects,
  held: Held,
): PageStream<Item, PostgresFailure | boolean> {
  const { wanted, hasOthers } = heldOf(taken, held, known.reading.idOf, known.idType)
  if (wanted.size === 0) return hasOthers
  const select = `${known.select([known.idColumn])} WHERE ${quote(known.idColumn)} = ANY ($1)`
  const answer = await transaction.query(select, [[...wanted.values()]])
  if (answer instanceof PostgresFailure) return answer
  const present = new Set(answer.rows.map(([text = null]) => (text === null ? null : known.reading.idOf(text))))
  const gone = [...wanted].filter(([id]) => !present.has(id))
  const changes = gone.map(([id]): Change<Item> => ({ kind: 'deleted', id }))
  if (changes.length > 0) yield known.pageOfIds(transaction.moment, changes, (index) => gone[index]?.[1] ?? null)
  return hasOthers
}
