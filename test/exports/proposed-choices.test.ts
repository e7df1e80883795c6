import { afterEach, beforeEach, describe, expect, it } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { insteadOf } from '../../src/faults/fault-words.ts'
import { runCommand } from '../commands/run-command.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'marquee-choices-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const VENUES = 'Name;Stadt\nHalle;Ulm\nOper;Ulm\n'

interface Proposed {
  readonly text: string
  /** What it said, below the name of the file. */
  readonly said: string
}

async function proposed(events: string | Buffer, venues: string | Buffer = VENUES): Promise<Proposed> {
  writeFileSync(join(folder, 'e.csv'), events)
  writeFileSync(join(folder, 'v.csv'), venues)
  const { status, stdout, stderr } = await runCommand(['init', 'files', '--from', 'e.csv', '--from', 'v.csv'], {
    cwd: folder,
  })
  expect([status, stderr]).toEqual([0, ''])
  return { text: readFileSync(join(folder, 'marquee.yaml'), 'utf8'), said: stdout }
}

async function expectRefused(key: string): Promise<void> {
  const { status, stderr } = await runCommand(['check'], { cwd: folder })
  expect(status).toBe(2)
  expect(stderr).toMatch(new RegExp(`marquee\\.yaml:\\d+: ${key.replaceAll('.', '\\.')} `))
}

