import type { ListName } from '../domain/field.ts'

/**
 * Names of columns for each field of an event, in English, German, French, Spanish, Dutch and Italian, as `bareName`
 * writes them.
 */
export const EVENT_NAMES = {
  Id: words(
    'id guid uuid nr nummer numer number no code cod codice codigo kennung ref reference numero num eventid eventnr eventno eventnumber voorstnr voorstellingsnr veranstaltungsnr idevento identifiant',
  ),
  Name: words(
    'name title titel titre titolo titulo event eventname show showname production performance veranstaltung stuck nom nome nombre naam evento spectacle voorstelling bezeichnung intitule spettacolo espectaculo funcion subject betreff summary kurs course actividad activite attivita activiteit activity film konzert concert',
  ),
  VenueId: words(
    'venueid venue venuename spielstatte spielort veranstaltungsort location locatie recinto halle saal salle sala sede zaal podium room hall theatre theater teatro where wo ou donde dove waar raum ort lieu lugar plaats luogo place',
  ),
  Start: words(
    'start starts startdate starttime startsat showtime begins beginn anfang datum date termin startet von debut heuredebut commence inicio comienzo fecha aanvang begin begint inizio inizia data uhrzeit startzeit orainizio horainicio aanvangstijd begintijd when wann quand cuando quando wanneer from von vom ab du desde dal van vanaf dtstart',
  ),
  Finish: words(
    'finish finishes end ends enddate endtime endsat ende endet schluss bis fin heurefin final einde eindigt slot fine finisce endzeit eindtijd einddatum orafine horafin to until till thru through au jusquau hasta tot al dtend',
  ),
  TicketCapacity: words(
    'ticketcapacity capacity maxcapacity cap platze kapazitat seats places capacite jauge aforo capacidad plazas capaciteit plaatsen capienza posti gesamtplatze sitzplatze kontingent contingent maxattendees maxparticipants maxteilnehmer maxtickets totaltickets totalseats totalspots totalplaces totalcapacity spots',
  ),
  TicketsAvailable: words(
    'ticketsavailable available availability remaining ticketsleft seatsleft left ticketsremaining seatsavailable placesavailable frei freieplatze platzefrei restplatze restkarten verfugbar verfugbareplatze disponible disponibles libres restantes placesrestantes placesdisponibles placeslibres plazaslibres plazasdisponibles beschikbaar nogbeschikbaar vrij nogvrij vrijeplaatsen disponibili postirimasti postidisponibili postiliberi bigliettidisponibili bigliettirimasti entradaslibres entradasdisponibles entradasrestantes localidadesdisponibles billetsdisponibles billetsrestants freiekarten verfugbarekarten resttickets kaartenbeschikbaar beschikbarekaarten beschikbareplaatsen spotsleft spotsremaining spotsavailable placesleft placesremaining remainingseats remainingtickets remainingspots remainingplaces availableseats availabletickets availablespots availableplaces openspots davonfrei nochfrei',
  ),
  Sold: words('sold verkauft ticketssold tixsold vendu vendus vendidos vendidas verkocht venduti'),
  Price: words(
    'price preis prix precio prijs prezzo eintritt tarif tarief ticketprice eintrittspreis kartenpreis ticketpreis prixdubillet prixbillet preciodeentrada ticketprijs prezzobiglietto cost ticketcost fee entryfee admissionfee kosten cout costo coste admission gebuhr entrada biglietto minprice',
  ),
  Tags: words(
    'tags genre genres genere genero soort discipline sparte kategorie kategorien category categories categoria categorias categorie rubrik schlagworte schlagworter stichworte keywords motscles etiquetas etiquettes trefwoorden parolechiave palabrasclave type art',
  ),
  ShowOnWeb: words(
    'showonweb web online veroffentlicht offentlich published publish publie enligne publicado gepubliceerd pubblicato website freigegeben public offentlichkeit publico pubblico openbaar publish readytopublish opwebsite opdewebsite publiceren pubblicare publier publicar aufwebsite veroffentlichen visibility visible sichtbarkeit sichtbar visibilite visibilidad visibilita zichtbaar pubblica pubblicaonline showonline publishonline onwebsite showonwebsite aufderwebsite imweb',
  ),
}

