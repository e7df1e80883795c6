import { type DateFormat, BadDateFormat, parseDateFormat } from '../../domain/date-format.ts'
import { openDecoder } from '../../domain/encoding.ts'
import { type Key, type ValueSchema, leaf, orReference, scalarOf, wholeKey, ValueProblem } from '../key.ts'
import { section } from '../section.ts'
import { wholeNumber } from '../values.ts'
import type { TextSettings } from './sources.ts'

/** The configured settings; absent ones come from `crm.texts` or the defaults. */
export type SaidTexts = { readonly [Name in keyof TextSettings]?: NonNullable<TextSettings[Name]> }

const DEFAULTS: TextSettings = {
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

/** The settings of one list: its own override those for all files. */
export function textsOf(all: SaidTexts, own: SaidTexts): TextSettings {
  return { ...DEFAULTS, ...all, ...own }
}

const delimiter = leaf<string>("one of ',', ';', '|' and tab", { enum: [',', ';', '|', 'tab', '\t'] }, ({ value }) => {
  if (value === 'tab') return '\t'
  return typeof value === 'string' && [',', ';', '|', '\t'].includes(value) ? value : null
})

const encoding = leaf('an encoding such as utf-8, windows-1252 or utf-16le', { type: 'string' }, ({ value }) =>
  typeof value === 'string' ? (openDecoder(value)?.encoding ?? null) : null,
)

const decimal = leaf<'.' | ','>("'.' or ','", { enum: ['.', ','] }, ({ value }) =>
  value === '.' || value === ',' ? value : null,
)

/** A schema for one or more of these values, or of references to them. */
function listOf(item: ValueSchema): ValueSchema {
  return { type: 'array', minItems: 1, items: orReference(item) }
}

const DATES = 'a list of formats such as DD.MM.YYYY hh:mm, made of YYYY, M, D, h, m, s and A, single or doubled'

const dates = wholeKey<readonly DateFormat[]>(DATES, listOf({ type: 'string', pattern: '^(?!\\?$)' }), (node) => {
  if (node.kind !== 'list' || node.items.length === 0) return null
  const formats: DateFormat[] = []
  for (const item of node.items) {
    const written = scalarOf(item)?.value
    if (typeof written !== 'string') return null
    const format = parseDateFormat(written.trim())
    if (format instanceof BadDateFormat)
      return new ValueProblem(`must be ${DATES}; ${JSON.stringify(written)} ${format.problem}`)
    formats.push(format)
  }
  return formats
})

/** A list of texts. Numbers and booleans of YAML count as texts. */
function words(allowed: string): Key<readonly string[]> {
  const schema = listOf({ type: ['string', 'number', 'boolean'], minLength: 1 })
  return wholeKey(allowed, { ...schema, minItems: 0 }, (node) => {
    if (node.kind !== 'list') return null
    const found = node.items.map((item) => scalarOf(item)?.value)
    return found.every((value) => value !== undefined && value !== '') ? found.map(String) : null
  })
}

const flagWords = (example: string): Key<readonly string[]> =>
  words(`a list of words such as [${example}]`).map((found) => found.map((word) => word.trim().toLowerCase()))

/** The keys of `texts`, for all files or for one list. */
export function textKeys(fallback: string): Key<SaidTexts> {
  const or = (usual: string): string => (fallback === '' ? usual : fallback)
  return section({
    delimiter: delimiter.override(or("`','`")).says('The separator of cells in a CSV file: `,`, `;`, `|` or `tab`.'),
    encoding: encoding.override(or('`utf-8`')).says('The encoding, as a label of the WHATWG Encoding standard.'),
    decimal: decimal
      .override(or("`'.'`"))
      .says(
        'The decimal separator. If it is set, the other sign and blanks may group thousands: `1.250,00`, `1,250.00`.',
      ),
    currency: words("a list of signs and words such as ['€', EUR]")
      .override(or('`[]`'))
      .says('Signs and words allowed before or after a price, and ignored: `£12.00`, `18,50 EUR`.'),
    dates: dates
      .override(or('`[]`'))
      .says(
        'Date formats, tried in this order after ISO 8601. A single letter matches one or two digits, a doubled one exactly two; `A` is AM or PM.',
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
    headerRow: wholeNumber(1, 1000)
      .override(or('`1`'))
      .says('The row with the column names; rows above it are skipped.'),
  })
}
