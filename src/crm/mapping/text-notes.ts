import type { FieldSource } from '../../config/crm/sources.ts'
import { isWebAddress } from '../../domain/field.ts'
import { type Cell, isBlank } from '../cells/cell.ts'
import type { Suspicions } from './suspicions.ts'

/** Tags that editors write, and entities that no person does. */
const MARKUP =
  /<\/?(?:p|br|div|span|b|i|u|em|strong|a|ul|ol|li|h[1-6]|img|font|table|t[rdh])(?:\s[^<>]*)?\/?>|&(?:amp|lt|gt|quot|nbsp|apos|#\d+|#x[\da-f]+|[aeiou](?:uml|acute|grave|circ)|szlig|[nm]dash|[lr][sd]quo|hellip|euro);/i

/** Returns the function that notes what is suspicious of a text. */
export function textNotes(
  source: FieldSource | null,
  column: string,
  isAddress: boolean,
  suspicions: Suspicions,
): (cell: Cell, text: unknown) => void {
  const maySayHtml = source?.kind === 'column' && source.html === undefined
  return (cell, text) => {
    if (typeof text !== 'string') return
    if (isAddress && !isBlank(text) && !isWebAddress(text)) suspicions.suspect(column, 'no-address', cell)
    else if (maySayHtml && (text.includes('<') || text.includes('&')) && MARKUP.test(text))
      suspicions.suspect(column, 'html', cell)
  }
}