export const VENUE_NAMES = {
  Id: words('id guid uuid nr nummer number no code kennung ref numero venueid'),
  Name: words(
    'name venue venuename titel spielstatte spielort veranstaltungsort ort halle saal nom nome nombre naam lieu salle sala sede plaats locatie luogo bezeichnung location recinto podium room',
  ),
  AddressStreet1: words(
    'addressstreet1 street address strasse adresse anschrift rue calle direccion straat adres via indirizzo',
  ),
  AddressStreet2: words('addressstreet2 street2 address2 adresse2 zusatz complement'),
  AddressCity: words(
    'addresscity city town stadt gemeinde ville commune ciudad poblacion municipio stad woonplaats citta comune',
  ),
  AddressPostalCode: words(
    'addresspostalcode postalcode postcode zip zipcode plz postleitzahl codepostal cp codigopostal cap',
  ),
  AddressState: words(
    'addressstate state county bundesland kanton canton region regione provincia provincie prov estado departement stateprovince province',
  ),
  AddressCountry: words('addresscountry country land pays pais paese'),
  Latitude: words('latitude lat breitengrad breite latitud latitudine breedtegraad coordinates1'),
  Longitude: words('longitude lon lng long langengrad lange longitud longitudine lengtegraad coordinates0'),
  Telephone: words('telephone phone tel telefon telefono telefoon telefonnummer'),
  Website: words('website url homepage web site webpage webseite paginaweb sitioweb siteweb siteinternet sitoweb sito'),
  Description: words('description beschreibung descripcion beschrijving omschrijving descrizione text info'),
}

/** Names of columns for the further fields that feeds read (contract §7). */
export const FURTHER_NAMES = {
  Description: words(
    'description beschreibung kurztext text info inhalt teaser blurb synopsis summary excerpt descripcion sinopsis resumen beschrijving omschrijving descrizione sinossi resume',
  ),
  Image: words(
    'image bild picture photo foto imageurl bildurl poster plakat imagen cartel afbeelding immagine locandina visuel affiche',
  ),
}

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

/** Names of columns that only tables of people have. */
export const PEOPLE_NAMES: readonly string[] = words(
  'firstname lastname surname forename vorname nachname familienname prenom nomdefamille apellido apellidos cognome voornaam achternaam birthday birthdate dateofbirth dob geburtstag geburtsdatum datedenaissance fechadenacimiento datadinascita geboortedatum salutation anrede',
)

/** Names of columns that say which rows to keep from the public. */
export const HIDDEN_NAMES: readonly string[] = words(
  'hidefromeventlistings hidefromlistings hidden hide ishidden isprivate private versteckt verborgen masque cache oculto nascosto',
)

/** Names of columns that mark what is sold out. */
export const SOLD_OUT_NAMES: readonly string[] = words(
  'soldout issoldout ausverkauft ausgebucht complet completo agotado uitverkocht esaurito',
)

/** Names that are the tickets left if words such as `ausverkauft` stand among the numbers. */
export const TICKET_NAMES: readonly string[] = words('tickets karten billets entradas kaarten biglietti places platze')

export const ALL_DAY_NAMES: readonly string[] = words(
  'allday alldayevent isallday ganztagig ganztags journeeentiere toutelajournee todoeldia tuttoilgiorno heledag',
)

/** Names that say only weakly that a column holds tags: its values have to differ too. */
export const WEAK_TAGS: readonly string[] = words(
  'type art soort discipline category categories categorie kategorie rubrik',
)

export const ACTIVE_NAMES: readonly string[] = words('active isactive aktiv actif activo actief attivo')
export const STATUS_NAMES: readonly string[] = words('status state zustand statut etat estado stato')

/** Words for the states of an event, and what the further field `Status` calls them (contract §7). */
export const STATES = {
  cancelled: words(
    'cancelled canceled calledoff storniert abgesagt entfallt entfallen falltaus ausgefallen annule annulee supprime supprimee cancelado cancelada anulado anulada suspendido suspendida geannuleerd afgelast vervallen vervalt annullato annullata cancellato cancellata soppresso soppressa',
  ),
  postponed: words(
    'postponed verschoben verlegt vertagt reporte reportee differe differee repousse repoussee aplazado aplazada pospuesto pospuesta uitgesteld verplaatst verzet rinviato rinviata posticipato posticipata',
  ),
  rescheduled: words(
    'rescheduled newdate neuertermin neuesdatum nouvelledate reprogramme reprogrammee nuevafecha reprogramado reprogramada nieuwedatum nuovadata riprogrammato riprogrammata',
  ),
}

