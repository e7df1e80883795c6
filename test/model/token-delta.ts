import type { Guid } from '../../src/domain/guid.ts'
import { unreachable } from '../../src/domain/unreachable.ts'
import type { Cursor, ReadRequest, ListSource } from '../../src/sync/port.ts'
import type { Pages, Parts, Sight, View } from './model-source.ts'
import { changeOf, endOf, PAGE_ROWS, pageOf, readAvailability, readByKey, sourceOf, isTold } from './model-source.ts'
import type { Seen } from './table.ts'

/** A CRM with a token, like Dataverse: all changes since then in the order of change, then the deletions. */
export function tokenDelta<Item>(parts: Parts<Item>): ListSource<Item> {
  return sourceOf(parts, true, (request, view) => {
    switch (request.kind) {
      case 'full':
        return readFull(parts, view)
      case 'changes':
        return readChanges(parts, request, view.sight)
      case 'availability':
        return readAvailability(parts, view)
      default:
        return unreachable(request.kind)
    }
  })
}

function cursorOf(sequence: number): Cursor {
  return `t${sequence}` as Cursor
}

async function* readFull<Item>(parts: Parts<Item>, view: View): Pages<Item> {
  const first = await parts.exchange.ask(() => parts.table.sequence)
  if (!first.ok) return first
  const failure = yield* readByKey(parts, view, (seen) => (isTold(parts, seen) ? changeOf(parts, seen) : null))
  return failure ?? endOf('full', cursorOf(first.result))
}

async function* readChanges<Item>(parts: Parts<Item>, { cursor }: ReadRequest, sight: Sight): Pages<Item> {
  const { table, chance, setting, exchange } = parts
  if (cursor === null || chance.happens(0.01 * setting.trouble)) {
    return { ok: false, failure: { kind: 'cursor-refused', message: 'the token is too old', retryAfterMs: null } }
  }
  const token = Number(cursor.slice(1))
  let since = token
  let reached = token
  const told = new Map<Guid, number>()
  for (let isLast = false; !isLast;) {
    const from = since
    const reply = await exchange.ask((trueMs) => ({
      rows: changedSince(parts, trueMs, from, sight),
      at: table.sequence,
    }))
    if (!reply.ok) return reply
    const { rows, at } = reply.result
    for (const { story, state } of rows) told.set(story.id, Math.max(state.sequence, told.get(story.id) ?? 0))
    yield pageOf(
      0,
      rows.map((seen) => changeOf(parts, seen)),
    )
    since = Math.max(since, rows.at(-1)?.state.sequence ?? 0)
    isLast = rows.length < PAGE_ROWS
    // A naive connector keeps the token of the last answer. Changes that the replica ignored must not be lost.
    reached = at
  }
  // A deleted row may have been created again since. Only a report after its deletion proves that.
  const reply = await exchange.ask(() =>
    table.deletions.filter(({ id, sequence }) => sequence > token && (sight === null || sight.has(id))),
  )
  if (!reply.ok) return reply
  const gone = reply.result.filter(({ id, sequence }) => sequence > (told.get(id) ?? 0))
  yield pageOf(
    0,
    gone.map(({ id }) => ({ kind: 'deleted', id })),
  )
  return endOf('changes', cursorOf(reached))
}

/** Returns the rows changed since then, shown or not, the oldest change first. */
function changedSince<Item>({ table }: Parts<Item>, trueMs: number, sequence: number, sight: Sight): Seen[] {
  return table
    .rowsAt(trueMs, sight)
    .filter(({ state }) => state.sequence > sequence)
    .toSorted((left, right) => left.state.sequence - right.state.sequence)
    .slice(0, PAGE_ROWS)
}
