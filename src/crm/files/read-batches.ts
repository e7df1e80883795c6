import type { Batch, Gathering } from './batch.ts'
import type { OpenFile } from './open-file.ts'
import type { RowParser, SyntaxFault } from './row-parser.ts'
import { Pace } from './pace.ts'
import { Utf8Gate } from './utf8-gate.ts'

/** The port's limit of a page. */
const MOST_ROWS = 1000
const CHUNK_BYTES = 64 * 1024
/** Some rows: how often the pace is looked at. */
const SLICE_BYTES = 4 * 1024

const NOT_UTF8 = 'the bytes are no UTF-8; save the file as UTF-8 (it may be Windows-1252 or UTF-16)'

/** Reads a file from its start and gives its rows in batches; between two of them requests pass. */
export async function* readBatches<Item>(
  file: Pick<OpenFile, 'read'>,
  parser: RowParser,
  rows: Gathering<Item>,
  isGivenUp: () => boolean,
): AsyncGenerator<Batch<Item>, SyntaxFault | null, void> {
  const gate = new Utf8Gate()
  const pace = new Pace()
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  for (let position = 0; !isGivenUp();) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position)
    if (bytesRead === 0) break
    position += bytesRead
    const { bytes, broken } = gate.pass(chunk.subarray(0, bytesRead))
    for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
      const fed = parser.feed(bytes.subarray(from, from + SLICE_BYTES))
      const fault = fed instanceof Promise ? await fed : fed
      if (fault !== null) return fault
      if (!pace.isOver) continue
      yield* rows.take(MOST_ROWS)
      await pace.rest()
    }
    if (broken) return { line: gate.line, problem: NOT_UTF8 }
  }
  if (gate.finish()) return { line: gate.line, problem: NOT_UTF8 }
  const fault = await parser.finish()
  if (fault === null) yield* rows.take(MOST_ROWS)
  return fault
}
