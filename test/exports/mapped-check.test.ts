import { describe, expect, it } from 'bun:test'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { workbook } from '../support/workbook-file.ts'
import { RUNTIMES } from '../support/depth.ts'

const CONFIGURATION = `operations: null
crm:
  kind: files
  directory: .
  idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11
  texts: { delimiter: ';', dates: [DD.MM.YYYY hh:mm] }
  events:
    from: Spielplan.csv
    fields: { Id: Nr, Name: Titel, Start: Beginn, Finish: { join: [Tag, Ende] }, TicketCapacity: Plätze, TicketsAvailable: Frei, Price: Preis, Tags: Sparte }
    showOnWeb: { Web: [x] }
    active: null
  venues: { from: Orte.csv, fields: { Id: Name, Name: Name }, active: null }
`
const HEADER = 'Nr;Titel;Beginn;Tag;Ende;Plätze;Frei;Preis;Sparte;Web'
const ROWS = [
  '1;Figaro;21.06.2036 19:30;21.06.2036;22:00;100;120;18.50;Oper, Gala;x',
  '2;Tosca;22.06.2036 19:30;21.06.2036;22:00;1.000;0;18.50;Oper;x',
  '3;Faust;22.6.36 19:30;22.06.2036;22:00;100;0;18,50;Oper;x',
  ';;;;;;;;;',
  '4;Carmen;23.06.2036 19:30;23.06.2036;22:00;100;0;12;Oper;nein',
]

interface Report {
  readonly groups: readonly { readonly column: string; readonly count: number; readonly remedy: string }[]
  readonly suspicious: readonly { readonly column: string; readonly what: string; readonly example: string }[]
  readonly zone: unknown
  readonly warnings: readonly string[]
}

it('check finds coordinates suspicious that are on no map', async () => {
  const venues = 'Name;Lat;Lon\nMünchen;48.137;11,575\nWien;48,208;16.373\n'
  const files = {
    'marquee.yaml': CONFIGURATION.replace("delimiter: ';',", "delimiter: ';', decimal: ',',").replace(
      'fields: { Id: Name, Name: Name }',
      'fields: { Id: Name, Name: Name, Latitude: Lat, Longitude: Lon }',
    ),
    'Spielplan.csv': `${HEADER}\n`,
    'Orte.csv': venues,
  }
  using folder = new WorkFolder(files)
  const { stderr } = await runCommand(['check'], { cwd: folder.path })
  expect(stderr).toContain('Lat is not between -90 and 90 (1 venue; Orte.csv, line 2: Lat is 48137)')
  expect(stderr).toContain('Lon is not between -180 and 180 (1 venue; Orte.csv, line 3: Lon is 16373)')
})

describe('check of a file as it was exported speaks of its columns and its words (SURFACE: Files as they are exported)', () => {
  it.each(RUNTIMES)('%s: in groups, in what is suspicious, and in what to set', async (runtime) => {
    using folder = new WorkFolder({
      'marquee.yaml': CONFIGURATION,
      'Spielplan.csv': [HEADER, ...ROWS, ''].join('\n'),
      'Orte.csv': 'Name\n',
    })
    const { stdout } = await runCommand(['check', '--json'], { cwd: folder.path, runtime })
    const { groups, suspicious, zone, warnings } = JSON.parse(stdout) as Report
    expect(groups.map(({ column, count, remedy }) => [column, count, remedy])).toEqual([
      ['Beginn', 1, expect.stringContaining('add D.M.YY hh:mm to crm.texts.dates') as never],
      ['Preis', 1, 'Correct Preis: write 18.50 for "18,50", or set crm.texts.decimal: \',\'.'],
      ['Web', 1, 'To publish a row, write x in Web; the column must be spelt exactly like this.'],
    ])
    expect(suspicious.map(({ column, what }) => `${column} ${what}`)).toEqual([
      'Frei is above Plätze',
      'Plätze ends in .000 and is read as a decimal fraction (1.000 is 1); most likely a thousand is meant',
      'Tag + Ende is before Beginn',
      'Beginn has no offset and timeZone is not set, so it is read as UTC',
      'Tag + Ende has no offset and timeZone is not set, so it is read as UTC',
    ])
    expect(suspicious[0]?.example).toBe('Spielplan.csv, line 2: Frei is 120, and Plätze 100')
    expect(zone).toEqual({ name: 'UTC', set: false, datesWithoutOffset: 7 })
    expect(warnings).toContainEqual('Spielplan.csv: 1 blank row is skipped')
  })

  it.each(RUNTIMES)('%s: names the keys for the texts of a workbook too', async (runtime) => {
    const rows = [HEADER, ...ROWS].map((row) => row.split(';'))
    using folder = new WorkFolder({
      'marquee.yaml': CONFIGURATION.replace('from: Spielplan.csv', 'from: Spielplan.xlsx'),
      'Spielplan.xlsx': workbook([{ name: 'x', rows }]),
      'Orte.csv': 'Name\n',
    })
    const { stdout } = await runCommand(['check', '--json'], { cwd: folder.path, runtime })
    const { groups } = JSON.parse(stdout) as Report
    expect(groups.find(({ column }) => column === 'Preis')?.remedy).toBe(
      'Correct Preis: write 18.50 for "18,50", or set crm.texts.decimal: \',\'.',
    )
    expect(groups.find(({ column }) => column === 'Beginn')?.remedy).toContain('add D.M.YY hh:mm to crm.texts')
  })

  it('tells nobody to write a day that is in no calendar, nor to set a format that is set', async () => {
    const [good = ''] = ROWS
    const rows = [good.replace('21.06.2036 19:30', '31.02.2036 19:30'), good.replace('1;Figaro', '2;Figaro')]
    using folder = new WorkFolder({
      'marquee.yaml': CONFIGURATION,
      'Spielplan.csv': [HEADER, ...rows, ''].join('\n'),
      'Orte.csv': 'Name\n',
    })
    const { stdout } = await runCommand(['check', '--json'], { cwd: folder.path })
    const { groups } = JSON.parse(stdout) as Report
    expect(groups.map(({ remedy }) => remedy)).toEqual([
      'Correct Beginn: write a day and a time that exist for "31.02.2036 19:30".',
    ])
  })
})
