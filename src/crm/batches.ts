import type { Batch, Row } from './connector/marquee-connector.d.ts'

export function batchRows<Item>(batch: Batch<Item>): readonly Item[] {
  return 'rows' in batch ? batch.rows : batch
}

/** Changes each row, and keeps what else the batches say. */
export async function* mappedBatches<Item>(
  batches: AsyncIterable<Batch> | Iterable<Batch>,
  change: (row: Row) => Item,
): AsyncGenerator<Batch<Item>, void> {
  for await (const batch of batches) {
    const rows = batchRows(batch).map(change)
    yield 'rows' in batch ? { ...batch, rows } : rows
  }
}
