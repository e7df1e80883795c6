// Words that stand for 0 beside numbers, in English, German, French, Spanish, Dutch and Italian, without blanks and accents.

const FREE = new Set(
  'free freeentry freeadmission freeevent nocharge complimentary gratis kostenlos kostenfrei frei eintrittfrei freiereintritt eintrittkostenlos gratuit gratuite entreelibre entreegratuite libre gratuito gratuita entradalibre entradagratuita vrij gratistoegang toegangvrij vrijetoegang libero ingressolibero ingressogratuito entratalibera'.split(
    ' ',
  ),
)

const SOLD_OUT = new Set(
  'soldout full fullybooked ausverkauft ausgebucht complet completo completa agotado agotada agotadas uitverkocht volgeboekt esaurito esauriti esaurita toutvendu epuise'.split(
    ' ',
  ),
)

/** Whether a word means a price of 0. */
export function isFree(text: string): boolean {
  return FREE.has(bare(text))
}

/** Whether a word means that no tickets are left. */
export function isSoldOut(text: string): boolean {
  return SOLD_OUT.has(bare(text))
}

/** Matches the beginning of a remark. Words such as `full` and `complet` begin remarks on other things too. */
const SOLD_OUT_BEGINNING =
  /^(?:sold[\s-]?out|fully[\s-]booked|ausverkauft|ausgebucht|agotad[oa]s?|uitverkocht|volgeboekt|esaurit[oia])(?![\p{L}\p{M}])(?!\s*\?)/iu

/** The word of a text that says that no tickets are left, such as `ausverkauft, Warteliste an der Kasse`, if one does. */
export function soldOutWord(text: string): string | null {
  const trimmed = text.trim()
  return SOLD_OUT_BEGINNING.exec(trimmed)?.[0] ?? (isSoldOut(trimmed) ? trimmed : null)
}

function bare(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
}