describe('what init proposes among several columns', () => {
  it.each([
    [
      'doors in a column of times',
      'Nr;Titel;Ort;Datum;Einlass;Beginn;Ende\n1;A;Halle;11.12.2036;18:30;19:30;22:00\n',
      '{ join: [Datum, Beginn] }',
      '{ join: [Datum, Ende] }',
      'Einlass',
    ],
    [
      'a deadline before the start',
      'Nr;Titel;Ort;Anmeldeschluss;Beginn;Ende\n1;A;Halle;01.12.2036 12:00;11.12.2036 19:30;11.12.2036 22:00\n',
      'Beginn',
      'Ende',
      'Anmeldeschluss',
    ],
    [
      'doors, and the end of sales after the end',
      'Id;Event;Venue;Doors;Start;End;Sales end\n1;A;Halle;2036-12-11 18:30;2036-12-11 19:30;2036-12-11 22:00;2036-12-21 12:00\n',
      'Start',
      'End',
      'Doors',
    ],
    [
      'the end before the doors',
      'Nr;Titel;Ort;Beginn;Ende;Einlass\n1;A;Halle;11.12.2036 19:30;11.12.2036 22:00;11.12.2036 18:30\n',
      'Beginn',
      'Ende',
      'Einlass',
    ],
    [
      'a day and a time of their own for the end',
      'Id;Event;Venue;Start Date;Start Time;End Date;End Time;Created\n1;A;Halle;11.12.2036;19:30;13.12.2036;22:00;01.01.2036\n',
      '{ join: [Start Date, Start Time] }',
      '{ join: [End Date, End Time] }',
      'Created',
    ],
    ...['Mis à jour', 'Letzte Änderung', 'Actualizado', 'Horodatage'].map(
      (stamp) =>
        [
          `a day and times beside ${stamp}, with a time`,
          `N°;Spectacle;Salle;Jour;Heure;Fin;${stamp}\n1;A;Halle;11.12.2036;19:30;22:00;01.01.2036 09:15\n`,
          '{ join: [Jour, Heure] }',
          '{ join: [Jour, Fin] }',
          stamp,
        ] as const,
    ),
  ])('takes start and end by their names: %s', async (_, events, start, finish, leftOut) => {
    const { text, said } = await proposed(events)
    expect(text).toContain(`\n      Start: ${start}   # 1 of 1 fit`)
    expect(text).toContain(`\n      Finish: ${finish}   # 1 of 1 fit`)
    expect(said).toMatch(new RegExp(`e\\.csv: not used: .*${leftOut} `))
  })

  it('asks which column is the start where no name says it, and names what it leaves out', async () => {
    const { said } = await proposed(
      'ID,Session,Last modified,Doors,Curtain,Venue\n1,A,2036-01-01 12:00,2036-12-11 18:30,2036-12-11 19:30,Halle\n',
    )
    expect(said).toContain('Start: Which column is the start of events (Last modified, Doors, Curtain)?')
    expect(said).toContain('Finish: It is unclear which column is the end of events (Last modified, Doors, Curtain)')
    expect(said).toContain('Name: Which column is the title? Name it here, or write null for none.')
    expect(said).toContain('Session (e.g. A)')
    await expectRefused('crm.events.fields.Start')
  })

  it('asks which file is the events if both could be', async () => {
    const header = 'Nr;Veranstaltung;Wann;Bis;Wo;Straße;PLZ;Ort\n'
    const rows = [1, 2, 3, 4].map(
      (nr) => `${nr};Lesung ${nr};0${nr}.03.2037 19:30;0${nr}.03.2037 22:00;Halle;Weg 1;01067;Dresden\n`,
    )
    const { text, said } = await proposed(header + rows.join(''), header + rows.join(''))
    expect(text).toContain('Name: Veranstaltung   # by its name')
    expect(text).toContain('Start: Wann   # 4 of 4 fit')
    expect(said).toContain(
      'from: Which is the list of events: e.csv (4 rows) or v.csv (4 rows)? For the first, write "e.csv" here',
    )
    await expectRefused('crm.events.from')
  })

  it('names a date that it cannot read in the question, and takes no other for it; check says how to write it', async () => {
    const { said } = await proposed(
      'Id,Event,Date & Time,Ends,Curtain\n1,A,"Mar 5, 2037 7:30 PM","Mar 5, 2037 9:30 PM",2037-01-01 09:15\n',
    )
    expect(said).toContain('Start: Which column is the start of events (Curtain, Date & Time, Ends)?')
    for (const text of ['Mar 5, 2037 7:30 PM', '5. März 2037, 19:30', '5 de marzo de 2037']) {
      expect(insteadOf(text, { kind: 'date-time', formats: [] })).toBe('format the column as yyyy-mm-dd hh:mm')
    }
  })

  it('knows Cost, Max attendees, Spots left and Visibility', async () => {
    const { text, said } = await proposed(
      'Id,Event,Starts,Max attendees,Spots left,Cost,Visibility\n1,A,2037-03-05 19:30,100,20,5.00,Public\n2,B,2037-03-06 19:30,90,10,6.00,Members only\n',
    )
    for (const line of ['TicketCapacity: Max attendees', 'TicketsAvailable: Spots left', 'Price: Cost']) {
      expect(text).toContain(`      ${line}   #`)
    }
    expect(said).toContain('Visibility contains Public, Members only.')
  })

  it('asks which is the start between a day with a time and a date-time, both named like one', async () => {
    const { said } = await proposed('N°;Spectacle;Jour;Heure;Date\n1;A;11.12.2036;19:30;01.01.2036 09:15\n')
    expect(said).toContain('Start: Which column is the start of events (Date, Jour, Heure)?')
  })

  it('proposes each way in which times are written', async () => {
    const programme = (...times: readonly string[]): string =>
      `Nr;Spettacolo;Data;Ora;Pubblica online\n${times.map((time, at) => `${at};A;${20 + at}/05/2037;${time};${at === 0 ? 'no' : 'sì'}\n`).join('')}`
    const { text } = await proposed(programme('20:30', '21:00', '18.00'))
    expect(text).toContain('Start: { join: [Data, Ora] }   # 3 of 3 fit; e.g. 20/05/2037 20:30')
    expect(text).toContain('dates: ["DD/MM/YYYY hh:mm", "DD/MM/YYYY hh.mm"]')
    expect(text).toContain('showOnWeb: { Pubblica online: [sì] }')
  })

  it('asks for the end where what is called so is not after the start', async () => {
    const { said } = await proposed('Id;Name;Start;Bis\n1;A;2036-12-11 19:30;2036-12-01 12:00\n')
    expect(said).toContain('Finish: It is unclear which column is the end of events (Bis)')
  })

  it('takes no other column for a start of which most rows cannot be read', async () => {
    const { said } = await proposed(
      'Nr;Titel;Datum;Beginn;Ende\n1;A;11.12.2036;abends;22:00\n2;B;12.12.2036;halb acht;22:00\n',
    )
    expect(said).toContain('Start: Which column is the start of events (Datum, Ende, Beginn)?')
  })

  it('counts as fitting only the rows that fit', async () => {
    const times = ['19:30', '19:30', '19:30', 'abends', '19:30']
    const rows = times.map((time, index) => `${index + 1};A;Halle;1${index}.12.2036;${time};22:00\n`)
    const { text } = await proposed(`Nr;Titel;Ort;Datum;Beginn;Ende\n${rows.join('')}`)
    expect(text).toContain('Start: { join: [Datum, Beginn] }   # 4 of 5 fit; e.g. 10.12.2036 19:30')
    expect(text).toContain('Finish: { join: [Datum, Ende] }   # 5 of 5 fit')
  })

  it.each([
    ['2036-12-11', 'YYYY-MM-DD'],
    ['11.12.2036', 'DD.MM.YYYY'],
  ])('asks whether the midnight of a date without a time is meant: %s', async (date, format) => {
    const { said } = await proposed(`Id;Name;Date\n1;A;${date}\n2;B;${date.replace('11', '21')}\n`)
    expect(said).toContain(`dates: Date has no time. Write [${format}] if the events are for whole days`)
    await expectRefused('crm.events.texts.dates')
  })

  it('takes the file whose dates are those of events for the events, whichever is given first', async () => {
    const { text } = await proposed(
      'Name;Stadt;Zuletzt geändert\nHalle;Ulm;01.01.2036\n',
      'Nr;Titel;Ort;Datum;Uhrzeit\n1;A;Halle;11.12.2036;19:30\n',
    )
    expect(text).toMatch(/ {2}events:\n {4}from: "v\.csv"/)
    expect(text).toContain('Start: { join: [Datum, Uhrzeit] }   # 1 of 1 fit')
  })

  it('reads years of two digits', async () => {
    const { text, said } = await proposed('Nr;Titel;Ort;Start;Ende\n1;A;Halle;21.12.36 19:30;21.12.36 22:00\n')
    expect(text).toMatch(/ {2}events:\n {4}from: "e\.csv"/)
    expect(text).toMatch(/ {2}venues:\n {4}from: "v\.csv"/)
    expect(text).toContain('dates: ["DD.MM.YY hh:mm"]')
    expect(said).not.toContain('Start: Which column')
  })
})

