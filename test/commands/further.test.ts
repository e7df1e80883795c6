import { describe, expect, it } from 'bun:test'
import type { Child } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { serve } from '../support/marquee-process.ts'
import { runCommand } from './run-command.ts'
import { WorkFolder } from './work-folder.ts'

const ID = '00000000-0000-4000-8000-000000000001'
const OTHER = '00000000-0000-4000-8000-000000000002'
const FILES = {
  'marquee.yaml': `timeZone: UTC
operations: null
listen: { port: 0 }
representation: { further: { events: { Description: text, Doors: date-time, Rows: integer }, venues: { StepFree: flag } } }
crm: { kind: files, directory: ./crm }
`,
  'crm/events.csv': `Id,Name,Start,Finish,ShowOnWeb,TicketCapacity,TicketsAvailable,Price,Description,Doors,Rows
${ID},Tosca,2036-07-12T19:30Z,2036-07-12T21:30Z,yes,9,9,1,Puccini,2036-07-12T19:00,12
${OTHER},Aida,2036-07-13T19:30Z,2036-07-13T21:30Z,yes,9,9,1,,never,many
`,
  'crm/venues.csv': 'Id,Name\n',
} as const

interface Told {
  readonly ignored: readonly string[]
  readonly fields: readonly unknown[]
  readonly zone: { readonly datesWithoutOffset: number }
  readonly groups: readonly { readonly column: string; readonly fault: string; readonly count: number }[]
}

describe('further fields in the commands (contract §7)', () => {
  it('check tells where each comes from, and all that cannot be read at once', async () => {
    using folder = new WorkFolder(FILES)
    const { status, stdout } = await runCommand(['check', '--show', '1'], { cwd: folder.path })
    expect(status).toBe(0)
    expect(stdout).toContain('"Tags":[],"Description":"Puccini","Doors":"2036-07-12T19:00:00+00:00","Rows":12,"_links"')
    expect(stdout).toMatch(
      /Description +← Description +1 of 2 +e\.g\. Puccini\n +Doors +← Doors +2 of 2 .*\n +Rows +← Rows +2 of 2/,
    )
    expect(stdout).toMatch(/StepFree +← StepFree +0 of 0/)
    expect(stdout).toMatch(
      /Doors: 1 event, cannot be read; found "never" \(1\)\..*\n- Rows: 1 event, cannot be read; found "many"/,
    )
    const json = JSON.parse((await runCommand(['check', '--json'], { cwd: folder.path })).stdout) as Told
    expect(json.ignored).toEqual([])
    expect(json.zone.datesWithoutOffset).toBe(1)
    expect(json.fields).toContainEqual({
      kind: 'event',
      field: 'Description',
      from: 'Description',
      filled: 1,
      of: 2,
      example: 'Puccini',
    })
    expect(json.groups).toMatchObject([
      { column: 'Doors', fault: 'unreadable', count: 1 },
      { column: 'Rows', fault: 'unreadable', count: 1 },
    ])
  })

  it('check says of one that is not declared that it is ignored, and explain which one withholds a row', async () => {
    using folder = new WorkFolder({
      ...FILES,
      'marquee.yaml': FILES['marquee.yaml'].replace('Description: text, ', ''),
    })
    const { stdout } = await runCommand(['check'], { cwd: folder.path })
    expect(stdout).toContain('events: column "Description" is not used;')
    const explained = await runCommand(['explain', OTHER], { cwd: folder.path })
    expect(explained.status).toBe(1)
    expect(explained.stdout).toContain('Doors')
    expect(explained.stdout).toContain('never')
  })

  it('a reload leaves the declaration for a restart, and says so', async () => {
    const directory = new FilesDirectory(settings({ Rows: 'integer' }), { events: '[]', venues: '[]' })
    const { child } = await serve('bun', directory.configuration)
    directory.configure(settings({ Rows: 'integer', Seats: 'text' }))
    expect(await reloaded(child)).toContain(
      'representation.further.events has changed, which takes effect only when the service is started again',
    )
    await child.stop()
    directory.remove()
  })
})

function settings(events: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  return { representation: { further: { events } } }
}

async function reloaded(child: Child): Promise<string> {
  child.signal('SIGHUP')
  const lines = await eventually(
    async () => child.stdout.split('\n').filter((line) => line.includes('"event":"reload')),
    (found) => found.length > 0,
  )
  return lines.join('\n')
}
