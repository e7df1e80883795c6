import type { Column } from './column.ts'

/** What columns are called that hold a field, in English, German, French, Spanish, Dutch and Italian; without accents and blanks. */
export const EVENT_NAMES = {
  Id: words(
    'id guid uuid nr nummer numer number no code kennung ref reference numero eventid veranstaltungsnr idevento identifiant',
  ),
  Name: words(
    'name title titel titre titolo titulo event eventname veranstaltung stuck nom nome nombre naam evento spectacle voorstelling bezeichnung',
  ),
  VenueId: words(
    'venueid venue ort spielort veranstaltungsort saal halle lieu salle lugar sala sede recinto plaats locatie zaal luogo location',
  ),
  Start: words(
    'start startdate starttime beginn anfang datum date termin startet von debut heuredebut inicio fecha aanvang begin inizio data uhrzeit startzeit',
  ),
  Finish: words('finish end enddate endtime ende schluss bis fin heurefin final einde slot fine endzeit'),
  TicketCapacity: words(
    'ticketcapacity capacity platze kapazitat seats places capacite jauge aforo capacidad plazas capaciteit plaatsen capienza posti',
  ),
  TicketsAvailable: words(
    'ticketsavailable available frei freieplatze restplatze verfugbar disponible disponibles libres beschikbaar vrij disponibili placeslibres',
  ),
  Sold: words('sold verkauft ticketssold vendu vendus vendidos vendidas verkocht venduti'),
  Price: words('price preis prix precio prijs prezzo eintritt tarif tarief'),
  Tags: words(
    'tags tag genre sparte kategorie kategorien category categories categoria categorias categorie rubrik type art',
  ),
  ShowOnWeb: words(
    'showonweb web online veroffentlicht offentlich published publish publie enligne publicado gepubliceerd pubblicato website freigegeben',
  ),
}

export const VENUE_NAMES = {
  Id: words('id guid uuid nr nummer number no code kennung ref numero venueid'),
  Name: words(
    'name venue titel ort spielort halle saal nom nome nombre naam lieu salle sala sede plaats locatie luogo bezeichnung',
  ),
  AddressStreet1: words(
    'addressstreet1 street address strasse adresse anschrift rue calle direccion straat adres via indirizzo',
  ),
  AddressStreet2: words('addressstreet2 street2 address2 adresse2 zusatz complement'),
  AddressCity: words('addresscity city town stadt gemeinde ville ciudad stad citta comune'),
  AddressPostalCode: words(
    'addresspostalcode postalcode postcode zip zipcode plz postleitzahl codepostal cp codigopostal cap',
  ),
  AddressState: words('addressstate state county bundesland region provincia provincie'),
  AddressCountry: words('addresscountry country land pays pais paese'),
  Latitude: words('latitude lat breitengrad breite latitud latitudine breedtegraad'),
  Longitude: words('longitude lon lng long langengrad lange longitud longitudine lengtegraad'),
  Telephone: words('telephone phone tel telefon telefono telefoon telefonnummer'),
  Website: words('website url homepage web site webseite sitioweb sito'),
  Description: words('description beschreibung descripcion beschrijving descrizione text info'),
}

/** Words of a column that says whether an event is on the web. */
export const YES_WORDS: ReadonlySet<string> = new Set(
  words('x ja yes y j wahr true 1 oui vrai si sí verdadero vero waar on'),
)

export const NO_WORDS: ReadonlySet<string> = new Set(words('- nein no n falsch false 0 non faux nee onwaar falso off'))

export const CANCELLED_NAMES: readonly string[] = words(
  'cancelled canceled iscancelled iscanceled storniert abgesagt entfallt annule annulee cancelado cancelada anulado geannuleerd afgelast annullato annullata cancellato',
)
export const ACTIVE_NAMES: readonly string[] = words('active isactive aktiv actif activo actief attivo')
export const STATUS_NAMES: readonly string[] = words('status state zustand statut etat estado stato')

function words(list: string): readonly string[] {
  return list.split(' ')
}

/** A name as it is compared: without case, accents, blanks and signs. */
export function bareName(name: string): string {
  return name
    .normalize('NFD')
    .replaceAll('ß', 'ss')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
}

export function isNamed({ name }: Pick<Column, 'name'>, names: readonly string[]): boolean {
  return names.includes(bareName(name))
}

const EVENT_FIELDS = new Set(Object.keys(EVENT_NAMES).map(bareName))
const VENUE_FIELDS = new Set(Object.keys(VENUE_NAMES).map(bareName))

/** The field of the contract whose own name a column has, also behind that of its list; `venue_name` may be an event's venue. */
function ownField(bare: string): string | null {
  if (EVENT_FIELDS.has(bare) || VENUE_FIELDS.has(bare)) return bare
  const rest = bare.slice('event'.length)
  if (bare.startsWith('event') && EVENT_FIELDS.has(rest)) return rest
  return bare.startsWith('venue') && VENUE_FIELDS.has(rest) && !EVENT_FIELDS.has(rest) ? rest : null
}

/** The first column that one of the names fits best and that is not taken; what has a field's own name fits no other loosely. */
export function named(
  columns: readonly Column[],
  names: readonly string[],
  taken: ReadonlySet<Column> = new Set(),
): Column | null {
  const free = columns.flatMap((column) => {
    if (taken.has(column)) return []
    const bare = bareName(column.name)
    const own = ownField(bare)
    return [{ column, bare: own ?? bare, isOwn: own !== null }]
  })
  for (const name of names) {
    const found = free.find(({ bare }) => bare === name)
    if (found !== undefined) return found.column
  }
  const loose = free.find(({ bare, isOwn }) => !isOwn && names.some((name) => name.length > 3 && bare.startsWith(name)))
  return loose?.column ?? null
}
