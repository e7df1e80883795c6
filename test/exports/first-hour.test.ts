import { describe, expect, it } from 'bun:test'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { ROOT } from '../support/child.ts'
import { serve } from '../support/marquee-process.ts'
import { RUNTIMES } from '../support/depth.ts'

interface Export {
  readonly name: string
  readonly files: readonly string[]
  /** What the person writes in the place of each question, in their order. */
  readonly answers: readonly string[]
  readonly zone: string
  /** Events, venues, and rows that are withheld because the file says so. */
  readonly counts: readonly [number, number, number]
  /** What is served of an event, by the id that the file has of it. */
  readonly events: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const EXPORTS: readonly Export[] = [
  {
    name: 'german',
    files: ['events.csv', 'venues.csv'],
    answers: [],
    zone: 'Europe/Berlin',
    counts: [12, 1, 0],
    events: {
      '0d9b6a14-7c3e-4f58-92a1-000000000000': {
        Name: 'Die Zauberflöte',
        VenueId: '9f2c4e81-6b07-4d3a-8c15-a7e0d94b63f2',
        TicketCapacity: 1250,
        TicketsAvailable: 0,
        Start: '2026-12-20T19:30:00+01:00',
        Finish: '2026-12-20T22:00:00+01:00',
        Price: '18.50',
        Tags: ['Oper', 'Premiere'],
      },
      '0d9b6a14-7c3e-4f58-92a1-000000000004': { TicketsAvailable: 1000 },
      '0d9b6a14-7c3e-4f58-92a1-000000000002': { Name: 'Führung „Hinter den Kulissen“' },
    },
  },
  {
    name: 'titled',
    files: ['events.csv', 'venues.csv'],
    answers: ['[MM/DD/YYYY h:mm A]'],
    zone: 'Europe/London',
    counts: [6, 1, 0],
    events: {
      '0d9b6a14-7c3e-4f58-92a1-000000000005': {
        Name: 'Evening 5',
        VenueId: '9f2c4e81-6b07-4d3a-8c15-a7e0d94b63f2',
        TicketCapacity: 1200,
        TicketsAvailable: 5,
        Start: '2026-10-08T19:30:00+01:00',
        Finish: '2026-10-08T22:00:00+01:00',
        Price: '17.00',
        Tags: ['Talk'],
      },
    },
  },
  {
    // An .xlsx whose name says something else.
    name: 'workbook',
    files: ['events.csv', 'Venues.CSV'],
    answers: [],
    zone: 'Europe/London',
    counts: [2, 1, 1],
    events: {
      '0d9b6a14-7c3e-4f58-92a1-000000000001': {
        Name: 'Café Scientifique',
        VenueId: '9f2c4e81-6b07-4d3a-8c15-a7e0d94b63f2',
        TicketCapacity: 450,
        TicketsAvailable: 7,
        Start: '2036-06-22T19:30:00+01:00',
        Finish: '2036-06-22T22:30:00+01:00',
        Price: '18.5',
        Tags: ['Talk', 'Members'],
      },
    },
  },
  {
    name: 'excel',
    files: ['Spielplan.xlsx', 'Orte.csv'],
    answers: ['2h30m'],
    zone: 'Europe/Berlin',
    counts: [3, 2, 1],
    events: {
      1: {
        Name: 'Die Zauberflöte',
        TicketCapacity: 1250,
        TicketsAvailable: 1000,
        Start: '2036-06-21T19:30:00+02:00',
        Finish: '2036-06-21T22:30:00+02:00',
        Price: '25.5',
        Tags: ['Oper', 'Klassik'],
      },
      2: {
        Start: '2036-12-31T19:30:00+01:00',
        Finish: '2037-01-01T01:30:00+01:00',
        Price: '19.99',
      },
      3: { Start: '2036-06-24T12:00:00+02:00', Finish: '2036-06-24T14:30:00+02:00', Price: '0.0' },
    },
  },
  {
    // As LibreOffice wrote it, with formulas, a text of two formats, merged cells and an error.
    name: 'libreoffice',
    files: ['Spielplan.xlsx'],
    answers: ['2h'],
    zone: 'Europe/Berlin',
    counts: [4, 2, 2],
    events: {
      1: {
        Name: 'Die Zauberflöte',
        TicketCapacity: 1250,
        TicketsAvailable: 1000,
        Start: '2036-06-21T19:30:00+02:00',
        Finish: '2036-06-21T22:30:00+02:00',
        Price: '25.5',
        Tags: ['Oper', 'Klassik'],
      },
      2: {
        Name: 'Führung „Hinter den Kulissen“ & Gespräch',
        Start: '2036-12-31T19:30:00+01:00',
        Finish: '2037-01-01T01:30:00+01:00',
        Price: '19.99',
      },
      3: { Name: 'Lesung', Finish: '2036-06-24T14:00:00+02:00', Price: '0.0' },
      6: { Name: 'Zwei\nZeilen', Start: '2036-06-27T00:00:00+02:00', Price: '12.50' },
    },
  },
]

/** JSON whose numbers are the digits that were sent. */
function parseDigits(text: string): unknown {
  return JSON.parse(text.replace(/"Price":([\d.]+)/, '"Price":"$1"'))
}

describe.each(RUNTIMES)('%s: the exports of the first hour', (runtime) => {
  it.each(EXPORTS.map((each) => [each.name, each] as const))(
    '%s is served as it is, by what init proposes and at most three answers',
    async (_, { name, files, answers, zone, counts, events }) => {
      using folder = new WorkFolder()
      cpSync(join(ROOT, 'test/exports', name), folder.at('crm'), { recursive: true })
      const from = files.flatMap((file) => ['--from', `crm/${file}`])
      const written = await runCommand(['init', 'files', ...from], { cwd: folder.path, runtime })
      expect([written.status, written.stderr]).toEqual([0, ''])
      const open = written.stdout.trimEnd().split('\n').slice(1, -1)
      expect(open).toHaveLength(answers.length + 1)
      expect(open.length).toBeLessThanOrEqual(3)
      expect(open.at(-1)).toStartWith('timeZone is not set: ')

      if (answers.length > 0) {
        const refused = await runCommand(['check'], { cwd: folder.path, runtime })
        expect([refused.status, refused.stderr]).toEqual([
          2,
          expect.stringMatching(/marquee\.yaml:\d+: crm\./) as never,
        ])
      }
      let text = readFileSync(folder.at('marquee.yaml'), 'utf8').replace(/^# timeZone: .*$/m, `timeZone: ${zone}`)
      for (const answer of answers) text = text.replace("'?'", answer)
      folder.write('marquee.yaml', `${text.replace('port: 8080', 'port: 0')}operations: null\n`)
      const checked = await runCommand(['check', '--json'], { cwd: folder.path, runtime })
      const report = JSON.parse(checked.stdout) as { events: number; venues: number; withheld: unknown[] }
      expect([report.events, report.venues, report.withheld.length]).toEqual([...counts])

      const { child, listening } = await serve(runtime, folder.at('marquee.yaml'))
      try {
        for (const [crmId, record] of Object.entries(events)) {
          const explained = await runCommand(['explain', crmId, '--json'], { cwd: folder.path, runtime })
          const { id } = JSON.parse(explained.stdout) as { readonly id: string }
          const reply = await fetch(`${listening.address}api/events/${id}`)
          expect(parseDigits(await reply.text())).toMatchObject(record)
          expect((await fetch(`${listening.address}api/events/${id}/venue`)).status).toBe(200)
        }
      } finally {
        await child.stop()
      }
    },
  )
})
