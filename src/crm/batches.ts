import type { Batch, Row } from './connector/marquee-connector.d.ts'

export function batchRows(batch: Batch): readonly Row[] {
  return 'rows' in batch ? batch.rows : batch
}

/** Changes each row, and keeps what else the batches say. */
export async function* mappedBatches(
  batches: AsyncIterable<Batch> | Iterable<Batch>,
  change: (row: Row) => Row,
): AsyncGenerator<Batch, void> {
  for await (const batch of batches) {
    const rows = batchRows(batch).map(change)
    yield 'rows' in batch ? { ...batch, rows } : rows
  }
}
