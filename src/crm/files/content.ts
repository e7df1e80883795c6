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

/** Names each kind of file under a wrong name, and the remedy: the end of a sentence that begins with `this is`. */
export const DISGUISES: Readonly<Record<Content, string>> = {
  zip: 'an Excel or OpenDocument workbook (.xlsx, .ods) despite its name; name it .xlsx, also in from of its list, or save it as CSV UTF-8, separated by commas',
  ole: 'an old Excel workbook (.xls), or one with a password; save it as .xlsx without a password',
  gzip: 'a compressed file (gzip) despite its name; unpack it',
  page: 'a web page (HTML) despite its name; open it in Excel and save it as .xlsx',
  xml: 'XML, as Excel wrote it in 2003; open it in Excel and save it as .xlsx',
  text: 'text despite its name; name it .csv',
  other: 'not an Excel workbook (.xlsx) despite its name',
}

/** Returns the kind of UTF-16 that a byte order mark declares; `null` if there is none. */
export function utf16Of(bytes: Buffer): 'utf-16le' | 'utf-16be' | null {
  const mark = bytes.toString('hex', 0, 2)
  return mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : null
}

/** Returns a sentence about a file that is not the text its name says; `null` if it may be one. */
export function disguiseOf(bytes: Buffer): string | null {
  const content = contentOf(bytes)
  return content === 'text' || content === 'other' || content === 'page' ? null : `this is ${DISGUISES[content]}`
}

export const FILE_FORMATS = ['json', 'ndjson', 'csv', 'xlsx'] as const

export type FileFormat = (typeof FILE_FORMATS)[number]

/** Returns the format of a file by its name, in upper or lower case; `null` if it is unknown. */
export function formatOf(file: string): FileFormat | null {
  const ending = /\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase()
  if (ending === 'tsv' || ending === 'txt') return 'csv'
  if (ending === 'geojson') return 'json'
  return FILE_FORMATS.find((format) => format === ending) ?? null
}

/** The contents of an empty list in each format, for messages about files of zero bytes. */
export const EMPTY_LISTS: Readonly<Record<FileFormat, string>> = {
  json: '[]',
  ndjson: 'one blank line',
  csv: 'a header row alone',
  xlsx: 'a header row alone',
}
