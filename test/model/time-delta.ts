import type { Guid } from '../../src/domain/guid.ts'
import { unreachable } from '../../src/domain/unreachable.ts'
import type { Change, Cursor, Held, Page, ReadOutcome, ReadRequest, Source } from '../../src/replica/port.ts'
import type { Pages, Parts, Sight } from './model-source.ts'
import { changeOf, endOf, PAGE_ROWS, pageOf, readAvailability, readByKey, sourceOf } from './model-source.ts'
import type { LoggedRead } from './read-log.ts'
import type { Seen } from './table.ts'

/** How far back a read of changes looks, for commits that come late and clocks that count whole seconds. */
const OVERLAP_S = 3

/**
 * A CRM with timestamps: what changed since, then a sweep of all ids and timestamps that finds late commits and what is
 * gone (as PostgreSQL). Its servers lag; one that takes over does not know the other's cursor.
 */
export function timeDelta<Item>(parts: Parts<Item>): Source<Item> {
  const server = { index: 0 }
  return sourceOf(parts, true, (request, logged, sight) => {
    const { serverLagsMs, trouble } = parts.setting
    if (parts.chance.happens(0.01 * trouble)) server.index = (server.index + 1) % serverLagsMs.length
    logged.lagMs = serverLagsMs[server.index] ?? 0
    switch (request.kind) {
      case 'full':
        return readFull(parts, server.index, logged, sight)
      case 'changes':
        return readChanges(parts, request, server.index, logged, sight)
      case 'availability':
        return readAvailability(parts, logged.lagMs, sight)
      default:
        return unreachable(request.kind)
    }
  })
}

function cursorOf(server: number, sourceMs: number): Cursor {
  return `${server} ${Math.floor(sourceMs / 1000)}` as Cursor
}

async function* readFull<Item>(parts: Parts<Item>, server: number, { lagMs }: LoggedRead, sight: Sight): Pages<Item> {
  const cursor = cursorOf(server, parts.time.trueMs - lagMs)
  const { serverFilters } = parts.setting
  const failure = yield* readByKey(parts, lagMs, sight, (seen) =>
    serverFilters && !seen.state.shown ? null : changeOf(parts, seen),
  )
  return failure ?? endOf('full', cursor)
}

async function* readChanges<Item>(
  parts: Parts<Item>,
  { cursor, held }: ReadRequest,
  server: number,
  { lagMs }: LoggedRead,
  sight: Sight,
): Pages<Item> {
  const [from, since] = (cursor ?? '').split(' ').map(Number)
  if (from !== server || since === undefined) {
    return { ok: false, failure: { kind: 'cursor-refused', message: 'another server', retryAfterMs: null } }
  }
  const next = cursorOf(server, parts.time.trueMs - lagMs)
  const { serverFilters } = parts.setting
  const failure = yield* readByKey(parts, lagMs, sight, (seen) =>
    seen.state.changedAtS < since - OVERLAP_S || (serverFilters && !seen.state.shown) ? null : changeOf(parts, seen),
  )
  if (failure !== null) return failure
  const sweepFailure = yield* sweep(parts, held, lagMs, sight)
  return sweepFailure ?? endOf('changes', next, { complete: true })
}

/** Compares the timestamps of all rows with what is held, and reads those that differ. */
async function* sweep<Item>(
  parts: Parts<Item>,
  held: Held,
  lagMs: number,
  sight: Sight,
): AsyncGenerator<Page<Item>, Extract<ReadOutcome, { ok: false }> | null, void> {
  const { serverFilters } = parts.setting
  const differing: Guid[] = []
  const failure = yield* readByKey(parts, lagMs, sight, ({ story: { id }, state }): Change<Item> | null => {
    if (serverFilters && !state.shown) return null
    if (held.version(id) === parts.versionOf(state)) return { kind: 'unchanged', id }
    differing.push(id)
    return null
  })
  if (failure !== null) return failure
  for (let start = 0; start < differing.length; start += PAGE_ROWS) {
    const ids = new Set(differing.slice(start, start + PAGE_ROWS))
    const reply = await parts.exchange.ask((trueMs) => rowsOf(parts, trueMs - lagMs, ids, sight))
    if (!reply.ok) return reply
    yield pageOf(
      reply.begunAt,
      lagMs,
      reply.result.map((seen) => changeOf(parts, seen)),
    )
  }
  return null
}

function rowsOf<Item>({ table, setting }: Parts<Item>, ms: number, ids: ReadonlySet<Guid>, sight: Sight): Seen[] {
  return table
    .rowsAt(ms, sight)
    .filter(({ story, state }) => ids.has(story.id) && (state.shown || !setting.serverFilters))
}