/** Names of columns that mark cancelled events. */
export const CANCELLED_NAMES: readonly string[] = [...STATES.cancelled, ...words('iscancelled iscanceled')]

const OFF_STATES: ReadonlySet<string> = new Set(
  words('abgesetzt entwurf draft brouillon borrador bozza concept geloscht deleted archiviert archived'),
)

/** Returns true for a state of an event that does not take place or is not for the web. */
export function isOffState(text: string): boolean {
  return OFF_STATES.has(bareName(text)) || stateSaid(text) === 'cancelled'
}

/** The state that a text begins with: `verlegt auf 21.02.`, `Abgesagt!`. */
export function stateSaid(text: string): keyof typeof STATES | null {
  return stateBegun(text)?.state ?? null
}

/** As `stateSaid`, with the word that says it, as it is written. */
export function stateBegun(text: string): { readonly state: keyof typeof STATES; readonly word: string } | null {
  const said = text.trim()
  for (const { index } of said.matchAll(/(?<=[\p{L}\p{M}])(?![\p{L}\p{M}])/gu)) {
    const word = said.slice(0, index)
    const bare = bareName(word)
    const state = STATE_NAMES.find((each) => STATES[each].includes(bare))
    if (state !== undefined) return { state, word }
    if (bare.length > LONGEST_STATE) return null
  }
  return null
}

const STATE_NAMES = ['cancelled', 'postponed', 'rescheduled'] as const
const LONGEST_STATE = 20

const GOOD_STATES: ReadonlySet<string> = new Set(
  words(
    'ok stattfindend findetstatt active aktiv actif activo actief attivo confirmed bestatigt confirme confirmado bevestigd confermato fest fix scheduled geplant planned prevu programado gepland previsto published veroffentlicht onsale imverkauf soldout ausverkauft complet agotado uitverkocht esaurito',
  ),
)

/** Returns true for a state of an event that takes place, perhaps later. */
export function isGoodState(text: string): boolean {
  const state = stateSaid(text)
  return GOOD_STATES.has(bareName(text)) || (state !== null && state !== 'cancelled')
}

function words(list: string): readonly string[] {
  return list.split(' ')
}

/** Normalizes a name for comparison: removes case, accents, blanks and signs; `#` and `Nº` are a number. */
export function bareName(name: string): string {
  return withoutAccents(name.replaceAll('#', 'nr'))
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
}

function withoutAccents(text: string): string {
  return text.normalize('NFKD').replaceAll('ß', 'ss').replaceAll(/\p{M}/gu, '')
}

export function isNamed({ name }: Named, names: readonly string[]): boolean {
  const bare = bareName(name)
  return names.includes(bare) || names.includes(ownField(bare) ?? bare)
}

/** Names that may mean the venue or its town. */
export const TOWN_NAMES: readonly string[] = words('ort lieu lugar plaats luogo localite localidad localita place')

function wordsOf(names: Readonly<Record<string, readonly string[]>>): ReadonlySet<string> {
  return new Set([...Object.keys(names).map(bareName), ...Object.values(names).flat()])
}

const [EVENT_WORDS, VENUE_WORDS] = [wordsOf(EVENT_NAMES), wordsOf(VENUE_NAMES)]
const OWN_NAMES = new Set([EVENT_NAMES, VENUE_NAMES].flatMap((names) => Object.keys(names).map(bareName)))

/**
 * The name of a column without the list's: `EVENT COST`, `VENUE CITY`. `null` if it is no such name, and for
 * `venue_name`, which may be an event's venue.
 */
function ownField(bare: string): string | null {
  if (OWN_NAMES.has(bare)) return bare
  const rest = bare.slice('event'.length)
  if (bare.startsWith('event') && EVENT_WORDS.has(rest)) return rest
  const isOfEither = [...EVENT_NAMES.Id, ...EVENT_NAMES.Name].includes(rest)
  return bare.startsWith('venue') && VENUE_WORDS.has(rest) && !isOfEither ? rest : null
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
  names: readonly string[],
  taken: ReadonlySet<Named> = NONE,
): Item | null {
  const exactly = namedExactly(columns, names, taken)
  if (exactly !== null) return exactly
  const loose = columns.find((column) => {
    const bare = bareName(column.name)
    if (taken.has(column) || ownField(bare) !== null || EVENT_WORDS.has(bare) || VENUE_WORDS.has(bare)) return false
    return names.some((name) => name.length > 3 && bare.startsWith(name))
  })
  return loose ?? null
}

