import { type CrmLimits, patienceOf } from '../kit/crm-limits.ts'
import { unreachable } from '../../domain/unreachable.ts'
import {
  type Change,
  type Examination,
  type Held,
  type ListSource,
  type Page,
  type PageStream,
  type ReadEnd,
  type ReadOutcome,
  type ReadRequest,
  type RepeatedId,
  REPEATED,
} from '../../sync/port.ts'
import type { Time } from '../../time/time.ts'
import { examineTable } from './examine.ts'
import { PostgresFailure } from './postgres-failure.ts'
import type { ReadSession } from './read-session.ts'
import { type ListTable, quote } from './list-table.ts'
import { UpdatedAtWindow, cursorAt, kinshipOf, microsOf, otherServer, positionOf, timestampText } from './updated-at.ts'
import { type SuspectQueue, type Suspects, NO_SUSPECTS, heldOf } from './listening.ts'
import { IdScanSchedule, StrayNotices, Strays } from './id-scans.ts'
import { type KnownTable, type Opened, TableReader, emptyPage } from './known-table.ts'
import type { Guid } from '../../domain/guid.ts'
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
  readonly availabilityEveryMs = null
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
    this.reportsChanges = list.updatedAt !== null
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
    const { maxAgeMs } = limits
    const opened = await this.#refreshes.openNow()
    if (opened instanceof PostgresFailure) return { problems: [opened.failure], warnings: [] }
    const warnings: string[] = []
    const warn = (warning: string): void => void warnings.push(warning)
    let unread: PostgresFailure | null
    let failed: PostgresFailure | null = null
    try {
      unread = await readFirst(opened)
      if (unread === null) failed = await examineTable(opened, list, { maxAgeMs, time, warn })
    } finally {
      await opened.transaction.end()
    }
    if (unread !== null) return { problems: [await this.#refreshes.explain(unread)], warnings: [] }
    if (failed !== null) warnings.push(`${list.table.written} could not be examined: ${failed.failure.message}`)
    return { problems: [], warnings }
  }

  /** Another process may continue from this cursor: the cursor names its server, and all rows are compared first. */
  travels(): boolean {
    return true
  }

  async *#inOneTransaction(
    reader: TableReader<Item>,
    read: (opened: Opened<Item>) => PageStream<Item, ReadEnd | PostgresFailure>,
  ): PageStream<Item> {
    const opened = yield* reader.open()
    if (opened instanceof PostgresFailure) return { ok: false, failure: opened.failure }
    let ended: ReadEnd | PostgresFailure
    try {
      ended = yield* read(opened)
    } finally {
      await opened.transaction.end()
    }
    if (reader === this.#refreshes)
      this.#isLockedOut = ended instanceof PostgresFailure && ended.code === LOCK_NOT_AVAILABLE
    return ended instanceof PostgresFailure ? { ok: false, failure: await reader.explain(ended) } : ended
  }

  async *#readAll(opened: Opened<Item>, { purpose }: ReadRequest): PageStream<Item, ReadEnd | PostgresFailure> {
    const { moment } = opened.transaction
    const now = await opened.known.clock(opened.transaction)
    if (now instanceof PostgresFailure) return now
    const window = new UpdatedAtWindow(-Infinity, now)
    const strays = new Strays(window)
    const givesWay = (): boolean => purpose === 'audit' && this.#isLockedOut
    const failed = yield* readFull(opened, window, strays, givesWay)
    if (failed !== null) return failed
    this.#notices.readInFull(strays, opened.known)
    if (purpose !== 'addition') this.#schedule.compared(moment.begunAt)
    const cursor = this.reportsChanges ? cursorAt({ server: moment.server, after: window.next }) : null
    return { ...COMPLETE, cursor }
  }

  async *#readChanges(request: ReadRequest): PageStream<Item> {
    const { suspects } = this.#settings
    // Suspects are taken before the transaction begins, so it sees what became of them. An addition leaves them to the
    // refresh that follows.
    const taken = request.purpose === 'addition' ? NO_SUSPECTS : suspects.take()
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
    taken: Suspects,
  ): PageStream<Item, ReadEnd | PostgresFailure> {
    const { moment } = opened.transaction
    const before = cursor === null ? null : positionOf(cursor)
    const kinship = before === null ? 'other' : kinshipOf(before.server, moment.server)
    if (before === null || kinship === 'other') return otherServer()
    const now = await opened.known.clock(opened.transaction)
    if (now instanceof PostgresFailure) return now
    const window = new UpdatedAtWindow(before.after, now)
    const unread = yield* readDelta(opened, window)
    if (unread !== null) return unread
    const next = cursorAt({ server: moment.server, after: window.next })
    let isDue = mustConfirm || kinship === 'earlier' || this.#schedule.isDue(moment.begunAt, taken.ofAll)
    if (!isDue) {
      const hasOthers = yield* seekSuspects(opened, taken, held)
      if (hasOthers instanceof PostgresFailure) return hasOthers
      const ofAll = taken.ofAll || hasOthers
      isDue = this.#schedule.isDue(moment.begunAt, ofAll)
      if (ofAll && !isDue) this.#settings.suspects.giveBack({ ids: new Set(), ofAll })
    }
    if (!isDue) return { ...PARTIAL, cursor: next }
    const failed = yield* this.#scanIds(opened, window, held)
    if (failed !== null) return failed
    if (purpose !== 'addition') this.#schedule.compared(moment.begunAt)
    return { ...COMPLETE, cursor: next }
  }

  async *#scanIds(opened: Opened<Item>, window: UpdatedAtWindow, held: Held): PageStream<Item, PostgresFailure | null> {
    const { time } = this.#settings
    const strays = new Strays(window)
    const begunAt = time.now()
    try {
      const failed = yield* scanIds(opened, held, strays)
      if (failed !== null) return failed
    } finally {
      this.#schedule.scanned(begunAt, time.now())
    }
    this.#notices.scanned(strays, opened.known)
    return null
  }
}

