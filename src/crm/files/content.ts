import type { FileFormat } from './file-format.ts'
import type { OpenFile } from './found-file.ts'

/** What the first bytes of a file say that it is, whatever it is called. */
type Content = 'zip' | 'ole' | 'page' | 'xml' | 'text' | 'other'

/** As many of them as tell. */
export const HEAD_BYTES = 512

export function contentOf(bytes: Buffer): Content {
  const mark = bytes.toString('hex', 0, 4)
  if (mark === '504b0304') return 'zip'
  if (mark === 'd0cf11e0') return 'ole'
  const head = bytes.subarray(0, HEAD_BYTES)
  const text = head.toString(mark.startsWith('fffe') ? 'utf16le' : 'utf8').replace(/^\ufeff?\s*/, '')
  if (/^<(?:!doctype html|html|head|meta|style|body|table|div)\b|^<\?xml[^]*<html\b/i.test(text)) return 'page'
  if (/^<(?:\?xml|workbook)\b/i.test(text)) return 'xml'
  return /\p{Cc}/u.test(text.replaceAll(/\s/g, '')) ? 'other' : 'text'
}

/** What is no workbook, and what to do with it: the rest of a sentence that begins with `this is`. */
export const OTHER_THAN_WORKBOOKS: Readonly<Record<Content, string>> = {
  zip: 'a ZIP file, as an Excel workbook is; name it .xlsx',
  ole: 'an old Excel workbook (.xls), or one with a password; save it as .xlsx without a password',
  page: 'a web page (HTML), whatever it is called; open it in Excel and save it as .xlsx',
  xml: 'XML, as Excel wrote it in 2003; open it in Excel and save it as .xlsx',
  text: 'text, whatever it is called; name it .csv',
  other: 'not an Excel workbook (.xlsx), whatever it is called',
}

/** What a file is that should be text, where it is a workbook; null where it may be text. */
export function disguiseOf(bytes: Buffer): string | null {
  const content = contentOf(bytes)
  if (content === 'ole')
    return 'this is an old Excel workbook (.xls), whatever it is called; save it as .xlsx or as CSV UTF-8'
  if (content !== 'zip') return null
  const fact = 'this is an Excel or OpenDocument workbook (.xlsx, .ods; its first bytes are PK), whatever it is called'
  return `${fact}; name it .xlsx and have from of its list name it, or save it as CSV UTF-8, separated by commas`
}

/** The format of a file of a list that is mapped: an Excel workbook may only be called .csv. */
export async function formatIn(file: Pick<OpenFile, 'read'>, named: FileFormat): Promise<FileFormat> {
  if (named !== 'csv') return named
  const head = Buffer.alloc(4)
  await file.read(head, 0, head.length, 0)
  return contentOf(head) === 'zip' ? 'xlsx' : named
}
