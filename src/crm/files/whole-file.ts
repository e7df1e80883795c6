// A file that is read once and as a whole, for `init --from`: by path or by URL, whatever the columns of its rows.

import { basename } from 'node:path'
import { isPlain } from '../../domain/host.ts'
import { IN_THE_FILE, Secret } from '../../domain/secret.ts'
import { type Failure, failureOf } from '../../sync/port.ts'
import { systemTime } from '../../time/time.ts'
import { Throttle } from '../kit/throttle.ts'
import { type OpenHttpClient, trustingHttpClient } from '../web/http-client.ts'
import { Download } from './download.ts'
import { PLENTY } from '../kit/crm-limits.ts'
import { FileBatch } from './batch.ts'
import { type FileFormat, DISGUISES, contentOf, formatOf } from './content.ts'
import type { RowCells } from './csv-parser.ts'
import { type CsvRow, CsvRows } from './csv-rows.ts'
import { openFile } from './found-file.ts'
import { JsonParser } from './json-parser.ts'
import type { TakeRow } from './row-parser.ts'

const TIMEOUT_MS = 30_000

/** Downloads a file once, as the files CRM would. */
export async function fetchWebFile(
  url: string,
  env: Readonly<Record<string, string | undefined>>,
  openHttpClient: OpenHttpClient,
): Promise<{ readonly name: string; readonly format: FileFormat; readonly bytes: Buffer } | Failure> {
  const parsed = URL.parse(url)
  if (parsed === null) return failureOf('misconfigured', 'this is not a URL')
  if (parsed.username !== '' || parsed.password !== '' || isPlain(parsed.origin)) {
    return failureOf('misconfigured', `the URL of ${parsed.host} must begin with https:, without a user`)
  }
  const web = trustingHttpClient(openHttpClient, null, { configured: null, env })
  try {
    const download = new Download({
      web,
      from: { url: new Secret(parsed.href, IN_THE_FILE), sheet: null, headers: {} },
      time: systemTime,
      limits: () => ({ requestTimeoutMs: TIMEOUT_MS, maxAgeMs: TIMEOUT_MS }),
      throttle: new Throttle(systemTime, 1),
    })
    const copy = await download.get(null, new AbortController().signal)
    if (!('version' in copy)) return copy
    const { format, bytes } = copy
    if (bytes === null) throw new Error('a new file has bytes')
    return { name: download.name, format, bytes }
  } finally {
    web.close()
  }
}

/** Returns the format of a file by its name and its bytes. If it is no list, says what it is: the end of a sentence. */
export function formatFound(path: string, bytes: Buffer): { readonly format: FileFormat } | string {
  const format = formatOf(path)
  const content = contentOf(bytes)
  // A workbook named .csv is read as a workbook, as it will be when serving.
  if (content === 'zip' && (format === 'csv' || format === 'xlsx')) return { format: 'xlsx' }
  const isText = content === 'text' || content === 'other'
  return !isText || format === null || format === 'xlsx' ? `is ${DISGUISES[content]}` : { format }
}

/** Passes on the rows of a CSV file. Returns why it cannot be read, as the end of a sentence; `null` if it was. */
export function readWholeCsv(texts: Iterable<string>, delimiter: string, add: (cells: CsvRow) => void): string | null {
  const rows = new CsvRows(delimiter, ({ cells }) => {
    add(cells)
    return null
  })
  let fault = null
  for (const text of texts) fault ??= rows.feed(text)
  fault ??= rows.finish()
  return fault === null ? null : `is not CSV: line ${fault.line}: ${fault.problem}`
}

/**
 * Returns a parser that passes on the objects of a JSON file, and skips those that are torn.
 * @param rows the path of the list; `null` if the file is the list
 */
export function wholeJsonParser(format: 'json' | 'ndjson', rows: string | null, take: TakeRow): JsonParser {
  return new JsonParser({ format, rows, onRow: take, onTorn: () => null })
}

const MOST_UNPACKED_BYTES = 1e9

/** The sheets of a workbook, and why a sheet cannot be read; `null` if it was. */
export interface SheetsFound {
  readonly sheets: readonly { readonly name: string; readonly isHidden: boolean }[]
  readonly problem: string | null
}

/** Passes on the rows of a sheet. @param sheet `null` for the first one */
export async function readWholeSheet(
  path: string,
  sizeBytes: number,
  sheet: string | null,
  add: (cells: RowCells, row: number) => void,
): Promise<SheetsFound> {
  const { readSheet } = await import('./workbook.ts')
  const file = openFile(path, PLENTY)
  let sheets: SheetsFound['sheets'] = []
  const take = (cells: RowCells, row: number): null => {
    add(cells, row)
    return null
  }
  try {
    const named = { name: basename(path), format: 'xlsx', sizeBytes, writtenAtMs: 0 } as const
    const pages = readSheet({
      file,
      limitBytes: MOST_UNPACKED_BYTES,
      sheet,
      linkColumns: [],
      isComma: false,
      headerRow: null,
      rows: new FileBatch<never>(named),
      onSheets: (all) => void (sheets = all),
      onHeader(cells, row) {
        add(cells, row)
        return take
      },
      isGivenUp: () => false,
      rest: () => null,
    })
    for (;;) {
      const next = await pages.next()
      if (next.done === true) return { sheets, problem: next.value?.problem ?? null }
    }
  } finally {
    file.close()
  }
}
