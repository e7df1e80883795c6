import { columnSource } from '../../src/config/crm/sources.ts'
import type { ExaminedRows } from '../../src/crm/connector/conformance.ts'
import type { Rows, Way } from '../../src/crm/connector/row-host.ts'
import { type Change, type Source, cursorOf, failed } from '../../src/sync/port.ts'

const NOTHING_HELD = { size: 0, version: (): number => Number.NaN }

/**
 * The records of a built-in connector's list as rows, so that the suite which examines users' connectors examines it
 * too.
 */
export function examinedRows(source: Source<unknown>): ExaminedRows {
  const ways = new Set<Way>(source.reportsChanges ? ['full', 'changes'] : ['full'])
  const fields = { Id: columnSource('Id'), Price: columnSource('Price') }
  async function* open(way: Way, argument: unknown, signal: AbortSignal): Rows {
    if (way !== 'full' && way !== 'changes') return failed('internal', `there is no way ${way}`)
    const cursor = way === 'changes' && typeof argument === 'string' ? cursorOf(argument) : null
    const pages = source.read({
      kind: cursor === null ? 'full' : 'changes',
      cursor,
      held: NOTHING_HELD,
      served: null,
      signal,
    })
    for (let next = await pages.next(); ; next = await pages.next()) {
      if (next.done === true) return next.value.ok ? { ok: true, cursor: next.value.cursor } : next.value
      const { changes, sourceLagMs } = next.value
      const deleted = changes.flatMap((change) => (change.kind === 'deleted' ? [change.id] : []))
      yield { rows: changes.flatMap(rowOf), deleted, total: null, lagMs: sourceLagMs, stable: true, goesOn: true }
    }
  }
  return { shape: async () => ({ fields, active: null, showOnWeb: null, updatedAt: null, ways }), open }
}

function rowOf(change: Change<unknown>): readonly Buffer[] {
  if (change.kind === 'deleted') return []
  return [Buffer.from(JSON.stringify(change.kind === 'record' ? change.record : { Id: change.id }))]
}
