import type { Guid } from '../../src/domain/guid.ts'
import type { Change, Page, ReadEnd, ReadKind, ReadOutcome, ReadRequest, Source } from '../../src/sync/port.ts'
import type { Cursor } from '../../src/sync/port.ts'
import type { Moment } from '../../src/time/time.ts'
import type { Chance } from './chance.ts'
import type { Exchange, Reply } from './exchange.ts'
import type { LoggedRead, ReadLog } from './read-log.ts'
import type { Setting } from './setting.ts'
import type { State } from './story.ts'
import type { Seen, Table } from './table.ts'
import type { ModelTime } from './virtual-time.ts'

/** What every model source is made of. */
export interface Parts<Item> {
  readonly table: Table
  readonly setting: Setting
  readonly exchange: Exchange
  readonly log: ReadLog
  readonly time: ModelTime
  readonly chance: Chance
  readonly recordOf: (id: Guid, state: State) => Item
  /** The number by which the CRM tells that a row has changed. */
  readonly versionOf: (state: State) => number
}

export type Pages<Item> = AsyncGenerator<Page<Item>, ReadOutcome, void>

/** What may be seen of a list; null: all of it. */
export type Sight = ReadonlySet<Guid> | null

/** One read as the CRM sees it: what it may see is looked at when it begins, or with each page. */
export interface View {
  readonly logged: LoggedRead
  readonly sight: Sight
  /** When it began, by the monotonic clock. */
  readonly begunMs: number
  readonly named: Set<Guid>
  /** Where all pages show one state: which, and when it was asked for. */
  moment: { readonly trueMs: number; readonly begunAt: Moment } | null
}

export const PAGE_ROWS = 9

export function sourceOf<Item>(
  parts: Parts<Item>,
  reportsChanges: boolean,
  read: (request: ReadRequest, view: View) => Pages<Item>,
): Source<Item> {
  const { setting, log, time, table } = parts
  const deaths = new Deaths()
  const servesNeither = setting.snapshot && reportsChanges
  return {
    reportsChanges,
    availabilityEveryMs: table.name === 'events' ? setting.availabilityEveryMs : null,
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
        moment: null,
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

/** The cursors of one list, each with a number, and which of them do not work any more. */
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

  /** Whether the cursor opened last does not work; it takes a while to say so. */
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

export function pageOf<Item>(begunAt: Moment, sourceLagMs: number, changes: readonly Change<Item>[]): Page<Item> {
  return { begunAt, sourceLagMs, changes, whereIs: (index) => `row ${index}` }
}

function isUnreadable({ garbled, broken }: Table, id: Guid, { shown }: State): boolean {
  return shown ? garbled.has(id) : broken.has(id)
}

/** Whether the CRM tells of the row: where it filters, of those alone that it takes for shown. */
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

/** Asks for one page; now and then twice, because the first answer is slow: then both arrive, in any order. In a snapshot, once. */
export async function askPage<Result>(
  { exchange, chance, setting }: Parts<unknown>,
  find: (trueMs: number) => Result,
): Promise<readonly Reply<Result>[]> {
  if (setting.snapshot || !chance.happens(setting.asksTwice)) return [await exchange.ask(find)]
  const both = await Promise.all([exchange.ask(find), exchange.ask(find)])
  return chance.happens(0.5) ? both : both.toReversed()
}

/** Reads the whole list page by page in the order of its ids, while the rows go on changing; returns a failure or null. */
export async function* readByKey<Item>(
  parts: Parts<Item>,
  view: View,
  toChange: (seen: Seen) => Change<Item> | null,
  pass = 0,
): AsyncGenerator<Page<Item>, Extract<ReadOutcome, { ok: false }> | null, void> {
  const { table } = parts
  let after = ''
  for (;;) {
    const key = after
    const replies = await askPage(parts, (trueMs) =>
      rowsIn(parts, view, trueMs)
        .filter(({ story }) => story.id > key)
        .toSorted((left, right) => (left.story.id < right.story.id ? -1 : 1))
        .slice(0, PAGE_ROWS),
    )
    let isLast = false
    for (const reply of replies) {
      if (!reply.ok) return reply
      const changes = reply.result.map(toChange).filter((change) => change !== null)
      for (const { id } of changes) if (id !== null) view.named.add(id)
      yield { ...pageIn(parts, view, reply.begunAt, changes), pass }
      const last = reply.result.at(-1)?.story.id ?? ''
      // Of two answers the shorter one decides how far the list was read.
      after = after === key || last < after ? last : after
      if (reply.result.length < PAGE_ROWS) isLast = true
    }
    if (isLast) return null
    if (view.logged.kind !== 'availability') table.betweenPages?.({ begunMs: view.begunMs, after, named: view.named })
  }
}

/** The rows that a request finds: of the moment that the read shows, or as they are now. */
export function rowsIn({ table, setting, time }: Parts<unknown>, view: View, trueMs: number): Seen[] {
  const { lagMs } = view.logged
  if (!setting.snapshot) return table.rowsAt(trueMs - lagMs, table.visible)
  view.moment ??= { trueMs, begunAt: time.peek() }
  return table.rowsAt(view.moment.trueMs - lagMs, view.sight)
}

export function pageIn<Item>(
  { setting }: Parts<Item>,
  { moment, logged }: View,
  begunAt: Moment,
  changes: readonly Change<Item>[],
): Page<Item> {
  return pageOf(setting.snapshot ? (moment?.begunAt ?? begunAt) : begunAt, logged.lagMs, changes)
}

/** Reads the tickets of all rows that are shown. */
export async function* readAvailability<Item>(parts: Parts<Item>, view: View): Pages<Item> {
  const failure = yield* readByKey(parts, view, ({ story: { id }, state: { shown, sold } }) =>
    shown ? { kind: 'availability', id, TicketCapacity: 1_000_000, TicketsAvailable: sold } : null,
  )
  return failure ?? endOf('availability', null)
}
