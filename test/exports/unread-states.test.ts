import { describe, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { RUNTIMES } from '../support/depth.ts'
import { serve } from '../support/marquee-process.ts'
import { workbook } from '../support/workbook-file.ts'

const STATES = ['complet', 'COMPLET', 'complet – liste d’attente', 'Complet !', 'guichets fermés', 'annulé', '']
const HEADER = ['Nr', 'Titre', 'Salle', 'Date', 'Jauge', 'Vendus', 'Prix', 'État']
const LEFT = '{ subtract: [Jauge, Vendus] }'
const SOLD_OUT =
  'is read by no field, and says that an event is sold out, but its TicketsAvailable is above 0, so it counts as available: add onlyWhere: { État: { not: [WORD] } } to TicketsAvailable'
const CANCELLED =
  'is read by no field, and says that an event is cancelled, which is served as scheduled: read État as Status, or leave these events out with active: { État: { not: [WORD] } }'

function rowsWith(states: readonly string[]): readonly (readonly string[])[] {
  const day = (at: number): string => `2036-0${1 + Math.floor(at / 28)}-${String(1 + (at % 28)).padStart(2, '0')} 20:30`
  const rows = states.map((state, at) => [`${at + 1}`, `Pièce ${at}`, 'Foyer', day(at), '100', '10', '30', state])
  return [HEADER, ...rows]
}

function csv(table: readonly (readonly string[])[]): string {
  return table.map((row) => `${row.join(',')}\n`).join('')
}

function configured(file: string, available: string, active = 'null'): string {
  return `listen: { port: 0 }
operations: { port: 0 }
lists: on
timeZone: Europe/Zurich
crm:
  kind: files
  directory: .
  idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11
  events:
    from: ${file}
    fields: { Id: Nr, Name: Titre, VenueId: null, Start: Date, Finish: { lasting: 2h }, TicketCapacity: Jauge, TicketsAvailable: ${available}, Price: Prix, Tags: null }
    showOnWeb: null
    active: ${active}
  venues: { from: ${file}, fields: { Id: Salle, Name: Salle }, active: null }
`
}

async function warnings(folder: WorkFolder): Promise<readonly string[]> {
  const { stdout } = await runCommand(['check', '--json'], { cwd: folder.path })
  const { suspicious } = JSON.parse(stdout) as { readonly suspicious: readonly Record<string, unknown>[] }
  return suspicious.map(({ column, what, count }) => `${String(column)} ${String(what)}: ${String(count)}`)
}

/** Writes a usual answer for each question of a proposal. */
function answer(folder: WorkFolder): string {
  const text = readFileSync(folder.at('marquee.yaml'), 'utf8')
    .replace(/^# timeZone: .*$/m, 'timeZone: Europe/Zurich')
    .replace("lasting: '?'", 'lasting: 2h')
    .replace("showOnWeb: '?'", 'showOnWeb: null')
    .replace("active: '?'", 'active: null')
  folder.write('marquee.yaml', text)
  return text
}

describe('a column that no field reads, and that says that events are cancelled or sold out', () => {
  it.each([
    ['e.csv', csv(rowsWith(STATES))],
    ['e.xlsx', workbook([{ name: 'Saison', rows: rowsWith(STATES) }])],
    [
      'e.json',
      JSON.stringify(
        rowsWith(STATES)
          .slice(1)
          .map((row): Readonly<Record<string, string>> =>
            Object.fromEntries(HEADER.map((name, at) => [name, row[at] ?? ''])),
          ),
      ),
    ],
  ])('is named by check with counts, in %s, and check --strict fails', async (file, content) => {
    using folder = new WorkFolder({ [file]: content, 'marquee.yaml': configured(file, LEFT) })
    expect(await warnings(folder)).toEqual([`État ${SOLD_OUT}: 5`, `État ${CANCELLED}: 1`])
    expect((await runCommand(['check', '--strict'], { cwd: folder.path })).status).toBe(1)
    const remedied = '{ subtract: [Jauge, Vendus], onlyWhere: { État: { not: [complet, guichets fermés] } } }'
    folder.write('marquee.yaml', configured(file, remedied, '{ État: { not: [annulé] } }'))
    expect(await warnings(folder)).toEqual([])
  })

  it.each(RUNTIMES)('is named by the log and the dashboard, and without tickets by neither, on %s', async (runtime) => {
    using folder = new WorkFolder({ 'e.csv': csv(rowsWith(STATES)), 'marquee.yaml': configured('e.csv', LEFT) })
    const { child, listening } = await serve(runtime, folder.at('marquee.yaml'))
    try {
      await child.line((text) => text.includes('says that an event is cancelled'))
      expect(await (await fetch(`${listening.operations}status`)).text()).toContain('says that an event is sold out')
    } finally {
      await child.stop()
    }
    folder.write('marquee.yaml', configured('e.csv', 'null'))
    expect(await warnings(folder)).toEqual([`État ${CANCELLED}: 1`])
  })

  it('may be called so and say yes; other columns, prices and questions say nothing of the kind', async () => {
    const rows = [
      ['oui', 'Full', 'annuler ?', 'La pièce n’est pas annulée'],
      ['non', 'Full', 'complet ?', 'ne sera pas annulé'],
      ['', 'Concession', 'vol de nuit', 'complètement fou'],
    ]
    const [header = [], ...events] = rowsWith(['', '', ''])
    const table = [
      [...header.slice(0, 7), 'Annulé', 'Tarif', 'Note', 'Remarque'],
      ...events.map((row, at) => [...row.slice(0, 7), ...(rows[at] ?? [])]),
    ]
    using folder = new WorkFolder({ 'e.csv': csv(table), 'marquee.yaml': configured('e.csv', LEFT) })
    expect(await warnings(folder)).toEqual([`Annulé ${CANCELLED.replaceAll('État', 'Annulé')}: 1`])
  })
})

describe('tickets left by a difference of columns', () => {
  it('are 0 in the rows that onlyWhere leaves out, as with value', async () => {
    const source = '{ subtract: [Jauge, Vendus], onlyWhere: { État: { not: [complet, guichets fermés] } } }'
    using folder = new WorkFolder({ 'e.csv': csv(rowsWith(STATES)), 'marquee.yaml': configured('e.csv', source) })
    const { stdout } = await runCommand(['check', '--show', '7'], { cwd: folder.path })
    const left = [...stdout.matchAll(/"TicketsAvailable":(\d+)/g)].map(([, count]) => Number(count))
    expect(left).toEqual([0, 0, 0, 0, 0, 90, 90])
  })
})

describe('init --from of a column that says that events are cancelled or sold out', () => {
  it('leaves nothing to warn of, beside a difference of columns', async () => {
    using folder = new WorkFolder({ 'e.csv': csv(rowsWith(STATES)) })
    await runCommand(['init', 'files', '--from', 'e.csv'], { cwd: folder.path })
    const text = answer(folder)
    expect(text).toContain('{ subtract: [Jauge, Vendus], onlyWhere: { État: { not: [complet, guichets fermés] } } }')
    expect(text).toContain('active: { État: { not: [annulé] } }')
    expect(await warnings(folder)).toEqual([])
  })

  it.each(['État', 'Remarque'])(
    'publishes Status of the column %s of many remarks, cancelled and not',
    async (name) => {
      const remarks = [
        'annulé',
        'Annulée (maladie)',
        'ANNULÉ',
        'Spectacle annulé',
        'reporté au 14.06.2027',
        'COMPLET',
        'complet – liste',
      ]
      const others = Array.from({ length: 24 }, (_, at) => (at % 2 === 0 ? '' : `scheduled; mot ${at}`))
      const [header = [], ...rows] = rowsWith([...remarks, ...others])
      using folder = new WorkFolder({ 'e.csv': csv([[...header.slice(0, 7), name], ...rows]) })
      await runCommand(['init', 'files', '--from', 'e.csv'], { cwd: folder.path })
      const text = answer(folder)
      expect(text).toMatch(new RegExp(`^      Status: \\{ column: ${name}, values: `, 'm'))
      expect(text).toContain('active: null   # Status says which events are cancelled')
      expect(text).toContain('\nrepresentation:\n  further:\n    events:\n      Status: text\n#       StatusText: text')
      expect(await warnings(folder)).toEqual([])
      const { stdout } = await runCommand(['check', '--show', '7'], { cwd: folder.path })
      const served = [...stdout.matchAll(/"TicketsAvailable":(\d+).*"Status":"(\w+)"/g)].map(([, left, status]) => [
        Number(left),
        status,
      ])
      expect(served).toEqual([
        [90, 'cancelled'],
        [90, 'cancelled'],
        [90, 'cancelled'],
        [90, 'cancelled'],
        [90, 'postponed'],
        [0, 'scheduled'],
        [0, 'scheduled'],
      ])
    },
  )
})
