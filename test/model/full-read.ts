import type { Cursor, ReadRequest, ListSource } from '../../src/sync/port.ts'
import type { Pages, Parts, Sight, View } from './model-source.ts'
import { changeOf, endOf, PAGE_ROWS, pageOf, readAvailability, readByKey, sourceOf, isTold } from './model-source.ts'

/** A CRM that can only be read in full: a file, recognized if it has not changed, or a list page by page. */
export function fullRead<Item>(parts: Parts<Item>): ListSource<Item> {
  return sourceOf(parts, false, (request, view) => {
    if (request.kind === 'availability') return readAvailability(parts, view)
    return parts.setting.snapshot ? readFile(parts, request, view) : readPages(parts, view)
  })
}

async function* readPages<Item>(parts: Parts<Item>, view: View): Pages<Item> {
  const failure = yield* readByKey(parts, view, (seen) => (isTold(parts, seen) ? changeOf(parts, seen) : null))
  return failure ?? endOf('full', null)
}

/** How much older the end of a file may be that is being written over. */
const OLDER_MS = 5000

async function* readFile<Item>(parts: Parts<Item>, request: ReadRequest, { sight }: View): Pages<Item> {
  const { table, setting, chance, exchange } = parts
  const { cursor, served = null } = request
  if (served !== null && chance.happens(setting.halfWritten)) {
    // Nothing of this read counts, so it proves nothing to the checker either.
    return yield* readHalf(parts, request, sight)
  }
  const reply = await exchange.ask((trueMs) => ({
    fingerprint: `${table.changes} ${sight?.size ?? 'all'}` as Cursor,
    rows: table.rowsAt(trueMs, sight),
  }))
  if (!reply.ok) return reply
  const { fingerprint, rows } = reply.result
  if (cursor === fingerprint) return endOf('full', cursor, { complete: false, oneMoment: true, unchanged: true })
  const changes = rows.filter((seen) => isTold(parts, seen)).map((seen) => changeOf(parts, seen))
  // Cut short: the first rows are correct, the rest is missing.
  const isCut = chance.happens(0.03 * setting.trouble)
  const end = isCut ? chance.below(changes.length + 1) : changes.length
  for (let start = 0; start < end; start += PAGE_ROWS) {
    yield pageOf(0, changes.slice(start, Math.min(end, start + PAGE_ROWS)))
  }
  if (isCut) return { ok: false, failure: { kind: 'broken', message: 'the file is cut short', retryAfterMs: null } }
  return endOf('full', fingerprint, { oneMoment: true })
}

/** Reads a file whose beginning is new, whose end is older, and that misses a served row in between. */
async function* readHalf<Item>(parts: Parts<Item>, { served }: ReadRequest, sight: Sight): Pages<Item> {
  const { table, chance, exchange } = parts
  const reply = await exchange.ask((trueMs) => {
    const [rows, older] = [trueMs, trueMs - OLDER_MS].map((ms) => table.rowsAt(ms, sight))
    const half = chance.below(rows?.length ?? 0)
    const all = [
      ...(rows?.slice(0, half) ?? []),
      ...(older?.filter(({ story }) => !rows?.slice(0, half).some((row) => row.story === story)) ?? []),
    ]
    return all.filter((seen) => isTold(parts, seen))
  })
  if (!reply.ok) return reply
  const missed = reply.result.find(({ story }) => served?.has(story.id) === true)
  const changes = reply.result.filter((seen) => seen !== missed).map((seen) => changeOf(parts, seen))
  // Even a list without rows needs a page that says it.
  for (let start = 0; start === 0 || start < changes.length; start += PAGE_ROWS)
    yield { ...pageOf(0, changes.slice(start, start + PAGE_ROWS)), unsure: 'it is being written' }
  return missed === undefined
    ? { ok: false, failure: { kind: 'waiting', message: 'no row is left', retryAfterMs: null } }
    : endOf('full', 'half' as Cursor, { oneMoment: true })
}
