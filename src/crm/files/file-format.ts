export const FILE_FORMATS = ['json', 'ndjson', 'csv', 'xlsx'] as const

export type FileFormat = (typeof FILE_FORMATS)[number]

/** Returns the format of a file by its name, in upper or lower case; `null` if it is unknown. */
export function formatOf(file: string): FileFormat | null {
  const ending = /\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase()
  if (ending === 'tsv' || ending === 'txt') return 'csv'
  return FILE_FORMATS.find((format) => format === ending) ?? null
}

/** The contents of an empty list in each format, for messages about files of zero bytes. */
export const EMPTY_LISTS: Readonly<Record<FileFormat, string>> = {
  json: '[]',
  ndjson: 'one blank line',
  csv: 'a header row alone',
  xlsx: 'a header row alone',
}
