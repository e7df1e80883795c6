import { dayPart, timePart } from '../../domain/date-parts.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import { type Cell, type CellObject, LateTime, isBlank, plainText, shownText } from '../cells/cell.ts'

/** How the cells of a joined value are written: the first one, and those after it. */
interface Joining {
  readonly textOf: (cell: Cell) => string | null
  readonly before: (text: string) => string
  readonly after: (text: string) => string
  /** How the first cell is written if those after it are blank: a day whose time is blank is no midnight. */
  readonly alone: (text: string) => string
}

/** In dates, digits count rather than the zeros that a format shows. */
export const OF_DATE: Joining = { textOf: plainText, before: dayPart, after: timePart, alone: dayPart }
/** Ids are made of such texts, so they stay as they are, but for a day that a spreadsheet wrote as midnight. */
export const OF_TEXT: Joining = {
  textOf: shownText,
  before: (text) => text.replace(/^(\d{4}-\d\d-\d\d)[T ]00:00(?::00(?:\.0+)?)?$/, '$1'),
  after: (text) => text,
  alone: (text) => text,
}

/** Returns a reader of several cells as one text. */
export function joinedCell(
  cells: readonly ((row: CellObject) => Cell)[],
  { textOf, before, after, alone }: Joining,
  isBlankByOne: boolean,
): (row: CellObject) => Cell {
  return (row) => {
    let text: string | null = null
    // Set if the last cell is a late time.
    let late: LateTime | null = null
    let isAlone = true
    for (const cellOf of cells) {
      const cell = cellOf(row)
      if (isBlank(cell)) {
        if (isBlankByOne) return null
        continue
      }
      const part = textOf(cell)
      // A cell that is not text is returned as it is, so the fault shows it.
      if (part === null) return cell
      const day: string | null = text === null ? null : before(text)
      isAlone = day === null
      late = cell instanceof LateTime ? lateAfter(day, cell) : null
      text = day === null ? trimWhiteSpace(part) : `${day} ${after(trimWhiteSpace(part))}`
    }
    return late ?? (isAlone && text !== null ? alone(text) : text)
  }
}

function lateAfter(day: string | null, time: LateTime): LateTime {
  if (day === null) return time
  return new LateTime(`${day} ${time.text}`, `${day} ${time.shown}`, time.days)
}
