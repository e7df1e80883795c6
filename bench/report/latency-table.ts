import type { Paced } from '../load/paced-load.ts'
import { show } from './figure.ts'
import { table } from './table.ts'

/** What became of one steady load, behind the cells that tell which load it was. */
export interface LatencyRow {
  readonly cells: readonly string[]
  readonly paced: Paced
}

/** A table of steady loads; `head` names the cells that tell one from the other. */
export function latencyTable(head: readonly string[], rows: readonly LatencyRow[]): string {
  return table(
    [...head, 'p50 ms', 'p99 ms', 'p99.9 ms', 'worst ms', 'errors', 'client late ms'],
    rows.map(({ cells, paced }) => [
      ...cells,
      ...[paced.p50Ms, paced.p99Ms, paced.p999Ms, paced.worstMs].map(show),
      String(paced.errors),
      show(paced.clientLateMs),
    ]),
  )
}
