import type { Batch, Batches, Cells } from './connector/marquee-connector.d.ts'

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
