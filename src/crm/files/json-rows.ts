import type { Change } from '../../replica/port.ts'
import type { Cell, CellObject } from '../mapping/cell.ts'
import { isObject } from '../mapping/cell.ts'
import { withheldRow } from '../mapping/map-row.ts'
import { parseCell } from '../mapping/parse-cell.ts'
import { Misfit, Reason } from '../mapping/reader.ts'
import type { IgnoredColumns } from './ignored-columns.ts'
import { findJsonFault } from './json-fault.ts'
import type { KnownLines } from './known-lines.ts'
import { digestOf } from './line-digest.ts'
import type { RowSink } from './row-sink.ts'
import type { SyntaxFault, TakeRow } from './row-parser.ts'

export type MapRow<Row, Item> = (row: Row, where: () => string, version?: number) => Change<Item>

/** Takes the JSON text of one row after the other. */
function jsonRows<Item>(
  mapRow: MapRow<CellObject, Item>,
  sink: RowSink<Item>,
  columns: IgnoredColumns,
): (text: string, line: number, version?: number) => SyntaxFault | null {
  return (text, line, version) => {
    const where = (): string => sink.whereIs(sink.rows.count, line)
    const parsed = parseCell(text)
    if (!parsed.ok) {
      if (parsed.reason === 'syntax') return syntaxFault(text, line)
      sink.rows.add(
        withheld(new Misfit('lists and objects that are nested less deep', text.slice(0, 100)), where()),
        line,
      )
    } else if (isObject(parsed.cell)) {
      columns.sawRow(parsed.cell)
      sink.rows.add(mapRow(parsed.cell, where, version), line)
    } else {
      sink.rows.add(withheld(new Misfit('an object', parsed.cell), where()), line)
    }
    return null
  }
}

/** Takes the bytes of one row after the other; those that are what the replica holds are not read again. */
export function jsonLines<Item>(
  mapRow: MapRow<CellObject, Item>,
  sink: RowSink<Item>,
  columns: IgnoredColumns,
  known: KnownLines,
): TakeRow {
  const read = jsonRows<Item>(
    (row, where, version) => {
      const change = mapRow(row, where, version)
      if (change.kind === 'record') known.learn(change.version, change.id)
      else if (change.kind === 'withheld' && change.id !== null) known.withhold(change.version, change.id)
      return change
    },
    sink,
    columns,
  )
  return (bytes, from, to, line) => {
    const digest = digestOf(bytes, from, to)
    const id = known.unchanged(digest)
    if (id === null) return read(bytes.toString('utf8', from, to), line, digest)
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

function syntaxFault(text: string, line: number): SyntaxFault {
  const { offset, expected } = findJsonFault(text)
  const before = text.slice(0, offset)
  const found = offset < text.length ? JSON.stringify(String.fromCodePoint(text.codePointAt(offset) ?? 0)) : 'the end'
  return { line: line + before.split('\n').length - 1, problem: `${expected} is expected, and ${found} is found` }
}
