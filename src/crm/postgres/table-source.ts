import { type CrmLimits, patienceOf } from '../kit/crm-limits.ts'
import { unreachable } from '../../domain/unreachable.ts'
import {
  type Examination,
  type Held,
  type ListSource,
  type PageStream,
  type ReadEnd,
  type ReadOutcome,
  type ReadRequest,
  type RepeatedId,
  REPEATED,
  heartbeat,
} from '../../sync/port.ts'
import type { Time } from '../../time/time.ts'
import { examineTable } from './examine.ts'
import { PostgresFailure, failureIn } from './postgres-failure.ts'
import type { ReadSession } from './read-session.ts'
import { type ListTable, quote } from './list-table.ts'
import { UpdatedAtWindow, cursorAt, kinshipOf, microsOf, positionOf } from './updated-at.ts'
import { type SuspectQueue, ALL, heldOf } from './listening.ts'
import { IdScanSchedule, StrayNotices } from './id-scans.ts'
import { type KnownTable, type Opened, type ReadRow, TableReader } from './known-table.ts'
import type { QueryAnswer } from './connection.ts'

interface TableSourceSettings<Item> {
  readonly list: ListTable<Item>
  /** The session for this list's refreshes; audits have a session of their own. */
  readonly session: ReadSession
  readonly auditSession: ReadSession
  readonly time: Time
  readonly idScansEveryMs: () => number
  readonly limits: CrmLimits
  readonly suspects: SuspectQueue
  readonly onHint: (callback: () => void) => () => void
  /** Reports something that an operator should know although the list can be read. */
  readonly notice: (message: string) => void
}

const LOCK_NOT_AVAILABLE = '55P03'
const OTHER_SERVER = 'another connection may be another server, so the list is read in full'

const COMPLETE = { ok: true, complete: true, oneMoment: true, unchanged: false, asOf: null, confirms: true } as const
/** A read of changes by updatedAt alone does not see deletions, so it confirms nothing. */
const PARTIAL = { ...COMPLETE, complete: false, confirms: false } as const

/**
 * One list of the database. It is read in full, or by updatedAt with an occasional id scan. Each read is one
 * transaction and so shows one moment.
 */
export class TableSource<Item> implements ListSource<Item> {
  readonly reportsChanges: boolean
  readonly idColumn: string
  readonly repeatedId: RepeatedId = 'serves-neither'
  readonly #settings: TableSourceSettings<Item>
  readonly #refreshes: TableReader<Item>
  readonly #audits: TableReader<Item>
  readonly #schedule: IdScanSchedule
  readonly #notices: StrayNotices
  /** The last refresh did not get a lock. A statement that alters the table may be waiting for an audit to end. */
  #isLockedOut = false

  constructor(settings: TableSourceSettings<Item>) {
    const { list, session, auditSession, time, idScansEveryMs, notice } = settings
    this.#settings = settings
    this.#refreshes = new TableReader(list, session, time)
    this.#audits = new TableReader(list, auditSession, time)
    this.#schedule = new IdScanSchedule(idScansEveryMs)
    this.#notices = new StrayNotices(idScansEveryMs, notice)
    this.reportsChanges = list.settings.updatedAt !== null
    this.idColumn = list.idColumn
  }

  get patienceMs(): number {
    return patienceOf(this.#settings.limits)
  }

  onHint(callback: () => void): () => void {
    return this.#settings.onHint(callback)
  }

  read(request: ReadRequest): PageStream<Item> {
    switch (request.kind) {
      case 'full':
        return this.#inOneTransaction(request.purpose === 'audit' ? this.#audits : this.#refreshes, (opened) =>
          this.#readAll(opened, request),
        )
      case 'changes':
        return this.#readChanges(request)
      case 'availability':
        throw new Error('a PostgreSQL source has no separate reads of availability')
      default:
        return unreachable(request.kind)
    }
  }

