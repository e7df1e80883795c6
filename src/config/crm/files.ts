import { EVENTS } from '../../domain/event.ts'
import { VENUES } from '../../domain/venue.ts'
import type { CrmTraits, General } from '../general.ts'
import { proxyUrl, duration, guid, jsonPath, path, timeZone, word, isName, textSchema, wholeNumber } from '../values.ts'
import {
  type Key,
  type Scalar,
  type ValueSchema,
  section,
  REFERENCE,
  orReference,
  scalarOf,
  wholeKey,
  ValueProblem,
  leaf,
} from '../key.ts'
import { fieldSources } from './field-sources.ts'
import { condition } from './condition.ts'
import {
  type FieldSources,
  type TextSettings,
  type FileName,
  type WebFile,
  fileNamed,
  isLowestPrice,
} from './sources.ts'
import type { RecordTable } from '../../domain/field.ts'
import { isPlain } from '../../domain/host.ts'
import { IN_THE_FILE, Secret } from '../../domain/secret.ts'
import type { Place } from '../config-problem.ts'
import type { MapTree, Tree } from '../tree.ts'
import { mappingOf } from './source-keys.ts'
import { TEXT_DEFAULTS, type SaidTexts, cellTextKeys, usualOr } from './written-texts.ts'
import { openDecoder } from '../../domain/encoding.ts'

const delimiter = leaf<string>("one of ',', ';', '|' and tab", { enum: [',', ';', '|', 'tab', '\t'] }, ({ value }) => {
  if (value === 'tab') return '\t'
  return typeof value === 'string' && [',', ';', '|', '\t'].includes(value) ? value : null
})

const encoding = leaf('an encoding such as utf-8, windows-1252 or utf-16le', { type: 'string' }, ({ value }) =>
  typeof value === 'string' ? (openDecoder(value)?.encoding ?? null) : null,
)

/** The keys of `texts`, for all files or for one list. */
function textKeys(fallback: string): Key<SaidTexts> {
  const or = usualOr(fallback)
  return section({
    delimiter: delimiter.override(or("`','`")).says('The separator of cells in a CSV file: `,`, `;`, `|` or `tab`.'),
    encoding: encoding.override(or('`utf-8`')).says('The encoding, as a label of the WHATWG Encoding standard.'),
    ...cellTextKeys(fallback),
    headerRow: wholeNumber(1, 1000)
      .override(or('`1`'))
      .says('The row with the column names; rows above it are skipped.'),
  })
}

/**
 * The place of a file on a web server; `null` if the file is elsewhere. The query may be a signature, which changes.
 */
function placeOf(from: FileName | WebFile | null | undefined): string | null {
  if (from === null || from === undefined || !('url' in from)) return null
  const { origin, pathname } = new URL(from.url.reveal())
  return `${origin}${pathname}`
}

const FILE =
  'the name or https URL of a .csv, .json, .ndjson or .xlsx file, or { file: NAME, sheet: NAME } of a workbook, or { url: URL, sheet: NAME, headers: { NAME: TEXT } }'

