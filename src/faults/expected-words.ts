import type { Expected, ExpectedNumber } from '../domain/withheld.ts'
import { unreachable } from '../domain/unreachable.ts'

/** Returns the end of a sentence: `a date-time with the year first, such as 2026-07-12 19:30`. */
export function expectedWords(expected: Expected): string {
  switch (expected.kind) {
    case 'guid':
      return expected.mayBeBlank ? 'a GUID, or nothing' : 'a GUID that is not all zeros'
    case 'id':
      return 'an id'
    case 'text':
      return 'a text'
    case 'texts':
      return 'a list of texts'
    case 'scalar':
      return 'a text, a number, true or false'
    case 'blank':
      return 'a blank cell'
    case 'any-date-time':
      return 'a date-time'
    case 'year-1-to-9999':
      return 'a date-time of the years 1 to 9999'
    case 'decimal':
    case 'integer':
      return numberWords(expected)
    case 'flag':
      return expected.words === null
        ? 'true or false, yes or no, 1 or 0'
        : `true or false, yes or no, 1 or 0, or one of ${expected.words.join(', ')} (crm.texts)`
    case 'links':
      return `${expected.asJson ? 'JSON, ' : ''}a list of links, each with a text for Rel and for Href, and a text or null for Title`
    case 'date-time':
      return dateWords(expected.formats)
    case 'zone':
      return `the name of a time zone in ${expected.column}, such as Europe/London`
    case 'one-of':
      return `${expected.values.length === 1 ? '' : 'one of '}${expected.values.join(', ')}`
    case 'none-of':
      return `none of ${expected.values.join(', ')}`
    case 'object':
      return 'an object'
    case 'shallow-object':
      return 'lists and objects that are nested less deeply'
    case 'stored':
      return STORED[expected.instead]
    default:
      return unreachable(expected)
  }
}

const STORED = {
  'of-formula': 'a value that Excel stored with the formula',
  'of-index': 'a text that the workbook contains',
  'of-error': 'a value in place of the error',
} as const

// 12/07/2026 is July to some and December to others. Marquee never guesses.
function dateWords(formats: readonly string[]): string {
  if (formats.length === 0)
    return 'a date-time with the year first, such as 2026-07-12 19:30 or 2026-07-12T19:30:00+01:00'
  return `a date-time that fits ${formats.join(' or ')} (crm.texts.dates), or one with the year first, such as 2026-07-12 19:30`
}

const SIGNS = {
  ',': { name: 'comma', integer: '1.250', decimal: '1.250,00' },
  '.': { name: 'point', integer: '1,250', decimal: '1,250.00' },
} as const

function numberWords({ kind, sign, currency }: ExpectedNumber): string {
  const what = kind === 'decimal' ? 'a number' : 'a whole number'
  const number =
    sign === null
      ? `${what} without separators, such as ${kind === 'decimal' ? '12.50' : '250'}`
      : `${what}${kind === 'decimal' ? ` with a decimal ${SIGNS[sign].name}` : ''}, such as ${SIGNS[sign][kind]} (crm.texts.decimal)`
  return currency.length === 0 ? number : `${number}, with or without ${currency.join(' or ')} (crm.texts.currency)`
}