  /** Checks that the columns of the table can be read, and collects warnings about them. */
  async examine(): Promise<Examination> {
    const { list, time, limits } = this.#settings
    const warnings: string[] = []
    let isReadable = false
    try {
      const opened = await this.#refreshes.openNow()
      try {
        // One row, as a full read reads it: the catalogue also names columns that the role may not read.
        await opened.transaction.drain(`${opened.known.select} LIMIT 1`, 'marquee_first')
        isReadable = true
        for await (const warning of examineTable(opened, time, limits.maxAgeMs)) warnings.push(warning)
      } finally {
        await opened.transaction.end()
      }
    } catch (cause) {
      const failed = failureIn(cause)
      if (!isReadable) return { problems: [await this.#refreshes.explain(failed)], warnings: [] }
      warnings.push(`${list.written} could not be examined: ${failed.message}`)
    }
    return { problems: [], warnings }
  }

  /** Another process may continue from this cursor: the cursor names its server, and all rows are compared first. */
  travels(): boolean {
    return true
  }

  async *#inOneTransaction(
    reader: TableReader<Item>,
    read: (opened: Opened<Item>) => PageStream<Item, ReadEnd>,
  ): PageStream<Item> {
    try {
      const opened = yield* reader.open()
      try {
        const ended = yield* read(opened)
        if (reader === this.#refreshes) this.#isLockedOut = false
        return ended
      } finally {
        await opened.transaction.end()
      }
    } catch (cause) {
      const failed = failureIn(cause)
      if (reader === this.#refreshes) this.#isLockedOut = failed.code === LOCK_NOT_AVAILABLE
      return { ok: false, failure: await reader.explain(failed) }
    }
  }

  async *#readAll(opened: Opened<Item>, { purpose }: ReadRequest): PageStream<Item, ReadEnd> {
    const { moment } = opened.transaction
    const window = new UpdatedAtWindow(-Infinity, await opened.known.clock(opened.transaction))
    const givesWay = (): boolean => purpose === 'audit' && this.#isLockedOut
    // The pages report the server's lag, and an empty table yields no other page.
    yield heartbeat(moment.begunAt, 0, moment.sourceLagMs)
    yield* readRows(opened, opened.known.select, { name: 'marquee_full', window, givesWay })
    this.#notices.readInFull(window, opened.known)
    if (purpose !== 'addition') this.#schedule.compared(moment.begunAt)
    const cursor = this.reportsChanges ? cursorAt({ server: moment.server, after: window.next }) : null
    return { ...COMPLETE, cursor }
  }

  async *#readChanges(request: ReadRequest): PageStream<Item> {
    const { suspects } = this.#settings
    // Suspects are taken before the transaction begins, so it sees what became of them. An addition leaves them to the
    // refresh that follows.
    const taken = request.purpose === 'addition' ? new Set<string>() : suspects.take()
    let outcome: ReadOutcome | null = null
    try {
      outcome = yield* this.#inOneTransaction(this.#refreshes, (opened) => this.#readIn(opened, request, taken))
      return outcome
    } finally {
      if (outcome?.ok !== true) suspects.giveBack(taken)
    }
  }

  async *#readIn(
    opened: Opened<Item>,
    { cursor, held, purpose, mustConfirm = false }: ReadRequest,
    taken: ReadonlySet<string>,
  ): PageStream<Item, ReadEnd> {
    const { moment } = opened.transaction
    const before = cursor === null ? null : positionOf(cursor)
    const kinship = before === null ? 'other' : kinshipOf(before.server, moment.server)
    if (before === null || kinship === 'other') throw new PostgresFailure('cursor-refused', OTHER_SERVER, null, false)
    const window = new UpdatedAtWindow(before.after, await opened.known.clock(opened.transaction))
    const select = opened.known.selectUpdated(window.after, window.last)
    yield* readRows(opened, select, { name: 'marquee_delta', window })
    const next = cursorAt({ server: moment.server, after: window.next })
    let isDue = mustConfirm || kinship === 'earlier' || this.#schedule.isDue(moment.begunAt, taken.has(ALL))
    if (!isDue) {
      const hasOthers = yield* seekSuspects(opened, taken, held)
      const ofAll = taken.has(ALL) || hasOthers
      isDue = this.#schedule.isDue(moment.begunAt, ofAll)
      if (ofAll && !isDue) this.#settings.suspects.giveBack([ALL])
    }
    if (!isDue) return { ...PARTIAL, cursor: next }
    yield* this.#scanIds(opened, window, held)
    if (purpose !== 'addition') this.#schedule.compared(moment.begunAt)
    return { ...COMPLETE, cursor: next }
  }

  async *#scanIds(opened: Opened<Item>, window: UpdatedAtWindow, held: Held): PageStream<Item, void> {
    const { time } = this.#settings
    const begunAt = time.now()
    try {
      yield* scanIds(opened, held, window)
    } finally {
      this.#schedule.scanned(begunAt, time.now())
    }
    this.#notices.scanned(window, opened.known)
  }
}

