import { describe, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { parse } from 'yaml'
import { type Ended, runCommand } from '../commands/run-command.ts'
import { CONFIGURATION, WorkFolder } from '../commands/work-folder.ts'
import { serial, workbook } from '../support/workbook-file.ts'

type Files = Readonly<Record<string, string | Uint8Array>>

/** Runs the command on both runtimes, and returns what they have in common: everything. */
async function onBoth(args: readonly string[], folder: WorkFolder): Promise<Ended> {
  // One after the other: `init` writes.
  const bun = await runCommand(args, { cwd: folder.path, runtime: 'bun' })
  const node = await runCommand(args, { cwd: folder.path, runtime: 'node' })
  expect(node).toEqual(bun)
  return bun
}

interface Report {
  readonly problems: readonly string[]
  readonly suspicious: readonly { readonly column: string; readonly what: string }[]
}

async function checked(files: Files): Promise<Ended & { readonly report: Report }> {
  using folder = new WorkFolder({
    'marquee.yaml': `timeZone: UTC\n${CONFIGURATION}`,
    'crm/venues.json': '[]',
    ...files,
  })
  const ended = await onBoth(['check', '--json'], folder)
  return { ...ended, report: JSON.parse(ended.stdout) as Report }
}

const ID = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34'
const TIMES = '"Start":"2036-07-12T19:30:00Z","Finish":"2036-07-12T21:30:00Z","ShowOnWeb":true'
const TEXT = `Id,Name\n${ID},Größe\n`

describe('on Bun and on Node alike', () => {
  it.each([
    [
      'an error message in place of a list',
      { 'crm/events.csv': 'ERROR: connection to server failed\n' },
      'no column has a name',
    ],
    ['a file of zeros', { 'crm/events.csv': '\u0000'.repeat(4096) }, 'the file contains U+0000'],
    [
      'UTF-16 without a mark',
      { 'crm/events.csv': Buffer.from(TEXT, 'utf16le') },
      'most likely it is incomplete, in UTF-16',
    ],
    ['a compressed file', { 'crm/events.csv': gzipSync(TEXT) }, 'this is a compressed file (gzip)'],
  ] as const)('check refuses %s', async (_, files, sentence) => {
    const { status, report } = await checked(files)
    expect(status).toBe(1)
    expect(report.problems.join('\n')).toContain(sentence)
  })

  it('check names a link that leads nowhere', async () => {
    using folder = new WorkFolder({ 'marquee.yaml': CONFIGURATION, 'crm/venues.json': '[]' })
    symlinkSync('/nowhere/events.csv', folder.at('crm/events.csv'))
    const { status, stderr } = await onBoth(['check'], folder)
    expect(status).toBe(1)
    expect(stderr).toContain('is a link to /nowhere/events.csv, which does not exist')
  })

  it('check finds numbers suspicious whose point may group thousands', async () => {
    const row = `{"Id":"${ID}",${TIMES},"TicketCapacity":"1.000","Price":"1.250"}`
    const { report } = await checked({ 'crm/events.ndjson': `${row}\n` })
    const told = report.suspicious.map(({ column, what }) => `${column} ${what}`).join('\n')
    expect(told).toContain('TicketCapacity ends in .000 and is read as a decimal fraction')
  })

  it('check shows the times and numbers of a workbook as Excel does', async () => {
    const rows = [
      ['Id', 'Name', 'Start', 'Finish', 'Price', 'ShowOnWeb'],
      [
        ID,
        'Figaro',
        serial(49_847 + 25.5 / 24, 'dateTime'),
        serial(49_847 + 27.5 / 24, 'dateTime'),
        { xml: '<c><v>20.929999999999996</v></c>' },
        true,
      ],
    ]
    const columns = 'Id: Id, Name: Name, Start: Start, Finish: Finish, Price: Price'
    const events = `events: { from: events.xlsx, fields: { ${columns} } }, venues: { from: venues.json }`
    using folder = new WorkFolder({
      'marquee.yaml': `timeZone: UTC\noperations: null\ncrm: { kind: files, directory: ./crm, ${events} }\n`,
      'crm/venues.json': '[]',
      'crm/events.xlsx': workbook([{ name: 'x', rows }]),
    })
    const { stdout } = await onBoth(['check', '--show', '1'], folder)
    expect(stdout).toContain('"Start":"2036-06-22T01:30:00+00:00"')
    expect(stdout).toContain('"Price":20.93')
  })

  it('check finds a time suspicious that the clocks skip', async () => {
    const row = `{"Id":"${ID}","Start":"2036-03-30T02:30","Finish":"2036-03-30T05:00","ShowOnWeb":true}`
    using folder = new WorkFolder({
      'marquee.yaml': `timeZone: Europe/Berlin\n${CONFIGURATION}`,
      'crm/venues.json': '[]',
      'crm/events.ndjson': `${row}\n`,
    })
    expect((await onBoth(['check'], folder)).stderr).toContain(
      'Start is a time that does not exist, because clocks go forward then',
    )
  })

  it.each([
    ['limits: { drain: 600h }', 'must be at most 576h'],
    ['freshness: { refreshEvery: 10m, maxAge: 20m, fullReadEvery: 5m }', 'freshness.fullReadEvery'],
  ])('check refuses %s', async (section, sentence) => {
    using folder = new WorkFolder({ 'marquee.yaml': `${section}\n${CONFIGURATION}` })
    const { status, stderr } = await onBoth(['check'], folder)
    expect(status).toBe(2)
    expect(stderr).toContain(sentence)
  })

  it('init --from writes no key that a column name or a cell holds', async () => {
    const name = 'Titel\nshare: { url: redis://127.0.0.1 }\n#'
    const csv = `Nr,"${name}",Beginn,Ende\n1,"x\ncluster: { url: y }",2036-06-21 19:30,2036-06-21 21:30\n`
    using folder = new WorkFolder({ 'Plan.csv': csv })
    await onBoth(['init', 'files', '--from', 'Plan.csv', '--replace'], folder)
    const yaml = readFileSync(folder.at('marquee.yaml'), 'utf8')
    expect(Object.keys(parse(yaml) as object)).not.toContain('share')
    expect(Object.keys(parse(yaml) as object)).not.toContain('cluster')
  })

  it('init --from refuses a pipe rather than wait for a writer', async () => {
    using folder = new WorkFolder()
    spawnSync('mkfifo', [folder.at('Plan.csv')])
    const { status, stderr } = await onBoth(['init', 'files', '--from', 'Plan.csv'], folder)
    expect(stderr).toContain('Plan.csv')
    expect(status).not.toBe(0)
  })
})
