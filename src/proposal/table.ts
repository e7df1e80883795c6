import { Buffer, isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { formatFound } from '../crm/files/whole-file.ts'
import { openDecoder } from '../domain/encoding.ts'
import { codeOf } from '../domain/system-error.ts'
import { type TableContent, csvTable, jsonTable, sheetTable } from './read-rows.ts'

/** A table of a file: its columns, and how it has to be read. */
export interface Table extends TableContent {
  /** The file's path; for a file on a web server, its URL. */
  readonly path: string
  readonly file: string
  readonly isOnWeb: boolean
  readonly isWorkbook: boolean
  /** The name of the sheet; `null` if it is the first of its workbook, or no workbook. */
  readonly sheet: string | null
  /** The file, and the name of the sheet if its workbook has several. */
  readonly title: string
  /** Whether values have types, as in JSON. */
  readonly isTyped: boolean
  readonly encoding: Encoding
  readonly delimiter: string | null
}

const MOST_MB = 256

/** The tables of a file; for a workbook, those of visible sheets, and the names of hidden ones. */
export interface FileTables {
  readonly tables: readonly Table[]
  readonly hidden: readonly string[]
}

/**
 * Examines a file, or explains why that is impossible, as the rest of a sentence that begins with its name.
 * @param file its name in messages
 */
export async function lookAt(path: string, file = basename(path)): Promise<FileTables | string> {
  if (!/\.(?:csv|tsv|txt|json|ndjson|xlsx?)$/i.test(path)) return 'is not a .csv, .json, .ndjson or .xlsx file'
  const bytes = await bytesOf(path)
  if (typeof bytes === 'string') return bytes
  const about = {
    path,
    file,
    isOnWeb: false,
    isWorkbook: false,
    sheet: null,
    title: file,
    isTyped: false,
    encoding: UTF_8,
    delimiter: null,
  }
  if (bytes.length === 0) return 'has zero bytes'
  const found = formatFound(path, bytes)
  if (typeof found === 'string') return found
  const { format } = found
  if (format === 'xlsx') return sheetTables(about, bytes.length)
  const encoding = encodingOf(bytes)
  const label = encoding.sure ?? encoding.candidates[0]?.label ?? 'windows-1252'
  const decoder = openDecoder(label)
  if (decoder === null) return `is encoded in ${label}, which this runtime does not support`
  if (format !== 'csv') {
    const rows = await jsonTable(bytes, decoder, format)
    return typeof rows === 'string' ? rows : { tables: [{ ...about, isTyped: true, encoding, ...rows }], hidden: [] }
  }
  const head = openDecoder(label, false)?.decode(bytes.subarray(0, HEAD_BYTES)) ?? ''
  const said = /^"?sep=([,;\t|])"?[ \t]*\r?\n/i.exec(head)
  const delimiter = said?.[1] ?? delimiterOf(head)
  const rows = await csvTable(bytes, decoder, delimiter, said !== null)
  return typeof rows === 'string' ? rows : { tables: [{ ...about, encoding, delimiter, ...rows }], hidden: [] }
}

/** Reads all bytes of a regular file, or explains why not. Opening a pipe or device could block forever. */
async function bytesOf(path: string): Promise<Buffer | string> {
  try {
    const found = await stat(path)
    if (!found.isFile()) return found.isDirectory() ? 'is a directory; name a file in it' : 'is not a regular file'
    if (found.size > MOST_MB * 1024 * 1024) {
      return `is ${Math.ceil(found.size / 1024 / 1024).toLocaleString('en')} MB, and files of at most ${MOST_MB} MB can be examined; try a part of it`
    }
    // O_NONBLOCK: a pipe may have replaced the file.
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      if (!(await file.stat()).isFile()) return 'is not a regular file'
      const bytes = Buffer.alloc(found.size)
      let length = 0
      for (;;) {
        const { bytesRead } = await file.read(bytes, length, bytes.length - length, length)
        length += bytesRead
        if (bytesRead === 0 || length === bytes.length) return bytes.subarray(0, length)
      }
    } finally {
      await file.close()
    }
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
    if (score > bestScore) [best, bestScore] = [delimiter, score]
  }
  return best
}

const SOME_SHEETS = 20

type About = Omit<Table, keyof TableContent>

/** Reads the visible sheets; if all are hidden, the first one, which would be served. */
async function sheetTables(about: About, sizeBytes: number): Promise<FileTables | string> {
  const first = await sheetTable(about.path, sizeBytes, null)
  if (first.sheets.length === 0) return `cannot be read: ${first.problem ?? 'it has no sheet'}`
  const shown = first.sheets.filter(({ isHidden }) => !isHidden).slice(0, SOME_SHEETS)
  const tables: Table[] = []
  let problem = first.problem
  for (const { name } of shown.length === 0 ? first.sheets.slice(0, 1) : shown) {
    const isFirst = name === first.sheets[0]?.name
    const found = isFirst ? first : await sheetTable(about.path, sizeBytes, name)
    problem ??= found.problem
    if (found.problem !== null) continue
    const title = shown.length > 1 ? `${about.file}, sheet ${JSON.stringify(name)}` : about.file
    tables.push({ ...about, isWorkbook: true, sheet: isFirst ? null : name, title, ...found.table })
  }
  if (tables.length === 0) return `cannot be read: ${problem ?? 'it is empty'}`
  const hidden = shown.length === 0 ? [] : first.sheets.filter(({ isHidden }) => isHidden).map(({ name }) => name)
  return { tables, hidden }
}

