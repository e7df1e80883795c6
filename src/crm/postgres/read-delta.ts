import type { Page } from '../../replica/port.ts'
import type { Answer } from './connection.ts'
import type { Position } from './cursor.ts'
import { cursorRefused } from './cursor.ts'
import { Fault } from './fault.ts'
import type { KnownTable } from './known-table.ts'
import type { Snapshot, Transaction } from './read-session.ts'
import { stampOf } from './stamp.ts'
import { StampTally } from './stamp-tally.ts'
import { quote } from './table-name.ts'
import type { TableReader } from './table-reader.ts'

interface DeltaPage<Item> {
  readonly answer: Answer
  readonly snapshot: Snapshot
  readonly known: KnownTable<Item>
}

/** The stamp and the id of a row: the next page begins behind it. */
type Place = readonly [string, string]

/** The port's limit of a page. */
const MOST_ROWS = 1000

/** Reads the rows whose stamp is not before the position, and ends with the next one. */
export async function* readDelta<Item>(
  reader: TableReader<Item>,
  before: Position,
): AsyncGenerator<Page<Item>, Position | Fault, void> {
  const tally = new StampTally()
  let last: Place | null = null
  for (;;) {
    const page: DeltaPage<Item> | Fault = await readPage(reader, before, last)
    if (page instanceof Fault) return page
    const { answer, snapshot, known }: DeltaPage<Item> = page
    last = known.lastOf(answer)
    const rows = known.rowsOf(answer)
    tally.add(rows, snapshot)
    if (rows.length > 0) yield known.pageOf(snapshot, rows)
    if (rows.length < MOST_ROWS || last === null) return tally.positionAfter(before)
  }
}

/** In a transaction of its own, for it is mostly one page. */
async function readPage<Item>(
  reader: TableReader<Item>,
  before: Position,
  last: Place | null,
): Promise<DeltaPage<Item> | Fault> {
  const transaction = await reader.begin()
  if (transaction instanceof Fault) return transaction
  const page = await pageIn(transaction, reader, before, last)
  await transaction.end()
  return page
}

async function pageIn<Item>(
  transaction: Transaction,
  reader: TableReader<Item>,
  before: Position,
  last: Place | null,
): Promise<DeltaPage<Item> | Fault> {
  const { snapshot } = transaction
  if (snapshot.server !== before.server) return cursorRefused()
  const known = await reader.knownIn(transaction)
  if (known instanceof Fault) return known
  const [stamp, id] = [quote(known.stampColumn), quote(known.idColumn)]
  const order = `ORDER BY ${stamp}, ${id} LIMIT ${MOST_ROWS}`
  const answer =
    last === null
      ? await transaction.query(`${known.select()} WHERE ${stamp} >= $1 ${order}`, [stampOf(before.from)])
      : await transaction.query(`${known.select()} WHERE (${stamp}, ${id}) > ($1, $2) ${order}`, last)
  return answer instanceof Fault ? answer : { answer, snapshot, known }
}
