import type { CellObject } from './cells/cell.ts'
import type { Batch, Batches, Cells, Row } from './connector/marquee-connector.d.ts'

export function batchRows<Item>(batch: readonly Item[] | Batch<Item>): readonly Item[] {
  return 'rows' in batch ? batch.rows : batch
}

/** Changes each row, and keeps what else the batches say. */
export async function* mappedBatches<Item>(
  batches: Batches<Cells> | Iterable<readonly Cells[] | Batch<Cells>>,
  change: (row: Cells) => Item,
): Batches<Item> {
  for await (const batch of batches) {
    const rows = batchRows(batch).map(change)
    yield 'rows' in batch ? { ...batch, rows } : rows
  }
}

/** A row of a connector that `givesCells`: its values may be the cell objects of cells/cell.ts. */
export function rowOfCells(cells: CellObject): Row {
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- the reader takes such rows as they are
  return cells as Row
}
