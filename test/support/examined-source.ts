import { columnSource } from '../../src/config/crm/sources.ts'
import type { ExaminedRows } from '../../src/crm/connector/conformance.ts'
import type { Rows, Way } from '../../src/crm/connector/row-host.ts'
import type { Guid } from '../../src/domain/guid.ts'
import { type Change, type Cursor, type ReadRequest, type ListSource, cursorOf, failed } from '../../src/sync/port.ts'

/** What the suite needs of a source. */
export type Examined = Pick<ListSource<unknown>, 'reportsChanges' | 'read'>

const WAYS = ['full', 'changes', 'ids'] as const
type SourceWay = (typeof WAYS)[number]

function isSourceWay(way: Way): way is SourceWay {
  return (WAYS as readonly Way[]).includes(way)
}

/**
 * The records of a built-in connector's list as rows, so that the suite which examines users' connectors examines it
 * too.
 *
 * @param scansIds whether a read that must confirm compares the ids of all rows
 */
export function examinedRows(source: Examined, scansIds = false): ExaminedRows {
  const ways = new Set<Way>(source.reportsChanges ? ['full', 'changes'] : ['full'])
  if (scansIds) ways.add('ids')
  const fields = { Id: columnSource('Id'), Price: columnSource('Price') }
  const versions = new Map<Guid, number>()
  let last: Cursor | null = null

  function requestOf(way: SourceWay, argument: unknown): Pick<ReadRequest, 'kind' | 'cursor' | 'mustConfirm'> {
    if (way === 'ids') return { kind: 'changes', cursor: last, mustConfirm: true }
    const cursor = way === 'changes' && typeof argument === 'string' ? cursorOf(argument) : null
    return { kind: cursor === null ? 'full' : 'changes', cursor }
  }

  async function* open(way: Way, argument: unknown, signal: AbortSignal): Rows {
    if (!isSourceWay(way)) return failed('internal', `there is no way ${way}`)
    const held = { size: versions.size, version: (id: Guid): number => versions.get(id) ?? Number.NaN }
    const pages = source.read({ ...requestOf(way, argument), held, served: null, signal })
    try {
      for (let next = await pages.next(); ; next = await pages.next()) {
        if (next.done === true) {
          if (!next.value.ok) return next.value
          last = next.value.cursor
          return { ok: true, cursor: last }
        }
        const { changes, sourceLagMs } = next.value
        for (const change of changes) if (change.kind === 'record') versions.set(change.id, change.version)
        const deleted = changes.flatMap((change) => (change.kind === 'deleted' ? [change.id] : []))
        const rows = changes.flatMap(way === 'ids' ? idOf : rowOf)
        yield { rows, deleted, total: null, lagMs: sourceLagMs, full: false, stable: 'order', goesOn: true }
      }
    } finally {
      await pages.return(failed('internal', 'given up'))
    }
  }
  return {
    shape: async () => ({ fields, active: null, showOnWeb: null, updatedAt: null, ways, repeats: 'later' }),
    open,
  }
}

function rowOf(change: Change<unknown>): readonly Buffer[] {
  if (change.kind === 'deleted') return []
  return [Buffer.from(JSON.stringify(change.kind === 'record' ? change.record : { Id: change.id }))]
}

function idOf(change: Change<unknown>): readonly Buffer[] {
  return change.kind === 'deleted' ? [] : [Buffer.from(JSON.stringify([change.id, null]))]
}
