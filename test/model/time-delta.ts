import type { Guid } from '../../src/domain/guid.ts'
import { unreachable } from '../../src/domain/unreachable.ts'
import type { Change, Cursor, Held, Page, ReadOutcome, ReadRequest, ListSource } from '../../src/sync/port.ts'
import type { Pages, Parts, View } from './model-source.ts'
import {
  changeOf,
  endOf,
  PAGE_ROWS,
  pageOf,
  readAvailability,
  readByKey,
  rowsIn,
  sourceOf,
  isTold,
} from './model-source.ts'
import type { Seen } from './table.ts'

/** How far back a read of changes looks, for late commits and clocks with whole seconds. */
const OVERLAP_S = 3

/** The position for the next read of changes. It belongs to the model, not the replica, but a mutant may break it. */
export const POSITION = {
  /** Returns the newest updatedAt seen, but never one in the future, which would hide changes written meanwhile. */
  after: (newestS: number, clockS: number): number => Math.min(newestS, clockS),
}

/** When a read must compare the ids. It belongs to the model, but a mutant may break it. */
export const ID_SCAN = {
  isAskedFor: ({ mustConfirm }: Pick<ReadRequest, 'mustConfirm' | 'purpose'>): boolean => mustConfirm === true,
}

/**
 * A CRM with updatedAt columns, like PostgreSQL: a delta, then usually an id scan that finds late commits and
 * deletions. Its servers lag, and a server that takes over does not know the other's cursor.
 */
export function timeDelta<Item>(parts: Parts<Item>): ListSource<Item> {
  const state = { server: 0, idScanMs: Number.NEGATIVE_INFINITY }
  return sourceOf(parts, true, (request, view) => {
    const { serverLagsMs, trouble, idScanEveryMs } = parts.setting
    if (parts.chance.happens(0.01 * trouble)) state.server = (state.server + 1) % serverLagsMs.length
    const { logged } = view
    logged.lagMs = serverLagsMs[state.server] ?? 0
    switch (request.kind) {
      case 'full':
        return readFull(parts, state.server, view)
      case 'changes': {
        const needsIdScan = ID_SCAN.isAskedFor(request) || logged.begunMs - state.idScanMs >= idScanEveryMs
        const noteIdScan = (): number => (state.idScanMs = logged.begunMs)
        return readChanges(parts, request, state.server, view, needsIdScan ? noteIdScan : null)
      }
      case 'availability':
        return readAvailability(parts, view)
      default:
        return unreachable(request.kind)
    }
  })
}

/** Finds the newest updatedAt of the rows read, from the second `sinceS` on. */
class Tally {
  readonly #server: number
  readonly #clockS: number
  #newestS: number

  constructor({ time }: Parts<unknown>, server: number, { logged }: View, sinceS: number) {
    this.#server = server
    this.#clockS = Math.floor((time.trueMs - logged.lagMs) / 1000)
    this.#newestS = sinceS
  }

  add({ state }: Seen): void {
    this.#newestS = Math.max(this.#newestS, state.updatedAtS)
  }

  get cursor(): Cursor {
    return `${this.#server} ${POSITION.after(this.#newestS, this.#clockS)}` as Cursor
  }
}

async function* readFull<Item>(parts: Parts<Item>, server: number, view: View): Pages<Item> {
  const tally = new Tally(parts, server, view, 0)
  const { snapshot } = parts.setting
  const failure = yield* readByKey(parts, view, (seen) => {
    tally.add(seen)
    return isTold(parts, seen) ? changeOf(parts, seen) : null
  })
  return failure ?? endOf('full', tally.cursor, { oneMoment: snapshot })
}

async function* readChanges<Item>(
  parts: Parts<Item>,
  { cursor, held }: ReadRequest,
  server: number,
  view: View,
  noteIdScan: (() => void) | null,
): Pages<Item> {
  const [from, since] = (cursor ?? '').split(' ').map(Number)
  if (from !== server || since === undefined) {
    return { ok: false, failure: { kind: 'cursor-refused', message: 'another server', retryAfterMs: null } }
  }
  const tally = new Tally(parts, server, view, since)
  const { snapshot } = parts.setting
  const failure = yield* readByKey(parts, view, (seen) => {
    if (seen.state.updatedAtS < since - OVERLAP_S) return null
    tally.add(seen)
    return isTold(parts, seen) ? changeOf(parts, seen) : null
  })
  if (failure !== null) return failure
  if (noteIdScan === null) return endOf('changes', tally.cursor, { confirms: false, oneMoment: snapshot })
  const idScanFailure = yield* idScan(parts, held, view)
  if (idScanFailure !== null) return idScanFailure
  noteIdScan()
  return endOf('changes', tally.cursor, { complete: true, oneMoment: snapshot })
}

/** Compares the updatedAt of all rows with the held ones, and reads rows that differ. */
async function* idScan<Item>(
  parts: Parts<Item>,
  held: Held,
  view: View,
): AsyncGenerator<Page<Item>, Extract<ReadOutcome, { ok: false }> | null, void> {
  const differing: Guid[] = []
  const toChange = (seen: Seen): Change<Item> | null => {
    if (!isTold(parts, seen)) return null
    const { id } = seen.story
    if (held.version(id) === parts.versionOf(seen.state)) return { kind: 'unchanged', id }
    differing.push(id)
    return null
  }
  const failure = yield* readByKey(parts, view, toChange, 1)
  if (failure !== null) return failure
  for (let start = 0; start < differing.length; start += PAGE_ROWS) {
    const ids = new Set(differing.slice(start, start + PAGE_ROWS))
    const reply = await parts.exchange.ask((trueMs) =>
      rowsIn(parts, view, trueMs).filter((seen) => ids.has(seen.story.id) && isTold(parts, seen)),
    )
    if (!reply.ok) return reply
    const changes = reply.result.map((seen) => changeOf(parts, seen))
    yield { ...pageOf(view.logged.lagMs, changes), pass: 1 }
  }
  return null
}
