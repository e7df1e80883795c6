import { afterEach, beforeEach, describe, expect, it } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../commands/run-command.ts'
import { serial, workbook } from '../support/workbook-file.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'marquee-nested-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

async function proposed(files: Readonly<Record<string, string | Buffer>>): Promise<{ text: string; said: string }> {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  const from = Object.keys(files).flatMap((name) => ['--from', name])
  const { stdout } = await runCommand(['init', 'files', ...from], { cwd: folder })
  return { text: readFileSync(join(folder, 'marquee.yaml'), 'utf8'), said: stdout }
}

async function checked(text: string): Promise<string> {
  writeFileSync(join(folder, 'marquee.yaml'), text)
  const { stdout, stderr } = await runCommand(['check', '--show', '1'], { cwd: folder })
  return `${stdout}${stderr}`
}

const LUOGHI = [
  { id: 7, nome: 'Teatro Nuovo', indirizzo: { via: 'Via Po 1', citta: 'Torino' }, gps: { lat: 45.06, lng: 7.69 } },
  { id: 8, nome: 'Circolo', indirizzo: { via: 'Via Roma 2', citta: 'Torino' }, gps: { lat: 45.07, lng: 7.68 } },
]
const event = (id: number, luogo: unknown): object => ({
  id,
  titolo: `Aida ${id}`,
  inizio: `2036-03-0${id - 100}T19:00:00+01:00`,
  fine: `2036-03-0${id - 100}T22:00:00+01:00`,
  luogo,
  capacity: { total: 300, available: 20 },
  contatto: { nome: 'Ufficio', interno: '1' },
  prezzo: '45,50 €',
  locandina: { url: `https://example.org/${id}.jpg` },
  descrizione: '<p>Opera in quattro <b>atti</b></p>',
  pubblicato: true,
})
const EVENTI = [event(101, LUOGHI[0]), event(102, LUOGHI[1]), event(103, null)]

describe('a JSON export with objects in its rows', () => {
  it('is proposed by paths, and read by them', async () => {
    const { text } = await proposed({ 'eventi.json': JSON.stringify(EVENTI), 'luoghi.json': JSON.stringify(LUOGHI) })
    for (const line of [
      'VenueId: "luogo.id"   # its values are in id of the venues',
      'TicketCapacity: "capacity.total"',
      'TicketsAvailable: "capacity.available"',
      'AddressStreet1: "indirizzo.via"',
      'AddressCity: "indirizzo.citta"',
      'Latitude: "gps.lat"',
      '# Image: "locandina.url"',
      '# Description: { column: descrizione, html: true }',
    ]) {
      expect(text).toContain(line)
    }
    expect(text).not.toContain('luogo.nome')
    expect(text).not.toContain('contatto.interno contains')
    const said = await checked(text)
    expect(said).toContain('3 events and 2 venues would be served.')
    expect(said).toMatch(/VenueId +← luogo.id +2 of 3 {2}e.g. 7/)
    expect(said).toContain('"AddressStreet1":"Via Po 1"')
  })

  it('takes a column of the event before one of an inner object', async () => {
    const events = EVENTI.map((row) => ({ ...row, capacity: null, room: { capacity: 900 }, 'Seats in all': 300 }))
    const { text } = await proposed({ 'eventi.json': JSON.stringify(events), 'luoghi.json': JSON.stringify(LUOGHI) })
    expect(text).toContain('TicketCapacity: Seats in all')
  })

  it('says which path no row has', async () => {
    const files = { 'eventi.json': JSON.stringify(EVENTI), 'luoghi.json': JSON.stringify(LUOGHI) }
    const { text } = await proposed(files)
    expect(await checked(text.replace('"luogo.id"', 'luogo.codice'))).toContain(
      'warning: eventi.json has no column "luogo.codice" (crm.events.fields.VenueId',
    )
    writeFileSync(join(folder, 'eventi.json'), JSON.stringify([event(104, null)]))
    expect(await checked(text)).toContain('1 event and 2 venues would be served.')
  })
})

describe('what other makers write', () => {
  it('is known in Spanish: numbers of rows, tickets left, towns, pictures, and what is postponed', async () => {
    const shows = `Nº;Título;Recinto;Inicio;Fin;Entradas libres;Precio;Anulado;Estado;Sinopsis;Cartel
1;Compañía;Falla;2036-07-13 20:30;2036-07-13 22:00;10;5;;;Una noche;https://example.org/a.jpg
2;Sueño;Falla;2036-07-14 20:30;2036-07-14 22:00;Agotado;5;X;Cancelado;;
3;Danza;Falla;2036-07-15 20:30;2036-07-15 22:00;9;5;;Aplazado;;
4;Jazz;Falla;2036-07-16 20:30;2036-07-16 22:00;8;5;;;;
`
    const places = 'Nombre;Población;Página web\nFalla;Cádiz;https://example.org\nEspaña;Cádiz;\n'
    const { text } = await proposed({
      'Programa.csv': Buffer.from(shows, 'latin1'),
      'Recintos.csv': Buffer.from(places, 'latin1'),
    })
    for (const line of [
      'Id: Nº   # 4 different values',
      'TicketsAvailable: { column: Entradas libres, values: { Agotado: 0 } }   # 3 of 4 are numbers; e.g. 10; Agotado: 0',
      '# Status: { column: Estado, values: { Cancelado: cancelled, Aplazado: postponed } }',
      '# Description: Sinopsis',
      '# Image: Cartel',
      'windows-1252 gives Compañía, windows-1250 gives Compańía',
      'AddressCity: Población',
      'Website: Página web',
    ]) {
      expect(text).toContain(line)
    }
  })

  it('is understood in a workbook: times as numbers and as texts, padded ids, and which sheet is left out', async () => {
    const { text, said } = await proposed({
      'Season.xlsx': workbook([
        { name: 'Read me', rows: [['Printed on Friday']] },
        {
          name: 'Shows',
          rows: [
            ['Perf. ID', 'Show', 'Venue', 'Date', 'Curtain', 'Ends', 'Seats Left', 'Price'],
            [
              serial(7, 'zeros'),
              'Our Town',
              'Main',
              '2036-02-05',
              serial(0.8125, 'time'),
              serial(0.9375, 'time'),
              5,
              30,
            ],
            [8, 'Open Mic', 'Main', '2036-02-06', '8:00 PM', '11:30 PM', 5, 30],
            [9, 'Improv', 'Main', '2036-02-07', '10:30 PM', '11:30 PM', 5, 30],
          ],
        },
        {
          name: 'Venues',
          rows: [
            ['Name', 'City', 'Web page'],
            ['Main', 'Boston', 'https://example.org'],
          ],
        },
      ]),
    })
    expect(text).toContain('Id: "Perf. ID"   # 3 different values; e.g. 00007')
    expect(text).toContain('Start: { join: [Date, Curtain] }   # 3 of 3 fit')
    expect(text).toContain('Finish: { join: [Date, Ends] }   # 3 of 3 fit')
    expect(text).toContain('dates: ["YYYY-MM-DD h:mm A"]')
    expect(said).toContain('Season.xlsx, sheet "Read me": not used, as it contains neither events nor venues')
    const checkedText = text.replace("showOnWeb: '?'", 'showOnWeb: null')
    const served = await checked(`${checkedText}\ntimeZone: America/New_York\n`)
    expect(served).toContain('3 events and 1 venue would be served.')
    // The number of all tickets is in no column, which is no contradiction.
    expect(served).not.toContain('is above TicketCapacity')
  })
})
