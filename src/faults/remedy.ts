import type { Expected, ExpectedNumber } from '../domain/withheld.ts'
import { parseDateTimeText } from '../domain/date-time.ts'
import { isNo, isYes } from '../domain/flag-words.ts'

const FREE =
  /^(?:free|free admission|gratis|kostenlos|frei|eintritt frei|gratuit|entr[ée]e libre|gratuito|gratuita|ingresso libero|entrada libre)$/i

const SOLD_OUT =
  /^(?:sold[ -]?out|ausverkauft|ausgebucht|fully booked|complet|[ée]puis[ée]|agotado|completo|esaurito|uitverkocht|volgeboekt)[.!]?$/i

/** Returns what to write instead of an unreadable value, as an instruction; `null` if that is not evident. */
export function insteadOf(found: string, expected: Expected | null): string | null {
  const text = found.trim()
  const kind = expected?.kind
  if (kind === 'flag') {
    if (isYes(text)) return 'write yes'
    return isNo(text) ? 'write no' : null
  }
  if (kind === 'date-time' || kind === 'any-date-time' || kind === 'year-1-to-9999') return insteadOfDate(text)
  if (expected?.kind !== 'decimal' && expected?.kind !== 'integer') return null
  // "Frei" is a price of 0, but says of seats that some are left.
  return (expected.kind === 'decimal' ? FREE : SOLD_OUT).test(text) ? 'write 0' : insteadOfNumber(text, expected)
}

function insteadOfDate(text: string): string | null {
  // Dates with dots always have the day first. Dates with slashes are ambiguous.
  const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?:[ ,]+(\d{1,2}:\d{2}(?::\d{2})?))?$/.exec(text)
  if (dotted !== null) {
    const [, day = '', month = '', year = '', time = 'and the time'] = dotted
    const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
    if (!isThere(`${date} ${dotted[4] === undefined ? '00:00' : time.padStart(5, '0')}`)) return NOT_THERE
    return `write ${date} ${time.padStart(5, '0')}`
  }
  if (/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?$/.test(text) && !isThere(text)) return NOT_THERE
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return `write the time too, such as ${text} 19:30`
  const hasMonthName =
    /\p{L}{3,}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{1,2}\.?(?: de)? \p{L}{3,}\.?(?: de)? \d{4}/u.test(text)
  return hasMonthName || /\d[/.-]\d/.test(text) ? 'format the column as yyyy-mm-dd hh:mm' : null
}

const NOT_THERE = 'write a day and a time that exist'

function isThere(text: string): boolean {
  return parseDateTimeText(text) !== null
}

function insteadOfNumber(text: string, { kind, sign }: ExpectedNumber): string | null {
  const bare = text.replaceAll(/^[\s\p{Sc}]+|[\s\p{Sc}]+$|\b(?:EUR|USD|GBP|CHF)\b/gu, '').trim()
  const hasCurrency = bare !== text
  if (sign !== null) {
    return hasCurrency && /^[+-]?\d[\d.,' \u00a0\u202f]*$/.test(bare) ? `write ${bare}, without the currency` : null
  }
  const grouped = /^[+-]?\d{1,3}(?:([.,' \u00a0\u202f])\d{3})+$/.exec(bare)
  if (grouped !== null && (kind === 'integer' || grouped[1] !== ',')) {
    return `write ${bare.replaceAll(grouped[1] ?? '', '')}`
  }
  if (/^[+-]?[\d. \u00a0']+,\d+$/.test(bare)) {
    return `write ${bare.replaceAll(/[. \u00a0']/g, '').replace(',', '.')}${hasCurrency ? ', without the currency' : ''}`
  }
  return hasCurrency && /^[+-]?\d+(?:\.\d+)?$/.test(bare) ? `write ${bare}, without the currency` : null
}
