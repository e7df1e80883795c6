import type { Change } from '../../replica/port.ts'
import type { Cell, CellObject } from '../mapping/cell.ts'
import { isObject } from '../mapping/cell.ts'
import { withheldRow } from '../mapping/map-row.ts'
import type { ParsedCell } from '../mapping/parse-cell.ts'
import { parseCell, parseLargeCell } from '../mapping/parse-cell.ts'
import { Misfit, Reason } from '../mapping/reader.ts'
import type { IgnoredColumns } from './ignored-columns.ts'
import type { KnownLines } from './known-lines.ts'
import { digestOf } from './line-digest.ts'
import { Pace } from './pace.ts'
import type { RowSink } from './row-sink.ts'
import type { SyntaxFault, TakeRow } from './row-parser.ts'

export type MapRow<Row, Item> = (row: Row, where: () => string, version?: number) => Change<Item>

/** Longer rows are read in parts, between which requests pass. */
const LONG_BYTES = 32 * 1024

/** Takes the bytes of one row after the other; those that are what the replica holds are not read again. */
export function jsonLines<Item>(
  mapRow: MapRow<CellObject, Item>,
  sink: RowSink<Item>,
  columns: IgnoredColumns,
  known: KnownLines,
): TakeRow {
  function add(parsed: ParsedCell, text: string, line: number, version: number): SyntaxFault | null {
    const where = (): string => sink.whereIs(sink.rows.count, line)
    if (!parsed.ok) {
      if (parsed.reason === 'syntax') return syntaxFault(text, line, parsed)
      const tooDeep = new Misfit('lists and objects that are nested less deep', text.slice(0, 100))
      sink.rows.add(withheld(tooDeep, where()), line)
    } else if (isObject(parsed.cell)) {
      columns.sawRow(parsed.cell)
      const change = mapRow(parsed.cell, where, version)
      if (change.kind === 'record') known.learn(change.version, change.id)
      else if (change.kind === 'withheld' && change.id !== null) known.withhold(change.version, change.id)
      sink.rows.add(change, line)
    } else {
      sink.rows.add(withheld(new Misfit('an object', parsed.cell), where()), line)
    }
    return null
  }
  async function addLater(text: string, line: number, version: number): Promise<SyntaxFault | null> {
    const pace = new Pace()
    const parsed = await parseLargeCell(text, columns.wanted, () => (pace.isOver ? pace.rest() : null))
    await pace.rest()
    return add(parsed, text, line, version)
  }
  return (bytes, from, to, line) => {
    const digest = digestOf(bytes, from, to)
    const id = known.unchanged(digest)
    if (id === null) {
      const text = bytes.toString('utf8', from, to)
      return to - from > LONG_BYTES ? addLater(text, line, digest) : add(parseCell(text), text, line, digest)
    }
    columns.sawRowAgain()
    sink.rows.add({ kind: 'unchanged', id }, line)
    return null
  }
}

/** The cell of a column; a name such as `constructor` is no column of a row that lacks it. */
export function jsonCell(column: string): (row: CellObject) => Cell {
  return (row) => (Object.hasOwn(row, column) ? (row[column] ?? null) : null)
}

function withheld(misfit: Misfit, where: string): Change<never> {
  return withheldRow(new Reason('unreadable', null, misfit), null, where, Number.NaN)
}

function syntaxFault(
  text: string,
  line: number,
  { offset, expected }: { readonly offset: number; readonly expected: string },
): SyntaxFault {
  let breaks = 0
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) breaks++
  const found = offset < text.length ? JSON.stringify(String.fromCodePoint(text.codePointAt(offset) ?? 0)) : 'the end'
  return { line: line + breaks, problem: `${expected} is expected, and ${found} is found` }
}
