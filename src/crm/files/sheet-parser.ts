import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import { type Cell, CodeNumber, DecimalText, ErrorCell, LateTime, isBlank } from '../cells/cell.ts'
import { isWebAddress } from '../../domain/field.ts'
import type { RowCells } from './csv-parser.ts'
import {
  type NumberFormat,
  END_OF_DATES,
  GENERAL_FORMAT,
  daysOfHours,
  formatNumbered,
  serialText,
  shownNumber,
} from './number-formats.ts'
import { LONGEST_TEXT_BYTES, PartParser, refuse } from './part-parser.ts'
import type { SaxesTagPlain } from 'saxes'

/** The parts of a workbook that cells refer to. */
export interface SheetParts {
  /** The texts that cells share. */
  readonly strings: readonly string[]
  /** The number formats of the cells' styles. */
  readonly formats: readonly (() => NumberFormat)[]
  readonly is1904: boolean
  /** Whether people see numbers with a decimal comma. */
  readonly isComma: boolean
  /** Whether links in formulas are needed. */
  readonly isLinked: boolean
}

function appended(text: string, more: string): string {
  if (text.length + more.length > LONGEST_TEXT_BYTES) refuse('a cell holds more than 256 KB')
  return text + more
}

export function stringsParser(strings: string[]): PartParser {
  let text = ''
  return new PartParser(
    (name) => {
      if (name === 'si') text = ''
    },
    (name, inside) => {
      if (name === 't') text = appended(text, inside)
      else if (name === 'si') strings.push(unescaped(text))
    },
  )
}

/** Excel's own limits. */
const LONGEST_CODE = 255
const MOST_FORMATS = 65_490

export function stylesParser(formats: SheetParts['formats'][number][]): PartParser {
  const own = new Map<number, string>()
  let isCell = false
  return new PartParser(
    (name, attributes) => {
      if (name === 'numFmt') {
        const { numFmtId, formatCode = '' } = attributes
        if (formatCode.length > LONGEST_CODE) refuse(`a number format is longer than ${LONGEST_CODE} characters`)
        own.set(Number(numFmtId), formatCode)
      } else if (name === 'cellXfs') isCell = true
      else if (name === 'xf' && isCell) {
        const id = Number(attributes['numFmtId'] ?? 0)
        let format: NumberFormat | null = null
        // Most workbooks have many more formats than their cells use.
        formats.push(() => (format ??= formatNumbered(id, own)))
      }
      if (Math.max(own.size, formats.length) > MOST_FORMATS) refuse('it has more than 65,490 formats')
    },
    (name) => {
      if (name === 'cellXfs') isCell = false
    },
  )
}

const UNCOMPUTED = new ErrorCell('a formula without a stored value', { kind: 'stored', instead: 'of-formula' })

/** The size of a sheet: A1 to XFD1048576. */
const MOST_COLUMNS = 16_384
const MOST_ROWS = 1_048_576

/** A row of a sheet with at least one value; blank cells may be absent from `cells`. */
export interface SheetRow {
  readonly cells: RowCells
  readonly row: number
  readonly isHidden: boolean
  /** The web addresses that formulas link to, by column; `null` if there are none. */
  readonly links: readonly (string | undefined)[] | null
  /** The texts that people see of its numbers and dates, by column; `null` if there are none. */
  readonly shown: readonly ((() => string | null) | undefined)[] | null
  /** The length of its texts, including shared ones; counting stops once the row is too large. */
  readonly bytes: number
}

