import type { Guid } from '../../src/domain/guid.ts'
import type { Change, Page, ReadEnd, ReadKind, ReadOutcome, ReadRequest, ListSource } from '../../src/sync/port.ts'
import type { Cursor } from '../../src/sync/port.ts'
import type { Chance } from './chance.ts'
import type { Exchange } from './exchange.ts'
import type { LoggedRead, ReadLog } from './read-log.ts'
import type { Setting } from './setting.ts'
import type { State } from './story.ts'
import type { Seen, Table } from './table.ts'
import type { ModelTime } from './virtual-time.ts'

/** The parts of every model source. */
export interface Parts<Item> {
  readonly table: Table
  readonly setting: Setting
  readonly exchange: Exchange
  readonly log: ReadLog
  readonly time: ModelTime
  readonly chance: Chance
  readonly recordOf: (id: Guid, state: State) => Item
  /** Returns the number by which the CRM shows that a row has changed. */
  readonly versionOf: (state: State) => number
}

export type Pages<Item> = AsyncGenerator<Page<Item>, ReadOutcome, void>

/** The visible rows of a list; `null` for all. */
export type Sight = ReadonlySet<Guid> | null

/** One read from the CRM's side. What it may see is decided at its beginning or with each page. */
export interface View {
  readonly logged: LoggedRead
  readonly sight: Sight
  /** When the read began, monotonic ms. */
  readonly begunMs: number
  readonly named: Set<Guid>
  /** The moment that all pages show; `null` if they show different ones. */
  momentMs: number | null
}

export const PAGE_ROWS = 9

export function sourceOf<Item>(
  parts: Parts<Item>,
  reportsChanges: boolean,
  read: (request: ReadRequest, view: View) => Pages<Item>,
): ListSource<Item> {
  const { setting, log, time, table } = parts
  const deaths = new Deaths()
  const servesNeither = setting.snapshot && reportsChanges
  return {
    reportsChanges,
    readsTickets: table.name === 'events' && setting.readsTickets,
    repeatedId: servesNeither ? 'serves-neither' : setting.snapshot ? 'serves-first' : 'serves-later',
    patienceMs: setting.patienceMs,
    travels: () => true,
    async *read(request) {
      const logged = log.begin(table.name, request.kind, time.trueMs)
      const view: View = {
        logged,
        sight: table.visible,
        begunMs: time.peek().monotonicMs,
        named: new Set(),
        momentMs: null,
      }
      const cursor = deaths.open(request.cursor)
      if (request.kind === 'changes' && (await deaths.strike(parts))) {
        const message = 'something, but not a word of the cursor'
        return { ok: false, failure: { kind: parts.chance.pick(SILENT_FAULTS), message, retryAfterMs: null } }
      }
      const outcome = yield* read({ ...request, cursor }, view)
      if (!outcome.ok) return outcome
      logged.isComplete = outcome.complete
      logged.confirms = outcome.confirms
      return { ...outcome, cursor: deaths.seal(outcome.cursor) }
    },
  }
}

const SILENT_FAULTS = ['unreachable', 'broken', 'timeout', 'internal'] as const

/** The numbered cursors of one list, and which of them have stopped working. */
class Deaths {
  readonly #dead = new Set<string>()
  #sealed = 0
  #opened = ''

  seal(cursor: Cursor | null): Cursor | null {
    return cursor === null ? null : (`${++this.#sealed}:${cursor}` as Cursor)
  }

  open(cursor: Cursor | null): Cursor | null {
    if (cursor === null) return null
    const at = cursor.indexOf(':')
    this.#opened = cursor.slice(0, at)
    return cursor.slice(at + 1) as Cursor
  }

