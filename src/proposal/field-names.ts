import type { ListName } from '../domain/field.ts'
import { type Names, bareWord, hasWord, STATE_WORDS, stateSaid, withoutAccents } from '../domain/state-words.ts'
import { soldOutWord } from '../domain/zero-words.ts'
import known from './field-names.json' with { type: 'json' }

/** The names of each field's column, and of those that say more of a list, such as which rows are hidden. */
export const {
  events: EVENT_NAMES,
  venues: VENUE_NAMES,
  /** Of the further fields that feeds read (contract §7). */
  further: FURTHER_NAMES,
  /** May mean the venue or its town. */
  towns: TOWN_NAMES,
  months: MONTH_NAMES,
  people: PEOPLE_NAMES,
  hidden: HIDDEN_NAMES,
  soldOut: SOLD_OUT_NAMES,
  /** Are the tickets left if words such as `ausverkauft` stand among the numbers. */
  tickets: TICKET_NAMES,
  allDay: ALL_DAY_NAMES,
  /** Say only weakly that a column holds tags: its values have to differ too. */
  weakTags: WEAK_TAGS,
  active: ACTIVE_NAMES,
  status: STATUS_NAMES,
} = known

/** Names of columns that mark cancelled events. */
export const CANCELLED_NAMES: Names = `${STATE_WORDS.cancelled} iscancelled iscanceled`

/** Words in the names of files and sheets that hold events, and of those that hold venues. */
const LIST_WORDS = {
  events:
    /event|veranstaltung|spielplan|program|termin|kalender|calend|agenda|\bshows?\b|concert|konzert|\bgigs?\b|evenement|voorstelling|spettacol|cartellone|spectacle|saison|season|stagione|temporada|schedule|performance|auffuhrung/,
  venues:
    /venue|\borte?\b|spielort|spielstatte|veranstaltungsort|\blocations?\b|\blieux?\b|\bsalles?\b|lugares|recinto|\bsale\b|luogh?[io]|\bsedi\b|locatie|podia|plaatsen|zalen|theat(?:er|re)s\b|\bplaces\b|\bhalls\b|\brooms\b|raume/,
} satisfies Readonly<Record<ListName, RegExp>>

/** The list that a file or sheet is named after; `null` if its name says neither or both. */
export function listNamed(title: string): ListName | null {
  const bare = withoutAccents(title)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, ' ')
  const isVenues = LIST_WORDS.venues.test(bare)
  const isEvents = LIST_WORDS.events.test(bare.replaceAll('veranstaltungsort', ''))
  return isVenues === isEvents ? null : isVenues ? 'venues' : 'events'
}

/** Returns true for a state of an event that does not take place or is not for the web. */
export function isOffState(text: string): boolean {
  return hasWord(known.offStates, bareName(text)) || stateSaid(text) === 'cancelled'
}

/** Returns true for a state of an event that takes place, perhaps later. */
export function isGoodState(text: string): boolean {
  const state = stateSaid(text)
  return (
    hasWord(known.goodStates, bareName(text)) || soldOutWord(text) !== null || (state !== null && state !== 'cancelled')
  )
}

/** Normalizes a name for comparison: removes case, accents, blanks and signs; `#` and `Nº` are a number. */
export function bareName(name: string): string {
  return bareWord(withoutWrapper(name).replaceAll('#', 'nr'))
}

/** The name without what GeoJSON, JSON:API, Airtable and Drupal put before the name of every column. */
export function withoutWrapper(name: string): string {
  return name.replace(/^(?:(?:properties|attributes|fields)\.)?(?:field_)?/, '')
}

export function isNamed({ name }: Named, names: Names): boolean {
  const bare = bareName(name)
  return hasWord(names, bare) || hasWord(names, ownField(bare) ?? bare)
}

function wordsOf(names: Readonly<Record<string, Names>>): Names {
  return [...Object.keys(names).map(bareName), ...Object.values(names)].join(' ')
}

const [EVENT_WORDS, VENUE_WORDS] = [wordsOf(EVENT_NAMES), wordsOf(VENUE_NAMES)]
const OWN_NAMES = [EVENT_NAMES, VENUE_NAMES].flatMap((names) => Object.keys(names).map(bareName)).join(' ')

/**
 * The name of a column without the list's: `EVENT COST`, `VENUE CITY`. `null` if it is no such name, and for
 * `venue_name`, which may be an event's venue.
 */
function ownField(bare: string): string | null {
  if (hasWord(OWN_NAMES, bare)) return bare
  const rest = bare.slice('event'.length)
  if (bare.startsWith('event') && hasWord(EVENT_WORDS, rest)) return rest
  const isOfEither = hasWord(EVENT_NAMES.Id, rest) || hasWord(EVENT_NAMES.Name, rest)
  return bare.startsWith('venue') && hasWord(VENUE_WORDS, rest) && !isOfEither ? rest : null
}

const NONE: ReadonlySet<Named> = new Set()

