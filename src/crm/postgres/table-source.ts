import { unreachable } from '../../domain/unreachable.ts'
import type { Change, CrmFailure, Page, ReadOutcome, ReadRequest, Source } from '../../replica/port.ts'
import type { Moment, Time } from '../../replica/time.ts'
import { elapsedMs } from '../../replica/time.ts'
import type { Answer } from './connection.ts'
import type { Position } from './cursor.ts'
import { cursorOf, newestOf, positionAfter, positionOf } from './cursor.ts'
import { decodeRow, decoders } from './decode-row.ts'
import { Fault } from './fault.ts'
import type { ListTable, RowReading } from './list-table.ts'
import type { ReadSession, Snapshot, Transaction } from './read-session.ts'
import { Scan } from './scan.ts'
import { microsOf, stampOf } from './stamp.ts'
import type { Suspects } from './suspects.ts'
import { quote } from './table-name.ts'
import type { TableShape } from './table-shape.ts'
import { columnFault, shapeOf, stampFault } from './table-shape.ts'

export interface TableSourceSettings<Item> {
  readonly list: ListTable<Item>
  readonly session: ReadSession
  readonly time: Time
  /** How often all ids and stamps are compared with what is held. */
  readonly sweepEveryMs: number
  readonly patienceMs: number
  readonly suspects: Suspects
  readonly onHint: (callback: () => void) => void
}

type Read<Item> = AsyncGenerator<Page<Item>, ReadOutcome, void>

/** The port's limit of a page. */
const MOST_ROWS = 1000
/** A sweep that comes due a moment after a refresh would otherwise wait for the next. */
const DUE_EARLY = 0.95

/** One list of the database: read in full, or by the stamps of its changes with a sweep of all ids now and then. */
export class TableSource<Item> implements Source<Item> {
  readonly reportsChanges: boolean
  readonly availabilityEveryMs = null
  readonly repeatedId: Source<Item>['repeatedId']
  readonly patienceMs: number
  readonly #settings: TableSourceSettings<Item>
  /** What the table looks like on the server it was last asked on. */
  #known: Known<Item> | null = null
  #sweptAt: Moment | null = null
  /** When the last sweep ended and how long it took: those that are asked for must not fill all the time there is. */
  #sweepEnded: { readonly at: Moment; readonly tookMs: number } | null = null

  constructor(settings: TableSourceSettings<Item>) {
    this.#settings = settings
    this.patienceMs = settings.patienceMs
    this.reportsChanges = settings.list.changedAt !== null
    // Beside reads of changes a row is rightly seen twice while a full read runs.
    this.repeatedId = this.reportsChanges ? 'read-later' : 'withheld'
  }

  onHint(callback: () => void): void {
    this.#settings.onHint(callback)
  }

  read(request: ReadRequest): Read<Item> {
    switch (request.kind) {
      case 'full':
        return this.#readAll()
      case 'changes':
        return this.#readChanges(request)
      case 'availability':
        throw new Error('no availability of its own is announced')
      default:
        return unreachable(request.kind)
    }
  }

  /** Whether the table and its columns are there; null where they are. */
  async look(): Promise<CrmFailure | null> {
    const transaction = await this.#settings.session.begin()
    if (transaction instanceof Fault) return transaction.failure
    const known = await this.#knownIn(transaction)
    await transaction.end()
    return known instanceof Fault ? known.failure : null
  }

