import { bareName, EVENT_NAMES } from './field-names.ts'

/** The role of a date column according to its name: `date` may be either end of an event, `other` is neither. */
export type MomentRole = 'start' | 'finish' | 'date' | 'other' | null

/** Matches names of other dates: doors, deadlines, sales, and a CRM's own dates of rows, in six languages. */
const OTHERS =
  /einlass|doors?|admission|puertas|portes|porte|deuren|deadline|schluss|frist|vorverkauf|presale|sales?|verkauf|(?<!e)vente|venta|vendita|verkoop|ticketing|billetterie|anmeld|regist|inscri|iscriz|aanmeld|inschrijv|booking|buchung|reserv|modif|changed|updated?|geander|(?<!w)anderung|aender|aktualis|actuali[sz]|aggiorn|bijgewerkt|mise?ajour|erfass|hinzugefugt|saisi|ajoute|added|created?|erstellt|angelegt|^cree|cread|creat|aangemaakt|gewijzigd|bearbeit|edited|stand|timestamp|zeitstempel|import|export|publish|veroffentlich|publie|publicad|pubblic|gepubl|valid|gultig|limite|scadenza|plazo|cutoff|setup|aufbau|abbau|probe|rehears|soundcheck|pause|interval|entracte|cancel|storn|absage/

const GENERAL: ReadonlySet<string> = new Set(
  'datum date termin fecha data uhrzeit heure hora ora tijd time zeit dag day jour tag dia giorno'.split(' '),
)

export function momentRole(name: string): MomentRole {
  const bare = bareName(name)
  const words = name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .map(bareName)
  if (GENERAL.has(bare)) return 'date'
  if (EVENT_NAMES.Finish.includes(bare)) return 'finish'
  if (EVENT_NAMES.Start.includes(bare)) return 'start'
  if (OTHERS.test(bare)) return 'other'
  if (words.some((word) => EVENT_NAMES.Finish.includes(word))) return 'finish'
  if (words.some((word) => !GENERAL.has(word) && EVENT_NAMES.Start.includes(word))) return 'start'
  if (ENDING.test(bare)) return 'finish'
  if (BEGINNING.test(bare)) return 'start'
  return words.some((word) => GENERAL.has(word)) ? 'date' : null
}

// Match compound words: Enddatum, Veranstaltungsende, Startdatum.
const ENDING = /^(?:end|eind|einde|fin|fine)(?:datum|date|zeit|time|uhrzeit|tijd|um|at)|ende(?:zeit|datum)?$/
const BEGINNING =
  /^(?:start|begin|beginn|anfang|inizio|inicio|debut)(?:datum|date|zeit|time|uhrzeit|tijd|um|at)|beginn$/
