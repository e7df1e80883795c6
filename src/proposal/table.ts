import type { Buffer } from 'node:buffer'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { formatFound } from '../crm/files/whole-file.ts'
import { openDecoder } from '../domain/encoding.ts'
import { codeOf } from '../domain/system-error.ts'
import { type Encoding, encodingOf, USUAL, UTF_8 } from './encodings.ts'
import { type TableContent, csvTable, jsonTable, sheetTable, wrappedTables } from './read-rows.ts'

/** A table of a file: its columns, and how it has to be read. */
export interface Table extends TableContent {
  /** The file's path; for a file on a web server, its URL. */
  readonly path: string
  readonly file: string
  readonly isOnWeb: boolean
  /** What the file is, whatever its name. */
  readonly format: 'csv' | 'json' | 'ndjson' | 'xlsx'
  /** The name of the sheet; `null` if it is the first of its workbook, or no workbook. */
  readonly sheet: string | null
  /** The path of the list in a JSON file; `null` if the file is the list. */
  readonly listPath: string | null
  /** The file, and the name of the sheet, or the path, if the file has several lists. */
  readonly title: string
  /** Its sheet or path if the file has several, else the file. */
  readonly called: string
  readonly encoding: Encoding
  readonly delimiter: string | null
}

const MOST_MB = 256

/**
 * Examines a file, or explains why that is impossible, as the rest of a sentence that begins with its name. A workbook
 * has a table for each visible sheet.
 * @param file its name in messages
 */
