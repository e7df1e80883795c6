export const FILE_FORMATS = ['json', 'ndjson', 'csv', 'xlsx'] as const

export type FileFormat = (typeof FILE_FORMATS)[number]

/** The format that the name of a file says, in any case; null for any other. */
export function formatOf(file: string): FileFormat | null {
  const ending = /\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase()
  if (ending === 'tsv' || ending === 'txt') return 'csv'
  return FILE_FORMATS.find((format) => format === ending) ?? null
}

/** What an empty list looks like, for whoever wrote a file of zero bytes instead. */
export const EMPTY_LISTS: Readonly<Record<FileFormat, string>> = {
  json: '[]',
  ndjson: 'one blank line',
  csv: 'a header row alone',
  xlsx: 'a header row alone',
}
