import type { Guid } from '../../src/domain/guid.ts'
import type { Change, Page, ReadEnd, ReadKind, ReadOutcome, ReadRequest, Source } from '../../src/replica/port.ts'
import type { Cursor } from '../../src/replica/port.ts'
import type { Moment } from '../../src/replica/time.ts'
import type { Chance } from './chance.ts'
import type { Exchange, Reply } from './exchange.ts'
import type { LoggedRead, ReadLog } from './read-log.ts'
import type { Setting } from './setting.ts'
import type { State } from './story.ts'
import type { Seen, Table } from './table.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What every model source is made of. */
export interface Parts<Item> {
  readonly table: Table
  readonly setting: Setting
  readonly exchange: Exchange
  readonly log: ReadLog
  readonly time: VirtualTime
  readonly chance: Chance
  readonly recordOf: (id: Guid, state: State) => Item
  /** The number by which the CRM tells that a row has changed. */
  readonly versionOf: (state: State) => number
}

export type Pages<Item> = AsyncGenerator<Page<Item>, ReadOutcome, void>

/** What one read may see: rights are looked at when it begins. */
export type Sight = ReadonlySet<Guid> | null

export const PAGE_ROWS = 9

export function sourceOf<Item>(
  parts: Parts<Item>,
  reportsChanges: boolean,
  read: (request: ReadRequest, logged: LoggedRead, sight: Sight) => Pages<Item>,
): Source<Item> {
  const { setting, log, time, table } = parts
  return {
    reportsChanges,
    availabilityEveryMs: table.name === 'events' ? setting.availabilityEveryMs : null,
    repeatedId: setting.snapshot ? 'serves-first' : 'serves-later',
    patienceMs: setting.patienceMs,
    read: (request) => read(request, log.begin(table.name, request.kind, time.trueMs), table.visible),
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

export function changeOf<Item>({ recordOf, versionOf }: Parts<Item>, { story: { id }, state }: Seen): Change<Item> {
  const version = versionOf(state)
  if (state.shown) return { kind: 'record', id, record: recordOf(id, state), version }
  const withheld = { fault: 'not-shown', column: 'web', where: id, expected: null, found: null } as const
  return { kind: 'withheld', id, withheld, version }
}

/** Asks for one page; now and then twice, because the first answer is slow: then both arrive, in any order. */
export async function askPage<Result>(
  { exchange, chance, setting }: Parts<unknown>,
  find: (trueMs: number) => Result,
): Promise<readonly Reply<Result>[]> {
  if (!chance.happens(0.05 * setting.trouble)) return [await exchange.ask(find)]
  const both = await Promise.all([exchange.ask(find), exchange.ask(find)])
  return chance.happens(0.5) ? both : both.toReversed()
}

/** Reads the whole list page by page in the order of its ids, while the rows go on changing; returns a failure or null. */
export async function* readByKey<Item>(
  parts: Parts<Item>,
  lagMs: number,
  sight: Sight,
  toChange: (seen: Seen) => Change<Item> | null,
): AsyncGenerator<Page<Item>, Extract<ReadOutcome, { ok: false }> | null, void> {
  const { table } = parts
  let after = ''
  for (;;) {
    const key = after
    const replies = await askPage(parts, (trueMs) =>
      table
        .rowsAt(trueMs - lagMs, sight)
        .filter(({ story }) => story.id > key)
        .toSorted((left, right) => (left.story.id < right.story.id ? -1 : 1))
        .slice(0, PAGE_ROWS),
    )
    let isLast = false
    for (const reply of replies) {
      if (!reply.ok) return reply
      const changes = reply.result.map(toChange).filter((change) => change !== null)
      yield pageOf(reply.begunAt, lagMs, changes)
      const last = reply.result.at(-1)?.story.id ?? ''
      // Of two answers the shorter one decides how far the list was read.
      after = after === key || last < after ? last : after
      if (reply.result.length < PAGE_ROWS) isLast = true
    }
    if (isLast) return null
  }
}

/** Reads the tickets of all rows that are shown. */
export async function* readAvailability<Item>(parts: Parts<Item>, lagMs: number, sight: Sight): Pages<Item> {
  const failure = yield* readByKey(parts, lagMs, sight, ({ story: { id }, state: { shown, sold } }) =>
    shown ? { kind: 'availability', id, TicketCapacity: 1_000_000, TicketsAvailable: sold } : null,
  )
  return failure ?? endOf('availability', null)
}