describe('what init asks of bytes that are not UTF-8', () => {
  // Święto in Łódź, as Windows-1250 writes them.
  const polish = (text: string): Buffer =>
    Buffer.from(text.replaceAll('Święto', '\x8cwi\xeato').replaceAll('Łódź', '\xa3\xf3d\x9f'), 'latin1')

  it('asks for the tickets left where only a total is known, since every event would be sold out', async () => {
    const { said } = await proposed(
      'Nr;Titel;Beginn;Ende;Preis;Kapazität\n1;A;2036-12-11 19:30;2036-12-11 22:00;10;90\n2;B;2036-12-11 19:30;2036-12-11 22:00;12;120\n',
    )
    expect(said).toContain(
      'TicketsAvailable: Which column is the number of tickets left? Name it here, or write null: all events are then sold out',
    )
    expect(said).not.toContain('TicketCapacity:')
    await expectRefused('crm.events.fields.TicketsAvailable')
  })

  it('asks for the encoding, with what each would give', async () => {
    const { said } = await proposed(polish('Id;Name;Start;Finish\n1;Święto Łódź;2036-12-11 19:30;2036-12-11 22:00\n'))
    expect(said).toMatch(
      /encoding: The bytes are not UTF-8. Which is right: windows-1252 gives Œwiêto, windows-1250 gives Święto, /,
    )
    await expectRefused('crm.events.texts.encoding')
  })

  it('says in which encoding it writes the names of columns', async () => {
    // Název and Začátek, as Windows-1250 writes them.
    const czech = Buffer.from('Id;N\xe1zev;Za\xe8\xe1tek;Konec\n1;A;2036-12-11 19:30;2036-12-11 22:00\n', 'latin1')
    const { text, said } = await proposed(czech)
    expect(text).toContain('Which column is the start of events (Zaèátek, Konec)?')
    expect(said).toContain('windows-1250 gives Začátek, ')
    expect(said).toContain('? The names of columns below are written as windows-1252 gives them.')
  })

  it('asks nothing where all likely encodings give the same text', async () => {
    const { text } = await proposed(
      Buffer.from('Id;Name;Start;Finish\n1;Café Müller \x96 12 \x80;2036-12-11 19:30;2036-12-11 22:00\n', 'latin1'),
    )
    expect(text).toContain('encoding: windows-1252   # the bytes are not UTF-8; windows-1250 gives the same text')
  })

  it('asks nothing of quotes and dashes that touch letters', async () => {
    const { text } = await proposed(
      Buffer.from(
        'Id;Name;Start;Finish\n1;\x84Don\x92t\x93 Ulm\x96Bonn\x85;2036-12-11 19:30;2036-12-11 22:00\n',
        'latin1',
      ),
    )
    expect(text).toContain('encoding: windows-1252 ')
  })

  it('asks where a sign before a letter is a capital on a Mac', async () => {
    const { said } = await proposed(
      Buffer.from('Id;Name;Start;Finish\n1;\x85sterreich;2036-12-11 19:30;2036-12-11 22:00\n', 'latin1'),
    )
    expect(said).toContain('windows-1252 gives …sterreich, ')
    expect(said).toContain('macintosh gives Österreich')
  })

  it('asks where they differ in one letter', async () => {
    const { said } = await proposed(
      Buffer.from('Id;Name;Start;Finish\n1;La señora;2036-12-11 19:30;2036-12-11 22:00\n', 'latin1'),
    )
    expect(said).toContain('windows-1252 gives señora, windows-1250 gives seńora')
  })
})