interface RowsToRead {
  /** The cursor's name, unique among concurrent scans. */
  readonly name: string
  readonly values?: readonly (readonly string[])[]
  readonly pass?: number
  /** Notes the times of the rows. */
  readonly window?: UpdatedAtWindow
  /** Returns true if the read must end early because others wait for a lock. */
  readonly givesWay?: () => boolean
}

const GAVE_WAY = 'the full read stopped because another session is waiting for a lock on the table'

async function* readRows<Item>(
  { transaction, known }: Opened<Item>,
  select: string,
  { name, values, pass, window, givesWay }: RowsToRead,
): PageStream<Item, void> {
  for await (const answer of transaction.scan(select, name, values)) {
    const rows = known.rowsOf(answer)
    for (const { change, id } of rows) window?.add(change.version, id)
    yield known.pageOf(transaction.moment, rows, pass)
    if (givesWay?.() === true) throw new PostgresFailure('timeout', GAVE_WAY, null, false)
  }
}

/** An id scan is a pass of its own: the read of changes before it may have reported the same rows. */
const PASS = 1
/** The most rows read by id at once. A slow view may be computed as a whole for each such statement. */
const MOST_WANTED = 10_000

/** Reports every row: as unchanged if its updatedAt equals the known one, else with its columns. */
async function* scanIds<Item>(opened: Opened<Item>, held: Held, window: UpdatedAtWindow): PageStream<Item, void> {
  const { transaction, known } = opened
  const { moment } = transaction
  // The pages report the server's lag, and an empty table yields no other page.
  yield heartbeat(moment.begunAt, PASS, moment.sourceLagMs)
  const wanted: string[] = []
  for await (const answer of transaction.scan(known.selectIds, 'marquee_ids')) {
    const same = compare(answer, known, held, window, wanted)
    if (same.length > 0) yield known.pageOf(moment, same, PASS)
    if (wanted.length >= MOST_WANTED) yield* readWanted(opened, wanted.splice(0))
  }
  if (wanted.length > 0) yield* readWanted(opened, wanted)
}

/** Returns the unchanged rows; adds the other rows' ids to `wanted`. */
function compare<Item>(
  { rows }: QueryAnswer,
  known: KnownTable<Item>,
  held: Held,
  window: UpdatedAtWindow,
  wanted: string[],
): readonly ReadRow<Item>[] {
  const same: ReadRow<Item>[] = []
  for (const [text = null, time = null] of rows) {
    const id = text === null ? null : known.reading.idOf(text)
    if (text === null || id === null) continue
    const version = held.version(id)
    const micros = microsOf(time)
    window.look(micros, text)
    if (version === micros || version === REPEATED) {
      same.push({ id: text, change: { kind: 'unchanged', id, idText: text } })
    } else {
      // A row that is not held is no stray: the view may have hidden it until now.
      if (!Number.isNaN(version)) window.found(micros, text)
      wanted.push(text)
    }
  }
  return same
}

async function* readWanted<Item>(opened: Opened<Item>, ids: readonly string[]): PageStream<Item, void> {
  const { transaction, known } = opened
  const name = 'marquee_rows'
  const select = `${known.select} WHERE ${quote(known.idColumn)} = ANY ($1)`
  yield* readRows(opened, select, { name, values: [ids], pass: PASS })
  // Its name is used again.
  await transaction.query(`CLOSE ${name}`)
}

/** Reports suspected rows that no longer exist as deleted. Returns true if others need a scan. */
async function* seekSuspects<Item>(
  { transaction, known }: Opened<Item>,
  taken: ReadonlySet<string>,
  held: Held,
): PageStream<Item, boolean> {
  const { wanted, hasOthers } = heldOf(taken, held, known.reading.idOf, known.idType)
  if (wanted.size === 0) return hasOthers
  const select = `${known.selectIds} WHERE ${quote(known.idColumn)} = ANY ($1)`
  const answer = await transaction.query(select, [[...wanted.values()]])
  const present = new Set(answer.rows.map(([text = null]) => (text === null ? null : known.reading.idOf(text))))
  const gone = [...wanted].filter(([id]) => !present.has(id))
  const rows = gone.map(([id, text]): ReadRow<Item> => ({ id: text, change: { kind: 'deleted', id } }))
  if (rows.length > 0) yield known.pageOf(transaction.moment, rows)
  return hasOthers
}
