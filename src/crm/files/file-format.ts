import { unreachable } from '../../domain/unreachable.ts'
import { CsvParser } from './csv-parser.ts'
import { csvRows } from './csv-rows.ts'
import type { IgnoredColumns } from './ignored-columns.ts'
import { JsonArrayParser } from './json-array-parser.ts'
import { jsonCell, jsonLines } from './json-rows.ts'
import type { KnownLines } from './known-lines.ts'
import type { ListFile } from './list-file.ts'
import { NdjsonParser } from './ndjson-parser.ts'
import type { RowParser } from './row-parser.ts'
import type { RowSink } from './row-sink.ts'

export const FILE_FORMATS = ['json', 'ndjson', 'csv'] as const

export type FileFormat = (typeof FILE_FORMATS)[number]

/** What an empty list looks like, for whoever wrote a file of zero bytes instead. */
export const EMPTY_LISTS: Readonly<Record<FileFormat, string>> = {
  json: '[]',
  ndjson: 'one blank line',
  csv: 'a header row alone',
}

/** Where a row stands, for a person: items of a list are counted from 1, as lines are. */
export function placeOf(format: FileFormat, file: string, index: number, line: number): string {
  return format === 'json' ? `${file}, item ${index + 1} (line ${line})` : `${file}, line ${line}`
}

export function openParser<Item>(
  format: FileFormat,
  list: ListFile<Item>,
  sink: RowSink<Item>,
  columns: IgnoredColumns,
  known: KnownLines,
): RowParser {
  switch (format) {
    case 'json':
      return new JsonArrayParser(jsonLines(list.mapper(jsonCell, 'native'), sink, columns, known))
    case 'ndjson':
      return new NdjsonParser(jsonLines(list.mapper(jsonCell, 'native'), sink, columns, known))
    case 'csv':
      return new CsvParser(csvRows(list, sink, columns))
    default:
      return unreachable(format)
  }
}
