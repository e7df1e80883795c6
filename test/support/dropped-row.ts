import { type ReadRequest, type ListSource, failed } from '../../src/sync/port.ts'
import type { Examined } from './examined-source.ts'

/** A source some of whose reads lack their first row. */
export function droppingFirstRow(
  source: Examined,
  isFaulty: (request: ReadRequest, reads: number) => boolean,
): Examined {
  let reads = 0
  async function* read(request: ReadRequest): ReturnType<ListSource<unknown>['read']> {
    let isDue = isFaulty(request, ++reads)
    const pages = source.read(request)
    try {
      for (let next = await pages.next(); ; next = await pages.next()) {
        if (next.done === true) return next.value
        const { changes } = next.value
        yield isDue ? { ...next.value, changes: changes.slice(1) } : next.value
        if (changes.length > 0) isDue = false
      }
    } finally {
      await pages.return(failed('internal', 'given up'))
    }
  }
  return { reportsChanges: source.reportsChanges, read }
}
