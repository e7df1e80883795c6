import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import { isObject, showCell } from '../cells/cell.ts'
import { unreadableRow } from '../mapping/map-row.ts'
import { digestOf } from '../cells/row-digest.ts'
import { type ParsedCell, parseCell } from '../cells/parse-cell.ts'
import type { TakeTorn } from './json-parser.ts'
import type { BrokenSyntax, FileReading, MapRow, TakeRow } from './row-parser.ts'

interface JsonLines {
  readonly onRow: TakeRow
  /** Withholds a row that is not JSON. */
  readonly onTorn: TakeTorn
  /** Why none of the rows could be parsed; `null` if one could, or there are none. */
  readonly whyNone: () => BrokenSyntax | null
}

/**
 * Returns functions that take the bytes of each row. Their digest is the record's version: an unchanged row is not
 * parsed and mapped again. Most lists are nearly the same at each read.
 */
export function jsonLines<Item>(
  { rows, columns, held, lines }: Pick<FileReading<Item>, 'rows' | 'columns' | 'held' | 'lines'>,
  mapRow: MapRow<Item>,
): JsonLines {
  const { seed, idOf, isDerived, idColumn, skip } = lines()
  function add(parsed: ParsedCell, text: string, line: number, version: number): BrokenSyntax | null {
    const where = (): string => rows.whereNext(line)
    if (!parsed.ok && parsed.reason === 'syntax') return brokenSyntax(text, line, parsed.offset, parsed.expected)
    hasWhole = true
    if (parsed.ok && isObject(parsed.cell)) {
      columns.sawRow(parsed.cell)
      const change = mapRow(parsed.cell, where, version)
      if (change === null) return rows.skip()
      // Withheld rows are read each time, since their line number may have changed.
      rows.add(change.kind === 'withheld' ? { ...change, version: Number.NaN } : change, line)
    } else {
      const [kind, found] = parsed.ok
        ? (['object', parsed.cell] as const)
        : (['shallow-object', text.slice(0, 100)] as const)
      rows.add(unreadableRow(kind, showCell(found), where()), line)
    }
    return null
  }
  // On the first read no row is known, so its id need not be searched.
  const idTextIn = held.size === 0 ? (): null => null : idTextFinder(idColumn)
  let firstTorn: BrokenSyntax | null = null
  let hasWhole = false
  const onTorn: TakeTorn = (line, fault) => {
    rows.add(unreadableRow('json', `line ${fault.line}: ${fault.problem}`, rows.whereNext(line)), line)
    firstTorn ??= fault
    return null
  }
  const onRow: TakeRow = (bytes, from, to, line) => {
    if (to - from > LARGEST_ROW_BYTES) return rows.addTooLarge(line)
    const digest = digestOf(bytes, from, to, seed)
    const idText = idTextIn(bytes, from, to)
    const id = idText === null ? null : idOf(idText)
    if (id === null || held.version(id) !== digest) {
      const text = bytes.toString('utf8', from, to)
      return add(parseCell(text), text, line, digest)
    }
    hasWhole = true
    columns.sawRowAgain()
    skip()
    rows.add(isDerived ? { kind: 'unchanged', id, idText } : { kind: 'unchanged', id }, line)
    return null
  }
  return { onRow, onTorn, whyNone: () => (hasWhole ? null : firstTorn) }
}

const QUOTE = 0x22
const COLON = 0x3a

/**
 * Returns a function that finds what looks like the id of a row; `null` if nothing does. A wrong guess is harmless:
 * only the row with that id has the same bytes.
 */
function idTextFinder(idColumn: string): (bytes: Buffer, from: number, to: number) => string | null {
  const name = Buffer.from(JSON.stringify(idColumn))
  let searched: Buffer | null = null
  let key = -1
  return (bytes, from, to) => {
    // Each chunk is searched once. A search for each row without an id would take quadratic time.
    if (bytes !== searched || (key !== -1 && key < from)) key = bytes.indexOf(name, from)
    searched = bytes
    if (key === -1 || key >= to) return null
    let at = afterBlanks(bytes, key + name.length)
    if (bytes[at] !== COLON) return null
    at = afterBlanks(bytes, at + 1)
    const isText = bytes[at] === QUOTE
    if (isText) at++
    const end = isText ? bytes.indexOf(QUOTE, at) : numberEnd(bytes, at)
    if (end === -1 || end === at || end >= to) return null
    return bytes.toString('utf8', at, end)
  }
}

function afterBlanks(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] === 0x20 || bytes[at] === 0x09) at++
  return at
}

function numberEnd(bytes: Buffer, from: number): number {
  let at = from
  for (let byte = bytes[at] ?? 0; (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x2e;)
    byte = bytes[++at] ?? 0
  return at
}

function brokenSyntax(text: string, line: number, offset: number, expected: string): BrokenSyntax {
  const breaks = text.slice(0, offset).split('\n').length - 1
  const found = offset < text.length ? JSON.stringify(String.fromCodePoint(text.codePointAt(offset) ?? 0)) : 'the end'
  return { line: line + breaks, problem: `expected ${expected}, found ${found}` }
}