/** The encoding of a file; `sure` is `null` if its bytes do not decide between the candidates. */
interface Encoding {
  readonly sure: string | null
  readonly candidates: readonly { readonly label: string; readonly word: string }[]
}

const UTF_8: Encoding = { sure: 'utf-8', candidates: [] }

const LABELS = [
  'windows-1252',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'windows-1257',
  'iso-8859-2',
  'iso-8859-15',
  'macintosh',
]

/**
 * Detects the encoding. One-byte encodings can only be told apart by their results: if all plausible ones give the same
 * words, the result is sure.
 */
function encodingOf(bytes: Buffer): Encoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { sure: 'utf-16le', candidates: [] }
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { sure: 'utf-16be', candidates: [] }
  if (isUtf8(bytes)) return UTF_8
  const written = wordsIn(bytes)
  const read = LABELS.map((label) => {
    const decoder = openDecoder(label, false)
    const words = written.map((word) => decoder?.decode(word) ?? '')
    // The same byte may be a blank in one encoding and a letter in another.
    return { label, words, isLikely: words.every((word) => word.split(/\s+/u).every(isWord)) }
  })
  const likely = read.filter(({ isLikely }) => isLikely)
  const labels = likely.map(({ label }) => label)
  const isSure =
    WESTERN_AND_CENTRAL.every((label) => labels.includes(label)) &&
    likely.every(({ words }) => words.every((word, index) => word === likely[0]?.words[index]))
  if (isSure)
    return { sure: 'windows-1252', candidates: likely.map(({ label, words }) => ({ label, word: words[0] ?? '' })) }
  // Show an implausible result next to the plausible ones, for comparison.
  const unlikely = read.filter(({ isLikely }) => !isLikely)
  const known = [...likely, ...unlikely.slice(0, Math.max(1, 3 - likely.length))]
  const at = tellingWord(likely.map(({ words }) => words)) ?? tellingWord(known.map(({ words }) => words)) ?? 0
  const shown = new Map<string, string>()
  for (const { label, words } of known) {
    const word = words[at] ?? ''
    if (!shown.has(word)) shown.set(word, label)
  }
  return { sure: null, candidates: Array.from(shown, ([word, label]) => ({ label, word })) }
}

/** Finds the word that the encodings decode in the most ways, the longest of several; `null` if all decode alike. */
function tellingWord(read: readonly (readonly string[])[]): number | null {
  const words = (read[0] ?? []).map((word, index) => {
    return { index, length: word.length, ways: new Set(read.map((one) => one[index])).size }
  })
  const [best] = words.toSorted((left, right) => right.ways - left.ways || right.length - left.length)
  return best === undefined || best.ways === 1 ? null : best.index
}

const MOST_WORDS = 10_000
const LONGEST_WORD = 80
/** Bytes that separate words in most encodings, including the no-break space. */
const BETWEEN = new Set(Buffer.from('\0\t\n\v\f\r ,;|"\xa0', 'latin1'))

/** Returns the distinct words that contain a non-ASCII byte. */
function wordsIn(bytes: Buffer): readonly Buffer[] {
  const words = new Map<string, Buffer>()
  let begin = 0
  let isOther = false
  for (let at = 0; at <= bytes.length && words.size < MOST_WORDS; at++) {
    const byte = bytes[at]
    if (byte !== undefined && !BETWEEN.has(byte)) {
      isOther ||= byte > 0x7f
      continue
    }
    const word = bytes.subarray(begin, Math.min(at, begin + LONGEST_WORD))
    if (isOther) words.set(word.toString('latin1'), word)
    begin = at + 1
    isOther = false
  }
  return [...words.values()]
}

/** The encodings of most of Europe. Text that both decode alike is very likely right. */
const WESTERN_AND_CENTRAL = ['windows-1252', 'windows-1250']

/**
 * Returns true if a word is plausible: no control characters, no sign or capital among small letters, no letter right
 * after a digit, no single capital, only one script.
 */
function isWord(word: string): boolean {
  if (/[\p{C}\ufffd]/u.test(word)) return false
  if (/\p{L}(?!['’‘´`–-])[^\p{ASCII}\p{L}\p{M}]\p{L}/u.test(word) || /\p{Ll}(?=[^\p{ASCII}])\p{Lu}/u.test(word))
    return false
  if (/^\p{Lu}$/u.test(word) || /\d(?=[^\p{ASCII}])\p{L}/u.test(word)) return false
  return SCRIPTS.filter((script) => script.test(word)).length <= 1
}

const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u]
