import { unreachable } from '../../domain/unreachable.ts'
import type { Held } from '../../replica/port.ts'
import { CsvParser, csvRows } from './csv-parser.ts'
import { JsonArrayParser } from './json-array-parser.ts'
import { jsonCell, jsonLines } from './json-rows.ts'
import type { IgnoredColumns, ListFile } from './list-file.ts'
import { NdjsonParser } from './ndjson-parser.ts'
import type { RowSink } from './read-batches.ts'
import type { RowParser } from './row-parser.ts'

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
  held: Held,
): RowParser {
  switch (format) {
    case 'json':
      return new JsonArrayParser(jsonLines(list.mapper(jsonCell, 'native'), sink, columns, held))
    case 'ndjson':
      return new NdjsonParser(jsonLines(list.mapper(jsonCell, 'native'), sink, columns, held))
    case 'csv':
      return new CsvParser(csvRows(list, sink, columns))
    default:
      return unreachable(format)
  }
}
