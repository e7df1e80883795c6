import { describe, expect, it } from 'bun:test'
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Child, programOf, ROOT } from '../support/child.ts'
import { runCommand, STACK } from './run-command.ts'
import { CONFIGURATION, WorkFolder } from './work-folder.ts'
import { RUNTIMES } from '../support/depth.ts'

const AS_NOBODY = fileURLToPath(new URL('./check-as-nobody.ts', import.meta.url))
const ID = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34'
const HEADER = 'Id,Price,TicketsAvailable,Name,Start,Finish,ShowOnWeb,TicketCapacity'
const VENUES = 'Id,Name\n'

function row(index: number, cells: string): string {
  return `5f6c2a3e-8d0b-4c57-9e21-${String(index).padStart(12, '0')},1,0,${cells}\n`
}

function lists(events: string | Uint8Array, venues: string = VENUES): WorkFolder {
  return new WorkFolder({
    'marquee.yaml': `timeZone: UTC\n${CONFIGURATION}`,
    'crm/events.csv': events,
    'crm/venues.csv': venues,
  })
}

const GOOD = 'Ball,2036-07-12 19:30,2036-07-12 23:00,yes,250'

interface Told {
  readonly events: number
  readonly venues: number
  readonly zone: unknown
  readonly warnings: readonly string[]
  readonly withheld: readonly { readonly reason: string }[]
  readonly suspicious: readonly {
    readonly kind: string
    readonly column: string
    readonly count: number
    readonly example: string
  }[]
  readonly groups: readonly {
    readonly column: string | null
    readonly fault: string
    readonly count: number
    readonly found: unknown
  }[]
}

