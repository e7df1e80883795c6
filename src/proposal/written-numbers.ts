const NUMBER = /^[+-]?\d[\d.,'’\u00a0\u202f ]*(?:[,.]?[-–])?$/

/** Whether a text is a number, with a currency or without. */
export function isNumber(text: string): boolean {
  return NUMBER.test(withoutCurrency(text))
}

type DecimalSign = '.' | ',' | 'both' | null

/** Finds the decimal separator of numbers; `both` if they contradict each other or are ambiguous. */
export function decimalSign(numbers: readonly string[]): { readonly sign: DecimalSign; readonly example: string } {
  const bare = numbers.map(withoutCurrency)
  const marked = bare.filter((number) => /[.,]/.test(number))
  // Blanks that group thousands tell something only if no number has a decimal sign.
  const found = (marked.length === 0 ? bare : marked).map((example) => ({ sign: signOf(example), example }))
  const last = found.findLast(({ sign }) => sign === '.' || sign === ',')
  if (last === undefined) return found.findLast(({ sign }) => sign === 'both') ?? { sign: null, example: '' }
  const other = last.sign === ',' ? '.' : ','
  return found.some(({ sign }) => sign === other) ? { ...last, sign: 'both' } : last
}

function signOf(number: string): DecimalSign {
  const signs = number.replaceAll(/[^.,]/g, '')
  const last = signs.endsWith(',') ? ',' : '.'
  const isGrouped = GROUPED.test(number) && new Set(signs).size <= 1
  // Where blanks group thousands, a comma is decimal; an apostrophe does it in Switzerland, beside a point.
  if (signs === '' && /['’]/.test(number)) return '.'
  if (signs === '') return isGrouped ? ',' : null
  if (!isGrouped) return last
  // Repeated separators of one kind group thousands. A single one may be either.
  if (signs.length === 1) return 'both'
  return last === ',' ? '.' : ','
}

const GROUPED = /^[+-]?[1-9]\d{0,2}(?:[.,'’\u00a0\u202f ]\d{3})+$/

const CURRENCY = /^(?:\p{Sc}|[A-Z]{3}(?=[ \u00a0\d]))|(?:\p{Sc}|(?<=[ \u00a0\d])[A-Z]{3})$/u

function withoutCurrency(value: string): string {
  return value.trim().replace(CURRENCY, '').trim()
}

/** The currency signs and words next to numbers, each once. */
export function currenciesOf(numbers: readonly string[]): readonly string[] {
  return [...new Set(numbers.flatMap((value) => CURRENCY.exec(value.trim()) ?? []))]
}

/** Amounts, and groups of thousands, without the sign at their end: `18,-`. */
const AMOUNT = /\d{1,3}(?:[ '’\u00a0\u202f]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)*/g
/** Words and signs that stand between prices and say nothing that a lowest price leaves out. */
const PRICE_WORDS =
  /(?<!\p{L})(?:ab|dès|bis|von|und|oder|from|to|and|or|à partir de|de|à|et|ou|desde|hasta|y|a|da|vanaf|tot|en|e|o|vvk|ak|vorverkauf|abendkasse|erm(?:äßigt|ässigt)?|normal|regulär|voll|advance|door|doors|adults?|concessions?|students?|reduced|plein|réduit|tarif|general|reducida|intero|ridotto|regulier|korting|eur|euros?|gbp|usd|chf|sfr|fr)(?!\p{L})/giu

/** Whether a text is several prices, or one with words such as `ab`, of which the lowest is the price. */
export function isPriceText(text: string): boolean {
  const rest = text.replaceAll(AMOUNT, ' ').replaceAll(PRICE_WORDS, ' ')
  return /\d/.test(text) && /^[\p{Sc}\s.,;:/|()–—+-]*$/u.test(rest)
}

/** Whether a text of one price says that it is the lowest. */
export function saysFrom(text: string): boolean {
  return (
    pricesIn(text).length === 1 && /(?<!\p{L})(?:ab|von|from|dès|à partir de|de|desde|da|vanaf)(?!\p{L})/iu.test(text)
  )
}

/** The numbers in a text of prices, each with its currency. */
export function pricesIn(text: string): readonly string[] {
  return [...text.matchAll(AMOUNT)].map(([amount]) => amount)
}

/** Whether a text has a price with its currency, or without cents: it is picked, whatever the other words are. */
export function hasSurePrice(text: string): boolean {
  return SURE_PRICE.test(text)
}

const SURE_PRICE = /(?:\p{Sc}|\b(?:EUR|GBP|USD|CHF)) ?\d|\d ?(?:\p{Sc}|(?:EUR|GBP|USD|CHF)\b)|\d[.,] ?[-–—]{1,2}(?!\d)/u

/** The currencies of texts of prices. */
export function currenciesIn(text: string): readonly string[] {
  return [...text.matchAll(/\p{Sc}|\b(?:EUR|GBP|USD|CHF)\b/gu)].map(([mark]) => mark)
}
