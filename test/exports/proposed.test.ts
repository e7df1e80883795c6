import { afterEach, beforeEach, describe, expect, it } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCrm } from '../../src/app/assemble.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import type { EventRecord } from '../../src/domain/event.ts'
import { markedByEditor } from '../config/editor-schema.ts'
import { runCommand } from '../commands/run-command.ts'
import { serial, workbook } from '../support/workbook-file.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'marquee-proposed-'))
  write('venues.csv', 'Id,Name\n')
})
afterEach(() => rmSync(folder, { recursive: true }))

function write(name: string, text: string | Buffer): void {
  writeFileSync(join(folder, name), text)
}

async function proposed(...files: readonly string[]): Promise<{ readonly text: string; readonly said: string }> {
  const { status, stdout, stderr } = await runCommand(['init', 'files', ...files.flatMap((file) => ['--from', file])], {
    cwd: folder,
  })
  expect([status, stderr]).toEqual([0, ''])
  return { text: readFileSync(join(folder, 'marquee.yaml'), 'utf8'), said: stdout }
}

/** The events that are served by a configuration, with these answers to its open questions in their order. */
async function served(text: string, ...answers: readonly string[]): Promise<readonly EventRecord[]> {
  let answered = text
  for (const answer of answers) answered = answered.replace("'?'", answer)
  const readFile = (): Promise<Uint8Array> => Promise.reject(new Error('no file is read'))
  const loaded = await loadConfiguration({ path: join(folder, 'marquee.yaml'), text: answered, env: {}, readFile })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  expect(markedByEditor(answered)).toEqual([])
  const { lists, failures } = await readCrm(loaded.configuration)
  expect(failures).toEqual([])
  const { list } = lists.events
  return Array.from(list.rows(), (row) => list.read(row))
    .filter((event) => event !== null && event !== undefined)
    .toSorted((left, right) => (left.Start < right.Start ? -1 : 1))
}

const GERMAN = [
  'Spielplan 2036;;;;;;;;;;;',
  '',
  'Nr;Titel;Ort;Datum;Beginn;Ende;Plätze;Verkauft;Preis;Sparte;Veröffentlicht;',
  '1;Die Zauberflöte;Stadthalle;24.12.2036;19:30;22:15;1.250;1.000;25,50;Oper, Klassik;x;',
  '2;Silvester;Stadthalle;31.12.2036;22:00;01:30;300;12;1.250,00;Gala;ja;',
  ';;;;;;;;;;;',
  '3;Lesung;Café;05.03.2036;19:00;;80;80;0;Lesung;x;',
  '4;Probe;Café;06.03.2036;19:00;;80;80;0;Lesung;nein;',
]