export async function lookAt(path: string, file = basename(path)): Promise<readonly Table[] | string> {
  const [, whole, part = null] = (existsSync(path) ? null : /^(.+\.\w+)#(.+)$/.exec(path)) ?? []
  return whole === undefined ? lookAtPart(path, file, null) : lookAtPart(whole, basename(whole), part)
}

/** @param part the sheet or the path of the list that is meant; `null` for all of them */
async function lookAtPart(path: string, file: string, part: string | null): Promise<readonly Table[] | string> {
  if (!/\.(?:csv|tsv|txt|json|geojson|ndjson|xlsx?)$/i.test(path)) return 'is not a .csv, .json, .ndjson or .xlsx file'
  const bytes = await bytesOf(path)
  if (typeof bytes === 'string') return bytes
  if (bytes.length === 0) return 'has zero bytes'
  const found = formatFound(path, bytes)
  if (typeof found === 'string') return found
  const { format } = found
  const about = {
    path,
    file,
    isOnWeb: false,
    sheet: null,
    listPath: null,
    title: file,
    called: file,
    format,
    delimiter: null,
  }
  if (format === 'xlsx') return sheetTables({ ...about, encoding: UTF_8 }, bytes.length, part)
  const encoding = encodingOf(bytes)
  const decoder = openDecoder(encoding.sure ?? USUAL, false)
  if (decoder === null) throw new Error('a usual encoding is not supported')
  if (format === 'json' && /^\s*\{/.test(decoder.decode(bytes.subarray(0, HEAD_BYTES)))) {
    return wrapped({ ...about, encoding }, wrappedTables(bytes, decoder), part)
  }
  if (format !== 'csv') {
    const rows = jsonTable(bytes, decoder, format, null)
    return typeof rows === 'string' ? rows : [{ ...about, encoding, ...rows }]
  }
  const isWide = encoding.sure?.startsWith('utf-16') === true
  if (!isWide && bytes.includes(0)) {
    return 'contains U+0000, which no text does; most likely it is incomplete, or not a list'
  }
  const head = decoder.decode(bytes.subarray(0, HEAD_BYTES))
  const line = /^"?sep=([,;\t|])"?[ \t]*\r?\n/i.exec(head)
  const delimiter = line?.[1] ?? delimiterOf(head)
  const rows = csvTable(bytes, decoder, delimiter, line !== null)
  return typeof rows === 'string' ? rows : [{ ...about, encoding, delimiter, ...rows }]
}

function wrapped(
  about: About,
  found: ReturnType<typeof wrappedTables>,
  part: string | null,
): readonly Table[] | string {
  if (found.size === 0) return 'has neither a list in [ ] nor an object with lists of objects'
  const meant = [...found].filter(([listPath]) => part === null || part === listPath)
  if (meant.length === 0) return `has no list ${part}; it has ${[...found.keys()].join(', ')}`
  return meant.map(([listPath, content]) => {
    const isOnly = found.size === 1
    const title = isOnly ? about.file : `${about.file}, list ${JSON.stringify(listPath)}`
    return { ...about, listPath, title, called: isOnly ? about.file : listPath, ...content }
  })
}

/** Reads all bytes of a regular file, or explains why not. Opening a pipe or device could block forever. */
async function bytesOf(path: string): Promise<Buffer | string> {
  try {
    const found = await stat(path)
    if (!found.isFile()) return found.isDirectory() ? 'is a directory; name a file in it' : 'is not a regular file'
    if (found.size > MOST_MB * 1024 * 1024) {
      return `is ${Math.ceil(found.size / 1024 / 1024).toLocaleString('en')} MB, and files of at most ${MOST_MB} MB can be examined; try a part of it`
    }
    return await readFile(path)
  } catch (cause) {
    const code = codeOf(cause)
    return code === 'ENOENT' ? 'does not exist' : `cannot be read (${code ?? 'unknown reason'})`
  }
}

/** The number of bytes examined to find the separator. */
const HEAD_BYTES = 256 * 1024
const SOME_LINES = 50

/** Finds the separator that splits the most lines into the same number of cells, at least two. */
function delimiterOf(head: string): string {
  const text = head.split('\n', SOME_LINES).join('\n')
  let best = ','
  let bestScore = 0
  for (const delimiter of [',', ';', '\t', '|']) {
    const widths = new Map<number, number>()
    for (const line of text.split(/\r?\n|\r/)) {
      const width = line.replaceAll(/"(?:[^"]|"")*"/g, '').split(delimiter).length
      if (width > 1) widths.set(width, (widths.get(width) ?? 0) + 1)
    }
    const score = Math.max(0, ...[...widths].map(([width, count]) => count * 100 + width))
    if (score > bestScore) {
      best = delimiter
      bestScore = score
    }
  }
  return best
}

const SOME_SHEETS = 20

type About = Omit<Table, keyof TableContent>

/** Reads the visible sheets; if all are hidden, the first one, which would be served. */
async function sheetTables(about: About, sizeBytes: number, part: string | null): Promise<readonly Table[] | string> {
  const first = await sheetTable(about.path, sizeBytes, null)
  if (first.sheets.length === 0) return `cannot be read: ${first.problem ?? 'it has no sheet'}`
  const shown = first.sheets
    .filter(({ name, isHidden }) => (part === null ? !isHidden : name === part))
    .slice(0, SOME_SHEETS)
  if (part !== null && shown.length === 0) {
    return `has no sheet ${JSON.stringify(part)}; it has ${first.sheets.map(({ name }) => JSON.stringify(name)).join(', ')}`
  }
  const tables: Table[] = []
  let { problem } = first
  for (const { name } of shown.length === 0 ? first.sheets.slice(0, 1) : shown) {
    const isFirst = name === first.sheets[0]?.name
    const found = isFirst ? first : await sheetTable(about.path, sizeBytes, name)
    problem ??= found.problem
    if (found.problem !== null) continue
    const isOneOfSeveral = shown.length > 1 || part !== null
    const title = isOneOfSeveral ? `${about.file}, sheet ${JSON.stringify(name)}` : about.file
    const called = isOneOfSeveral ? name : about.file
    tables.push({ ...about, sheet: isFirst && part === null ? null : name, title, called, ...found.table })
  }
  return tables.length > 0 ? tables : `cannot be read: ${problem ?? 'it is empty'}`
}
