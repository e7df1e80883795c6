/**
 * Names of columns for each field of an event, in English, German, French, Spanish, Dutch and Italian, as `bareName`
 * writes them.
 */
export const EVENT_NAMES = {
  Id: words(
    'id guid uuid nr nummer numer number no code cod codice codigo kennung ref reference numero num eventid eventnr eventno eventnumber voorstnr voorstellingsnr veranstaltungsnr idevento identifiant',
  ),
  Name: words(
    'name title titel titre titolo titulo event eventname show showname production performance veranstaltung stuck nom nome nombre naam evento spectacle voorstelling bezeichnung intitule spettacolo espectaculo funcion',
  ),
  VenueId: words(
    'venueid venue venuename spielstatte spielort veranstaltungsort ort saal halle lieu salle lugar sala sede recinto plaats locatie zaal luogo location where wo ou donde dove waar',
  ),
  Start: words(
    'start starts startdate starttime startsat showtime begins beginn anfang datum date termin startet von debut heuredebut commence inicio comienzo fecha aanvang begin begint inizio inizia data uhrzeit startzeit orainizio horainicio aanvangstijd begintijd when wann quand cuando quando wanneer',
  ),
  Finish: words(
    'finish finishes end ends enddate endtime endsat ende endet schluss bis fin heurefin final einde eindigt slot fine finisce endzeit eindtijd einddatum orafine horafin',
  ),
  TicketCapacity: words(
    'ticketcapacity capacity maxcapacity cap platze kapazitat seats places capacite jauge aforo capacidad plazas capaciteit plaatsen capienza posti gesamtplatze sitzplatze kontingent contingent maxattendees maxparticipants maxteilnehmer maxtickets totaltickets totalseats totalspots totalplaces totalcapacity spots',
  ),
  TicketsAvailable: words(
    'ticketsavailable available availability remaining ticketsleft seatsleft left ticketsremaining seatsavailable placesavailable frei freieplatze platzefrei restplatze restkarten verfugbar verfugbareplatze disponible disponibles libres restantes placesrestantes placesdisponibles placeslibres plazaslibres plazasdisponibles beschikbaar nogbeschikbaar vrij nogvrij vrijeplaatsen disponibili postirimasti postidisponibili postiliberi bigliettidisponibili bigliettirimasti entradaslibres entradasdisponibles entradasrestantes localidadesdisponibles billetsdisponibles billetsrestants freiekarten verfugbarekarten resttickets kaartenbeschikbaar beschikbarekaarten beschikbareplaatsen spotsleft spotsremaining spotsavailable placesleft placesremaining remainingseats remainingtickets remainingspots remainingplaces availableseats availabletickets availablespots availableplaces openspots davonfrei nochfrei',
  ),
  Sold: words('sold verkauft ticketssold tixsold vendu vendus vendidos vendidas verkocht venduti'),
  Price: words(
    'price preis prix precio prijs prezzo eintritt tarif tarief ticketprice eintrittspreis kartenpreis ticketpreis prixdubillet prixbillet preciodeentrada ticketprijs prezzobiglietto cost ticketcost fee entryfee admissionfee kosten cout costo coste',
  ),
  Tags: words(
    'tags tag genre genres genere genero soort discipline sparte kategorie kategorien category categories categoria categorias categorie rubrik type art',
  ),
  ShowOnWeb: words(
    'showonweb web online veroffentlicht offentlich published publish publie enligne publicado gepubliceerd pubblicato website freigegeben public offentlichkeit publico pubblico openbaar publish readytopublish opwebsite opdewebsite publiceren pubblicare publier publicar aufwebsite veroffentlichen visibility visible sichtbarkeit sichtbar visibilite visibilidad visibilita zichtbaar pubblica pubblicaonline showonline publishonline onwebsite showonwebsite aufderwebsite imweb',
  ),
}

