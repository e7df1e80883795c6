import type { Cell } from '../mapping/cell.ts'
import { parseCell } from '../mapping/parse-cell.ts'
import type { TextRow } from './portions.ts'
import { parseArray } from './parse-array.ts'

/** Types whose text is not what a person would write (pg_type.dat). */
const BOOL = 16
const JSON_TYPES: ReadonlySet<number> = new Set([114, 3802])
// Those of the types that texts and numbers have: char, name, int2, int4, int8, text, bpchar, varchar, float4, float8,
// numeric, uuid. Arrays of types that the database made itself are learnt from it.
const ARRAYS: readonly number[] = [1002, 1003, 1005, 1007, 1016, 1009, 1014, 1015, 1021, 1022, 1231, 2951]

type Decode = (text: string) => Cell

/** How the columns of an answer become cells; null for those that stay text. */
export function decoders(oids: readonly number[], ownArrays: ReadonlySet<number>): readonly (Decode | null)[] {
  return oids.map((oid) => {
    if (oid === BOOL) return decodeFlag
    if (JSON_TYPES.has(oid)) return decodeJson
    return ARRAYS.includes(oid) || ownArrays.has(oid) ? decodeArray : null
  })
}

/** The cells of a row; a text that is not what its type says stays a text. */
export function decodeRow(row: TextRow, columns: readonly (Decode | null)[]): readonly Cell[] {
  const cells: Cell[] = row
  for (const [index, decode] of columns.entries()) {
    const text = row[index]
    if (decode !== null && text !== null && text !== undefined) cells[index] = decode(text)
  }
  return cells
}

function decodeFlag(text: string): Cell {
  return text === 't' ? true : text === 'f' ? false : text
}

function decodeJson(text: string): Cell {
  const parsed = parseCell(text)
  return parsed.ok ? parsed.cell : text
}

function decodeArray(text: string): Cell {
  return parseArray(text) ?? text
}
