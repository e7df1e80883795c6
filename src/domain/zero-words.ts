// Words that stand for 0 beside numbers, in English, German, French, Spanish, Dutch and Italian, without blanks and accents.

const FREE = new Set(
  'free freeentry freeadmission freeevent nocharge complimentary gratis kostenlos kostenfrei frei eintrittfrei freiereintritt eintrittkostenlos gratuit gratuite entreelibre entreegratuite libre gratuito gratuita entradalibre entradagratuita vrij gratistoegang toegangvrij vrijetoegang libero ingressolibero ingressogratuito entratalibera'.split(
    ' ',
  ),
)

const SOLD_OUT = new Set(
  'soldout full fullhouse fullybooked bookedout noticketsleft ausverkauft ausgebucht vergriffen keinekartenmehr complet complete toutcomplet sallecomplete guichetsfermes aguichetsfermes plusdeplaces plusdebillets completo completa aforocompleto agotado agotada agotados agotadas entradasagotadas localidadesagotadas lleno uitverkocht volgeboekt volzet vol esaurito esauriti esaurita esaurite tuttoesaurito postiesauriti bigliettiesauriti toutvendu epuise epuisee epuises epuisees'.split(
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

/**
 * Matches the beginning of a remark. Words such as `full` and `completo` begin remarks on other things too, unless a
 * sign follows.
 */
const SOLD_OUT_BEGINNING =
  /^(?:(?:sold[\s-]?out|fully[\s-]booked|booked[\s-]out|no tickets left|(?:(?:leider|restlos|bereits|schon) )?(?:ausverkauft|ausgebucht)|keine karten mehr|(?:tout )?complet|salle complète|(?:à )?guichets? ferm[ée]s?|plus de (?:places|billets)|tout vendu|(?:entradas |localidades )?agotad[oa]s?|aforo completo|uitverkocht|volgeboekt|volzet|(?:tutto |posti |biglietti )?esaurit[oiae])(?![\p{L}\p{M}])|(?:full(?: house)?|vergriffen|complète|complet[oa]|épuisée?s?|lleno|vol)(?=\s*(?:[^\p{L}\p{M}\p{N}\s]|$)))(?!\s*\?)/iu

/** The word of a text that says that no tickets are left, such as `ausverkauft, Warteliste an der Kasse`, if one does. */
export function soldOutWord(text: string): string | null {
  const trimmed = text.trim().normalize('NFC')
  return SOLD_OUT_BEGINNING.exec(trimmed)?.[0] ?? (isSoldOut(trimmed) && !trimmed.endsWith('?') ? trimmed : null)
}

/** As `soldOutWord`, for a column that may say other things: `full` may be a price. */
export function soldOutSaid(text: string): string | null {
  const word = soldOutWord(text)
  return word === null || bare(word) === 'full' ? null : word
}

function bare(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
}
