import { isPlain } from '../../domain/host.ts'
import {
  type Key,
  type Scalar,
  type ValueSchema,
  REFERENCE,
  orReference,
  scalarOf,
  wholeKey,
  ValueProblem,
} from '../key.ts'
import { IN_THE_FILE, Secret } from '../../domain/secret.ts'
import type { MapTree, Tree } from '../tree.ts'
import { isName, textSchema } from '../values.ts'
import { mappingOf } from './source-schemas.ts'
import type { FileName, WebFile } from './sources.ts'

/**
 * The place of a file on a web server; `null` if the file is elsewhere. The query may be a signature, which changes.
 */
export function placeOf(from: FileName | WebFile | null | undefined): string | null {
  if (from === null || from === undefined || !('url' in from)) return null
  const { origin, pathname } = new URL(from.url.reveal())
  return `${origin}${pathname}`
}

const FILE =
  'the name or https URL of a .csv, .json, .ndjson or .xlsx file, or { file: NAME, sheet: NAME } of a workbook, or { url: URL, sheet: NAME, headers: { NAME: TEXT } }'

const LIST_FILE = textSchema(
  /^(?!\s*[Hh][Tt][Tt][Pp][Ss]?:)[^]*\.(?:[Cc][Ss][Vv]|[Tt][Ss][Vv]|[Tt][Xx][Tt]|(?:[Nn][Dd])?[Jj][Ss][Oo][Nn]|[Xx][Ll][Ss][Xx])$/,
)
const WEB_URL = textSchema(
  /^\s*[Hh][Tt][Tt][Pp](?:[Ss]:\/\/|:\/\/(?=[Ll][Oo][Cc][Aa][Ll][Hh][Oo][Ss][Tt]|127\.|\[::1\]))[^@/?#\s]+(?:[/?#].*)?\s*$/,
)
const SHEET = orReference({ type: ['string', 'number', 'boolean'] })

const FROM: ValueSchema = {
  anyOf: [
    LIST_FILE,
    WEB_URL,
    mappingOf({ file: orReference(LIST_FILE), sheet: SHEET }, ['file']),
    mappingOf(
      {
        url: orReference(WEB_URL),
        sheet: SHEET,
        headers: { type: 'object', additionalProperties: orReference({ type: 'string' }) },
      },
      ['url'],
    ),
    REFERENCE,
  ],
}

/** Where a list is read from. */
export const listFrom: Key<FileName | WebFile> = wholeKey(FILE, FROM, (node) => {
  const entries = node.kind === 'map' ? node.entries : null
  const url = scalarOf(entries === null ? node : entries.get('url'))
  if (url !== null && (entries !== null || /^\s*https?:/i.test(String(url.value)))) return webFile(url, entries)
  if (entries?.keys().some((key) => key !== 'file' && key !== 'sheet') === true) return null
  const file = scalarOf(entries === null ? node : entries.get('file'))?.value
  const sheet = sheetIn(entries)
  if (typeof file !== 'string' || !isName(file) || sheet === undefined) return null
  if (/\.xls$/i.test(file)) return new ValueProblem('names an old Excel workbook (.xls); save it as .xlsx or .csv')
  if (!/\.(?:csv|tsv|txt|json|ndjson|xlsx)$/i.test(file)) return null
  if (sheet !== null && /json$/i.test(file)) return new ValueProblem('names a sheet, but the file is not a workbook')
  return { file, sheet }
})

function sheetIn(entries: MapTree['entries'] | null): string | null | undefined {
  if (entries?.has('sheet') !== true) return null
  const sheet = scalarOf(entries.get('sheet'))?.value
  return sheet === undefined ? undefined : String(sheet)
}

const WEB = 'a URL such as https://example.org/events.csv, or { url: URL, sheet: NAME, headers: { NAME: VALUE } }'

/** Reports a problem without the value, because the query of a URL may be a secret. */
function hiddenProblem(message: string): ValueProblem {
  return new ValueProblem(message, true)
}

function webFile({ value, reference }: Scalar, entries: MapTree['entries'] | null): WebFile | ValueProblem {
  const unknown = entries?.keys().find((key) => key !== 'url' && key !== 'sheet' && key !== 'headers')
  const sheet = sheetIn(entries)
  const url = typeof value === 'string' && /^\s*https?:\/\//i.test(value) ? URL.parse(value.trim()) : null
  if (unknown !== undefined || url === null || sheet === undefined) return hiddenProblem(`must be ${WEB}`)
  if (url.username !== '' || url.password !== '')
    return hiddenProblem('must be a URL without a user; name it in headers')
  if (isPlain(url.origin)) return hiddenProblem('must begin with https:; http: is only allowed to this machine')
  const headers = headersIn(entries?.get('headers'))
  if (headers instanceof ValueProblem) return headers
  // Only browsers use a fragment.
  url.hash = ''
  return { url: new Secret(url.href, reference ?? IN_THE_FILE), sheet, headers }
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/
const HEADER_VALUE = /^[\u0020-\u007e\u00a0-\u00ff]{1,8192}$/
const SECRET_HEADER = /authorization|cookie|key|token|secret|password/
/** Headers that operators may not set: they belong to the connection, or Marquee sets them itself. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
  'if-none-match',
  'if-modified-since',
  'range',
])

function headersIn(node: Tree | undefined): WebFile['headers'] | ValueProblem {
  if (node === undefined) return {}
  if (node.kind !== 'map') return hiddenProblem('must have headers as a mapping of names to texts')
  const headers: Record<string, Secret> = {}
  for (const [written, inner] of node.entries) {
    const name = written.toLowerCase()
    const scalar = scalarOf(inner)
    const text = typeof scalar?.value === 'string' ? scalar.value : ''
    if (scalar === null || !HEADER_NAME.test(name) || !HEADER_VALUE.test(text) || OWN_HEADERS.has(name)) {
      return hiddenProblem('has a header that cannot be sent; headers are texts by name, and Marquee sets its own')
    }
    if (scalar.reference === null && SECRET_HEADER.test(name)) {
      return hiddenProblem(`must not contain the header ${name} in the file; give { env: NAME } or { file: PATH }`)
    }
    headers[name] = new Secret(text, scalar.reference ?? IN_THE_FILE)
  }
  return headers
}
