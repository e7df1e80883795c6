import { afterEach, beforeEach, describe, expect, it } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../commands/run-command.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'marquee-makers-'))
  mkdirSync(join(folder, 'crm'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Proposes for these files: the configuration, and what is said of it. */
async function proposed(files: Readonly<Record<string, string | Buffer>>): Promise<{ text: string; said: string }> {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, 'crm', name), content)
  const from = Object.keys(files).flatMap((name) => ['--from', `crm/${name}`])
  const { stdout } = await runCommand(['init', 'files', ...from], { cwd: folder })
  return { text: readFileSync(join(folder, 'marquee.yaml'), 'utf8'), said: stdout }
}

async function checked(text: string): Promise<string> {
  writeFileSync(join(folder, 'marquee.yaml'), text)
  return (await runCommand(['check', '--show', '2'], { cwd: folder })).stdout
}

const VENUES = 'Sala;Indirizzo;CAP;Prov\nSala Grande;Via Roma 1;44121;FE\nRidotto;Via Roma 1;44121;FE\n'
const EVENTS = `Cod.;Titolo;Sala;Data;Ora inizio;Ora fine;Posti;Venduti;Prezzo intero;Genere
001;Aida;Sala Grande;05/12/2036;20.30;23.00;1.250;77;€ 25,00;Opera
002;Tosca;Sala Grande ;13/12/2036;15.30;18.00;180;3;€ 18,50;Opera
003;Concerto di Natale;Ridotto ;24/12/2036;21.00;00.30;90;3;€ 12,00;Concerti
004;Gala;Ridotto ;31/12/2036;21.15;00.30;90;3;€ 12,00;Concerti
Totale spettacoli: 4;;;;;;;;;
`