  async *#readAll(): Read<Item> {
    const { list, session, time } = this.#settings
    const begunAt = time.now()
    const scan = new Scan(
      session,
      list.table,
      (transaction) => this.#knownIn(transaction),
      (known) => known.reading.columns,
    )
    let first: Snapshot | null = null
    let newest = 0
    let rows = 0
    try {
      for (;;) {
        const next = await scan.next()
        if (next instanceof Fault) return await this.#failed(next, scan)
        if (next === null) break
        first ??= next.snapshot
        const micros = microsOf(first.serverNow)
        const changes = this.#changesOf(next.answer, next.known)
        for (const { version } of changes) newest = newestOf(newest, version, micros)
        rows += changes.length
        scan.park()
        yield this.#page(
          next.snapshot,
          changes.map(({ change }) => change),
          changes,
        )
      }
      first ??= scan.transaction?.snapshot ?? null
    } finally {
      await scan.finish()
    }
    this.#sweptAt = begunAt
    const serverNow = microsOf(first?.serverNow ?? null)
    const position = positionAfter(null, { server: first?.server ?? '', newest, rows, serverNow })
    return { ...COMPLETE, cursor: this.reportsChanges ? cursorOf(position) : null }
  }

  async *#readChanges({ cursor, held }: ReadRequest): Read<Item> {
    const { time, sweepEveryMs, suspects } = this.#settings
    const begunAt = time.now()
    const before = cursor === null ? null : positionOf(cursor)
    if (before === null) return cursorRefused()
    const delta = yield* this.#readSince(before)
    if (!('newest' in delta)) return delta
    const next = cursorOf(delta)
    const isDue = this.#sweptAt === null || elapsedMs(this.#sweptAt, begunAt) >= sweepEveryMs * DUE_EARLY
    const unfound = isDue ? null : yield* this.#lookForSuspects(held)
    if (unfound !== null) return unfound
    if (!isDue && !(suspects.wantsSweep && this.#hasRested(begunAt)))
      return { ok: true, cursor: next, complete: false, unchanged: false, asOf: null, confirms: false }
    suspects.settleAll()
    const failure = yield* this.#sweep(held, before.server)
    if (failure !== null) {
      suspects.wantsSweep = true
      return failure
    }
    this.#sweptAt = begunAt
    this.#sweepEnded = { at: time.now(), tookMs: elapsedMs(begunAt, time.now()) }
    return { ...COMPLETE, cursor: next }
  }

  /** Rows whose stamp is not before the position: a page each in a transaction of its own, for it is mostly one. */
  async *#readSince(before: Position): AsyncGenerator<Page<Item>, Position | ReadOutcome, void> {
    const { session } = this.#settings
    let last: readonly [string, string] | null = null
    let newest = 0
    let rows = 0
    let serverNow = 0
    for (;;) {
      const transaction: Transaction | Fault = await session.begin()
      if (transaction instanceof Fault) return await this.#failed(transaction)
      const { snapshot } = transaction
      if (snapshot.server !== before.server) {
        await transaction.end()
        return cursorRefused()
      }
      const known: Known<Item> | Fault = await this.#knownIn(transaction)
      const answer: Answer | Fault =
        known instanceof Fault
          ? known
          : await this.#readPageSince(transaction, known.reading, stampOf(before.from), last)
      await transaction.end()
      if (known instanceof Fault) return await this.#failed(known)
      if (answer instanceof Fault) return await this.#failed(answer)
      serverNow ||= microsOf(snapshot.serverNow)
      const final = this.#endsOf(answer, known)
      const changes = this.#changesOf(answer, known)
      for (const { version } of changes) newest = newestOf(newest, version, serverNow)
      rows += changes.length
      if (changes.length > 0)
        yield this.#page(
          snapshot,
          changes.map(({ change }) => change),
          changes,
        )
      if (changes.length < MOST_ROWS || final === null) break
      last = final
    }
    return positionAfter(before, { server: before.server, newest, rows, serverNow })
  }

  #readPageSince(
    transaction: Transaction,
    { columns }: RowReading<Item>,
    from: string,
    last: readonly [string, string] | null,
  ): Promise<Answer | Fault> {
    const { table, changedAt } = this.#settings.list
    const select = `SELECT ${columns.map(quote).join(', ')} FROM ${table.quoted}`
    const [stamp, id] = [quote(changedAt ?? ''), quote(columns[0] ?? '')]
    const order = `ORDER BY ${stamp}, ${id} LIMIT ${MOST_ROWS}`
    return last === null
      ? transaction.query(`${select} WHERE ${stamp} >= $1 ${order}`, [from])
      : transaction.query(`${select} WHERE (${stamp}, ${id}) > ($1, $2) ${order}`, last)
  }

  #hasRested(now: Moment): boolean {
    const last = this.#sweepEnded
    return last === null || elapsedMs(last.at, now) >= last.tookMs
  }

  /** Looks for the rows that may be gone; one that is not there is told as deleted. */
  async *#lookForSuspects(held: ReadRequest['held']): AsyncGenerator<Page<Item>, ReadOutcome | null, void> {
    const { list, session, suspects } = this.#settings
    const known = this.#known
    if (known === null) return null
    const { columns, idOf } = known.reading
    const wanted = suspects.heldOf(held, idOf, known.shape.columns.get(columns[0] ?? '') ?? '')
    if (wanted.size === 0) return null
    const transaction = await session.begin()
    if (transaction instanceof Fault) return await this.#failed(transaction)
    const id = quote(columns[0] ?? '')
    const select = `SELECT ${id} FROM ${list.table.quoted} WHERE ${id} = ANY ($1)`
    const answer = await transaction.query(select, [[...wanted.values()]])
    await transaction.end()
    if (answer instanceof Fault) return await this.#failed(answer)
    const present = new Set(answer.rows.map(([text = null]) => (text === null ? null : idOf(text))))
    const changes: Change<Item>[] = []
    for (const gone of wanted.keys()) if (!present.has(gone)) changes.push({ kind: 'deleted', id: gone })
    suspects.settle(wanted.values())
    if (changes.length > 0) yield this.#page(transaction.snapshot, changes, [])
    return null
  }

  /** Names every row: those whose stamp is another than the one held, or that are not held, with all they hold. */
  async *#sweep(held: ReadRequest['held'], server: string): AsyncGenerator<Page<Item>, ReadOutcome | null, void> {
    const { list, session } = this.#settings
    const scan = new Scan(
      session,
      list.table,
      (transaction) => this.#knownIn(transaction),
      ({ reading }) => [reading.columns[0] ?? '', list.changedAt ?? ''],
    )
    try {
      for (;;) {
        const next = await scan.next()
        if (next instanceof Fault) return await this.#failed(next, scan)
        if (next === null) return null
        if (next.snapshot.server !== server) return cursorRefused()
        const { known } = next
        const { columns, idOf } = known.reading
        const unchanged: Change<Item>[] = []
        const wanted: string[] = []
        for (const [text = null, stamp = null] of next.answer.rows) {
          const id = text === null ? null : idOf(text)
          if (text === null || id === null) continue
          if (held.version(id) === microsOf(stamp)) unchanged.push({ kind: 'unchanged', id })
          else wanted.push(text)
        }
        let rows: readonly Mapped<Item>[] = []
        if (wanted.length > 0) {
          const select = `SELECT ${columns.map(quote).join(', ')} FROM ${list.table.quoted}`
          const answer = await scan.transaction?.query(`${select} WHERE ${quote(columns[0] ?? '')} = ANY ($1)`, [
            wanted,
          ])
          if (answer === undefined || answer instanceof Fault) return await this.#failed(answer ?? null, scan)
          rows = this.#changesOf(answer, known)
        }
        scan.park()
        if (unchanged.length > 0) yield this.#page(next.snapshot, unchanged, [])
        if (rows.length > 0)
          yield this.#page(
            next.snapshot,
            rows.map(({ change }) => change),
            rows,
          )
      }
    } finally {
      await scan.finish()
    }
  }

  #changesOf({ rows, oids }: Answer, { reading, shape }: Known<Item>): readonly Mapped<Item>[] {
    const { changedAt } = this.#settings.list
    const types = decoders(oids, shape.arrays)
    const stampAt = changedAt === null ? -1 : reading.columns.indexOf(changedAt)
    return rows.map((row) => {
      const id = row[0] ?? null
      const version = stampAt === -1 ? Number.NaN : microsOf(row[stampAt] ?? null)
      const change = reading.mapRow(decodeRow(row, types), () => this.#placeOf(id), version)
      return { change, version, id }
    })
  }

  /** The stamp and the id of the last row, null where the page is empty or they are NULL. */
  #endsOf({ rows }: Answer, { reading }: Known<Item>): readonly [string, string] | null {
    const last = rows.at(-1)
    const stamp = last?.[reading.columns.indexOf(this.#settings.list.changedAt ?? '')]
    const id = last?.[0]
    return stamp === null || stamp === undefined || id === null || id === undefined ? null : [stamp, id]
  }

  #page(
    { begunAt, sourceLagMs }: Snapshot,
    changes: readonly Change<Item>[],
    rows: readonly Mapped<Item>[],
  ): Page<Item> {
    return { begunAt, sourceLagMs, changes, whereIs: (index) => this.#placeOf(rows[index]?.id ?? null) }
  }

  #placeOf(id: string | null): string {
    const { written } = this.#settings.list.table
    return id === null ? `${written}, a row without an id` : `${written}, id ${id.slice(0, 80)}`
  }

  /** Looks at the columns once for each connection: a missing one is named before a statement stumbles over it. */
  async #knownIn(transaction: Transaction): Promise<Known<Item> | Fault> {
    const { list } = this.#settings
    const { server } = transaction.snapshot
    if (this.#known?.server === server) return this.#known
    this.#known = null
    const shape = await shapeOf(transaction, list.table, list.name)
    if (shape instanceof Fault) return shape
    const reading = list.rowReading((column) => shape.columns.has(column))
    const fault =
      columnFault(shape, reading.columns, list.table, list.name) ??
      stampFault(shape, list.changedAt ?? '', list.table, list.name)
    if (fault !== null) return fault
    this.#known = { server, shape, reading }
    return this.#known
  }

  /** What a statement stumbled over while the service ran is told by another look at the columns. */
  async #failed(fault: Fault | null, scan: Scan<Known<Item>> | null = null): Promise<ReadOutcome> {
    // The look needs the turn that the scan holds.
    await scan?.finish()
    if (fault?.failure.kind !== 'misconfigured' || this.#known === null) {
      return { ok: false, failure: fault?.failure ?? LOST }
    }
    this.#known = null
    return { ok: false, failure: (await this.look()) ?? fault.failure }
  }
}

interface Known<Item> {
  readonly server: string
  readonly shape: TableShape
  readonly reading: RowReading<Item>
}

interface Mapped<Item> {
  readonly change: Change<Item>
  readonly version: number
  /** The id as the database writes it. */
  readonly id: string | null
}

const COMPLETE = { ok: true, complete: true, unchanged: false, asOf: null, confirms: true } as const
const LOST: CrmFailure = { kind: 'unreachable', message: 'the connection was lost', retryAfterMs: null }

function cursorRefused(): ReadOutcome {
  const message = 'another connection may be another server, so the list is read in full'
  return { ok: false, failure: { kind: 'cursor-refused', message, retryAfterMs: null } }
}
