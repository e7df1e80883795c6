import { describe, expect, it } from 'bun:test'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { eventually } from '../support/eventually.ts'
import { serve } from '../support/marquee-process.ts'
import { askOperations } from '../support/operations-client.ts'
import { RUNTIMES } from '../support/depth.ts'

const CONFIGURATION = `operations: { port: 0 }
listen: { port: 0 }
freshness: { maxAge: 2s, refreshEvery: 100ms, shrinkGuard: off }
crm:
  kind: files
  directory: .
  idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11
  events:
    from: Spielplan.csv
    fields: { Id: Nr, Name: Titel, VenueId: Ort, Start: Beginn, Finish: Ende, TicketCapacity: null, TicketsAvailable: null, Price: null }
    showOnWeb: null
    active: null
  venues: { from: Orte.csv, fields: { Id: Name, Name: Name }, active: { Offen: [ja] } }
`
const VENUES = 'Name,Offen\nStadthalle,ja\n"Oper ",ja\nKeller,nein\n'

function events(...places: readonly string[]): string {
  const rows = places.map((place, at) => `${at + 1},Titel,${place},2036-06-21T19:30Z,2036-06-21T22:00Z\n`)
  return `Nr,Titel,Ort,Beginn,Ende\n${rows.join('')}`
}

const PLACES = ['Oper', ' Oper', 'Oper\u00a0', 'Stadthale', 'Stadthalle', 'Stadthale', 'Zirkus', 'Keller', '']
const TEXTS = [
  [
    'is "Stadthale", which matches no venue; the nearest is "Stadthalle"',
    2,
    'Spielplan.csv, line 5; Spielplan.csv, line 7',
  ],
  ['is "Zirkus", which matches no venue; none is similar', 1, 'Spielplan.csv, line 8'],
] as const

interface Told {
  readonly column: string
  readonly what: string
  readonly count: number
  readonly example: string
}

function asTexts(suspicious: readonly Told[]): readonly unknown[] {
  return suspicious.flatMap(({ column, what, count, example }) => (column === 'Ort' ? [[what, count, example]] : []))
}

describe('an event names a venue by the text of its id (SURFACE: Further fields, conditions, ports)', () => {
  it.each(RUNTIMES)('%s: check tells texts that no venue has, their rows and the nearest', async (runtime) => {
    const files = { 'marquee.yaml': CONFIGURATION, 'Orte.csv': VENUES, 'Spielplan.csv': events(...PLACES) }
    using folder = new WorkFolder(files)
    const { stdout, status } = await runCommand(['check', '--json', '--strict'], { cwd: folder.path, runtime })
    const report = JSON.parse(stdout) as { suspicious: readonly Told[]; warnings: readonly string[] }
    expect(asTexts(report.suspicious)).toEqual(TEXTS as never)
    expect(status).toBe(1)
    expect(report.warnings).toEqual([
      expect.stringMatching(
        /^event [-0-9a-f]{36} \(Spielplan.csv, line 9\) refers to venue "Keller" \(Orte.csv, line 4\), which is not served: its \/venue answers 404$/,
      ) as never,
    ])
    const { stderr } = await runCommand(['check'], { cwd: folder.path, runtime })
    expect(stderr).toContain(
      'warning: Ort is "Stadthale", which matches no venue; the nearest is "Stadthalle" (2 events; Spielplan.csv, line 5; Spielplan.csv, line 7)\n',
    )
  })

  it('blanks at the ends do not tell two ids apart, so rows that differ by them alone are duplicates', async () => {
    const double = `${VENUES}Oper,ja\n`
    using folder = new WorkFolder({
      'marquee.yaml': CONFIGURATION,
      'Orte.csv': double,
      'Spielplan.csv': events('Oper'),
    })
    const { stdout } = await runCommand(['check', '--json', '--show', '1'], { cwd: folder.path })
    expect(JSON.parse(stdout)).toMatchObject({
      suspicious: [],
      groups: [
        { kind: 'venue', fault: 'duplicate-id', count: 1 },
        { kind: 'venue', fault: 'inactive' },
      ],
    })
    const { stdout: explained } = await runCommand(['explain', ' Stadthalle '], { cwd: folder.path })
    expect(explained).toContain('Stadthalle')
  })

  it.each(RUNTIMES)('%s: serve tells it in the log, once, and in /status as long as it is so', async (runtime) => {
    const files = { 'marquee.yaml': CONFIGURATION, 'Orte.csv': VENUES, 'Spielplan.csv': events(...PLACES) }
    using folder = new WorkFolder(files)
    const { child, listening } = await serve(runtime, folder.at('marquee.yaml'))
    const told = async (): Promise<readonly unknown[]> => {
      const reply = await askOperations(`${listening.operations ?? ''}status`)
      const status = JSON.parse(reply?.text ?? '') as { lists: { events: { suspicious: readonly Told[] } } }
      return asTexts(status.lists.events.suspicious)
    }
    const logged = (): readonly string[] =>
      child.stdout.split('\n').filter((line) => line.includes('which matches no venue'))
    expect(await eventually(told, (texts) => texts.length > 0)).toEqual(TEXTS as never)
    expect(logged().map((line) => JSON.parse(line) as unknown)).toMatchObject([
      {
        level: 'warn',
        message:
          'suspicious in the events: Ort is "Stadthale", which matches no venue; the nearest is "Stadthalle" (2 rows, first at Spielplan.csv, line 5)',
      },
      { level: 'warn' },
    ])
    // A venue that comes, and an event that names no venue any longer.
    folder.write('Orte.csv', `${VENUES}Zirkus,ja\n`)
    await eventually(told, (texts) => texts.length === 1)
    folder.write('Spielplan.csv', events(...PLACES.map((place) => place.replace('Stadthale', 'Stadthalle'))))
    await eventually(told, (texts) => texts.length === 0)
    expect(logged().length).toBe(2)
    folder.write('Spielplan.csv', events(...PLACES.slice(0, 4)))
    const again = await eventually(told, (texts) => texts.length === 1)
    expect(again).toEqual([[TEXTS[0][0], 1, 'Spielplan.csv, line 5']])
    expect(logged().length).toBe(3)
    await child.stop()
  })
})