describe('what init says of columns that it cannot use as they are', () => {
  it('proposes that cancelled events are not active, or asks', async () => {
    const events = (...cancelled: readonly string[]): string =>
      `Nr;Titel;Beginn;Ende;Storniert\n${cancelled.map((value, index) => `${index};A${index};2036-12-11 19:30;2036-12-11 22:00;${value}\n`).join('')}`
    const { text } = await proposed(events('nein', 'ja', 'nein'))
    expect(text).toContain('active: { Storniert: [nein] }   # 2 of 3 rows match; Storniert contains nein, ja')
    rmSync(join(folder, 'marquee.yaml'))
    const { said } = await proposed(events('nein', 'vielleicht', ''))
    expect(said).toContain(
      'active: Which rows are active? Write { COLUMN: [VALUE] }, { COLUMN: { not: [VALUE] } }, or null for all. Storniert contains nein, vielleicht or is blank.',
    )
    await expectRefused('crm.events.active')
  })

  it.each([
    [
      'Storniert',
      ['', 'ja', ''],
      'active: { Storniert: blank }   # 2 of 3 rows match; Storniert contains ja or is blank',
    ],
    ['Storniert', ['', 'per Mail', ''], 'active: { Storniert: blank }   # 2 of 3 rows'],
    ['Cancelled', ['no', 'Yes', ''], 'active: { Cancelled: { not: ["Yes"] } }   # 2 of 3 rows'],
    ['Aktiv', ['', 'nein', ''], 'active: { Aktiv: { not: [nein] } }   # 2 of 3 rows'],
    ['Aktiv', ['', 'ja', ''], 'active: { Aktiv: [ja] }   # 1 of 3 rows'],
    ['Aktiv', ['nein', 'ja', ''], "active: '?'   # QUESTION"],
    ['Status', ['', 'abgesagt', 'geplant'], 'active: { Status: { not: [abgesagt] } }   # 2 of 3 rows'],
    ['Status', ['', 'abgesagt', 'Probe'], "active: '?'   # QUESTION"],
    [
      'Intern',
      ['', 'x', ''],
      "showOnWeb: '?'   # QUESTION: Which events are for the web? Write { COLUMN: [VALUE] }, or null for all. Intern contains",
    ],
    ['Online', ['', 'nein', ''], "showOnWeb: '?'   # QUESTION"],
    ['Public', ['', 'yes', ''], 'showOnWeb: { Public: ["yes"] }   # 1 of 3 rows'],
  ])('proposes a condition by what the column holds: %s %j', async (name, held, line) => {
    const rows = held.map((value, index) => `${index};A${index};2036-12-11 19:30;2036-12-11 22:00;1;1;${value}\n`)
    const { text } = await proposed(`Nr;Titel;Beginn;Ende;Frei;Preis;${name}\n${rows.join('')}`)
    expect(text).toContain(`\n    ${line}`)
  })

  it.each([
    ['Nog vrij', 'Op website?', 'ja', 'nee'],
    ['Posti rimasti', 'Pubblicare', 'SI', 'NO'],
    ['Tickets Left', 'Ready to publish?', 'TRUE', 'FALSE'],
  ])('knows %s and %s', async (left, web, yes, no) => {
    const { text } = await proposed(
      `Nr;Titel;Beginn;Ende;Capacity;${left};${web}\n1;A;2036-12-11 19:30;2036-12-11 22:00;90;12;${yes}\n2;B;2036-12-11 19:30;2036-12-11 22:00;90;8;${no}\n3;C;2036-12-11 19:30;2036-12-11 22:00;90;7;${yes}\n`,
    )
    expect(text).toContain(`TicketsAvailable: ${left}   #`)
    expect(text.replaceAll('"', '')).toContain(`showOnWeb: { ${web}: [${yes}] }`)
  })

  it('names a price that is not read', async () => {
    const { said } = await proposed(
      'Nr;Titel;Beginn;Ende;Preis\n1;A;2036-12-11 19:30;2036-12-11 22:00;siehe Aushang\n2;B;2036-12-11 19:30;2036-12-11 22:00;10,-\n',
    )
    expect(said).toContain('Preis (e.g. siehe Aushang; Price needs numbers, and most values are not numbers)')
  })

  it('asks for the venue where most names are not in the venues file', async () => {
    const { said } = await proposed(
      'Nr;Titel;Ort;Beginn;Ende\n1;A;Halle;2036-12-11 19:30;2036-12-11 22:00\n2;B;halle ;2036-12-11 19:30;2036-12-11 22:00\n3;C;Zelt;2036-12-11 19:30;2036-12-11 22:00\n',
    )
    expect(said).toContain(
      'VenueId: Is it Ort? 1 of 3 rows matches a row of the venues file. Name the column here, or write null.',
    )
    await expectRefused('crm.events.fields.VenueId')
  })

  it('takes the id of a venues file of one row from what the events say of it', async () => {
    const { text } = await proposed(
      'Numer;Titel;Ort;Beginn;Ende\n1;A;Halle;2036-12-11 19:30;2036-12-11 22:00\n2;B;Halle;2036-12-11 19:30;2036-12-11 22:00\n3;C;HALLE;2036-12-11 19:30;2036-12-11 22:00\n',
      'Name;Stadt\nHalle;Ulm\n',
    )
    expect(text).toContain('Id: Numer   # 3 different values')
    expect(text).toContain('Id: Name   # 1 different value;')
  })
})