describe('marquee init files --from (SURFACE: Files as they are exported)', () => {
  it('reads a German spreadsheet with one question answered, to the last digit', async () => {
    write('Spielplan.csv', Buffer.from(`${GERMAN.join('\r\n')}\r\n`, 'latin1'))
    write('Orte.csv', Buffer.from('Name;Stadt;PLZ\r\nStadthalle;Köln;01067\r\nCafé;Köln;01067\r\n', 'latin1'))
    const { text, said } = await proposed('Spielplan.csv', 'Orte.csv')
    expect(said).toContain('Finish: 2 rows have no end time. How long do these events last? For example 2h30m.')
    const asked = await runCommand(['check'], { cwd: folder })
    expect([asked.status, asked.stderr]).toEqual([
      2,
      expect.stringMatching(/marquee\.yaml:\d+: crm\.events\.fields\.Finish\.\S+ is still '\?'/) as never,
    ])
    const [reading, flute, gala, ...others] = await served(text, '2h30m')
    expect(others).toEqual([])
    expect(flute).toMatchObject({
      Name: 'Die Zauberflöte',
      TicketCapacity: 1250,
      TicketsAvailable: 250,
      Start: '2036-12-24T19:30:00+00:00',
      Finish: '2036-12-24T22:15:00+00:00',
      Price: '25.50',
      Tags: ['Oper', 'Klassik'],
    })
    expect(gala).toMatchObject({ Finish: '2037-01-01T01:30:00+00:00', Price: '1250.00' })
    expect(reading).toMatchObject({ Finish: '2036-03-05T21:30:00+00:00' })
  })

  it('leaves open which of two is the month, and which of two is the decimal sign', async () => {
    const id = (digit: number): string => `0000000${digit}-0000-4000-8000-000000000001`
    write(
      'events.csv',
      `id,title,start,end,price,published\n${id(1)},A,03/04/2036 19:30,03/04/2036 22:00,1.250,yes\n${id(2)},B,05/06/2036 19:30,05/06/2036 22:00,2.500,no\n`,
    )
    const { text, said } = await proposed('events.csv')
    expect(said).toContain("decimal: Is 2.500 written with a decimal comma (',') or a decimal point ('.')?")
    expect(said).toContain('dates: The dates fit both [DD/MM/YYYY hh:mm] and [MM/DD/YYYY hh:mm]. Which is right?')
    const { status, stderr } = await runCommand(['check'], { cwd: folder })
    expect(status).toBe(2)
    expect(stderr).toMatch(/marquee\.yaml:\d+: crm\.events\.texts\.decimal is still '\?'/)
    expect(stderr).toMatch(/marquee\.yaml:\d+: crm\.events\.texts\.dates is still '\?'/)
    expect(text).not.toContain('idNamespace:')
    expect(await served(text, "'.'", '[MM/DD/YYYY hh:mm]', 'null', 'null')).toMatchObject([
      { Start: '2036-03-04T19:30:00+00:00', Price: '1.250' },
    ])
    expect(await served(text, "','", '[DD/MM/YYYY hh:mm]', 'null', 'null')).toMatchObject([
      { Start: '2036-04-03T19:30:00+00:00', Price: '1250' },
    ])
  })

  it('reads a French workbook', async () => {
    const day = (days: number): ReturnType<typeof serial> => serial(49_847 + days, 'date')
    const rows = [
      ['Saison 2036'],
      ['Réf', 'Titre', 'Lieu', 'Date', 'Début', 'Fin', 'Jauge', 'Places restantes', 'Prix', 'En ligne'],
      [
        'F-1',
        'Carmen',
        'Grande salle',
        day(0),
        serial(0.8125, 'time'),
        serial(0.9375, 'time'),
        250,
        12,
        19.989_999_999_999_998,
        'oui',
      ],
      ['F-2', 'Faust', 'Petite salle', day(1), serial(0.875, 'time'), serial(0.9375, 'time'), 90, 0, 12, 'non'],
    ]
    write('Saison.xlsx', workbook([{ name: 'Programme', rows }]))
    write('Lieux.csv', 'Nom,Ville\nGrande salle,Lyon\nPetite salle,Lyon\n')
    const { text, said } = await proposed('Saison.xlsx', 'Lieux.csv')
    expect(said).not.toContain("replace each '?'")
    expect(await served(text)).toMatchObject([
      {
        Name: 'Carmen',
        Start: '2036-06-21T19:30:00+00:00',
        Finish: '2036-06-21T22:30:00+00:00',
        TicketCapacity: 250,
        TicketsAvailable: 12,
        Price: '19.99',
      },
    ])
  })

  it('writes nothing where a file cannot be looked at, and nothing of a file but into a comment or quotes', async () => {
    const missing = await runCommand(['init', 'files', '--from', 'nothing.csv'], { cwd: folder })
    expect([missing.status, missing.stderr]).toEqual([2, 'nothing.csv does not exist\n'])
    const other = await runCommand(['init', 'postgres', '--from', 'nothing.csv'], { cwd: folder })
    expect(other.status).toBe(2)
    write(
      'e.csv',
      'Id,"Name\ncrm: { x: y }",Start,End,web\n1,"a\n  kind: postgres",2036-01-01 10:00,2036-01-01 11:00,x\n',
    )
    const { text } = await proposed('e.csv')
    expect(await served(text, 'null', 'null', 'null')).toHaveLength(1)
  })
})
