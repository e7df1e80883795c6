import { describe, expect, it } from 'bun:test'
import { type Format, type Table, fileOf, FORMATS, served, USUAL } from './served-proposal.ts'

interface Case {
  readonly name: string
  /** The tables, by the names of their files without the ending. */
  readonly files: Readonly<Record<string, Table>>
  readonly zone?: string
  readonly formats?: readonly Format[]
  /** What a person writes for questions, by key; the usual questions have usual answers. */
  readonly answers?: Readonly<Record<string, string>>
  /** What is asked besides tickets, Price, showOnWeb and how long events last. */
  readonly asks?: readonly string[]
  readonly events: readonly Readonly<Record<string, unknown>>[]
  readonly venues?: readonly Readonly<Record<string, unknown>>[]
  /** Text of the configuration. */
  readonly written?: readonly string[]
  readonly unwritten?: readonly string[]
}

const at = (day: string, from: string, to: string): Readonly<Record<string, unknown>> => ({
  Start: expect.stringContaining(`${day}T${from}`) as unknown,
  Finish: expect.stringContaining(`T${to}`) as unknown,
})

const CASES: readonly Case[] = [
  {
    name: 'ranges of days in one column, beside single days (German)',
    files: {
      Termine: [
        ['Titel', 'Termin'],
        ['Messe', '07.05. – 10.05.2037'],
        ['Fest', '21.–22.05.2037'],
        ['Tag', '01.06.2037'],
      ],
    },
    events: [
      { Name: 'Messe', ...at('2037-05-07', '00:00', '23:59:59') },
      { Name: 'Fest', ...at('2037-05-21', '00:00', '23:59:59') },
      { Name: 'Tag', ...at('2037-06-01', '00:00', '23:59:59') },
    ],
    written: ['Finish: { column: Termin, whenBlank: { lasting: day } }'],
  },
  {
    name: 'days at midnight beside a column of times (German)',
    files: {
      Termine: [
        ['Titel', 'Datum', 'Uhrzeit'],
        ['A', '2037-06-01 00:00:00', '18:30'],
        ['B', '2037-06-02 00:00:00', '19:30'],
      ],
    },
    events: [
      { Name: 'A', ...at('2037-06-01', '18:30', '20:30') },
      { Name: 'B', ...at('2037-06-02', '19:30', '21:30') },
    ],
  },
  {
    name: 'days at midnight UTC beside times with AM and PM',
    files: {
      events: [
        ['title', 'Start Date', 'Start Time', 'End Time'],
        ['A', '2037-06-01T00:00:00.000Z', '5:30 PM', '7:00 PM'],
      ],
    },
    zone: 'America/New_York',
    events: [{ Name: 'A', ...at('2037-06-01', '17:30', '19:00') }],
  },
  {
    name: 'times of a database, with a day of their own (French)',
    files: {
      agenda: [
        ['Titre', 'Jour', 'Heure'],
        ['A', '01/06/2037', '1899-12-30 18:30:00'],
        ['B', '15/06/2037', '1899-12-30 20:00:00'],
      ],
    },
    events: [
      { Name: 'A', ...at('2037-06-01', '18:30', '20:30') },
      { Name: 'B', ...at('2037-06-15', '20:00', '22:00') },
    ],
  },
  {
    name: 'days alone, at midnight, which are asked about',
    files: {
      events: [
        ['title', 'Start Date'],
        ['A', '2037-06-01 00:00:00'],
        ['B', '2037-06-02 00:00:00'],
      ],
    },
    answers: { dates: '[YYYY-MM-DD 00:00:00]' },
    asks: ['dates'],
    events: [
      { Name: 'A', ...at('2037-06-01', '00:00', '23:59:59') },
      { Name: 'B', ...at('2037-06-02', '00:00', '23:59:59') },
    ],
    written: ['Finish: { lasting: day }'],
  },
  {
    name: 'days alone, with their names (Italian)',
    files: {
      eventi: [
        ['Titolo', 'Data'],
        ['A', 'ven, 05/06/2037'],
        ['B', 'sab, 20/06/2037'],
      ],
    },
    answers: { dates: '["ddd, DD/MM/YYYY"]' },
    asks: ['dates'],
    events: [
      { Name: 'A', ...at('2037-06-05', '00:00', '23:59:59') },
      { Name: 'B', ...at('2037-06-20', '00:00', '23:59:59') },
    ],
    written: ['Write ["ddd, DD/MM/YYYY"] if the events are for whole days'],
  },
  {
    name: 'first and last days (Spanish)',
    files: {
      eventos: [
        ['Nombre', 'Fecha inicio', 'Fecha fin'],
        ['A', '10/06/2037', '13/06/2037'],
        ['B', '15/06/2037', '15/06/2037'],
      ],
    },
    events: [
      { Name: 'A', ...at('2037-06-10', '00:00', '23:59:59') },
      { Name: 'B', ...at('2037-06-15', '00:00', '23:59:59') },
    ],
    written: ['Finish: Fecha fin'],
  },
  {
    name: 'first and last days (German)',
    files: {
      Termine: [
        ['Titel', 'Von', 'Bis'],
        ['A', '10.06.2037', '13.06.2037'],
        ['B', '15.06.2037', ''],
      ],
    },
    events: [
      { Name: 'A', ...at('2037-06-10', '00:00', '23:59:59') },
      { Name: 'B', ...at('2037-06-15', '00:00', '23:59:59') },
    ],
    written: ['Finish: { column: Bis, whenBlank: { lasting: day } }'],
  },
  {
    name: 'first and last days (French)',
    files: {
      agenda: [
        ['Titre', 'Du', 'Au'],
        ['A', '2037-06-10', '2037-06-13'],
      ],
    },
    events: [{ Name: 'A', ...at('2037-06-10', '00:00', '23:59:59') }],
  },
  {
    name: 'tags that are lists in texts, in JSON and as Python writes them',
    files: {
      events: [
        ['title', 'start', 'end', 'Keywords'],
        ['A', '2037-06-01 19:00', '2037-06-01 20:00', '["music","family"]'],
        ['B', '2037-06-02 19:00', '2037-06-02 20:00', "['Indie/Folk', 'a; b']"],
        ['C', '2037-06-03 19:00', '2037-06-03 20:00', '[]'],
      ],
    },
    events: [
      { Name: 'A', Tags: ['music', 'family'] },
      { Name: 'B', Tags: ['Indie/Folk', 'a; b'] },
      { Name: 'C', Tags: [] },
    ],
    unwritten: ['tags: ['],
  },
  {
    name: 'tags by their name, and not the names of days or the types of programs',
    files: {
      Spielplan: [
        ['Tag', '@type', 'Titel', 'Beginn', 'Ende', 'Sparte'],
        ['Fr', 'Event', 'A', '2037-06-05 19:00', '2037-06-05 20:00', 'Oper'],
        ['Sa', 'Event', 'B', '2037-06-06 19:00', '2037-06-06 20:00', 'Tanz'],
      ],
    },
    events: [
      { Name: 'A', Tags: ['Oper'] },
      { Name: 'B', Tags: ['Tanz'] },
    ],
  },
  {
    name: 'no tags of a type that is the same in every row',
    files: {
      events: [
        ['title', 'start', 'end', 'type'],
        ['A', '2037-06-01 19:00', '2037-06-01 20:00', 'event'],
        ['B', '2037-06-02 19:00', '2037-06-02 20:00', 'event'],
      ],
    },
    events: [
      { Name: 'A', Tags: [] },
      { Name: 'B', Tags: [] },
    ],
  },
  {
    name: 'ranges of times beside a day',
    files: {
      calendar: [
        ['title', 'date', 'time'],
        ['A', '2037-03-01', '7:00 PM – 9:00 PM'],
        ['B', '2037-03-02', '10p-2a'],
        ['C', '2037-03-03', '10h - 13h'],
        ['D', '2037-03-04', '12:00-13:00'],
      ],
    },
    events: [
      { Name: 'A', ...at('2037-03-01', '19:00', '21:00') },
      { Name: 'B', ...at('2037-03-02', '22:00', '02:00') },
      { Name: 'C', ...at('2037-03-03', '10:00', '13:00') },
      { Name: 'D', ...at('2037-03-04', '12:00', '13:00') },
    ],
  },
  {
    name: 'ranges of times after a day, in one cell (German)',
    files: {
      Termine: [
        ['Titel', 'Wann'],
        ['A', 'Fr., 05.06.2037, 19.30–22 Uhr'],
        ['B', 'Sa., 06.06.2037, 18:30 bis 20:00'],
      ],
    },
    events: [
      { Name: 'A', ...at('2037-06-05', '19:30', '22:00') },
      { Name: 'B', ...at('2037-06-06', '18:30', '20:00') },
    ],
  },
  {
    name: 'ranges in a few rows, whose ends are no question of how long events last (Spanish)',
    files: {
      agenda: [
        ['Evento', 'Fecha', 'Hora'],
        ['A', '2037-04-12', '20:00 h'],
        ['B', '2037-04-13', 'de 11 a 12:30'],
        ['C', '2037-04-14', '17:00'],
      ],
    },
    events: [
      { Name: 'A', ...at('2037-04-12', '20:00', '22:00') },
      { Name: 'B', ...at('2037-04-13', '11:00', '12:30') },
      { Name: 'C', ...at('2037-04-14', '17:00', '19:00') },
    ],
  },
  {
    name: 'days and ranges among moments in one column, of which a day has no time (German)',
    files: {
      Termine: [
        ['Titel', 'Zeitraum'],
        ['A', '12.05.2037, 19:00 - 21:30 Uhr'],
        ['B', '15.05.2037'],
        ['C', '17.05.2037, 11:00'],
      ],
    },
    events: [
      { Name: 'A', ...at('2037-05-12', '19:00', '21:30') },
      { Name: 'C', ...at('2037-05-17', '11:00', '13:00') },
    ],
  },
  {
    name: 'a column of days whose name says nothing, which may be the end (Swedish)',
    files: {
      evenemang: [
        ['Title', 'Datum', 'Slutdatum'],
        ['A', '2037-04-03', '2037-04-05'],
      ],
    },
    answers: { dates: '[YYYY-MM-DD]', Finish: '2h' },
    asks: ['dates'],
    events: [{ Name: 'A' }],
    written: ['unclear which column is the end of events (Slutdatum). Name it instead of { … }'],
    unwritten: ['lasting: day'],
  },
  {
    name: 'first and last days that end with from and to, and a time',
    files: {
      events: [
        ['headline', 'date_from', 'date_to', 'time'],
        ['A', '2037-03-05T00:00:00.000Z', '2037-03-07T00:00:00.000Z', '10:00'],
      ],
    },
    events: [{ Name: 'A', ...at('2037-03-05', '10:00', '23:59:59') }],
    written: ['Finish: date_to'],
  },
  {
    name: "Outlook's calendar (German), and not its reminders",
    files: {
      Kalender: [
        ['Betreff', 'Beginnt am', 'Beginnt um', 'Endet am', 'Endet um', 'Erinnerung am', 'Erinnerung um', 'Privat'],
        ['A', '3.5.2037', '19:00:00', '3.5.2037', '21:30:00', '3.5.2037', '18:45:00', 'Aus'],
        ['B', '12.6.2037', '20:00:00', '13.6.2037', '01:00:00', '12.6.2037', '19:45:00', 'Ein'],
      ],
    },
    events: [
      { Name: 'A', ...at('2037-05-03', '19:00', '21:30') },
      { Name: 'B', ...at('2037-06-12', '20:00', '01:00') },
    ],
    written: ['Privat contains Aus, Ein.'],
  },
  {
    name: "Outlook's calendar (French, Spanish and Dutch names)",
    formats: ['csv'],
    files: {
      agenda: [
        ['Objet', 'Début le', 'Début à', 'Fin le', 'Fin à', 'Rappel le', 'Rappel à'],
        ['A', '13/05/2037', '19:00:00', '13/05/2037', '21:30:00', '13/05/2037', '18:45:00'],
      ],
    },
    events: [{ Name: 'A', ...at('2037-05-13', '19:00', '21:30') }],
  },
  {
    name: 'columns within an object of every row, as GeoJSON has them',
    formats: ['csv', 'json'],
    files: {
      events: [
        [
          'type',
          'geometry.type',
          'properties.id',
          'properties.name',
          'properties.start',
          'properties.end',
          'properties.place',
          'properties.description',
        ],
        ['Feature', 'Point', '7', 'A', '2037-06-05 19:00', '2037-06-05 21:00', 'Square', 'All are welcome'],
        ['Feature', 'Point', '8', 'B', '2037-06-06 19:00', '2037-06-06 21:00', 'Hall', 'Bring chairs'],
      ],
    },
    events: [
      { Name: 'A', place: 'Square', Tags: [], ...at('2037-06-05', '19:00', '21:00') },
      { Name: 'B', place: 'Hall', Tags: [] },
    ],
    venues: [
      { Name: 'Hall', Description: null },
      { Name: 'Square', Description: null },
    ],
    written: ['Id: "properties.id"'],
    unwritten: ['Tags:'],
  },
  {
    name: 'titles and places in HTML, under the names of Drupal',
    files: {
      events: [
        ['nid', 'title', 'field_date', 'field_end', 'field_location'],
        ['101', 'Soir&eacute;e', '2037-05-01T18:00:00', '2037-05-01T20:00:00', '<a href="/n/5">Town Hall</a>'],
      ],
    },
    events: [{ Name: 'Soirée', place: 'Town Hall', ...at('2037-05-01', '18:00', '20:00') }],
  },
  {
    name: 'prices in a column called tickets, which are not the tickets left',
    files: {
      shows: [
        ['Show', 'Starts', 'Tickets'],
        ['A', '2037-04-10 20:00', 'Sold Out'],
        ['B', '2037-04-11 20:00', '$25'],
        ['C', '2037-04-12 20:00', '$30'],
      ],
    },
    events: [{ Name: 'A' }, { Name: 'B', TicketsAvailable: 0 }, { Name: 'C' }],
    written: ['every price is then 0. Is it Tickets (e.g. Sold Out)?', "{ value: '2147483647' }: there is no limit"],
  },
  {
    name: 'no limit of tickets, as an answer',
    files: {
      events: [
        ['title', 'start'],
        ['A', '2037-04-10 20:00'],
      ],
    },
    answers: { TicketCapacity: "{ value: '2147483647' }", TicketsAvailable: "{ value: '2147483647' }" },
    events: [{ Name: 'A', TicketCapacity: 2147483647, TicketsAvailable: 2147483647 }],
  },
  ...['eventStatus', 'Event Status', 'post_status', 'Veranstaltungsstatus', 'Statut'].map((name): Case => ({
    name: `a column of states under the name ${name}, which is asked about`,
    files: {
      events: [
        ['title', 'start', 'Event Website', name],
        ['A', '2037-04-10 20:00', 'https://a.example/', 'https://schema.org/EventScheduled'],
        ['B', '2037-04-11 20:00', '', 'https://schema.org/EventCancelled'],
      ],
    },
    answers: { active: `{ ${name}: { not: ['https://schema.org/EventCancelled'] } }` },
    asks: ['active'],
    events: [{ Name: 'A' }],
    unwritten: ['Event Website contains'],
  })),
  {
    name: 'posts of WordPress, whose date is not the event’s',
    files: {
      posts: [
        [
          'ID',
          'post_title',
          'post_date',
          'post_status',
          'event_start_date',
          'event_start_time',
          'event_end_date',
          'event_end_time',
        ],
        ['91', 'A', '2036-11-01 10:00:00', 'publish', '2037-02-03', '19:00:00', '2037-02-03', '23:00:00'],
        ['93', 'B', '2036-11-02 10:00:00', 'draft', '2037-02-05', '10:00:00', '2037-02-07', '18:00:00'],
      ],
    },
    answers: { active: '{ post_status: [publish] }' },
    asks: ['active'],
    events: [{ Name: 'A', ...at('2037-02-03', '19:00', '23:00') }],
  },
  {
    name: 'addresses that begin as a month does, which are no dates',
    files: {
      events: [
        ['title', 'begin', 'location', 'address line', 'end'],
        ['A', '1810000000000', 'Hall', '1 Main', '1810003600000'],
        ['B', '1810100000000', 'Barn', '2 Market Street', '1810103600000'],
        ['C', '1810200000000', 'Inn', '3 Decker Avenue', '1810203600000'],
      ],
    },
    asks: ['Start'],
    events: [],
    unwritten: ['month in words'],
  },
  {
    name: 'columns without a name in the header row, which are told',
    formats: ['csv', 'xlsx'],
    files: {
      Spielplan: [
        ['Stück', 'Beginn', '', 'Spielstätte', ''],
        ['A', '2037-01-09 19:30', 'ab 12', 'Haus', '120'],
        ['B', '2037-01-10 19:30', 'ab 14', 'Haus', '80'],
      ],
    },
    events: [{ Name: 'A' }, { Name: 'B' }],
    written: ['2 columns without a name in row 1 are not read (ab 12; 120); write all names into that row'],
  },
  {
    name: 'moments whose month is a word, which are no days (English)',
    files: {
      events: [
        ['Name', 'Date'],
        ['A', 'March 3, 2037 7:00 PM'],
        ['B', 'March 12, 2037'],
      ],
    },
    answers: { dates: '[YYYY-MM-DD hh:mm]' },
    asks: ['dates'],
    events: [],
    unwritten: ['lasting: day'],
  },
  {
    name: 'a single time among ranges, which has no end (Spanish)',
    files: {
      agenda: [
        ['Título', 'Fecha', 'Hora'],
        ['A', '05/06/2037', 'de 10 a 13'],
        ['B', '16/06/2037', '18:30 a 20:00'],
        ['C', '17/06/2037', '20:00'],
      ],
    },
    events: [
      { Name: 'A', ...at('2037-06-05', '10:00', '13:00') },
      { Name: 'B', ...at('2037-06-16', '18:30', '20:00') },
      { Name: 'C', ...at('2037-06-17', '20:00', '22:00') },
    ],
  },
  {
    name: 'years of two digits, and blanks in days',
    files: {
      program: [
        ['název', 'title', 'date', 'time'],
        ['', 'A', '20. 8. 37', '19:00'],
        ['', 'B', '22.8.37', '9:30'],
      ],
    },
    events: [
      { Name: 'A', ...at('2037-08-20', '19:00', '21:00') },
      { Name: 'B', ...at('2037-08-22', '09:30', '11:30') },
    ],
  },
  {
    name: 'a day without its time among others, which is no midnight (German)',
    files: {
      Termine: [
        ['Datum', 'Uhrzeit', 'Veranstaltung', 'Ort'],
        ['2037-01-15 00:00:00', '19:30', 'A', 'Halle'],
        ['2037-05-01 00:00:00', '', 'B', 'Halle'],
        ['2037-06-01 00:00:00', '14:00', 'C', 'Halle'],
      ],
    },
    events: [{ Name: 'A' }, { Name: 'C' }],
    written: ['2 of 2 fit, 2 of 3 rows have a value'],
  },
  {
    name: 'several formats in one column (Dutch)',
    files: {
      agenda: [
        ['naam', 'begin'],
        ['A', 'vrijdag 20-08-2037 19:30'],
        ['B', '21-08-2037 20:15'],
        ['C', '2037-08-22 20:00'],
      ],
    },
    events: [
      { Name: 'A', ...at('2037-08-20', '19:30', '21:30') },
      { Name: 'B', ...at('2037-08-21', '20:15', '22:15') },
      { Name: 'C', ...at('2037-08-22', '20:00', '22:00') },
    ],
    written: ['dates: ["ddd DD-MM-YYYY hh:mm", "DD-MM-YYYY hh:mm"]'],
  },
  {
    name: 'ids of the title where no column has one, or of title and start',
    files: {
      shows: [
        ['Show', 'Date', 'Curtain'],
        ['A', '2037-06-01', '19:00'],
        ['A', '2037-06-02', '19:00'],
        ['B', '2037-06-02', '20:00'],
      ],
    },
    events: [{ Name: 'A' }, { Name: 'A' }, { Name: 'B' }],
    written: [
      'Id: { join: [Show, Date, Curtain] }',
      'an event whose Show, Date, Curtain changes gets another address',
      'idNamespace: ',
    ],
  },
  {
    name: 'places within the rows, of which one name is in two towns',
    files: {
      gigs: [
        ['title', 'start', 'end', 'venue', 'town', 'street'],
        ['A', '2037-03-01 19:00', '2037-03-01 20:00', 'Town Hall', 'Hove', '1 High St'],
        ['B', '2037-03-02 19:00', '2037-03-02 20:00', 'Town Hall', 'Lewes', '2 Low St'],
        ['C', '2037-03-03 19:00', '2037-03-03 20:00', 'Town Hall', 'Hove', '1 High St'],
        ['D', '2037-03-04 19:00', '2037-03-04 20:00', '', '', ''],
      ],
    },
    events: [
      { Name: 'A', place: 'Town Hall' },
      { Name: 'B', place: 'Town Hall' },
      { Name: 'C', place: 'Town Hall' },
      { Name: 'D', place: null },
    ],
    venues: [
      { Name: 'Town Hall', AddressCity: 'Hove', AddressStreet1: '1 High St' },
      { Name: 'Town Hall', AddressCity: 'Lewes', AddressStreet1: '2 Low St' },
    ],
  },
  {
    name: 'places within the rows (German)',
    files: {
      Termine: [
        ['Titel', 'Beginn', 'Ende', 'Spielort', 'Straße', 'PLZ', 'Ort'],
        ['A', '2037-03-01 19:00', '2037-03-01 20:00', 'Halle', 'Weg 1', '01067', 'Dresden'],
        ['B', '2037-03-02 19:00', '2037-03-02 20:00', 'Halle', 'Weg 1', '01067', 'Dresden'],
      ],
    },
    events: [
      { Name: 'A', place: 'Halle' },
      { Name: 'B', place: 'Halle' },
    ],
    venues: [{ Name: 'Halle', AddressStreet1: 'Weg 1', AddressPostalCode: '01067', AddressCity: 'Dresden' }],
  },
  {
    name: 'words for a price of 0, and prices as theatres write them (German)',
    files: {
      Spielplan: [
        ['Titel', 'Beginn', 'Ende', 'Preise'],
        ['A', '2037-03-01 19:00', '2037-03-01 20:00', 'ab 18,00 €'],
        ['B', '2037-03-02 19:00', '2037-03-02 20:00', '18,00 – 52,00 €'],
        ['C', '2037-03-03 19:00', '2037-03-03 20:00', '10/8 EUR'],
        ['D', '2037-03-04 19:00', '2037-03-04 20:00', 'Eintritt frei'],
      ],
    },
    events: [
      { Name: 'A', Price: '18.00' },
      { Name: 'B', Price: '18.00' },
      { Name: 'C', Price: '8' },
      { Name: 'D', Price: '0' },
    ],
    written: ['# PriceText: Preise'],
  },
  ...(['Free', 'Gratis', 'kostenlos', 'Gratuit', 'Ingresso libero', 'Gratis toegang'] as const).map((word) => ({
    name: `a word for a price of 0: ${word}`,
    files: {
      events: [
        ['title', 'start', 'end', 'price'],
        ['A', '2037-03-01 19:00', '2037-03-01 20:00', word],
        ['B', '2037-03-02 19:00', '2037-03-02 20:00', '$10'],
        ['C', '2037-03-03 19:00', '2037-03-03 20:00', 'TBD'],
      ],
    },
    events: [
      { Name: 'A', Price: '0' },
      { Name: 'B', Price: '10' },
    ],
    written: ['rows with TBD are withheld'],
  })),
  ...(['sold out', 'Ausverkauft', 'complet', 'Agotado', 'uitverkocht', 'esaurito'] as const).map((word) => ({
    name: `a word for no tickets left: ${word}`,
    files: {
      events: [
        ['title', 'start', 'end', 'tickets left'],
        ['A', '2037-03-01 19:00', '2037-03-01 20:00', word],
        ['B', '2037-03-02 19:00', '2037-03-02 20:00', '10'],
      ],
    },
    events: [
      { Name: 'A', TicketsAvailable: 0 },
      { Name: 'B', TicketsAvailable: 10 },
    ],
  })),
  {
    name: 'a mark for sold out beside all tickets (French)',
    files: {
      saison: [
        ['Titre', 'Début', 'Fin', 'Jauge', 'Complet'],
        ['A', '2037-03-01 19:00', '2037-03-01 20:00', '90', 'x'],
        ['B', '2037-03-02 19:00', '2037-03-02 20:00', '80', ''],
      ],
    },
    events: [
      { Name: 'A', TicketsAvailable: 0 },
      { Name: 'B', TicketsAvailable: 80 },
    ],
  },
  {
    name: 'a mark for sold out alone (Dutch)',
    files: {
      agenda: [
        ['Titel', 'Begin', 'Einde', 'Uitverkocht'],
        ['A', '2037-03-01 19:00', '2037-03-01 20:00', 'ja'],
        ['B', '2037-03-02 19:00', '2037-03-02 20:00', ''],
      ],
    },
    events: [
      { Name: 'A', TicketsAvailable: 0 },
      { Name: 'B', TicketsAvailable: 1 },
    ],
  },
  {
    name: 'a zone for each row',
    files: {
      events: [
        ['title', 'start', 'end', 'tz'],
        ['A', '2037-03-05 18:00', '2037-03-05 20:00', 'America/Halifax'],
        ['B', '2037-03-05 18:00', '2037-03-05 20:00', 'Europe/London'],
      ],
    },
    zone: 'Europe/London',
    events: [
      { Name: 'A', ...at('2037-03-05', '22:00', '00:00') },
      { Name: 'B', ...at('2037-03-05', '18:00', '20:00') },
    ],
  },
  {
    name: "The Events Calendar's export",
    files: {
      events: [
        [
          'EVENT NAME',
          'EVENT VENUE NAME',
          'EVENT START DATE',
          'EVENT START TIME',
          'EVENT END DATE',
          'EVENT END TIME',
          'ALL DAY EVENT',
          'TIMEZONE',
          'HIDE FROM EVENT LISTINGS',
          'EVENT CATEGORY',
          'EVENT COST',
        ],
        [
          'Supper',
          'Old Mill',
          '2037-02-14',
          '9:30 PM',
          '2037-02-15',
          '3:30 AM',
          'FALSE',
          'America/Halifax',
          'FALSE',
          'Food',
          '12',
        ],
        ['Fair', 'Old Mill', '2037-03-01', '', '2037-03-03', '', 'TRUE', 'America/Halifax', 'FALSE', 'Fair', '0'],
        [
          'Board',
          'Old Mill',
          '2037-03-05',
          '6:00 PM',
          '2037-03-05',
          '8:00 PM',
          'FALSE',
          'Europe/London',
          'TRUE',
          'Internal',
          '',
        ],
      ],
      venues: [
        ['VENUE NAME', 'VENUE ADDRESS', 'VENUE CITY', 'VENUE STATE/PROVINCE', 'VENUE ZIP', 'VENUE PHONE'],
        ['Old Mill', '1 Mill Lane', 'Halifax', 'NS', 'B3H 1A1', '+1 902 555 0100'],
      ],
    },
    zone: 'America/Halifax',
    events: [
      { Name: 'Supper', ...at('2037-02-14', '21:30', '03:30'), Tags: ['Food'], Price: '12', place: 'Old Mill' },
      { Name: 'Fair', ...at('2037-03-01', '00:00', '23:59:59') },
    ],
    venues: [
      {
        Name: 'Old Mill',
        AddressStreet1: '1 Mill Lane',
        AddressCity: 'Halifax',
        AddressState: 'NS',
        AddressPostalCode: 'B3H 1A1',
        Telephone: '+1 902 555 0100',
      },
    ],
  },
  {
    name: 'months between the events, which are headings',
    formats: ['csv', 'xlsx'],
    files: {
      Spielplan: [
        ['Datum', 'Zeit', 'Titel', 'Ort', 'Preis'],
        ['05.11.2037', '19:30', 'A', 'Halle', '10'],
        ['DEZEMBER 2037', '', '', '', ''],
        ['04.12.2037', '19:30', 'B', 'Halle', '10'],
      ],
    },
    events: [
      { Name: 'A', ...at('2037-11-05', '19:30', '21:30') },
      { Name: 'B', ...at('2037-12-04', '19:30', '21:30') },
    ],
    written: ['from: "Spielplan', '# 2 rows'],
  },
]

describe('what init proposes is served as it was meant (issue: files as people have them)', () => {
  it.each(CASES.flatMap((each) => (each.formats ?? FORMATS).map((format) => [each.name, format, each] as const)))(
    '%s: %s',
    async (_, format, each) => {
      const files = Object.entries(each.files).map(
        ([name, table]) => [`${name}.${format}`, fileOf(format, table)] as const,
      )
      const { asked, text, events, venues } = await served(Object.fromEntries(files), each)
      expect(asked.filter((key) => !USUAL.has(key))).toEqual([...(each.asks ?? [])])
      expect(events).toHaveLength(each.events.length)
      for (const event of each.events) expect(events).toContainEqual(expect.objectContaining(event) as never)
      if (each.venues !== undefined) expect(venues).toHaveLength(each.venues.length)
      for (const venue of each.venues ?? []) expect(venues).toContainEqual(expect.objectContaining(venue) as never)
      for (const line of each.written ?? []) expect(text).toContain(line)
      for (const line of each.unwritten ?? []) expect(text).not.toContain(line)
    },
  )
})
