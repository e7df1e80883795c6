// Words for events that do not take place, or at another time, in English, German, French, Spanish, Dutch and Italian.

/** Names or words as `bareWord` writes them, with blanks between. */
export type Names = string

export const STATE_WORDS = {
  cancelled:
    'cancelled canceled calledoff storniert abgesagt entfallt entfallen falltaus ausgefallen annule annulee supprime supprimee cancelado cancelada anulado anulada suspendido suspendida geannuleerd afgelast vervallen vervalt annullato annullata cancellato cancellata soppresso soppressa',
  postponed:
    'postponed verschoben verlegt vertagt reporte reportee differe differee repousse repoussee aplazado aplazada pospuesto pospuesta uitgesteld verplaatst verzet rinviato rinviata posticipato posticipata',
  rescheduled:
    'rescheduled newdate neuertermin neuesdatum nouvelledate reprogramme reprogrammee nuevafecha reprogramado reprogramada nieuwedatum nuovadata riprogrammato riprogrammata',
} satisfies Readonly<Record<string, Names>>

/** Returns true if the words contain one. */
export function hasWord(names: Names, bare: string): boolean {
  return bare !== '' && ` ${names} `.includes(` ${bare} `)
}

/** A word without case, accents, blanks and signs. */
export function bareWord(text: string): string {
  return withoutAccents(text)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
}

export function withoutAccents(text: string): string {
  return text.normalize('NFKD').replaceAll('ß', 'ss').replaceAll(/\p{M}/gu, '')
}

/** The state that a text says: `verlegt auf 21.02.`, `Abgesagt!`, `leider abgesagt`. */
export function stateSaid(text: string): (typeof STATES)[number] | null {
  return stateBegun(text)?.state ?? null
}

/** As `stateSaid`, with the beginning of the text up to the word that says it. */
export function stateBegun(text: string): { readonly state: (typeof STATES)[number]; readonly word: string } | null {
  const sentence = text.trim()
  for (const { index } of sentence.matchAll(/(?<=[\p{L}\p{M}])(?![\p{L}\p{M}])/gu)) {
    const word = sentence.slice(0, index)
    const bare = bareWord(word)
    const state = STATES.find((each) => hasWord(STATE_WORDS[each], bare)) ?? stateEnding(word)
    if (state !== undefined) return { state, word }
    if (index > LONGEST_STATE) return null
  }
  return null
}

const STATES = ['cancelled', 'postponed', 'rescheduled'] as const
const LONGEST_STATE = 40

/**
 * The state that the last word or two say after others. `verlegt` and such are left out: `ins Große Haus verlegt` moves
 * only the place.
 */
function stateEnding(text: string): 'cancelled' | 'postponed' | undefined {
  const words = text.split(/[^\p{L}\p{M}]+/u).map(bareWord)
  if (words.some((word) => hasWord(NEGATIONS, word))) return undefined
  const ends = [words.at(-1) ?? '', words.slice(-2).join('')]
  if (ends.some((word) => hasWord(CANCELLED_WORDS, word))) return 'cancelled'
  return ends.some((word) => hasWord('verschoben vertagt postponed', word)) ? 'postponed' : undefined
}

const CANCELLED_WORDS: Names = `${STATE_WORDS.cancelled} absage`
const NEGATIONS: Names = 'nicht nie kein keine bei falls not never no if pas non niet geen'