  /** Returns true if the last opened cursor does not work. It takes a while to fail. */
  async strike({ chance, setting, exchange }: Parts<unknown>): Promise<boolean> {
    const opened = this.#opened
    if (chance.happens(setting.cursorDeaths)) this.#dead.add(opened)
    if (!this.#dead.has(opened)) return false
    exchange.faults++
    await exchange.ask(() => null)
    return true
  }
}

export function endOf(kind: ReadKind, cursor: Cursor | null, given: Partial<ReadEnd> = {}): ReadEnd {
  return {
    ok: true,
    cursor,
    complete: kind === 'full',
    oneMoment: false,
    unchanged: false,
    asOf: null,
    confirms: true,
    ...given,
  }
}

export function pageOf<Item>(sourceLagMs: number, changes: readonly Change<Item>[]): Page<Item> {
  return { sourceLagMs, changes, whereIs: (index) => `row ${index}` }
}

function isUnreadable({ garbled, broken }: Table, id: Guid, { shown }: State): boolean {
  return shown ? garbled.has(id) : broken.has(id)
}

/** Returns true if the CRM reports the row: with a server-side filter, only rows it considers shown. */
export function isTold({ setting, table }: Parts<unknown>, { story: { id }, state }: Seen): boolean {
  return !setting.serverFilters || state.shown || table.broken.has(id)
}

export function changeOf<Item>(
  { recordOf, versionOf, table }: Parts<Item>,
  { story: { id }, state }: Seen,
): Change<Item> {
  const version = versionOf(state)
  if (isUnreadable(table, id, state)) {
    const withheld = { fault: 'unreadable', column: 'Start', where: id, expected: null, found: null } as const
    return { kind: 'withheld', id, withheld, version }
  }
  if (state.shown) return { kind: 'record', id, record: recordOf(id, state), version }
  const withheld = { fault: 'not-shown', column: 'web', where: id, expected: null, found: null } as const
  return { kind: 'withheld', id, withheld, version }
}

/**
 * Reads the whole list in pages by id, while rows change. A later page of one read is at least as new as an earlier one
 * (port.ts). Returns a failure or `null`.
 */
export async function* readByKey<Item>(
  parts: Parts<Item>,
  view: View,
  toChange: (seen: Seen) => Change<Item> | null,
  pass = 0,
): AsyncGenerator<Page<Item>, Extract<ReadOutcome, { ok: false }> | null, void> {
  const { table, exchange } = parts
  let after = ''
  for (;;) {
    const key = after
    const reply = await exchange.ask((trueMs) =>
      rowsIn(parts, view, trueMs)
        .filter(({ story }) => story.id > key)
        .toSorted((left, right) => (left.story.id < right.story.id ? -1 : 1))
        .slice(0, PAGE_ROWS),
    )
    if (!reply.ok) return reply
    const changes = reply.result.map(toChange).filter((change) => change !== null)
    for (const { id } of changes) if (id !== null) view.named.add(id)
    yield { ...pageOf(view.logged.lagMs, changes), pass }
    after = reply.result.at(-1)?.story.id ?? ''
    if (reply.result.length < PAGE_ROWS) return null
    if (view.logged.kind !== 'availability') table.betweenPages?.({ begunMs: view.begunMs, after, named: view.named })
  }
}

/** Returns the rows that a request finds, as of the read's moment or as of now. */
export function rowsIn({ table, setting }: Parts<unknown>, view: View, trueMs: number): Seen[] {
  const { lagMs } = view.logged
  if (!setting.snapshot) return table.rowsAt(trueMs - lagMs, table.visible)
  view.momentMs ??= trueMs
  return table.rowsAt(view.momentMs - lagMs, view.sight)
}

/** Reads the tickets of all rows that are shown. */
export async function* readAvailability<Item>(parts: Parts<Item>, view: View): Pages<Item> {
  const failure = yield* readByKey(parts, view, ({ story: { id }, state: { shown, sold } }) =>
    shown ? { kind: 'availability', id, TicketCapacity: 1_000_000, TicketsAvailable: sold } : null,
  )
  return failure ?? endOf('availability', null)
}
