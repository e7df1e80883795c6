import type { Paced } from '../load/paced-load.ts'
import { show } from './figure.ts'
import { table } from './table.ts'

/** The result of a steady load, after the cells that describe the load. */
export interface LatencyRow {
  readonly cells: readonly string[]
  readonly paced: Paced
}

/** A table of steady loads; `head` names the cells that describe a load. */
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