/** As `named`, but also finds a column of an inner object, such as `address.city`, by the last part of its name. */
export function namedAnywhere<Item extends Named>(
  columns: readonly Item[],
  names: readonly string[],
  taken: ReadonlySet<Named>,
): Item | null {
  const within = columns.find(
    (column) =>
      column.name.includes('.') &&
      !taken.has(column) &&
      names.includes(bareName(/[^.]+(?:\.\d)?$/.exec(column.name)?.[0] ?? '')),
  )
  return namedExactly(columns, names, taken) ?? within ?? named(columns, names, taken)
}

/** Finds the first free column with one of the names, in the order of the names. */
export function namedExactly<Item extends Named>(
  columns: readonly Item[],
  names: readonly string[],
  taken: ReadonlySet<Named> = NONE,
): Item | null {
  const free = columns.flatMap((column) => {
    const bare = bareName(column.name)
    return taken.has(column) ? [] : [{ column, bare: ownField(bare) ?? bare }]
  })
  for (const name of names) {
    const found = free.find(({ bare }) => bare === name)
    if (found !== undefined) return found.column
  }
  return null
}

/** The role of a date column according to its name: `date` may be either end of an event, `other` is neither. */
export type MomentRole = 'start' | 'finish' | 'date' | 'other' | null

/** Matches names of other dates: doors, deadlines, sales, and a CRM's own dates of rows, in six languages. */
const OTHERS =
  /einlass|doors?|admission|puertas|portes|porte|deuren|deadline|schluss|frist|vorverkauf|presale|sales?|verkauf|(?<!e)vente|venta|vendita|verkoop|ticketing|billetterie|anmeld|regist|inscri|iscriz|aanmeld|inschrijv|booking|buchung|reserv|modif|changed|updated?|geander|(?<!w)anderung|aender|aktualis|actuali[sz]|aggiorn|bijgewerkt|mise?ajour|erfass|hinzugefugt|saisi|ajoute|added|created?|erstellt|angelegt|^cree|cread|creat|aangemaakt|gewijzigd|bearbeit|edited|stand|timestamp|zeitstempel|import|export|publish|veroffentlich|publie|publicad|pubblic|gepubl|valid|gultig|limite|scadenza|plazo|cutoff|setup|aufbau|abbau|probe|rehears|soundcheck|pause|interval|entracte|cancel|storn|absage|dauer|duree|duration|duracion|durata|duur/

const GENERAL: ReadonlySet<string> = new Set(
  words('datum date dates termin fecha data uhrzeit heure hora ora tijd time zeit dag day jour tag dia giorno'),
)

/** Words that are an end of an event only if they are the whole name. */
const BETWEEN: ReadonlySet<string> = new Set(words('from von vom ab du desde dal van vanaf to till au hasta tot al'))

export function momentRole(name: string): MomentRole {
  const bare = bareName(name)
  const parts = name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .map(bareName)
    .filter((part) => !BETWEEN.has(part))
  if (GENERAL.has(bare)) return 'date'
  if (EVENT_NAMES.Finish.includes(bare)) return 'finish'
  if (EVENT_NAMES.Start.includes(bare)) return 'start'
  if (OTHERS.test(bare)) return 'other'
  if (parts.some((part) => EVENT_NAMES.Finish.includes(part))) return 'finish'
  if (parts.some((part) => !GENERAL.has(part) && EVENT_NAMES.Start.includes(part))) return 'start'
  if (ENDING.test(bare)) return 'finish'
  if (BEGINNING.test(bare)) return 'start'
  return parts.some((part) => GENERAL.has(part)) ? 'date' : null
}

// Match compound words: Enddatum, Veranstaltungsende, Startdatum.
const ENDING = /^(?:end|eind|einde|fin|fine)(?:datum|date|zeit|time|uhrzeit|tijd|um|at)|ende(?:zeit|datum)?$/
const BEGINNING =
  /^(?:start|begin|beginn|anfang|inizio|inicio|debut)(?:datum|date|zeit|time|uhrzeit|tijd|um|at)|beginn$/
