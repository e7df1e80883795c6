import type { Cursor, ReadRequest, ListSource } from '../../src/sync/port.ts'
import type { Pages, Parts, Sight, View } from './model-source.ts'
import { changeOf, endOf, PAGE_ROWS, pageOf, readAvailability, readByKey, sourceOf, isTold } from './model-source.ts'

/** A CRM that can only be read in full: a file, recognized if it has not changed, or a list page by page. */
export function fullRead<Item>(parts: Parts<Item>): ListSource<Item> {
  return sourceOf(parts, false, (request, view) => {
    if (request.kind === 'availability') return readAvailability(parts, view)
    return parts.setting.snapshot ? readFile(parts, request, view.sight) : readPages(parts, view)
  })
}

async function* readPages<Item>(parts: Parts<Item>, view: View): Pages<Item> {
  const failure = yield* readByKey(parts, view, (seen) => (isTold(parts, seen) ? changeOf(parts, seen) : null))
  return failure ?? endOf('full', null)
}

async function* readFile<Item>(parts: Parts<Item>, { cursor }: ReadRequest, sight: Sight): Pages<Item> {
  const { table, setting, chance, exchange } = parts
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
    yield pageOf(reply.begunAt, 0, changes.slice(start, Math.min(end, start + PAGE_ROWS)))
  }
  if (isCut) return { ok: false, failure: { kind: 'broken', message: 'the file is cut short', retryAfterMs: null } }
  return endOf('full', fingerprint, { oneMoment: true })
}
