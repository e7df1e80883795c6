import type { Condition, ConditionPart, ConditionValue } from '../../config/crm/sources.ts'
import { type Expected, type WithheldFault, RowFault } from '../../domain/withheld.ts'
import { parseDecimal } from '../../domain/number.ts'
import { beginsWithWord } from '../../domain/event-status.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import {
  type Cell,
  type CellObject,
  CellFault,
  ErrorCell,
  cellAt,
  isBlank,
  plainText,
  showCell,
} from '../cells/cell.ts'
import type { Conversions } from './conversions.ts'

const BLANK: Expected = { kind: 'blank' }
const SCALAR: Expected = { kind: 'scalar' }

/** A column of yes or no, and the meaning of a blank cell. */
export interface FlagColumn {
  readonly column: string
  readonly whenBlank: boolean
}

type Check = (row: CellObject) => RowFault | null
type CheckCell = (cell: Cell) => RowFault | null

/** Returns the checks of a condition. Each returns the fault of a row to withhold; `fault` is that fault's kind. */
export function conditionsOf(
  condition: Condition | FlagColumn | null,
  fault: WithheldFault,
  toFlag: Conversions['flag'],
): readonly Check[] {
  if (condition === null) return []
  if (!('whenBlank' in condition)) return partChecks(condition, fault)
  const cellOf = cellAt(condition.column)
  const check = flagCheck(condition, fault, toFlag)
  return [(row) => check(cellOf(row))]
}

/** Returns a function that tells whether a condition holds in a row. */
export function holdsIn(condition: Condition): (row: CellObject) => boolean {
  const checks = partChecks(condition, 'inactive')
  return (row) => checks.every((check) => check(row) === null)
}

function partChecks(condition: Condition, fault: WithheldFault): readonly Check[] {
  return condition.map((part) => {
    const cellOf = cellAt(part.column)
    const check = partCheck(part, fault)
    return (row) => check(cellOf(row))
  })
}

function partCheck(part: ConditionPart, fault: WithheldFault): CheckCell {
  if ('oneOf' in part) return oneOfCheck(part, fault)
  return 'noneOf' in part ? noneOfCheck(part, fault) : blankCheck(part, fault)
}

/** Returns the value that passed a `not` condition; `null` if the cell is blank or the row is withheld. */
export interface LetPass {
  readonly column: string
  readonly valueIn: (row: CellObject) => string | null
}

/** Returns a reader for each `not` of a condition, for `check` to count the values that pass. */
export function letPassBy(condition: Condition | FlagColumn | null): readonly LetPass[] {
  const parts = condition === null || 'whenBlank' in condition ? [] : condition
  return parts
    .filter((part) => 'noneOf' in part)
    .map((part) => {
      const { column } = part
      const cellOf = cellAt(column)
      const check = noneOfCheck(part, 'inactive')
      const valueIn = (row: CellObject): string | null => {
        const cell = cellOf(row)
        return isBlank(cell) || check(cell) !== null ? null : showCell(cell)
      }
      return { column, valueIn }
    })
}

function flagCheck({ column, whenBlank }: FlagColumn, fault: WithheldFault, toFlag: Conversions['flag']): CheckCell {
  return (cell) => {
    const flag = toFlag(cell)
    if (flag instanceof CellFault) return new RowFault('unreadable', column, flag)
    return (flag ?? whenBlank) ? null : new RowFault(fault, column, null)
  }
}

/** A blank cell matches none of the values. */
function oneOfCheck({ column, oneOf }: Extract<ConditionPart, { oneOf: unknown }>, fault: WithheldFault): CheckCell {
  const values = new Set(oneOf.flatMap(spellingsOf))
  const expected: Expected = { kind: 'one-of', values: oneOf.map(String) }
  return (cell) => {
    const text = textOf(cell)
    return text !== null && values.has(text) ? null : new RowFault(fault, column, { expected, found: showCell(cell) })
  }
}

/** YAML reads `[TRUE]`, `[True]` and `[true]` as the same boolean, which therefore stands for each of these texts. */
function spellingsOf(value: ConditionValue): readonly string[] {
  if (typeof value !== 'boolean') return [String(value)]
  return value ? ['true', 'True', 'TRUE'] : ['false', 'False', 'FALSE']
}

function blankCheck({ column }: ConditionPart, fault: WithheldFault): CheckCell {
  return (cell) => {
    if (isBlank(cell)) return null
    if (cell instanceof ErrorCell) return new RowFault('unreadable', column, new CellFault(BLANK, cell))
    return new RowFault(fault, column, { expected: BLANK, found: showCell(cell) })
  }
}

/**
 * Unlike `oneOf`, this also matches values that only resemble an excluded one: a typing error must not publish a row,
 * and neither must a remark after the word, such as `Abgesagt wegen Krankheit`.
 */
function noneOfCheck({ column, noneOf }: Extract<ConditionPart, { noneOf: unknown }>, fault: WithheldFault): CheckCell {
  const values = new Set(noneOf.map((value) => folded(String(value))))
  const words = [...values].filter((value) => WORD.test(value))
  const expected: Expected = { kind: 'none-of', values: noneOf.map(String) }
  return (cell) => {
    if (isBlank(cell)) return null
    const text = textOf(cell)
    if (text === null) return new RowFault('unreadable', column, new CellFault(SCALAR, cell))
    const found = folded(text)
    const isExcluded = values.has(found) || words.some((word) => beginsWithWord(found, word))
    return isExcluded ? new RowFault(fault, column, { expected, found: showCell(cell) }) : null
  }
}

/** Matches a value that begins other values: shorter ones, such as `x`, begin too many by chance. */
const WORD = /^\p{L}{3}/u

function textOf(cell: Cell): string | null {
  return typeof cell === 'boolean' ? String(cell) : plainText(cell)
}

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu

/** Returns the same text for all spellings of one value: `Ja`, `ja ` and `JA`, `1` and `1.0`. */
function folded(text: string): string {
  // Upper case first: only then do `ß` and `SS` get the same lower case.
  const word = trimWhiteSpace(text.normalize('NFKC').replaceAll(INVISIBLE, '')).toUpperCase().toLowerCase()
  const number = parseDecimal(word)
  if (number === null) return word
  return number.includes('.') ? number.replace(/\.?0+$/, '') : number
}