interface Named {
  readonly name: string
}

/**
 * Finds the free column that matches one of the names best. If a column is named like another field, only an exact
 * match counts.
 */
export function named<Item extends Named>(
  columns: readonly Item[],
  names: Names,
  taken: ReadonlySet<Named> = NONE,
): Item | null {
  const exactly = namedExactly(columns, names, taken)
  if (exactly !== null) return exactly
  const loose = columns.find((column) => {
    const bare = bareName(column.name)
    if (taken.has(column) || ownField(bare) !== null || hasWord(`${EVENT_WORDS} ${VENUE_WORDS}`, bare)) return false
    return names.split(' ').some((name) => name.length > 3 && bare.startsWith(name))
  })
  return loose ?? null
}

/** As `named`, but also finds a column of an inner object, such as `address.city`, by the last part of its name. */
export function namedAnywhere<Item extends Named>(
  columns: readonly Item[],
  names: Names,
  taken: ReadonlySet<Named>,
): Item | null {
  const within = columns.find(
    (column) =>
      column.name.includes('.') &&
      !taken.has(column) &&
      hasWord(names, bareName(/[^.]+(?:\.\d)?$/.exec(column.name)?.[0] ?? '')),
  )
  return namedExactly(columns, names, taken) ?? within ?? named(columns, names, taken)
}

/** Finds the first free column with one of the names, in the order of the names. */
export function namedExactly<Item extends Named>(
  columns: readonly Item[],
  names: Names,
  taken: ReadonlySet<Named> = NONE,
): Item | null {
  const free = columns.flatMap((column) => {
    const bare = bareName(column.name)
    return taken.has(column) ? [] : [{ column, bare: ownField(bare) ?? bare }]
  })
  for (const name of names.split(' ')) {
    const found = free.find(({ bare }) => bare === name)
    if (found !== undefined) return found.column
  }
  return null
}

/** The role of a date column according to its name: `date` may be either end of an event, `other` is neither. */
export type MomentRole = 'start' | 'finish' | 'date' | 'other' | null

/** Matches names of other dates: doors, deadlines, sales, and a CRM's own dates of rows, in six languages. */
const OTHERS =
  /^post|einlass|doors?|admission|puertas|portes|porte|deuren|deadline|schluss|frist|vorverkauf|presale|sales?|verkauf|(?<!e)vente|venta|vendita|verkoop|ticketing|billetterie|anmeld|regist|inscri|iscriz|aanmeld|inschrijv|booking|buchung|reserv|modif|changed|updated?|geander|(?<!w)anderung|aender|aktualis|actuali[sz]|aggiorn|bijgewerkt|mise?ajour|erfass|hinzugefugt|saisi|ajoute|added|created?|erstellt|angelegt|^cree|cread|creat|aangemaakt|gewijzigd|bearbeit|edited|stand|timestamp|zeitstempel|import|export|publish|veroffentlich|publie|publicad|pubblic|gepubl|valid|gultig|limite|scadenza|plazo|cutoff|setup|aufbau|abbau|probe|rehears|soundcheck|pause|interval|entracte|erinner|remind|rappel|recordatorio|aviso|herinner|promemoria|cancel|storn|absage|dauer|duree|duration|duracion|durata|duur/

export function momentRole(name: string): MomentRole {
  const bare = bareName(name)
  const all = withoutWrapper(name)
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .map(bareName)
  const parts = all.filter((part) => !hasWord(known.between, part))
  const last = all.length > 1 ? (all.at(-1) ?? '') : ''
  if (hasWord(known.dates, bare)) return 'date'
  if (hasWord(EVENT_NAMES.Finish, bare)) return 'finish'
  if (hasWord(EVENT_NAMES.Start, bare)) return 'start'
  if (OTHERS.test(bare)) return 'other'
  // `date_from`, `Datum von`, `Fecha hasta`.
  if (parts.some((part) => hasWord(EVENT_NAMES.Finish, part)) || isBound(last, EVENT_NAMES.Finish)) return 'finish'
  if (isBound(last, EVENT_NAMES.Start)) return 'start'
  if (parts.some((part) => !hasWord(known.dates, part) && hasWord(EVENT_NAMES.Start, part))) return 'start'
  if (ENDING.test(bare)) return 'finish'
  if (BEGINNING.test(bare)) return 'start'
  return parts.some((part) => hasWord(known.dates, part)) ? 'date' : null
}

function isBound(last: string, names: Names): boolean {
  return hasWord(known.between, last) && hasWord(names, last)
}

// Match compound words: Enddatum, Veranstaltungsende, Startdatum.
const ENDING = /^(?:end|eind|einde|fin|fine)(?:datum|date|zeit|time|uhrzeit|tijd|um|at)|ende(?:zeit|datum)?$/
const BEGINNING =
  /^(?:start|begin|beginn|anfang|inizio|inicio|debut)(?:datum|date|zeit|time|uhrzeit|tijd|um|at)|beginn$/