export const VENUE_NAMES = {
  Id: words('id guid uuid nr nummer number no code kennung ref numero venueid'),
  Name: words(
    'name venue venuename titel spielstatte spielort veranstaltungsort ort halle saal nom nome nombre naam lieu salle sala sede plaats locatie luogo bezeichnung',
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
    'addressstate state county bundesland kanton canton region regione provincia provincie prov estado departement',
  ),
  AddressCountry: words('addresscountry country land pays pais paese'),
  Latitude: words('latitude lat breitengrad breite latitud latitudine breedtegraad'),
  Longitude: words('longitude lon lng long langengrad lange longitud longitudine lengtegraad'),
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

export const ACTIVE_NAMES: readonly string[] = words('active isactive aktiv actif activo actief attivo')
export const STATUS_NAMES: readonly string[] = words('status state zustand statut etat estado stato')

/** Words for the states of an event, and what the further field `Status` calls them (contract §7). */
export const STATES = {
  cancelled: words(
    'cancelled canceled storniert abgesagt entfallt entfallen annule annulee cancelado cancelada anulado geannuleerd afgelast annullato annullata cancellato',
  ),
  postponed: words('postponed verschoben verlegt reporte reportee aplazado aplazada uitgesteld rinviato rinviata'),
  rescheduled: words('rescheduled'),
}

/** Names of columns that mark cancelled events. */
export const CANCELLED_NAMES: readonly string[] = [...STATES.cancelled, ...words('iscancelled iscanceled')]

const OFF_STATES: ReadonlySet<string> = new Set([
  ...STATES.cancelled,
  ...words('abgesetzt entwurf draft brouillon borrador bozza concept geloscht deleted archiviert archived'),
])

/** Returns true for a state of an event that does not take place or is not for the web. */
export function isOffState(text: string): boolean {
  return OFF_STATES.has(bareName(text))
}

const GOOD_STATES: ReadonlySet<string> = new Set([
  ...STATES.postponed,
  ...STATES.rescheduled,
  ...words(
    'ok active aktiv actif activo actief attivo confirmed bestatigt confirme confirmado bevestigd confermato fest fix scheduled geplant planned prevu programado gepland previsto published veroffentlicht onsale imverkauf soldout ausverkauft complet agotado uitverkocht esaurito',
  ),
])

/** Returns true for a state of an event that takes place. */
export function isGoodState(text: string): boolean {
  return GOOD_STATES.has(bareName(text))
}

function words(list: string): readonly string[] {
  return list.split(' ')
}

/** Normalizes a name for comparison: removes case, accents, blanks and signs; `#` and `Nº` are a number. */
export function bareName(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll('ß', 'ss')
    .replaceAll('#', 'nr')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
}

export function isNamed({ name }: Named, names: readonly string[]): boolean {
  return names.includes(bareName(name))
}

/** Names that may mean the venue or its town. */
export const TOWN_NAMES: readonly string[] = words('ort lieu lugar plaats luogo localite localidad localita place')

/** The names of all fields. */
const KNOWN: ReadonlySet<string> = new Set([EVENT_NAMES, VENUE_NAMES].flatMap((names) => Object.values(names).flat()))

const EVENT_FIELDS = new Set(Object.keys(EVENT_NAMES).map(bareName))
const VENUE_FIELDS = new Set(Object.keys(VENUE_NAMES).map(bareName))

/**
 * The field whose contract name a column has, possibly prefixed with the list's. `venue_name` is excluded: it may be an
 * event's venue.
 */
function ownField(bare: string): string | null {
  if (EVENT_FIELDS.has(bare) || VENUE_FIELDS.has(bare)) return bare
  const rest = bare.slice('event'.length)
  if (bare.startsWith('event') && EVENT_FIELDS.has(rest)) return rest
  return bare.startsWith('venue') && VENUE_FIELDS.has(rest) && !EVENT_FIELDS.has(rest) ? rest : null
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
    if (taken.has(column) || ownField(bare) !== null || KNOWN.has(bare)) return false
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
      column.name.includes('.') && !taken.has(column) && names.includes(bareName(column.name.split('.').at(-1) ?? '')),
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
  /einlass|doors?|admission|puertas|portes|porte|deuren|deadline|schluss|frist|vorverkauf|presale|sales?|verkauf|(?<!e)vente|venta|vendita|verkoop|ticketing|billetterie|anmeld|regist|inscri|iscriz|aanmeld|inschrijv|booking|buchung|reserv|modif|changed|updated?|geander|(?<!w)anderung|aender|aktualis|actuali[sz]|aggiorn|bijgewerkt|mise?ajour|erfass|hinzugefugt|saisi|ajoute|added|created?|erstellt|angelegt|^cree|cread|creat|aangemaakt|gewijzigd|bearbeit|edited|stand|timestamp|zeitstempel|import|export|publish|veroffentlich|publie|publicad|pubblic|gepubl|valid|gultig|limite|scadenza|plazo|cutoff|setup|aufbau|abbau|probe|rehears|soundcheck|pause|interval|entracte|cancel|storn|absage/

const GENERAL: ReadonlySet<string> = new Set(
  words('datum date termin fecha data uhrzeit heure hora ora tijd time zeit dag day jour tag dia giorno'),
)

export function momentRole(name: string): MomentRole {
  const bare = bareName(name)
  const parts = name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .map(bareName)
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
