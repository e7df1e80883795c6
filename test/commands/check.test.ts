import { describe, expect, it } from 'bun:test'
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Child, programOf, ROOT } from '../support/child.ts'
import { runCommand, STACK } from './run-command.ts'
import { CONFIGURATION, WorkFolder } from './work-folder.ts'

const AS_NOBODY = fileURLToPath(new URL('./check-as-nobody.ts', import.meta.url))
const ID = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34'
const HEADER = 'Id,Name,Start,Finish,ShowOnWeb,TicketCapacity'
const VENUES = 'Id,Name\n'

function row(index: number, cells: string): string {
  return `5f6c2a3e-8d0b-4c57-9e21-${String(index).padStart(12, '0')},${cells}\n`
}

function lists(events: string | Uint8Array, venues: string = VENUES): WorkFolder {
  return new WorkFolder({ 'marquee.yaml': CONFIGURATION, 'crm/events.csv': events, 'crm/venues.csv': venues })
}

const GOOD = 'Ball,2036-07-12 19:30,2036-07-12 23:00,yes,250'

describe('marquee check (SURFACE: Commands)', () => {
  it('tells a person the sum, then what is to be mended, with place, id, reason and remedy, then what the CRM withholds', async () => {
    using folder = lists(
      `${HEADER}\n${row(1, GOOD)}${row(2, 'Ball,2036-07-12 19:30,2036-07-12 23:00,yes,"1,000"')}${row(3, 'Ball,2036-07-12 19:30,2036-07-12 23:00,no,1')}`,
    )
    const { status, stdout, stderr } = await runCommand(['check'], { cwd: folder.path })
    expect([status, stderr]).toEqual([0, ''])
    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).toBe(`Checking ${folder.at('marquee.yaml')}, found here.`)
    expect(lines[1]).toBe('1 event and 0 venues would be served, 2 rows would not.')
    expect(lines[3]).toBe('To correct (1):')
    expect(lines[4]).toMatch(
      /^- events\.csv, line 3: the event 5f6c2a3e-8d0b-4c57-9e21-000000000002 .*TicketCapacity.*whole number.*"1,000".*\.$/,
    )
    expect(lines[6]).toBe('Withheld because the CRM says so (1):')
    expect(lines[7]).toMatch(/^- events\.csv, line 4: the event .*000000000003 is not marked to be shown/)
    expect(lines).toHaveLength(8)
  })

  it('--json prints one object with exactly the members that are promised, in the order of the rows', async () => {
    using folder = lists(`${HEADER},Colour\n${row(2, `${GOOD},red`)}x,${GOOD},blue\n${row(1, `Ball,,,yes,1,red`)}`)
    for (const runtime of ['bun', 'node'] as const) {
      const { status, stdout, stderr } = await runCommand(['check', '--json'], { cwd: folder.path, runtime })
      expect([status, stderr]).toEqual([0, ''])
      expect(stdout).toMatch(/^\{.*\}\n$/)
      const report: unknown = JSON.parse(stdout)
      expect(Object.keys(report as object)).toEqual([
        'ok',
        'events',
        'venues',
        'withheld',
        'ignored',
        'warnings',
        'problems',
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
      withheld: [],
      ignored: [],
      warnings: [],
      problems: [expect.stringContaining('crm.directory'), expect.stringContaining('did you mean port?')],
    })
  })

  it("--json tells the configuration's warnings as warnings, not as problems", async () => {
    using folder = new WorkFolder({ 'marquee.yaml': `${CONFIGURATION}freshness: { bound: 5s, refreshEvery: 1m }\n` })
    folder.copySample('crm')
    const { status, stdout } = await runCommand(['check', '--json'], { cwd: folder.path })
    const { ok, problems, warnings } = JSON.parse(stdout) as { ok: boolean; problems: []; warnings: string[] }
    expect([status, ok, problems]).toEqual([0, true, []])
    expect(warnings[0]).toContain('freshness.refreshEvery')
  })

  it('shows a person ten rows of each kind of fault, and how many more there are; mistakes are never hidden by drafts', async () => {
    const drafts = Array.from({ length: 50_000 }, (_, index) =>
      row(index, 'Draft,2036-07-12 19:30,2036-07-12 23:00,no,1'),
    )
    using folder = lists(`${HEADER}\n${drafts.join('')}${row(50_001, 'Ball,2036-07-12 19:30,soon,yes,1')}`)
    const { status, stdout, stderr } = await runCommand(['check'], { cwd: folder.path })
    expect(status).toBe(0)
    expect(stderr).toBe('warning: no events at all would be served: every row is withheld\n')
    const lines = stdout.trimEnd().split('\n')
    expect(lines.length).toBeLessThan(20)
    expect(lines[1]).toBe('0 events and 0 venues would be served, 50,001 rows would not.')
    expect(lines[4]).toContain('events.csv, line 50002')
    expect(lines.at(-1)).toBe('  … and 49,990 more like these: `./marquee check --json` lists them all.')
    // More than a pipe holds, to a reader that takes its time.
    const slow = spawn(programOf('bun'), [join(ROOT, 'src/main.ts'), 'check', '--json'], { cwd: folder.path })
    await once(slow.stdout, 'readable')
    const chunks: Buffer[] = []
    slow.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    const [code] = (await once(slow, 'close')) as [number]
    expect(code).toBe(0)
    const report = JSON.parse(Buffer.concat(chunks).toString()) as { withheld: { where: string }[] }
    expect(report.withheld).toHaveLength(50_001)
    expect(report.withheld[9]?.where).toBe('events.csv, line 11')
  })

  it('names the field that a renamed column was most likely meant for, and the known ones', async () => {
    using folder = lists(`Id,Name,Strat,Finish,ShowOnWeb,Ticket Capacity\n${row(1, GOOD)}`)
    const { status, stdout, stderr } = await runCommand(['check'], { cwd: folder.path })
    expect(status).toBe(0)
    expect(stderr).toBe(
      [
        'warning: no events at all would be served: every row is withheld',
        'warning: the events have no field "Strat"; did you mean Start?',
        'warning: the events have no field "Ticket Capacity"; did you mean TicketCapacity?\n',
      ].join('\n'),
    )
    expect(stdout).toContain('Ignored in the events: "Strat", "Ticket Capacity". Read are Id, Name, VenueId, ')
    expect(stdout).toMatch(/line 2: .* has nothing in Start/)
  })

  it('tells of events whose venue is not served', async () => {
    using folder = new WorkFolder({ 'marquee.yaml': CONFIGURATION })
    folder.copySample('crm')
    const { stderr } = await runCommand(['check'], { cwd: folder.path })
    expect(stderr).toMatch(
      /^warning: the event [-0-9a-f]{36} names a venue that is not served, so its venue is answered with 404\n$/,
    )
  })

  const broken: readonly (readonly [string, Readonly<Record<string, string | Uint8Array>>, RegExp])[] = [
    ['no folder', {}, /^the events could not be read: there is no directory .*crm\n/],
    ['no list', { 'crm/events.csv': HEADER }, /the venues could not be read: there is no venues\.json, /],
    [
      'two lists of one name',
      { 'crm/events.csv': HEADER, 'crm/events.json': '[]' },
      /holds events\.json and events\.csv, and only one/,
    ],
    ['zero bytes', { 'crm/events.json': '' }, /events\.json is of zero bytes; an empty list is \[\]/],
    [
      'an open quote',
      { 'crm/events.csv': `${HEADER}\n${ID},"Ball,1,2,3,4\n` },
      /events\.csv, line 2: a quote is opened/,
    ],
    [
      'a cell too many',
      { 'crm/events.csv': `${HEADER}\n${row(1, `${GOOD},x`)}` },
      /events\.csv, line 2: 6 cells are expected.* 7 are found/,
    ],
    [
      'semicolons for commas',
      { 'crm/events.csv': `\ufeff${HEADER.replaceAll(',', ';')}\r\n` },
      /events\.csv, line 1: cells are separated by semicolons here, and commas are expected/,
    ],
    [
      'Windows-1252',
      { 'crm/events.csv': Buffer.from(`${HEADER}\n${ID},Soir\u00e9e,1,2,yes,1\n`, 'latin1') },
      /events\.csv, line 2: the bytes are no UTF-8; save the file as UTF-8/,
    ],
    [
      'a header named twice',
      { 'crm/events.csv': 'Id,Name,Name\n' },
      /events\.csv, line 1: the header names "Name" twice/,
    ],
    [
      'a comma too many in JSON',
      { 'crm/events.json': '[\n{"Id": 1,}\n]' },
      /events\.json, line 2: a name in double quotes is expected, and "}" is found/,
    ],
    [
      'JSON that is no list',
      { 'crm/events.json': '{"events": []}' },
      /events\.json, line 1: a list in \[ \] is expected/,
    ],
    ['half a line of NDJSON', { 'crm/events.ndjson': '{"Id": 1}\n{"Id"' }, /events\.ndjson, line 2: /],
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

  it('an answer that cannot be written is said, and ends with 1', async () => {
    using folder = lists(`${HEADER}\n${row(1, GOOD)}`)
    const full = spawn(
      'sh',
      ['-c', `exec "$0" "$1" check --json > /dev/full`, programOf('bun'), join(ROOT, 'src/main.ts')],
      {
        cwd: folder.path,
      },
    )
    let stderr = ''
    full.stderr.on('data', (chunk: Buffer) => (stderr += String(chunk)))
    const [status] = (await once(full, 'close')) as [number]
    expect([status, stderr]).toEqual([1, 'the answer could not be written to standard output\n'])
  })
})