describe('what init counts', () => {
  it('is in the singular if there is one', async () => {
    const { text, said } = await proposed(
      'Nr;Titel;Ort;Beginn;Ende;Preis;Sparte\n1;A;Halle;2036-12-11 19:30;2036-12-11 22:00;5;Oper, Ballett\n',
      'Name;Stadt\nHalle;Ulm\n',
    )
    expect(text).toContain("delimiter: ';'   # 7 columns in 1 row\n")
    expect(text).toContain('# 1 of 1 fits;')
    expect(text).toContain('Tags: Sparte   # 1 different text;')
    expect(`${text}${said}`).not.toMatch(/\b1 (?:different )?(?:rows|columns|values|texts)\b(?! matches)/)
    expect(`${text}${said}`).not.toMatch(/\b1 are\b/)
  })
})

describe('what init takes for ids and venues', () => {
  const NIGHTS = Array.from(
    { length: 6 },
    (_, index) => `${index + 1};Abend ${index};Oper;1${index}.12.2036 19:30;1${index}.12.2036 22:00;9;5`,
  )
  const HEADER = 'Nr;Titel;Spielstätte;Starts;Ends;Places restantes;Preis'
  const ADDRESSES = 'Spielstätte;Straße;PLZ;Ort\nOper;Gasse 1;01067;Dresden\nHalle;Weg 2;01069;Dresden\n'

  it('takes Ort for the town beside a street and a postal code, and the column that events name for the name', async () => {
    const { text, said } = await proposed(`${HEADER}\n${NIGHTS.join('\n')}\n`, ADDRESSES)
    expect(text).toContain('      Name: Spielstätte   # by its name; e.g. Oper')
    expect(text).toContain('      AddressCity: Ort   # the town of the place')
    expect(text).toContain('      VenueId: Spielstätte   # its values are in Spielstätte of the venues')
    expect(text).toMatch(/\n {6}Start: Starts .*\n {6}Finish: Ends .*\n {6}TicketsAvailable: "?Places restantes/)
    expect(said).not.toContain('Name: Which column')
    const strange = await proposedAgain(
      `${HEADER.replace('Spielstätte', 'Haus')}\n${NIGHTS.join('\n')}\n`,
      ADDRESSES.replace('Spielstätte', 'Haus'),
    )
    expect(strange.text).toContain('      Name: Haus   # events refer to their venue by it')
  })

  it('keeps the id for the column that is called so though a sum stands below the list', async () => {
    const { text } = await proposed(`${HEADER}\n${NIGHTS.join('\n')}\n;Summe;;;;54;30\n`, ADDRESSES)
    expect(text).toContain('      Id: Nr   # 6 different values in 7 rows; e.g. 1')
  })

  it('joins an id of title and start where no column is one', async () => {
    const rows = [
      '1;Abend;Oper;10.12.2036 19:30;10.12.2036 22:00;9;5',
      '1;Abend;Oper;11.12.2036 19:30;11.12.2036 22:00;9;5',
    ]
    const more = ['2;Matinee;Oper;10.12.2036 19:30;10.12.2036 22:00;9;5']
    const { text } = await proposed(`${HEADER}\n${[...rows, ...more].join('\n')}\n`, ADDRESSES)
    expect(text).toContain('Id: { join: [Titel, Starts] }   # 3 different values; e.g. Abend; no column')
    const answered = text.replace("showOnWeb: '?'", 'showOnWeb: null')
    writeFileSync(join(folder, 'marquee.yaml'), answered)
    const { status, stdout, stderr } = await runCommand(['check', '--json'], { cwd: folder })
    expect([status, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toMatchObject({ events: 3, venues: 2 })
  })
})

async function proposedAgain(events: string, venues: string): Promise<Proposed> {
  rmSync(join(folder, 'marquee.yaml'))
  return proposed(events, venues)
}
