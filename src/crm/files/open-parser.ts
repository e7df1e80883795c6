import { unreachable } from '../../domain/unreachable.ts'
import type { Held } from '../../replica/port.ts'
import { JsonArrayParser } from './json-array-parser.ts'
import { jsonLines } from './json-rows.ts'
import type { TextFormat } from './file-format.ts'
import type { IgnoredColumns, ListFile } from './list-file.ts'
import { NdjsonParser } from './ndjson-parser.ts'
import type { RowSink } from './read-batches.ts'
import type { RowParser } from './row-parser.ts'

export async function openParser<Item>(
  format: TextFormat,
  list: ListFile<Item>,
  sink: RowSink<Item>,
  columns: IgnoredColumns,
  held: Held,
): Promise<RowParser> {
  switch (format) {
    case 'json':
      return new JsonArrayParser(jsonLines(list, sink, columns, held))
    case 'ndjson':
      return new NdjsonParser(jsonLines(list, sink, columns, held))
    case 'csv': {
      // Loaded for whoever has such a file.
      const { CsvParser, csvRows } = await import('./csv-parser.ts')
      return new CsvParser(csvRows(list, sink, columns), list.texts)
    }
    default:
      return unreachable(format)
  }
}
