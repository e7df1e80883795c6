// How texts are read that were not written for Marquee: `crm.texts`, and a list's own `texts`.

import { type DateFormat, parseDateFormat } from '../../domain/date-format.ts'
import { type Key, type ValueSchema, ValueProblem, leaf, orReference, scalarOf, wholeKey } from '../key.ts'
import type { TextSettings } from './sources.ts'

/** The configured settings; absent ones come from `crm.texts` or the defaults. */
export type SaidTexts = { readonly [Name in keyof TextSettings]?: NonNullable<TextSettings[Name]> }

export const TEXT_DEFAULTS: TextSettings = {
  delimiter: null,
  encoding: 'utf-8',
  decimal: null,
  currency: [],
  dates: [],
  yes: [],
  no: [],
  tags: [';'],
  headerRow: null,
}

const decimal = leaf<'.' | ','>("'.' or ','", { enum: ['.', ','] }, ({ value }) =>
  value === '.' || value === ',' ? value : null,
)

/** A schema for a list of these values, or of references to them. */
function listOfValues(item: ValueSchema): ValueSchema {
  return { type: 'array', items: orReference(item) }
}

const DATES =
  'a list of formats such as DD.MM.YYYY hh:mm, made of YYYY or YY, M, D, h, m, s and A, single or doubled, and ddd'

const dates = wholeKey<readonly DateFormat[]>(DATES, listOfValues({ type: 'string', pattern: '^(?!\\?$)' }), (node) => {
  if (node.kind !== 'list') return null
  const formats: DateFormat[] = []
  for (const item of node.items) {
    const { value: written, reference } = scalarOf(item) ?? {}
    if (typeof written !== 'string') return null
    const format = parseDateFormat(written.trim())
    if (typeof format === 'string') {
      const shown = reference?.name ?? JSON.stringify(written)
      return new ValueProblem(`must be ${DATES}; ${shown} ${format}`)
    }
    formats.push(format)
  }
  return formats
})

/** A list of texts. Numbers and booleans of YAML count as texts. */
function words(allowed: string): Key<readonly string[]> {
  const schema = listOfValues({ type: ['string', 'number', 'boolean'], minLength: 1 })
  return wholeKey(allowed, schema, (node) => {
    if (node.kind !== 'list') return null
    const found = node.items.map((item) => scalarOf(item)?.value)
    return found.every((value) => value !== undefined && value !== '') ? found.map(String) : null
  })
}

const flagWords = (example: string): Key<readonly string[]> =>
  words(`a list of words such as [${example}]`).map((found) => found.map((one) => one.trim().toLowerCase()))

/** Returns what the documentation names as the default: the one of all lists, or the usual one. */
export function usualOr(fallback: string): (usual: string) => string {
  return (usual) => (fallback === '' ? usual : fallback)
}

/** The keys of `texts` that any source of texts has, for all lists or for one. */
export function cellTextKeys(fallback: string) {
  const or = usualOr(fallback)
  return {
    decimal: decimal
      .override(or("`'.'`"))
      .says(
        'The decimal separator. If it is set, the other sign, blanks and apostrophes may group thousands: `1.250,00`, `1,250.00`.',
      ),
    currency: words("a list of signs and words such as ['€', EUR]")
      .override(or('`[]`'))
      .says('Signs and words allowed before or after a price, and ignored: `£12.00`, `18,50 EUR`.'),
    dates: dates
      .override(or('`[]`'))
      .says(
        'Date formats, tried in this order: formats of days, then ISO 8601, then the others. A single letter matches one or two digits, a doubled one exactly two; `YY` is a year from 2000, `A` is AM or PM, `ddd` a day’s name. Blanks do not count. A format of days has no hour, or midnight as in `YYYY-MM-DD 00:00:00`.',
      ),
    yes: flagWords('x, ja')
      .override(or('`[]`'))
      .says('Words for yes in addition to true, yes and 1, in upper or lower case.'),
    no: flagWords("nein, '-'")
      .override(or('`[]`'))
      .says('Words for no in addition to false, no and 0, in upper or lower case.'),
    tags: words("a list of separators such as [';', ',']")
      .override(or("`[';']`"))
      .says('The separators of tags in a cell.'),
  }
}

/** Combines a list's own `texts` with those of all lists; `null` if neither is set: texts are as Marquee writes them. */
export function textsOf(all: SaidTexts, own: SaidTexts): TextSettings | null {
  const both = { ...all, ...own }
  return Object.keys(both).length === 0 ? null : { ...TEXT_DEFAULTS, ...both }
}