interface Scanning<Item> {
  readonly pageOf: (answer: QueryAnswer) => Page<Item>
  readonly values?: readonly (readonly string[])[]
  /** The cursor's name, unique among concurrent scans. */
  readonly name?: string
  /** Returns true if the scan must end early because others wait for a lock. */
  readonly givesWay?: () => boolean
}

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

/** Reads one row as a full read does. The catalogue also names columns that the role may not read. */
async function readFirst<Item>({ transaction, known }: Opened<Item>): Promise<PostgresFailure | null> {
  const answers = transaction.scan(`${known.select()} LIMIT 1`, [], 'marquee_first')
  for (;;) {
    const { value: answer } = await answers.next()
    if (answer === null || answer instanceof PostgresFailure) return answer
  }
}

const GAVE_WAY = 'the full read stopped because another session is waiting for a lock on the table'

async function* readFull<Item>(
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

function readDelta<Item>(opened: Opened<Item>, window: UpdatedAtWindow): PageStream<Item, PostgresFailure | null> {
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

/** An id scan is a pass of its own: the read of changes before it may have reported the same rows. */
const PASS = 1
/** The most rows read by id at once. A slow view may be computed as a whole for each such statement. */
const MOST_WANTED = 10_000

/** Reports every row: as unchanged if its updatedAt equals the known one, else with its columns. */
async function* scanIds<Item>(
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
      // A row that is not held is no stray: the view may have hidden it until now.
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
  // Close the cursor: its name is used again.
  const closed = failed ?? (await transaction.query(`CLOSE ${name}`))
  return closed instanceof PostgresFailure ? closed : null
}

/** Reports suspected rows that no longer exist as deleted. Returns true if others need a scan. */
async function* seekSuspects<Item>(
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
