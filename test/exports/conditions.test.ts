import { describe, expect, it } from 'bun:test'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { workbook } from '../support/workbook-file.ts'
import { RUNTIMES } from '../support/depth.ts'

const HEADER = ['Nr', 'Titel', 'Beginn', 'Ende', 'Abgesagt', 'Zustand']
const ROWS = [
  ['1', 'Figaro', '2036-06-21T19:30Z', '2036-06-21T22:00Z', '', 'fest'],
  ['2', 'Tosca', '2036-06-22T19:30Z', '2036-06-22T22:00Z', 'x', 'fest'],
  ['3', 'Faust', '2036-06-23T19:30Z', '2036-06-23T22:00Z', '  ', 'Entwurf '],
  ['4', 'Carmen', '2036-06-24T19:30Z', '2036-06-24T22:00Z', '', ''],
  ['5', 'Aida', '2036-06-25T19:30Z', '2036-06-25T22:00Z', '', 'ENTWURF'],
  ['6', 'Norma', '2036-06-26T19:30Z', '2036-06-26T22:00Z', '', 'fest'],
  ['7', 'Orfeo', '2036-06-27T19:30Z', '2036-06-27T22:00Z', '', 'vorläufig'],
]
const VENUES = 'Name\nOper\n'

function configuration(file: string, conditions: string): string {
  return `operations: null
crm:
  kind: files
  directory: .
  idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11
  events:
    from: ${file}
    fields: { Id: Nr, Name: Titel, Start: Beginn, Finish: Ende }
    showOnWeb: null
    active: ${conditions}
  venues: { from: Orte.csv, fields: { Id: Name, Name: Name }, active: null }
`
}

const BOTH = '{ Abgesagt: blank, Zustand: { not: [Entwurf] } }'

function asObjects(): string {
  const items = ROWS.map((row) => Object.fromEntries(HEADER.map((name, at) => [name, row[at] === '' ? null : row[at]])))
  return JSON.stringify(items)
}

const FILES = {
  'Spielplan.csv': [HEADER, ...ROWS].map((row) => `${row.join(',')}\n`).join(''),
  'Spielplan.json': asObjects(),
  'Spielplan.xlsx': workbook([{ name: 'Spielplan', rows: [HEADER, ...ROWS] }]),
} as const

describe('conditions say where a cell must be blank, or must not hold some values', () => {
  it.each(
    RUNTIMES.flatMap((runtime) =>
      (['Spielplan.csv', 'Spielplan.json', 'Spielplan.xlsx'] as const).map((file) => [runtime, file] as const),
    ),
  )(
    '%s, %s: marked rows are withheld, blank ones served, and check tells what not lets pass',
    async (runtime, file) => {
      using folder = new WorkFolder({
        'marquee.yaml': configuration(file, BOTH),
        [file]: FILES[file],
        'Orte.csv': VENUES,
      })
      const { status, stdout } = await runCommand(['check', '--json'], { cwd: folder.path, runtime })
      const report: unknown = JSON.parse(stdout)
      expect(status).toBe(0)
      expect(report).toMatchObject({
        ok: true,
        events: 4,
        groups: [
          {
            column: 'Zustand',
            fault: 'inactive',
            count: 2,
            remedy: 'In the rows that should be on the web, leave Zustand blank or write another value than Entwurf.',
          },
          {
            column: 'Abgesagt',
            fault: 'inactive',
            count: 1,
            found: [{ value: 'x', count: 1 }],
            remedy: 'Empty Abgesagt in the rows that should be on the web.',
          },
        ],
        passing: [
          {
            kind: 'event',
            column: 'Zustand',
            values: [
              { value: 'fest', count: 3 },
              { value: 'vorläufig', count: 1 },
            ],
          },
        ],
      })
    },
  )

  it('check tells a person the same', async () => {
    using folder = new WorkFolder({
      'marquee.yaml': configuration('Spielplan.csv', BOTH),
      'Spielplan.csv': FILES['Spielplan.csv'],
      'Orte.csv': VENUES,
    })
    const { stdout } = await runCommand(['check'], { cwd: folder.path })
    expect(stdout).toContain('4 events and 1 venue would be served, 3 rows would not.')
    expect(stdout).toContain('Zustand of the events: besides blank cells, `not` accepts "fest" (3), "vorläufig" (1).')
  })

  it.each(["['']", '[null]'])('a column that must hold %s is refused with what to write instead', async (list) => {
    using folder = new WorkFolder({
      'marquee.yaml': configuration('Spielplan.csv', `{ Abgesagt: ${list} }`),
      'Spielplan.csv': FILES['Spielplan.csv'],
      'Orte.csv': VENUES,
    })
    const { status, stderr } = await runCommand(['check'], { cwd: folder.path })
    expect(status).toBe(2)
    expect(stderr).toBe(
      `${folder.at('marquee.yaml')}:10: crm.events.active.Abgesagt lists a blank value; if the cell must be blank, write Abgesagt: blank, without [ ]\n`,
    )
  })

  it.each(['blank', '{ not: [x] }'])('a column that no row has is missed for %s too', async (held) => {
    using folder = new WorkFolder({
      'marquee.yaml': configuration('Spielplan.csv', `{ Abgesägt: ${held} }`),
      'Spielplan.csv': FILES['Spielplan.csv'],
      'Orte.csv': VENUES,
    })
    const { status, stderr } = await runCommand(['check'], { cwd: folder.path })
    expect(status).toBe(2)
    expect(stderr).toContain('has no column "Abgesägt" (crm.events.active.Abgesägt; did you mean "Abgesagt"?)')
  })
})
