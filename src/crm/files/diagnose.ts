import { isUtf8 } from 'node:buffer'
import { readFile, stat } from 'node:fs/promises'
import { openDecoder } from '../../domain/encoding.ts'
import type { Diagnosis } from '../../sync/port.ts'
import { CsvParser, csvRows, notCommas, SEPARATORS } from './csv-parser.ts'
import { disguiseOf, utf16Of } from './content.ts'
import { findFile } from './found-file.ts'
import { FileBatch } from './batch.ts'
import { type ListFile, IgnoredColumns } from './list-file.ts'
import { Utf8Gate } from './read-list-file.ts'

/** Larger files are not diagnosed. */
const MOST_BYTES = 64 * 1024 * 1024
/** The most lines above a header that are searched. */
const MOST_ABOVE = 20

/**
 * Reads a refused CSV file leniently, to find all faults of the file and its rows. Only `check` uses this: Marquee
 * never serves guesses. Returns `null` if there is nothing to add.
 */
export async function diagnose<Item>(directory: string, list: ListFile<Item>): Promise<Diagnosis<Item> | null> {
  // With `texts` configured, the file's format is known.
  if (list.texts !== null) return null
  const found = await findFile(directory, list.candidates)
  if ('kind' in found || found.format !== 'csv') return null
  if ((await stat(found.path)).size > MOST_BYTES) return null
  const bytes = await readFile(found.path)
  if (disguiseOf(bytes) !== null) return null
  const wide = utf16Of(bytes)
  // No known encoding makes this a text.
  if (wide === null && bytes.includes(0)) return null
  const problems: string[] = []
  const otherwise = wide?.toUpperCase() ?? (isUtf8(bytes) ? null : 'Windows-1252')
  const text = openDecoder(otherwise ?? 'utf-8', false)?.decode(bytes) ?? ''
  if (otherwise !== null) {
    // Finds the first line that is not UTF-8.
    const gate = new Utf8Gate()
    gate.pass(bytes)
    const fact = `line ${wide === null ? gate.line : 1}: the bytes are not UTF-8; save the file as UTF-8 (it is most likely ${otherwise})`
    problems.push(`${fact}, or set crm.texts.encoding: ${otherwise.toLowerCase()}`)
  }
  const lines = text.split(/\r\n|\n|\r/)
  const { line: header, delimiter } = headerOf(lines, list.columns)
  const above = lines.slice(0, header).flatMap((line, index) => (/^[\s,;"]*$/.test(line) ? [] : [index + 1]))
  if (above.length > 0) {
    const which = above.length === 1 ? `line ${above.join('')} is` : `lines ${above.join(', ')} are`
    const remedy = `delete everything above it, or set crm.texts.headerRow: ${header + 1}`
    problems.push(`${which} above the header row, which is line ${header + 1}; ${remedy}`)
  }
  if (delimiter !== ',') problems.push(`line ${header + 1}: ${notCommas(delimiter)}`)
  const rows = new FileBatch<Item>(found, { monotonicMs: 0, wallMs: 0 })
  const columns = new IgnoredColumns(list.columns)
  const parser = new CsvParser(csvRows(list, rows, columns), null, delimiter)
  // Blanking lines keeps the line numbers: the parser skips and counts empty lines.
  const meant = [...lines.slice(0, header).fill(''), ...lines.slice(header)].join('\n')
  const fault = (await parser.feed(Buffer.from(meant))) ?? (await parser.finish())
  if (fault !== null) problems.push(`line ${fault.line}: ${fault.problem}`)
  const changes = rows.take(Infinity).flatMap((page) => page.changes)
  return {
    problems: problems.map((problem) => `${found.name}${/^line \d+:/.test(problem) ? ', ' : ': '}${problem}`),
    changes,
    ignored: columns.names,
  }
}

/** Finds the line with the most known names; without any, the first one with the most cells. */
function headerOf(lines: readonly string[], known: readonly string[]): { line: number; delimiter: string } {
  const names = new Set(known.map((name) => name.toLowerCase()))
  let best = { line: 0, delimiter: ',', score: -1 }
  for (const [line, text] of lines.slice(0, MOST_ABOVE).entries()) {
    for (const delimiter of Object.keys(SEPARATORS)) {
      const cells = text.split(delimiter).map((cell) => cell.replaceAll('"', '').trim().toLowerCase())
      const score = cells.filter((cell) => names.has(cell)).length * 1000 + cells.filter((cell) => cell !== '').length
      if (score > best.score) best = { line, delimiter, score }
    }
  }
  return best
}
