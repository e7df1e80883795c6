/** The kind of a file according to its first bytes, whatever its name. */
type Content = 'zip' | 'ole' | 'gzip' | 'page' | 'xml' | 'text' | 'other'

export const HEAD_BYTES = 512

/** Login pages often begin with a comment or a script. */
const PAGE =
  /^<(?:!--|(?:!doctype html|html|head|meta|title|link|base|script|style|body|table|div|form|p|h1)\b)|^<\?xml[^]*<html\b/i

export function contentOf(bytes: Buffer): Content {
  const mark = bytes.toString('hex', 0, 4)
  if (mark === '504b0304') return 'zip'
  if (mark === 'd0cf11e0') return 'ole'
  if (mark.startsWith('1f8b')) return 'gzip'
  const head = bytes.subarray(0, HEAD_BYTES)
  const text = head.toString(mark.startsWith('fffe') ? 'utf16le' : 'utf8').replace(/^\ufeff?\s*/, '')
  if (PAGE.test(text)) return 'page'
  if (/^<(?:\?xml|workbook)\b/i.test(text)) return 'xml'
  return /\p{Cc}/u.test(text.replaceAll(/\s/g, '')) ? 'other' : 'text'
}

/** Names each kind of file other than a workbook, and the remedy: the end of a sentence that begins with `this is`. */
export const OTHER_THAN_WORKBOOKS: Readonly<Record<Content, string>> = {
  zip: 'a ZIP file, as an Excel workbook is; name it .xlsx',
  ole: 'an old Excel workbook (.xls), or one with a password; save it as .xlsx without a password',
  gzip: 'a compressed file (gzip) despite its name; unpack it',
  page: 'a web page (HTML) despite its name; open it in Excel and save it as .xlsx',
  xml: 'XML, as Excel wrote it in 2003; open it in Excel and save it as .xlsx',
  text: 'text despite its name; name it .csv',
  other: 'not an Excel workbook (.xlsx) despite its name',
}

/**
 * Returns the kind of UTF-16, by a byte order mark or by the zero bytes of ASCII letters; `null` if it is not UTF-16.
 */
export function utf16Of(bytes: Buffer): 'utf-16le' | 'utf-16be' | null {
  const mark = bytes.toString('hex', 0, 2)
  if (mark === 'fffe') return 'utf-16le'
  if (mark === 'feff') return 'utf-16be'
  const zeros = [0, 0]
  const length = Math.min(bytes.length, HEAD_BYTES) & ~1
  for (let at = 0; at < length; at++) if (bytes[at] === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
  const [high = 0, low = 0] = zeros
  // Column names and separators are mostly ASCII, whatever the rows contain.
  const some = length / 8
  return low > some && high === 0 ? 'utf-16le' : high > some && low === 0 ? 'utf-16be' : null
}

export function disguiseOf(bytes: Buffer): string | null {
  const content = contentOf(bytes)
  if (content === 'gzip') return `this is ${OTHER_THAN_WORKBOOKS.gzip}`
  if (content === 'ole')
    return 'this is an old Excel workbook (.xls) despite its name; save it as .xlsx or as CSV UTF-8'
  if (content !== 'zip') return null
  const fact = 'this is an Excel or OpenDocument workbook (.xlsx, .ods; its first bytes are PK) despite its name'
  return `${fact}; name it .xlsx and set from of its list to the new name, or save it as CSV UTF-8, separated by commas`
}

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
