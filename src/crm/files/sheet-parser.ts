import { type SaxesTagPlain, SaxesParser } from 'saxes'
import { type Cell, NumberText, Valueless, isBlank } from '../mapping/cell.ts'
import { type NumberShape, serialText, shapeOfFormat } from './number-formats.ts'
import type { SharedTexts } from './shared-texts.ts'

/** Reads an XML part of a workbook by its tags; what is between two tags is told with the second. */
export class PartParser {
  readonly #parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false })
  #text = ''
  #fault: Error | null = null

  constructor(
    onOpen: (name: string, attributes: SaxesTagPlain['attributes']) => void,
    onClose: (name: string, text: string) => void = () => {},
  ) {
    const parser = this.#parser
    parser.on('opentag', ({ name, attributes }) => {
      this.#text = ''
      onOpen(localName(name), attributes)
    })
    parser.on('text', (text) => {
      this.#text += text
    })
    parser.on('closetag', ({ name }) => {
      onClose(localName(name), this.#text)
      this.#text = ''
    })
    // No workbook has one, and what it can do to whoever reads it is well known.
    parser.on('doctype', () => parser.fail('a document type is declared'))
    parser.on('error', (cause) => {
      this.#fault ??= cause
    })
  }

  /** What is wrong with the XML so far; null where nothing is. */
  feed(text: string): Error | null {
    if (this.#fault === null) this.#parser.write(text)
    return this.#fault
  }

  /** What is wrong once there is no more. */
  finish(): Error | null {
    if (this.#fault === null) this.#parser.close()
    return this.#fault
  }
}

function localName(name: string): string {
  const colon = name.indexOf(':')
  return colon === -1 ? name : name.slice(colon + 1)
}

/** What the cells of a sheet refer to. */
export interface SheetParts {
  readonly strings: SharedTexts
  readonly shapes: readonly NumberShape[]
  readonly is1904: boolean
}

/** The texts that cells share, each once. */
export function stringsParser(strings: SharedTexts): PartParser {
  let text = ''
  let isSound = false
  return new PartParser(
    (name) => {
      if (name === 'si') text = ''
      // How a Japanese word is pronounced stands beside it.
      if (name === 'rPh') isSound = true
    },
    (name, inside) => {
      if (name === 't' && !isSound) text += inside
      else if (name === 'rPh') isSound = false
      else if (name === 'si') strings.add(unescaped(text))
    },
  )
}

/** What the style of a cell makes of its number. */
export function stylesParser(shapes: NumberShape[]): PartParser {
  const codes = new Map<number, string>()
  let isCell = false
  return new PartParser(
    (name, attributes) => {
      if (name === 'numFmt') codes.set(Number(attributes['numFmtId']), attributes['formatCode'] ?? '')
      else if (name === 'cellXfs') isCell = true
      else if (name === 'xf' && isCell) shapes.push(shapeOfFormat(Number(attributes['numFmtId'] ?? 0), codes))
    },
    (name) => {
      if (name === 'cellXfs') isCell = false
    },
  )
}

const UNCOMPUTED = new Valueless('a formula without a stored value', 'a value that Excel stored with the formula')

/** Columns beyond are none of a list's. */
const MOST_COLUMNS = 16_384

/** The rows of a sheet, without those in which nothing stands. */
export function sheetParser(
  { strings, shapes, is1904 }: SheetParts,
  onRow: (cells: Cell[], row: number) => void,
): PartParser {
  let row = 0
  let column = -1
  let cells: Cell[] = []
  let type = 'n'
  let shape: NumberShape = 'number'
  let isInline = false
  let isSound = false
  let inline = ''
  let isFormula = false

  function add(cell: Cell): void {
    while (cells.length < column) cells.push(null)
    cells[column] = cell
  }

  function valueOf(text: string): Cell {
    switch (type) {
      case 's':
        return strings.at(Number(text)) ?? new Valueless('a text that the workbook lacks', 'a text that it holds')
      case 'b':
        return text === '1'
      case 'e':
        return new Valueless(`the error ${text}`, 'a value in place of the error')
      case 'str':
        return unescaped(text)
      case 'd':
        return text
      default:
        return numberCell(text, shape, is1904)
    }
  }

  return new PartParser(
    (name, attributes) => {
      if (name === 'c') {
        column = columnOf(attributes['r']) ?? column + 1
        type = attributes['t'] ?? 'n'
        shape = shapes[Number(attributes['s'] ?? 0)] ?? 'number'
        inline = ''
        isFormula = false
      } else if (name === 'row') {
        row = Number(attributes['r'] ?? row + 1)
        column = -1
        cells = []
      } else if (name === 'is') isInline = true
      else if (name === 'rPh') isSound = true
      else if (name === 'f') isFormula = true
    },
    (name, text) => {
      if (name === 'v') {
        // What came to an empty text is stored as one.
        if (text === '' && type !== 'str') return
        isFormula = false
        if (column < MOST_COLUMNS && text !== '') add(valueOf(text))
      } else if (name === 't' && isInline && !isSound) inline += text
      else if (name === 'rPh') isSound = false
      else if (name === 'c') {
        // Whatever wrote it has not computed it; Excel would on opening the file.
        if (isFormula && column < MOST_COLUMNS) add(UNCOMPUTED)
      } else if (name === 'is') {
        isFormula = false
        isInline = false
        if (column < MOST_COLUMNS) add(unescaped(inline))
      } else if (name === 'row') {
        if (cells.some((cell) => !isBlank(cell))) onRow(cells, row)
      }
    },
  )
}

function numberCell(text: string, shape: NumberShape, is1904: boolean): Cell {
  // Excel writes 17 digits of what it shows with 15: 19.99 stands there as 19.989999999999998.
  const number = Number(text)
  if (!Number.isFinite(number)) return text
  if (shape !== 'number') return serialText(number, shape, is1904) ?? new NumberText(text)
  return Number.isSafeInteger(number) ? number : new NumberText(String(number))
}

/** The column of a place such as `AB12`, counted from 0; null where none is said. */
function columnOf(place: string | undefined): number | null {
  if (place === undefined) return null
  let column = 0
  let at = 0
  for (let code = place.charCodeAt(0); code >= 0x41 && code <= 0x5a; code = place.charCodeAt(++at)) {
    column = column * 26 + code - 0x40
  }
  return column === 0 ? null : column - 1
}

/** Characters that XML cannot hold are written as `_x000D_` (ECMA-376 part 1, 22.9.2.19). */
function unescaped(text: string): string {
  return text.includes('_x')
    ? text.replaceAll(/_x([0-9A-F]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text
}
