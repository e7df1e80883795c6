import type { FieldSource } from '../../config/crm/sources.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import { type Cell, CellFault } from '../cells/cell.ts'
import { TEXT, toText } from './conversions.ts'
import type { HtmlText } from './list-setting.ts'

type Convert = (cell: Cell) => string | null | CellFault

/**
 * Returns the conversion of a field's cells to text: of HTML to plain text, then of the configured values to others.
 */
export function textConversion(source: FieldSource | null, htmlText: HtmlText | undefined): Convert {
  if (source?.kind !== 'column') return toText
  const read = source.html === true ? fromHtml(htmlText) : toText
  return source.values === undefined ? read : translated(new Map(source.values), read)
}

function fromHtml(htmlText: HtmlText | undefined): Convert {
  if (htmlText === undefined) throw new Error('a field is read from HTML, and the parser is not loaded')
  return (cell) => {
    const text = toText(cell)
    return typeof text === 'string' ? (htmlText(text) ?? new CellFault(TEXT, cell)) : text
  }
}

/** @param values by the trimmed text in lower case. Other texts stay as they are. */
function translated(values: ReadonlyMap<string, string>, read: Convert): Convert {
  return (cell) => {
    // A CRM's yes and no may be translated too.
    const found = typeof cell === 'boolean' ? String(cell) : read(cell)
    if (found === null || found instanceof CellFault) return found
    return values.get(trimWhiteSpace(found).toLowerCase()) ?? (typeof cell === 'boolean' ? toText(cell) : found)
  }
}
