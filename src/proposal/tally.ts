import { Buffer } from 'node:buffer'
import { type Column, type CountedText, fitsAs, lookAtColumn } from './column.ts'
import { canBeNamed } from './line.ts'

/** Limits on what is kept of a table. Cells beyond them are still counted. */
interface Room {
  readonly names: number
  /** The number of different texts. */
  readonly texts: number
  /** The number of cells whose row is remembered. */
  readonly cells: number
}

const ROOM: Room = { names: 2000, texts: 100_000, cells: 5_000_000 }
const LONGEST_TEXT = 200

interface MutableText extends CountedText {
  count: number
  isText: boolean
}

/** Counts the values of one column. */
class ColumnTally {
  readonly name: string
  filled = 0
  /** The number of cells whose text was not kept. */
  others = 0
  othersFit = 0
  readonly texts = new Map<string, MutableText>()
  readonly at: number[] = []
  readonly held: (CountedText | null)[] = []
  #fits: ((text: string) => boolean) | null = null

  constructor(name: string) {
    this.name = name
  }

  addOther(text: string): void {
    this.others++
    this.#fits ??= fitsAs(this.columnOf(0))
    if (this.#fits(text)) this.othersFit++
  }

  columnOf(rows: number): Column {
    const { filled, others, othersFit, at, held } = this
    return lookAtColumn(this.name, [...this.texts.values()], { filled, others, othersFit, at, held, rows })
  }
}

/** Counts the cells of a table in linear time and limited memory: texts are cut, and only some are kept. */
export class TableTally {
  rows = 0
  /** Whether the table has more columns than are examined. */
  hasMoreNames = false
  readonly #room: Room
  readonly #columns = new Map<string, ColumnTally>()
  #texts = 0
  #cells = 0

  constructor(room: Room = ROOM) {
    this.#room = room
  }

  /** Adds a column, even if no row has a value in it. */
  addName(name: string): void {
    this.#columnOf(name)
  }

  /** @param isText false for a number or date of a workbook */
  add(name: string, whole: string, isText: boolean): void {
    const column = this.#columnOf(name)
    if (column === null) return
    column.filled++
    const text = whole.length > LONGEST_TEXT ? cutCopy(whole) : whole
    let counted = column.texts.get(text) ?? null
    if (counted === null && this.#texts < this.#room.texts) {
      this.#texts++
      counted = { text, count: 0, isText: false }
      column.texts.set(text, counted)
    }
    if (counted === null) column.addOther(text)
    else {
      counted.count++
      counted.isText ||= isText
    }
    if (this.#cells >= this.#room.cells) return
    this.#cells++
    column.at.push(this.rows)
    column.held.push(counted)
  }

  endRow(): void {
    this.rows++
  }

  columns(): readonly Column[] {
    return Array.from(this.#columns.values(), (column) => column.columnOf(this.rows))
  }

  #columnOf(name: string): ColumnTally | null {
    const known = this.#columns.get(name)
    if (known !== undefined) return known
    if (!canBeNamed(name)) return null
    if (this.#columns.size >= this.#room.names) {
      this.hasMoreNames = true
      return null
    }
    const column = new ColumnTally(name)
    this.#columns.set(name, column)
    return column
  }
}

/** Cuts a text to a copy: a slice would keep the whole text in memory. */
function cutCopy(text: string): string {
  return Buffer.from(text.slice(0, LONGEST_TEXT), 'utf16le').toString('utf16le')
}
