import { createHash } from 'node:crypto'
import { type Failure, failureOf } from '../../sync/port.ts'
import { inSlices } from '../../time/waiting.ts'
import { OTHER_THAN_WORKBOOKS, contentOf, disguiseOf } from './content.ts'
import { type FileFormat, EMPTY_LISTS, formatOf } from './file-format.ts'

/** What to do about a page that is not the file, or a refusal. */
export const PUBLISH = 'publish the sheet (File, Share, Publish to web), or send a key in headers'

/** The formats of content types. `application/vnd.ms-excel` says nothing: many servers send CSV under that name. */
const FORMATS: ReadonlyMap<string, FileFormat> = new Map([
  ['text/csv', 'csv'],
  ['application/csv', 'csv'],
  ['text/tab-separated-values', 'csv'],
  ['application/json', 'json'],
  ['text/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
  ['application/x-jsonlines', 'ndjson'],
])

/**
 * Returns the format of a downloaded file: by its first bytes, then by its content type, then by the name in the URL;
 * otherwise it is CSV. Returns a failure if it is no list.
 */
export function formatOfWeb(
  bytes: Buffer,
  { contentType, pathname, name }: { readonly contentType: string; readonly pathname: string; readonly name: string },
): FileFormat | Failure {
  const byName = formatOf(pathname)
  const type = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase()
  const byType = FORMATS.get(type) ?? (type.endsWith('+json') ? 'json' : null)
  const format = byType ?? (byName === 'xlsx' ? null : byName) ?? 'csv'
  if (bytes.length === 0) return failureOf('broken', `${name} has zero bytes; an empty list is ${EMPTY_LISTS[format]}`)
  const content = contentOf(bytes)
  if (content === 'zip') return 'xlsx'
  if (content === 'page') return failureOf('refused', `${name} is a web page (HTML), not a file: ${PUBLISH}`)
  const other = content === 'xml' ? `this is ${OTHER_THAN_WORKBOOKS.xml}` : disguiseOf(bytes)
  return other === null ? format : failureOf('broken', `${name}: ${other}`)
}

const SLICE_BYTES = 1024 * 1024

/** Computes the SHA-256 of a file, with pauses for requests. */
export async function digestOfWeb(bytes: Buffer): Promise<string> {
  const hash = createHash('sha256')
  const rest = inSlices()
  for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
    hash.update(bytes.subarray(from, from + SLICE_BYTES))
    await rest()
  }
  return hash.digest('hex')
}