describe('what init proposes for files of other makers', () => {
  it('takes 20.30 for a time in a column that is named so, a footer for no reason to ask, and blanks for none', async () => {
    const { text } = await proposed({ 'Cartellone.csv': EVENTS, 'Sale.csv': VENUES })
    expect(text).toContain('Id: "Cod."   #')
    expect(text).toContain('VenueId: Sala   # its values are in Sala of the venues')
    expect(text).toContain('Start: { join: [Data, Ora inizio] }')
    expect(text).toContain('Finish: { join: [Data, Ora fine] }')
    expect(text).toContain('dates: ["DD/MM/YYYY hh.mm"]')
    expect(text).toContain('Tags: Genere')
    expect(text).toContain('AddressState: Prov')
    const served = await checked(`${text.replace(/showOnWeb: '\?'/, 'showOnWeb: null')}\ntimeZone: Europe/Rome\n`)
    expect(served).toContain('4 events and 2 venues would be served, 1 row would not.')
    expect(served).toContain('"Start":"2036-12-05T20:30:00+01:00","Finish":"2036-12-05T23:00:00+01:00","Price":25.00')
  })

  it('leaves a price such as 12.50 a number', async () => {
    const rows = EVENTS.replaceAll('€ 25,00', '12.50').replaceAll('€ 18,50', '11.30').replaceAll('€ 12,00', '9.00')
    const { text } = await proposed({ 'Cartellone.csv': rows, 'Sale.csv': VENUES })
    expect(text).toContain('Price: Prezzo intero')
  })

  it('derives ids from the title where no column is called an id and a number only counts the rows', async () => {
    const { text } = await proposed({ 'Cartellone.csv': EVENTS.replace('Cod.', 'Progr.'), 'Sale.csv': VENUES })
    expect(text).toContain('Id: Titolo   # 4 different values; e.g. Aida; no column is a number of its own;')
  })

  it.each(['ndjson', 'json'] as const)('says how texts in %s are written, and they are read so', async (format) => {
    const row = (nummer: number, more: object = {}): object => ({
      nummer,
      naam: 'Froukje',
      datum: '11-06-2037',
      aanvang: '22:30',
      eindtijd: nummer === 1 ? null : '23:45',
      podium: 'Tent',
      capaciteit: '1.200',
      verkocht: 20,
      prijs: '€ 15,00',
      genre: 'pop, rock',
      ...more,
    })
    const rows = [row(1), row(2, { prijs: 12.5 }), row(3, { genre: 'pop' })]
    const content = format === 'json' ? JSON.stringify(rows) : rows.map((one) => `${JSON.stringify(one)}\n`).join('')
    const { text, said } = await proposed({
      [`programma.${format}`]: content,
      'podia.csv': 'Podium,Plaats\nTent,Ede\n',
    })
    expect(text).toContain('dates: ["DD-MM-YYYY hh:mm"]')
    expect(text).toContain('decimal: ","')
    expect(text).toContain('currency: ["€"]')
    expect(text).toContain('tags: [","]')
    expect(text).not.toMatch(/(?:delimiter|encoding): .*\n[^]*venues:/)
    expect(text).toContain("Finish: { join: [datum, eindtijd], whenBlank: { lasting: '?' } }")
    expect(said).toContain('timeZone')
    const answered = text.replace("lasting: '?'", 'lasting: 1h').replace("showOnWeb: '?'", 'showOnWeb: null')
    const served = await checked(`${answered}\ntimeZone: Europe/Amsterdam\n`)
    expect(served).toContain('3 events and 1 venue would be served.')
    expect(served).toContain('"TicketCapacity":1200,"TicketsAvailable":1180,"Start":"2037-06-11T22:30:00+02:00"')
    expect(served).toContain('"Price":15.00,"Tags":["pop","rock"]')
    expect(served).toContain('"Price":12.5,')
  })

  it('knows the columns of a US venue: Event #, Show, Showtime, Cap, Tix Sold, of which a total stands below', async () => {
    const header = 'Event #,Show,Date,Doors,Showtime,Ends,Room,Cap,Tix Sold,Price,Status\n'
    const rows = [1001, 1002, 1003, 1004].map(
      (number, at) =>
        `${number},Jazz,2037-01-0${at + 1},7:00 PM,7:30 PM,10:00 PM,Cabaret,80,${at + 3},$25.00,On Sale\n`,
    )
    const { text } = await proposed({
      'Calendar.csv': `${header}${rows.join('')}TOTAL,,,,,,,,900,,\n`,
      'Rooms.csv': 'Room,City\nCabaret,Boston\n',
    })
    expect(text).toContain('Id: "Event #"')
    expect(text).toContain('Name: Show ')
    expect(text).toContain('Start: { join: [Date, Showtime] }')
    expect(text).toContain('Finish: { join: [Date, Ends] }')
    expect(text).toContain('TicketsAvailable: { subtract: [Cap, Tix Sold] }')
    expect(text).toContain('VenueId: Room')
  })

  it('knows a column of cancelled events that says no in words, and further names', async () => {
    const text = `Réf,Intitulé,Salle,Date,Heure début,Heure fin,Ticket price,Kontingent,Annulé
F-1,Phèdre,La Grange,01/12/2036,20h30,23h00,12.50,90,oui
F-2,Le Cid,La Grange,13/12/2036,15 h,17h30,12.50,90,non
`
    const { text: written } = await proposed({ 'Saison.csv': text, 'Salles.csv': 'Nom,Ville\nLa Grange,Brest\n' })
    expect(written).toContain('# Status: { column: Annulé, values: { oui: cancelled, non: scheduled } }')
    expect(written).toContain('Name: Intitulé')
    expect(written).toContain('Price: Ticket price')
    expect(written).toContain('TicketCapacity: Kontingent')
    expect(written).toContain('Start: { join: [Date, Heure début] }   # 2 of 2 fit')
  })

  it('writes the words of states in six languages, and no text that merely begins with one', async () => {
    const texts = [
      'Abgesagt!',
      'verlegt auf 21.02.',
      'verlegt auf 22.02.',
      'Annulé',
      'uitgesteld tot mei',
      'ok',
      'Nuova data: 3/5',
    ]
    const others = ['suspendido', 'called off', 'Verlegerpreis']
    const rows = [...texts, ...others].map(
      (text, at) => `${at},Stück ${at},2036-12-1${at} 19:30,2036-12-1${at} 22:00,${text}\n`,
    )
    const { text } = await proposed({
      'Plan.csv': `Nr,Titel,Beginn,Ende,Status\n${rows.join('')}`,
      'Orte.csv': 'Name,Stadt\nOper,Ulm\n',
    })
    expect(text).toContain(
      '      Status: { column: Status, values: { Abgesagt: cancelled, verlegt: postponed, Annulé: cancelled, uitgesteld: postponed, ok: scheduled, Nuova data: rescheduled, suspendido: cancelled, called off: cancelled } }',
    )
  })

  it('tells that serving refuses a file with rows that are wider than its header', async () => {
    const rows = EVENTS.replace('1.250;77', '1.250;77;').replace('180;3', '180;3;')
    const { said, text } = await proposed({ 'Cartellone.csv': rows, 'Sale.csv': VENUES })
    const sentence =
      'Cartellone.csv: row 2 has 11 cells, row 3 has 11 cells, and the header row 10 cells; Marquee refuses such a file: enclose a cell that contains ";" in double quotes'
    expect(said).toContain(sentence)
    expect(text).toContain(`# ${sentence}`)
  })

  it.each([
    ['blank cells beyond the header', EVENTS.replace('Genere', 'Genere;').replaceAll(/(?:Opera|Concerti)$/gm, '$&;;')],
    ['blank cells in the header alone', EVENTS.replace('Genere', 'Genere;;')],
    ['blank cells in rows alone', EVENTS.replaceAll('Opera', 'Opera;;')],
  ])('says nothing of %s: such a file is served', async (_, rows) => {
    const { said, text } = await proposed({ 'Cartellone.csv': rows, 'Sale.csv': VENUES })
    expect(said).not.toContain('refuses such a file')
    expect(await checked(text.replaceAll(/'\?'/g, 'null'))).toContain('4 events and 2 venues would be served')
  })

  it.each([' ', '\u00a0', '\u202f'])('reads numbers whose thousands are grouped by %j', async (blank) => {
    const rows = `Nr;Titre;Salle;Début;Fin;Capacité;Places restantes;Prix
1;Tosca;Opéra;2036-12-11 19:30;2036-12-11 22:00;1${blank}250;1${blank}000;20
2;Aïda;Opéra;2036-12-12 19:30;2036-12-12 22:00;900;0;30
`
    const { text } = await proposed({ 'Programme.csv': rows })
    expect(text).toMatch(/decimal: ","   # blanks group thousands; e\.g\. 1.000/)
    writeFileSync(join(folder, 'crm', 'venues.csv'), 'Id,Name\n')
    expect(await checked(text.replaceAll(/'\?'/g, 'null'))).toContain('"TicketCapacity":1250,"TicketsAvailable":1000')
    const unsaid = await checked(text.replaceAll(/'\?'/g, 'null').replace(/^ +decimal: .*$/m, ''))
    expect(unsaid).toContain("or set crm.texts.decimal: ','")
  })

  it('takes blanks between thousands for no evidence beside a number with a decimal point', async () => {
    const rows = `Nr;Titre;Salle;Début;Fin;Capacité;Places restantes;Prix
1;Tosca;Opéra;2036-12-11 19:30;2036-12-11 22:00;1 250;1 000;12.50
`
    const { text } = await proposed({ 'Programme.csv': rows })
    expect(text).toContain('decimal: "."   # e.g. 12.50')
  })

  it('knows the seconds of a time with AM or PM, as .NET and Google Sheets write it', async () => {
    const rows = `Id;Title;Venue;Start;End
1;Tosca;Opera;12/24/2036 7:30:00 PM;12/24/2036 10:00:00 PM
2;Aida;Opera;1/5/2037 7:30:00 PM;1/5/2037 11:30:00 PM
`
    const { text } = await proposed({ 'Plan.csv': rows })
    expect(text).toContain('dates: ["M/D/YYYY h:mm:ss A"]')
  })

  it.each(['json', 'ndjson'] as const)(
    'says the encoding of %s that is UTF-16, as PowerShell writes it',
    async (format) => {
      const row = { nr: '7', title: 'Żeński', start: '2036-12-11 19:30', end: '2036-12-11 22:00' }
      const content = format === 'json' ? JSON.stringify([row]) : `${JSON.stringify(row)}\n`
      const { text } = await proposed({ [`Plan.${format}`]: Buffer.from(`\ufeff${content}`, 'utf16le') })
      expect(text).toContain('    texts:\n      encoding: utf-16le   # all bytes are valid')
      writeFileSync(join(folder, 'crm', 'venues.csv'), 'Id,Name\n')
      expect(await checked(text.replaceAll(/'\?'/g, 'null'))).toContain('"Name":"Żeński"')
    },
  )

  it('looks at a UTF-16 file that ends within a character', async () => {
    const whole = Buffer.from('\ufeffId;Name;Start;End\n1;A;2036-12-11 19:30;2036-12-11 22:00\n', 'utf16le')
    writeFileSync(join(folder, 'cut.csv'), Buffer.concat([whole, Buffer.from('x')]))
    const { status, stderr } = await runCommand(['init', 'files', '--from', 'cut.csv'], { cwd: folder })
    expect([status, stderr]).toEqual([0, ''])
  })

  it.each([
    ['empty.csv', '', 'has zero bytes'],
    ['empty.json', '', 'has zero bytes'],
    ['nul.csv', '\0'.repeat(4096), 'contains U+0000, which no text does; most likely it is incomplete, or not a list'],
  ])('proposes nothing for a file that is no list: %s', async (name, content, why) => {
    writeFileSync(join(folder, name), content)
    const { status, stderr } = await runCommand(['init', 'files', '--from', name], { cwd: folder })
    expect([status, stderr]).toEqual([2, `${name} ${why}\n`])
  })

  it('names the key for texts in JSON that cannot be read', async () => {
    const event = {
      Id: '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e01',
      Start: '21.06.2036 19:30',
      Finish: '2036-06-21 22:00',
      Price: '18,50',
      Tags: 'Music; Talk',
      ShowOnWeb: 'ja',
    }
    writeFileSync(join(folder, 'crm', 'events.json'), JSON.stringify([event]))
    writeFileSync(join(folder, 'crm', 'venues.json'), '[]')
    const plain = 'operations: null\ncrm:\n  kind: files\n  directory: ./crm\n'
    const said = await checked(plain)
    for (const key of [
      'DD.MM.YYYY hh:mm to crm.texts.dates',
      "crm.texts.decimal: ','",
      "crm.texts.tags to the signs that separate them, such as [';']",
      'crm.texts.yes: [ja]',
    ])
      expect(said).toContain(key)
    const texts = "  texts: { dates: [DD.MM.YYYY hh:mm], decimal: ',', tags: [';'], yes: [ja] }\n"
    const served = await checked(plain + texts)
    expect(served).toContain(
      '"Start":"2036-06-21T19:30:00+00:00","Finish":"2036-06-21T22:00:00+00:00","Price":18.50,"Tags":["Music","Talk"]',
    )
  })
})