/** Returns a parser that finds the rows of a sheet with at least one value. */
export function sheetParser(
  { strings, formats, is1904, isComma, isLinked }: SheetParts,
  onRow: (found: SheetRow) => void,
): PartParser {
  let row = 0
  let column = -1
  let count = 0
  // Sparse: filling it would take 16,384 steps for one cell in the last column.
  let cells: (Cell | undefined)[] = []
  let isFilled = false
  let isHidden = false
  let bytes = 0
  let type = 'n'
  let format = GENERAL_FORMAT
  let isInline = false
  let inline = ''
  let isFormula = false
  let links: (string | undefined)[] | null = null
  let shown: (() => string | null)[] | null = null
  const shared = new Map<string, string>()
  let sharedAs: string | null = null

  /** Notes a cell's link. The first cell of a shared formula has its text; the cells below refer to it. */
  function link(formula: string): void {
    const address = sharedAs !== null && formula === '' ? shared.get(sharedAs) : linkIn(formula)
    if (address === undefined) return
    if (sharedAs !== null) shared.set(sharedAs, address)
    links ??= []
    links[column] = address
  }

  function add(cell: Cell): void {
    cells[column] = cell
    isFilled ||= !isBlank(cell)
    if (typeof cell === 'string') bytes += cell.length
    // The row will be withheld, so its cells need not be kept.
    if (bytes > LARGEST_ROW_BYTES) cells = []
  }

  function valueOf(text: string): Cell {
    switch (type) {
      case 's':
        return (
          strings[Number(text)] ??
          new ErrorCell('a text that the workbook lacks', { kind: 'stored', instead: 'of-index' })
        )
      case 'b':
        return text === '1'
      case 'e':
        return new ErrorCell(`the error ${text}`, { kind: 'stored', instead: 'of-error' })
      case 'str':
        return unescaped(text)
      default:
        return formattedCell(text)
    }
  }

  function formattedCell(text: string): Cell {
    const [value, seenAs] = [Number(text), format]
    if (seenAs === GENERAL_FORMAT || !Number.isFinite(value)) return numberCell(text, GENERAL_FORMAT, is1904)
    // Only text fields need it, and it takes longer than to read the cell.
    const show = (): string | null => shownNumber(value, seenAs, is1904, isComma)
    shown ??= []
    shown[column] = show
    if (!seenAs.isCode || !Number.isSafeInteger(value)) return numberCell(text, seenAs, is1904)
    return new CodeNumber(String(value), () => show() ?? String(value))
  }

  return new PartParser(
    (name, attributes) => {
      if (name === 'c') {
        column = columnOf(attributes['r']) ?? column + 1
        if (++count > MOST_COLUMNS || column >= MOST_COLUMNS) refuse(`row ${row} has more than 16,384 cells`)
        type = attributes['t'] ?? 'n'
        format = formats[Number(attributes['s'] ?? 0)]?.() ?? GENERAL_FORMAT
        isFormula = false
      } else if (name === 'row') {
        const said = Number(attributes['r'] ?? row + 1)
        row = Number.isSafeInteger(said) ? said : row + 1
        if (row > MOST_ROWS) refuse('it has more than 1,048,576 rows')
        column = -1
        count = bytes = 0
        cells = []
        links = shown = null
        isFilled = false
        isHidden = /^(?:1|true)$/.test(attributes['hidden'] ?? '')
      } else if (name === 'is') {
        // Emptied: otherwise each of a million texts would examine all texts of the cell before it again.
        inline = ''
        isInline = true
      } else if (name === 'f') {
        isFormula = true
        sharedAs = attributes['t'] === 'shared' ? (attributes['si'] ?? null) : null
      }
    },
    (name, text) => {
      if (name === 'v') {
        // A formula that yields an empty text is stored with an empty value.
        if (text === '' && type !== 'str') return
        isFormula = false
        if (text !== '' && bytes <= LARGEST_ROW_BYTES) add(valueOf(text))
      } else if (name === 'f') {
        if (isLinked) link(text)
      } else if (name === 't' && isInline) inline = appended(inline, text)
      else if (name === 'c') {
        // The writer did not compute the formula; Excel would when opening the file.
        if (isFormula) add(UNCOMPUTED)
      } else if (name === 'is') {
        isFormula = false
        isInline = false
        add(unescaped(inline))
      } else if (name === 'row') {
        if (isFilled) onRow({ cells, row, isHidden, links, shown, bytes })
      }
    },
  )
}

const LONGEST_FORMULA = 8192