describe('marquee check (SURFACE: Commands)', () => {
  it('counts no record of a list whose read failed late, because a start would not serve them', async () => {
    // Rows of a file of more than 8 MB are applied as they are read.
    const long = GOOD.replace('Ball', 'x'.repeat(200_000))
    const text = Array.from({ length: 60 }, (_, index) => row(index, long)).join('')
    using folder = lists(`${HEADER}\n${text}cut,short\n`)
    const { stdout, status } = await runCommand(['check'], { cwd: folder.path })
    expect(status).toBe(1)
    expect(stdout).toContain('0 events and 0 venues would be served.')
    const json = await runCommand(['check', '--json'], { cwd: folder.path })
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, events: 0 })
  })

  it('warns of an emptied list of events, and fails with --strict', async () => {
    using folder = lists(`${HEADER}\n`)
    const { stderr, status } = await runCommand(['check'], { cwd: folder.path })
    expect(status).toBe(0)
    expect(stderr).toContain('warning: no event would be served: the list is empty\n')
    expect((await runCommand(['check', '--strict'], { cwd: folder.path })).status).toBe(1)
  })

  it('refuses a directory of the snapshot that is a file, or lies below one', async () => {
    using folder = lists(`${HEADER}\n${row(1, GOOD)}`)
    for (const name of ['crm/events.csv', 'crm/events.csv/base']) {
      folder.write('marquee.yaml', `timeZone: UTC\n${CONFIGURATION}snapshot: { directory: ${name} }\n`)
      const problem = `snapshot.directory: ${folder.at(name)} is not a directory: name another, or write snapshot: null`
      const { status, stderr } = await runCommand(['check'], { cwd: folder.path })
      expect([status, stderr]).toEqual([2, `${problem}\n`])
      const { stdout, ...ended } = await runCommand(['check', '--json'], { cwd: folder.path })
      expect([ended.status, JSON.parse(stdout)]).toMatchObject([2, { ok: false, problems: [problem] }])
    }
    folder.write('marquee.yaml', `timeZone: UTC\n${CONFIGURATION}snapshot: { directory: crm }\n`)
    expect((await runCommand(['check'], { cwd: folder.path })).status).toBe(0)
  })

  it('tells a person the sum, then what is to be mended, with place, id, reason and remedy, then what the CRM withholds', async () => {
    using folder = lists(
      `${HEADER}\n${row(1, GOOD)}${row(2, 'Ball,2036-07-12 19:30,2036-07-12 23:00,yes,"1,000"')}${row(3, 'Ball,2036-07-12 19:30,2036-07-12 23:00,no,1')}`,
    )
    const { status, stdout, stderr } = await runCommand(['check'], { cwd: folder.path })
    expect([status, stderr]).toEqual([0, ''])
    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).toBe(`Checking ${folder.at('marquee.yaml')}, found here.`)
    expect(lines[1]).toBe('6 dates have no offset and are read as UTC.')
    expect(lines[2]).toBe('1 event and 0 venues would be served, 2 rows would not.')
    expect(lines[4]).toBe('To correct (1 row):')
    expect(lines[5]).toBe(
      '- TicketCapacity: 1 event, cannot be read; found "1,000" (1). Correct TicketCapacity: write 1000 for "1,000". See events.csv, line 3.',
    )
    expect(lines[7]).toBe('Withheld because the CRM says so (1 row):')
    expect(lines[8]).toMatch(/^- ShowOnWeb: 1 event, not marked to be shown .* See events\.csv, line 4\.$/)
    expect(lines.slice(9, 14)).toEqual([
      expect.stringMatching(/^Time zone data: 20\d\d[a-z]\.$/) as never,
      '',
      'Fields of the events, their sources, and the number of rows with a value:',
      expect.stringMatching(/^ {2}Id +← Id +3 of 3 {2}e\.g\. 5f6c2a3e-/) as never,
      expect.stringMatching(/^ {2}Name +← Name +3 of 3 {2}e\.g\. Ball$/) as never,
    ])
  })

  it('--json prints one object with exactly the members that are promised, in the order of the rows', async () => {
    using folder = lists(`${HEADER},Colour\n${row(2, `${GOOD},red`)}x,1,0,${GOOD},blue\n${row(1, `Ball,,,yes,1,red`)}`)
    for (const runtime of RUNTIMES) {
      const { status, stdout, stderr } = await runCommand(['check', '--json'], { cwd: folder.path, runtime })
      expect([status, stderr]).toEqual([0, ''])
      expect(stdout).toMatch(/^\{.*\}\n$/)
      const report: unknown = JSON.parse(stdout)
      expect(Object.keys(report as object)).toEqual([
        'ok',
        'events',
        'venues',
        'groups',
        'suspicious',
        'zone',
        'timeZoneData',
        'withheld',
        'ignored',
        'warnings',
        'problems',
        'fields',
      ])
      expect(report).toMatchObject({ ok: true, events: 1, venues: 0, ignored: ['Colour'], warnings: [], problems: [] })
      const { withheld } = report as { withheld: { where: string; id: string | null }[] }
      for (const one of withheld) expect(Object.keys(one)).toEqual(['kind', 'where', 'id', 'reason', 'remedy'])
      expect(withheld.map(({ where, id }) => [where, id])).toEqual([
        ['events.csv, line 3', null],
        ['events.csv, line 4', '5f6c2a3e-8d0b-4c57-9e21-000000000001'],
      ])
    }
  })

  it('--json says in the same shape what is wrong with the configuration, and ends with 2', async () => {
    using folder = new WorkFolder({ 'marquee.yaml': 'crm: { kind: files }\nlisten: { prot: 1 }\n' })
    const { status, stdout, stderr } = await runCommand(['check', '--json'], { cwd: folder.path })
    expect([status, stderr]).toEqual([2, ''])
    expect(JSON.parse(stdout)).toEqual({
      ok: false,
      events: 0,
      venues: 0,
      groups: [],
      suspicious: [],
      zone: { name: null, set: false, datesWithoutOffset: 0 },
      timeZoneData: expect.stringMatching(/^20\d\d[a-z]$/) as never,
      withheld: [],
      ignored: [],
      warnings: [],
      problems: [expect.stringContaining('crm.directory'), expect.stringContaining('did you mean port?')],
      fields: [],
    })
  })

  it("--json tells the configuration's warnings as warnings, not as problems", async () => {
    using folder = new WorkFolder({ 'marquee.yaml': `${CONFIGURATION}freshness: { maxAge: 5s, refreshEvery: 1m }\n` })
    folder.copySample('crm')
    const { status, stdout } = await runCommand(['check', '--json'], { cwd: folder.path })
    const { ok, problems, warnings } = JSON.parse(stdout) as { ok: boolean; problems: []; warnings: string[] }
    expect([status, ok, problems]).toEqual([0, true, []])
    expect(warnings[0]).toContain('freshness.refreshEvery')
  })

  it('shows a person one line for each kind of fault, mistakes first: drafts never hide them', async () => {
    const drafts = Array.from({ length: 10_000 }, (_, index) =>
      row(index, 'Draft,2036-07-12 19:30,2036-07-12 23:00,no,1'),
    )
    using folder = lists(`${HEADER}\n${drafts.join('')}${row(10_001, 'Ball,2036-07-12 19:30,soon,yes,1')}`)
    const { status, stdout, stderr } = await runCommand(['check'], { cwd: folder.path })
    expect(status).toBe(0)
    const warnings = stderr.split('\n').filter((line) => !line.startsWith('Still reading '))
    expect(warnings).toEqual(['warning: no events would be served: all 10,001 rows are withheld', ''])
    const lines = stdout.trimEnd().split('\n')
    expect(lines.length).toBeLessThan(40)
    expect(lines[2]).toBe('0 events and 0 venues would be served, 10,001 rows would not.')
    expect(lines[5]).toContain('Finish: 1 event, cannot be read; found "soon" (1).')
    expect(lines[5]).toContain('events.csv, line 10002')
    const drafted = lines.find((line) => line.startsWith('- ShowOnWeb: 10,000 events, not marked to be shown'))
    expect(drafted).toEndWith('See events.csv, line 2; events.csv, line 3; events.csv, line 4; ….')
    // More than a pipe holds, to a reader that takes its time.
    const slow = spawn(programOf('bun'), [join(ROOT, 'src/main.ts'), 'check', '--json'], { cwd: folder.path })
    await once(slow.stdout, 'readable')
    const chunks: Buffer[] = []
    slow.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    const [code] = (await once(slow, 'close')) as [number]
    expect(code).toBe(0)
    const report = JSON.parse(Buffer.concat(chunks).toString()) as { withheld: { where: string }[] }
    expect(report.withheld).toHaveLength(10_001)
    expect(report.withheld[9]?.where).toBe('events.csv, line 11')
  })

  it('tells what is suspicious though it can be served, with count and example; --strict ends with 1 for that', async () => {
    const header = 'Id,Name,TicketCapacity,TicketsAvailable,Start,Finish,Tags,ShowOnWeb,Price'
    const events = [
      row(1, 'Ball,1.000,1,2036-07-12 19:30,2036-07-11 19:30,"Oper, Premiere",yes,'),
      row(2, 'Ball,30,31,2036-07-12 19:30,2036-07-13 19:30,Oper,yes,'),
      row(3, 'Ball,30,30,2036-07-12 19:30Z,2036-07-12 19:30Z,Oper,no,'),
    ].map((line) => line.replace(',1,0,', ','))
    using folder = new WorkFolder({
      'marquee.yaml': CONFIGURATION,
      'crm/events.csv': `${header}\n${events.join('')}`,
      'crm/venues.csv': VENUES,
    })
    for (const runtime of RUNTIMES) {
      const { status, stdout } = await runCommand(['check', '--json'], { cwd: folder.path, runtime })
      const report = JSON.parse(stdout) as Told
      expect([status, report.events, report.zone]).toEqual([0, 2, { name: 'UTC', set: false, datesWithoutOffset: 4 }])
      expect(report.suspicious.map(({ kind, column, count }) => [kind, column, count])).toEqual([
        ['event', 'TicketCapacity', 1],
        ['event', 'Finish', 1],
        ['event', 'TicketsAvailable', 1],
        ['event', 'Price', 3],
        ['event', 'Start', 2],
        ['event', 'Finish', 2],
      ])
      expect(Object.keys(report.suspicious[0] ?? {})).toEqual(['kind', 'column', 'what', 'count', 'example'])
      expect(report.suspicious[0]?.example).toBe('events.csv, line 2: TicketCapacity is "1.000"')
    }
    const { status, stderr } = await runCommand(['check', '--strict'], { cwd: folder.path })
    expect(status).toBe(1)
    expect(stderr).toContain('warning: TicketsAvailable is above TicketCapacity (1 event; events.csv, line 3: ')
    expect(stderr).toContain('4 dates have no offset and are read as UTC, because timeZone is not set')
  })

  it.each(RUNTIMES)(
    '%s: suspects a field that nothing reads, unless it is dropped, which leaves the other columns as they are',
    async (runtime) => {
      const event = `${ID},2036-07-12 19:30,2036-07-12 23:00,yes`
      using folder = new WorkFolder({
        'marquee.yaml': `timeZone: UTC\n${CONFIGURATION}`,
        'crm/events.csv': `Id,Start,Finish,ShowOnWeb\n${event}\n`,
        'crm/venues.csv': `Id,AddressCity\n${ID},Ulm\n`,
      })
      const strict = async (): Promise<readonly [unknown, Told]> => {
        const { status, stdout } = await runCommand(['check', '--json', '--strict'], { cwd: folder.path, runtime })
        return [status, JSON.parse(stdout) as Told]
      }
      const [status, { suspicious }] = await strict()
      expect([status, suspicious.map(({ kind, column, count }) => [kind, column, count])]).toEqual([
        1,
        [
          ['event', 'Name', 1],
          ['event', 'TicketCapacity and TicketsAvailable', 1],
          ['event', 'Price', 1],
          ['venue', 'Name', 1],
        ],
      ])
      const drops = 'Name: null, TicketCapacity: null, TicketsAvailable: null, Price: null'
      folder.write(
        'marquee.yaml',
        `timeZone: UTC\n${CONFIGURATION.replace('./crm', `./crm, events: { fields: { ${drops} } }, venues: { fields: { Name: null } }`)}`,
      )
      const [dropped, report] = await strict()
      expect([dropped, report.events, report.venues, report.suspicious]).toEqual([0, 1, 1, []])
    },
  )

  it('suspects a total of tickets alone, with which every event is sold out, unless TicketsAvailable is dropped', async () => {
    const header = 'Id,Price,Name,Start,Finish,ShowOnWeb,TicketCapacity'
    using folder = lists(`${header}\n${ID},1,${GOOD}\n`)
    const strict = ['check', '--strict']
    const { status, stderr } = await runCommand(strict, { cwd: folder.path })
    expect([status, stderr]).toEqual([
      1,
      'warning: TicketsAvailable is read from no column: every event is sold out (1 event; if this is intended, set crm.events.fields: { TicketsAvailable: null })\n',
    ])
    const dropped = CONFIGURATION.replace('./crm', './crm, events: { fields: { TicketsAvailable: null } }')
    folder.write('marquee.yaml', `timeZone: UTC\n${dropped}`)
    expect(await runCommand(strict, { cwd: folder.path })).toMatchObject({ status: 0, stderr: '' })
  })

  it('ends with a table a list: where each field comes from, in how many rows it stands, and an example', async () => {
    using folder = new WorkFolder({
      'marquee.yaml': `operations: null
timeZone: UTC
crm:
  kind: files
  directory: crm
  idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11
  events:
    fields:
      Id: Nr
      Name: Titel
      Start: { join: [Tag, Zeit] }
      Finish: { lasting: 2h }
      TicketsAvailable: { subtract: [Plätze, Verkauft] }
      Price: { value: '5' }
    showOnWeb: null
    active: null
`,
      'crm/events.csv': 'Nr,Titel,Tag,Zeit,Plätze,Verkauft\n1,Ball,2036-07-12,19:30,9,4\n2,,2036-07-13,,,\n',
      'crm/venues.csv': 'Id,Name\n',
    })
    const { stdout } = await runCommand(['check', '--json'], { cwd: folder.path })
    const { fields } = JSON.parse(stdout) as { readonly fields: readonly Readonly<Record<string, unknown>>[] }
    expect(fields.slice(0, 9)).toEqual([
      { kind: 'event', field: 'Id', from: 'Nr', filled: 2, of: 2, example: '1' },
      { kind: 'event', field: 'Name', from: 'Titel', filled: 1, of: 2, example: 'Ball' },
      { kind: 'event', field: 'VenueId', from: null, filled: 0, of: 2, example: null },
      { kind: 'event', field: 'TicketCapacity', from: null, filled: 0, of: 2, example: null },
      { kind: 'event', field: 'TicketsAvailable', from: 'Plätze − Verkauft', filled: 1, of: 2, example: '9 − 4' },
      { kind: 'event', field: 'Start', from: 'Tag + Zeit', filled: 1, of: 2, example: '2036-07-12 19:30' },
      { kind: 'event', field: 'Finish', from: '120 minutes after Start', filled: 2, of: 2, example: null },
      { kind: 'event', field: 'Price', from: 'the value "5"', filled: 2, of: 2, example: null },
      { kind: 'event', field: 'Tags', from: null, filled: 0, of: 2, example: null },
    ])
    expect(fields[9]).toEqual({ kind: 'venue', field: 'Id', from: 'Id', filled: 0, of: 0, example: null })
    const told = await runCommand(['check'], { cwd: folder.path })
    expect(told.stdout).toContain('\n  Start            ← Tag + Zeit               1 of 2  e.g. 2036-07-12 19:30\n')
    expect(told.stdout).toContain('\n  Tags             ← nothing                  0 of 2\n')
  })

  it('counts the rows of a list once, also if an event of an unknown venue has the venues read again', async () => {
    const event = { Id: ID, Name: 'Ball', Start: '2036-07-12 19:30Z', Finish: '2036-07-12 23:00Z', ShowOnWeb: true }
    using folder = new WorkFolder({
      'marquee.yaml': CONFIGURATION,
      'crm/events.json': JSON.stringify([{ ...event, VenueId: ID.replace('5', '6') }]),
      'crm/venues.json': JSON.stringify([{ Id: ID, Name: 'Hall' }]),
    })
    const { stdout } = await runCommand(['check', '--json'], { cwd: folder.path })
    const { fields } = JSON.parse(stdout) as { readonly fields: readonly Readonly<Record<string, unknown>>[] }
    const name = { kind: 'venue', field: 'Name', from: 'Name', filled: 1, of: 1, example: 'Hall' }
    expect(fields.filter(({ kind, field }) => kind === 'venue' && field === 'Name')).toEqual([name])
  })

  it('suspects neither a comma where semicolons separate tags, nor a zone that was set, nor an empty list', async () => {
    const header = 'Id,Price,TicketsAvailable,Name,Start,Finish,Tags,ShowOnWeb,TicketCapacity'
    const good = 'Ball,2036-07-12 19:30,2036-07-12 19:30'
    using folder = lists(`${header}\n${row(1, `${good},"Oper, Premiere",yes,1`)}${row(2, `${good},Oper; Ball,yes,2`)}`)
    const { status, stdout } = await runCommand(['check', '--json', '--strict'], { cwd: folder.path })
    const { suspicious, zone } = JSON.parse(stdout) as Told
    expect([status, suspicious]).toEqual([0, []])
    expect(zone).toEqual({ name: 'UTC', set: true, datesWithoutOffset: 4 })
  })

  it('names all faults of a row at once, in groups with the values that were found', async () => {
    using folder = lists(
      `${HEADER}\n${row(1, 'Ball,soon,soon,x,many')}${row(2, 'Ball,soon,later,ja,1')}${row(3, GOOD)}${row(4, 'Draft,soon,,no,')}`,
    )
    const { stdout } = await runCommand(['check', '--json'], { cwd: folder.path })
    const { groups, withheld } = JSON.parse(stdout) as Told
    expect(groups.map(({ column, fault, count, found }) => [column, fault, count, found])).toEqual([
      [
        'ShowOnWeb',
        'unreadable',
        2,
        [
          { value: 'x', count: 1 },
          { value: 'ja', count: 1 },
        ],
      ],
      ['Start', 'unreadable', 2, [{ value: 'soon', count: 2 }]],
      [
        'Finish',
        'unreadable',
        2,
        [
          { value: 'soon', count: 1 },
          { value: 'later', count: 1 },
        ],
      ],
      ['TicketCapacity', 'unreadable', 1, [{ value: 'many', count: 1 }]],
      // A draft is one, whatever else is missing in it.
      ['ShowOnWeb', 'not-shown', 1, []],
    ])
    expect(withheld[0]?.reason).toMatch(/ShowOnWeb.*TicketCapacity.*Start.*Finish/)
    const { status } = await runCommand(['check', '--strict'], { cwd: folder.path })
    expect(status).toBe(1)
  })

  it('--show N shows the first records of each list as they would be published', async () => {
    // A copy of a row is the same record, which is shown once.
    using folder = lists(`${HEADER}\n${row(2, GOOD)}${row(2, GOOD)}${row(1, GOOD)}${row(3, GOOD)}`)
    const { status, stdout } = await runCommand(['check', '--show', '2'], { cwd: folder.path })
    const shown = stdout.split('\n').filter((line) => line.startsWith('{'))
    expect([status, shown.map((line) => (JSON.parse(line) as { Id: string }).Id.slice(-1))]).toEqual([0, ['2', '1']])
    expect((await runCommand(['check', '--show', 'x'], { cwd: folder.path })).status).toBe(2)
  })

  it('skips blank rows and counts them; a line sep=, and a title are said', async () => {
    const blank = ',,,,,,,\n'
    using folder = lists(`${blank}${HEADER}\n${blank}${row(1, GOOD)}${blank}`)
    const { stdout } = await runCommand(['check', '--json', '--strict'], { cwd: folder.path })
    const { events, withheld, warnings } = JSON.parse(stdout) as Told
    expect([events, withheld, warnings]).toEqual([1, [], ['events.csv: 3 blank rows are skipped']])
    using other = lists(`sep=,\n${HEADER}\n${row(1, GOOD)}`)
    expect((await runCommand(['check'], { cwd: other.path })).stderr).toContain(
      'events.csv, line 1: no column has a name that Marquee knows',
    )
    using titled = lists(`Season${blank}${HEADER}\n${row(1, GOOD)}`)
    const { stderr, status } = await runCommand(['check'], { cwd: titled.path })
    expect(status).toBe(1)
    expect(stderr).toContain('put the header row first, without a title above it, or set crm.texts.headerRow')
  })

  it('names the field that a renamed column was most likely meant for, and the known ones', async () => {
    using folder = lists(
      `Id,Price,Name,Strat,Finish,ShowOnWeb,Ticket Capacity\n${row(1, GOOD).replace(',1,0,', ',1,')}`,
    )
    const { status, stdout, stderr } = await runCommand(['check'], { cwd: folder.path })
    expect(status).toBe(0)
    expect(stderr).toBe(
      [
        'warning: no events would be served: the only row is withheld',
        'warning: the events have no field "Strat"; did you mean Start?',
        'warning: the events have no field "Ticket Capacity"; did you mean TicketCapacity?',
        'warning: Start is read from no column: no event can be served (1 event; add a column Start, or name the existing one in crm.events.fields)',
        'warning: TicketCapacity and TicketsAvailable are read from no column: every event is sold out (1 event; if this is intended, set crm.events.fields: { TicketCapacity: null, TicketsAvailable: null })\n',
      ].join('\n'),
    )
    expect(stdout).toContain(
      'events: columns "Strat", "Ticket Capacity" are not used; the columns used are Id, Name, VenueId, ',
    )
    expect(stdout).toMatch(/Start: 1 event, nothing there.* See events\.csv, line 2/)
  })

  it('names a declared further field that no column has, in a file without blocks', async () => {
    using folder = lists(`${HEADER}\n${row(1, GOOD)}`, 'Id,Name,StepFree\n')
    const further = 'representation: { further: { events: { Doors: date-time }, venues: { StepFree: flag } } }'
    folder.write('marquee.yaml', `timeZone: UTC\n${further}\n${CONFIGURATION}`)
    const { status, stderr } = await runCommand(['check', '--strict'], { cwd: folder.path })
    expect(status).toBe(1)
    expect(stderr).toContain(
      'warning: Doors is read from no column: no event has it (1 event; add a column Doors, or remove it from representation.further.events)',
    )
    expect(stderr).not.toContain('StepFree')
  })

  it('tells of events whose venue is not served', async () => {
    using folder = new WorkFolder({ 'marquee.yaml': CONFIGURATION })
    folder.copySample('crm')
    const { stderr } = await runCommand(['check'], { cwd: folder.path })
    expect(stderr).toMatch(
      /^warning: event [-0-9a-f]{36} \(events.json, item \d+ \(line \d+\)\) refers to venue "[-0-9a-f]{36}" \(venues.json, item 9 \(line 146\)\), which is not served: its \/venue answers 404\n$/,
    )
  })

  const broken: readonly (readonly [string, Readonly<Record<string, string | Uint8Array>>, RegExp])[] = [
    ['no folder', {}, /^the events could not be read: there is no directory .*crm\n/],
    ['no list', { 'crm/events.csv': HEADER }, /the venues could not be read: there is no venues\.json, /],
    [
      'two lists of one name',
      { 'crm/events.csv': HEADER, 'crm/events.json': '[]' },
      /holds events\.json and events\.csv, but only one/,
    ],
    ['zero bytes', { 'crm/events.json': '' }, /events\.json has zero bytes; an empty list is \[\]/],
    [
      'an open quote',
      { 'crm/events.csv': `${HEADER}\n${ID},"Ball,1,2,3,4\n` },
      /events\.csv, line 2: the row that begins here has an unclosed quote/,
    ],
    [
      'a cell too many',
      { 'crm/events.csv': `${HEADER}\n${row(1, `${GOOD},x`)}` },
      /events\.csv, line 2: the row has 9 cells, but the header row has 8/,
    ],
    [
      'semicolons for commas',
      { 'crm/events.csv': `\ufeff${HEADER.replaceAll(',', ';')}\r\n` },
      /events\.csv, line 1: cells are separated by semicolons instead of commas/,
    ],
    [
      'Windows-1252',
      { 'crm/events.csv': Buffer.from(`${HEADER}\n${ID},Soir\u00e9e,1,2,yes,1\n`, 'latin1') },
      /events\.csv, line 2: the bytes are not UTF-8; save the file as UTF-8/,
    ],
    [
      'a header named twice',
      { 'crm/events.csv': 'Id,Name,Name\n' },
      /events\.csv, line 1: the header names "Name" twice/,
    ],
    [
      'a comma too many in JSON',
      { 'crm/events.json': '[\n{"Id": 1,}\n]' },
      /events\.json, line 2: expected a name in double quotes, found "}"/,
    ],
    [
      'JSON that is no list',
      { 'crm/events.json': '{"events": []}' },
      /events\.json, line 1: a list in \[ \] is expected/,
    ],
    ['half a line of NDJSON alone', { 'crm/events.ndjson': '\n{"Id"' }, /events\.ndjson, line 2: /],
  ]
  it.each(broken)('ends with 1 and one sentence a list: %s', async (_, files, says) => {
    using folder = new WorkFolder({ 'marquee.yaml': CONFIGURATION, 'crm/venues.csv': VENUES, ...files })
    if (Object.keys(files).length === 0) folder.remove('crm')
    if (says.source.includes('venues')) folder.remove('crm/venues.csv')
    const { status, stdout, stderr } = await runCommand(['check'], { cwd: folder.path })
    expect(status).toBe(1)
    expect(stderr).toMatch(says)
    expect(stderr).not.toMatch(STACK)
    expect(stdout).toContain('Until both lists can be read, `./marquee serve` answers 502')
  })

  it('says who may not read what', async () => {
    using folder = lists(HEADER)
    for (const path of ['.', 'crm']) chmodSync(folder.at(path), 0o755)
    const asNobody = async (): Promise<unknown> => {
      const child = new Child(programOf('bun'), [AS_NOBODY], { cwd: folder.path })
      return [await child.exited, child.stderr]
    }
    chmodSync(folder.at('crm/events.csv'), 0)
    expect(await asNobody()).toEqual([
      1,
      'the events could not be read: events.csv cannot be read: permission is denied (EACCES)\n',
    ])
    chmodSync(folder.at('crm'), 0)
    expect(await asNobody()).toEqual([
      1,
      ['events', 'venues']
        .map(
          (list) =>
            `the ${list} could not be read: ${folder.at('crm')} cannot be searched: permission is denied (EACCES)\n`,
        )
        .join(''),
    ])
    chmodSync(folder.at('marquee.yaml'), 0)
    expect(await asNobody()).toEqual([
      2,
      `${folder.at('marquee.yaml')}: cannot be read: permission denied (found here)\n`,
    ])
    chmodSync(folder.at('crm'), 0o755)
  })

  it('escapes what a row could do to a terminal', async () => {
    using folder = lists(`${HEADER},"\u001b[2J"\n${row(1, `Ball,\u001b]0;x\u0007,2036-07-12 23:00,yes,1,\u009b31m`)}`)
    const { stdout, stderr } = await runCommand(['check'], { cwd: folder.path })
    expect(stdout).toContain('\\u001b')
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
  })

  it.each(RUNTIMES)('what cannot be written is said, and ends with 1, on %s', async (runtime) => {
    using folder = lists(`${HEADER}\n${row(1, GOOD)}`)
    const shell = async (command: string): Promise<unknown> => {
      const args = ['-c', command, programOf(runtime), join(ROOT, 'src/main.ts')]
      const child = new Child('sh', args, { cwd: folder.path })
      const status = await child.exited
      return [status, child.stderr.replace(/\d+ lines/, 'n lines')]
    }
    expect(await shell('exec "$0" "$1" check --json > /dev/full')).toEqual([
      1,
      'the answer could not be written to standard output\n',
    ])
    expect(await shell('exec "$0" "$1" check > /dev/full')).toEqual([
      1,
      expect.stringContaining('the output could not be written to standard output (n lines were lost)\n'),
    ])
    // A reader that has read enough is no failure.
    expect(await shell('{ "$0" "$1" check --show 1; echo "$?" >&2; } | head -n 1')).toEqual([
      0,
      expect.stringMatching(/(?:^|\n)0\n$/),
    ])
  })
})