const LIST_FILE = textSchema(
  /^(?!\s*[Hh][Tt][Tt][Pp][Ss]?:)[^]*\.(?:[Cc][Ss][Vv]|[Tt][Ss][Vv]|[Tt][Xx][Tt]|(?:[Nn][Dd]|[Gg][Ee][Oo])?[Jj][Ss][Oo][Nn]|[Xx][Ll][Ss][Xx])$/,
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
const listFrom: Key<FileName | WebFile> = wholeKey(FILE, FROM, (node) => {
  const entries = node.kind === 'map' ? node.entries : null
  const url = scalarOf(entries === null ? node : entries.get('url'))
  if (url !== null && (entries !== null || /^\s*https?:/i.test(String(url.value)))) return webFile(url, entries)
  if (entries?.keys().some((key) => key !== 'file' && key !== 'sheet') === true) return null
  const file = scalarOf(entries === null ? node : entries.get('file'))?.value
  const sheet = sheetIn(entries)
  if (typeof file !== 'string' || !isName(file) || sheet === undefined) return null
  if (/\.xls$/i.test(file)) return new ValueProblem('names an old Excel workbook (.xls); save it as .xlsx or .csv')
  if (!/\.(?:csv|tsv|txt|json|geojson|ndjson|xlsx)$/i.test(file)) return null
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

const list = {
  from: listFrom
    .optional('`events` or `venues`, each as `.csv`, `.json`, `.ndjson` or `.xlsx`')
    .says(
      'The file, or the URL of one. If both lists name the same one, the venues are made of the events’ rows (docs/files-as-exported.md).',
    ),
  rows: jsonPath
    .optional('the file itself')
    .says('The path of the list in a `.json` file that is an object, such as `events` or `features`.'),
  active: condition('Which rows are active. By default those whose column `Active` is not no; null means all.'),
  texts: textKeys('`crm.texts`'),
}

const fieldsOf = (table: RecordTable): Key<FieldSources | undefined> =>
  fieldSources(table, { labels: false, hasStockFurther: true, joinsId: true }).override('the columns of the contract')

/** Refuses `rows` of a file that is not JSON. */
function withJsonRows<Block extends { readonly from: FileName | WebFile | null; readonly rows: string | null }>(
  block: Block,
  place: Place,
): Block {
  const { from, rows } = block
  if (rows !== null && from !== null && 'file' in from && !/\.(?:geo)?json$/i.test(from.file))
    place.in('rows', undefined).report(`names a list in JSON, but ${from.file} is not a .json file`)
  return block
}

/** Two lists in the files of a directory, or on web servers. */
export const files = section({
  kind: word('files'),
  directory: path('the directory that holds events and venues')
    .optional('required, unless both lists have a URL')
    .says(
      'The directory of `events` and `venues`, each as `.json`, `.ndjson` or `.csv`, or as `.xlsx` if the list has a block, or of the files that their `from` names.',
    ),
  timeZone: timeZone().optional('the `timeZone` above').says('The time zone of dates without an offset.'),
  idNamespace: guid()
    .optional()
    .says('For ids that are not GUIDs: they become UUIDv5 of this namespace and `<from>/<id>`.'),
  maxFileAge: duration({ leastMs: 1000 })
    .optional('no limit')
    .says(
      'The maximum age of a file, by its modification time or `Last-Modified`. The read of an older file fails, because its export has probably stopped.',
    ),
  requestTimeout: duration({ leastMs: 10 })
    .optional('a third of the maximum age, at most `10s`')
    .says('The time limit of a download by URL.'),
  proxy: proxyUrl()
    .optional('`HTTPS_PROXY` and `NO_PROXY`')
    .says('The forward proxy for URLs; `NO_PROXY` is then ignored.'),
  ca: path('the path of a PEM file').optional().says('Additional certificates to trust for URLs.'),
  texts: textKeys(''),
  events: section({
    ...list,
    showOnWeb: condition('Which events are shown. By default those whose column `ShowOnWeb` is yes; null means all.'),
    fields: fieldsOf(EVENTS),
  })
    .map(withJsonRows)
    .optional('columns with the contract’s names')
    .says('How the file of events is read; fields that are not listed stay blank.'),
  venues: section({ ...list, fields: fieldsOf(VENUES) })
    .map(withJsonRows)
    .optional('columns with the contract’s names')
    .says('How the file of venues is read; fields that are not listed stay blank.'),
})
  .says(
    'Two lists in files: a first try, nightly exports, spreadsheets (docs/files-as-exported.md, docs/files-by-url.md).',
  )
  .map(({ texts, ...block }) => (general: General) => {
    const { kind, directory, idNamespace } = block
    const zone = { timeZone: block.timeZone ?? general.timeZone }
    const lists = { events: listOf(block.events, texts), venues: listOf(block.venues, texts) }
    const traits: CrmTraits = {
      shaping() {
        const urls = [placeOf(block.events?.from), placeOf(block.venues?.from)].filter((place) => place !== null)
        return { kind, directory, idNamespace, ...lists, ...zone, ...(urls.length === 0 ? {} : { urls }) }
      },
      idNames: () => [fileNamed(block.events, 'events'), fileNamed(block.venues, 'venues')],
      isLowestPrice: () => isLowestPrice(block.events?.fields),
    }
    return { ...block, ...lists, ...traits, ...zone }
  })

/** Combines a list's own settings with those for all files. Null `texts`: the file is written for Marquee. */
function listOf<Block extends { readonly texts: SaidTexts }>(
  block: Block | null,
  all: SaidTexts,
): { readonly block: Block | null; readonly texts: TextSettings | null } {
  const isSaid = block !== null || Object.keys(all).length > 0
  return { block, texts: isSaid ? { ...TEXT_DEFAULTS, ...all, ...block?.texts } : null }
}