/** Returns the web address in a formula that calls HYPERLINK with a literal. */
function linkIn(formula: string): string | undefined {
  if (formula.length > LONGEST_FORMULA) return undefined
  const address = /^\s*HYPERLINK\(\s*"([^"]+)"\s*[,)]/i.exec(formula)?.[1]
  return address !== undefined && isWebAddress(address) ? address : undefined
}

function numberCell(text: string, format: NumberFormat, is1904: boolean): Cell {
  const number = Number(text)
  if (!Number.isFinite(number)) return text
  const kind = format.kind === 'by-value' ? kindOf(number) : format.kind
  if (kind === 'hours') return hoursCell(number, text, is1904)
  // A time less than half a second before midnight is the midnight of the next day.
  if (kind === 'time' && number < END_OF_DATES) return hoursCell(number % 1, text, is1904)
  if (kind !== 'number') return serialText(number, kind, is1904) ?? new DecimalText(text)
  if (Number.isInteger(number)) return Number.isSafeInteger(number) ? number : new DecimalText(String(number))
  // Excel stores 17 digits but shows 15: 20.93 may be stored as 20.929999999999996.
  const shown = Number(number.toPrecision(15))
  return Number.isSafeInteger(shown) ? shown : new DecimalText(String(shown))
}

function kindOf(serial: number): 'date' | 'time' | 'date-time' {
  if (serial < 1) return 'time'
  return Number.isInteger(serial) ? 'date' : 'date-time'
}

function hoursCell(number: number, text: string, is1904: boolean): Cell {
  const days = daysOfHours(number)
  const time = days === null ? null : serialText(number, 'hours', is1904)
  if (days === null || time === null) return new DecimalText(text)
  return days === 0 ? time : new LateTime(time, `${days * 24 + Number(time.slice(0, 2))}${time.slice(2)}`, days)
}

/** The column of a cell reference such as `AB12`, counted from 0; `null` if there is none. */
function columnOf(place: string | undefined): number | null {
  if (place === undefined) return null
  let column = 0
  let at = 0
  for (let code = place.charCodeAt(0); code >= 0x41 && code <= 0x5a; code = place.charCodeAt(++at)) {
    column = column * 26 + code - 0x40
  }
  return column === 0 ? null : column - 1
}

/** Decodes characters that XML cannot contain: `_x000D_` (ECMA-376 part 1, 22.9.2.19). */
function unescaped(text: string): string {
  return text.includes('_x')
    ? text.replaceAll(/_x([0-9A-F]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text
}

/** Consecutive rows with the same link in one column. */
export interface LinkedRows {
  readonly column: number
  readonly first: number
  readonly last: number
  readonly address: string
}

/** Finds the links of these columns; a sheet lists them after its rows. */
export function linksParser(
  targets: ReadonlyMap<string, string>,
  columns: readonly number[],
  onLink: (found: LinkedRows) => void,
): PartParser {
  return new PartParser((name, attributes) => {
    if (name !== 'hyperlink') return
    const target = targets.get(relationIn(attributes) ?? '')
    // One link may span several cells.
    const [from = '', to = from] = (attributes['ref'] ?? '').split(':', 2)
    if (target === undefined) return
    const { location = '' } = attributes
    const address = location === '' || target.includes('#') ? target : `${target}#${location}`
    const [left, right] = [columnOf(from) ?? 0, columnOf(to) ?? -1]
    for (const column of columns) {
      if (column < left || column > right) continue
      onLink({ column, first: rowOf(from), last: Math.min(rowOf(to), MOST_ROWS), address })
    }
  })
}

/** Returns the id of the relationship that an element refers to: the value of its `r:id` attribute. */
export function relationIn(attributes: SaxesTagPlain['attributes']): string | undefined {
  return Object.entries(attributes).find(([key]) => /(?:^|:)id$/.test(key))?.[1]
}

function rowOf(place: string): number {
  return Number(/\d+$/.exec(place)?.[0] ?? MOST_ROWS + 1)
}
