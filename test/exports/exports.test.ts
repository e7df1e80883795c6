import { describe, expect, it } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/child.ts'
import { runCommand } from '../commands/run-command.ts'
import { CONFIGURATION, WorkFolder } from '../commands/work-folder.ts'

interface Report {
  readonly ok: boolean
  readonly events: number
  readonly venues: number
  readonly withheld: readonly { readonly where: string; readonly reason: string }[]
  readonly ignored: readonly string[]
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
  readonly zone: unknown
  readonly suspicious: readonly { readonly column: string; readonly count: number; readonly example: string }[]
  readonly groups: readonly {
    readonly column: string | null
    readonly count: number
    readonly found: readonly { readonly value: string }[]
    readonly examples: readonly { readonly where: string }[]
    readonly remedy: string
  }[]
}

/** What `./marquee check --json` says of an export; docs/publishing-from-files.md shows what it says to a person. */
async function checked(name: string, zone = 'timeZone: Europe/London\n'): Promise<Report> {
  using folder = new WorkFolder({ 'marquee.yaml': `${zone}${CONFIGURATION}` })
  cpSync(join(ROOT, 'test/exports', name), folder.at('crm'), { recursive: true })
  const { stdout } = await runCommand(['check', '--json'], { cwd: folder.path })
  return JSON.parse(stdout) as Report
}

const places = ({ withheld }: Report): readonly string[] => withheld.map(({ where }) => where)

describe('exports that nobody made for Marquee', () => {
  it("a spreadsheet's CSV, with its mark, its line ends, its quotes and its habits: each bad row is named, the good ones are served", async () => {
    const report = await checked('spreadsheet')
    expect(report).toMatchObject({ ok: true, events: 2, venues: 2, ignored: ['Event Manager'], problems: [] })
    // The second row holds a line break, so what follows is one line further down.
    expect(places(report)).toEqual([5, 6, 7, 8, 9, 10].map((line) => `events.csv, line ${line}`))
    const reasons = report.withheld.map(({ reason }) => reason)
    for (const [index, says] of [
      /TicketCapacity.*"1,000"/,
      /Start.*year first.*"05\/12\/2036 10:00"/,
      /not marked to be shown/,
      /Price.*"£5\.00"/,
      /id of another row/,
      /no valid id/,
    ].entries()) {
      expect(reasons[index]).toMatch(says)
    }
  })

  it('one of a language that writes 18,50 is refused for its semicolons, list by list', async () => {
    const report = await checked('european')
    expect(report).toMatchObject({ ok: false, events: 0, venues: 0, withheld: [] })
    expect(report.problems).toHaveLength(2)
    for (const problem of report.problems) expect(problem).toContain('separated by semicolons instead of commas')
  })

  it('a nightly NDJSON: ids in another form, nulls, whole numbers with a point, columns of its own', async () => {
    const report = await checked('nightly')
    expect(report).toMatchObject({ ok: true, events: 4, venues: 2, ignored: ['ModifiedOn', 'OwnerId'], problems: [] })
    expect(places(report)).toEqual([4, 5, 6, 7].map((line) => `events.ndjson, line ${line}`))
  })

  it('a JSON file written by hand: one list has a comma too many, the other one good row', async () => {
    const report = await checked('handwritten')
    expect(report).toMatchObject({ ok: true, events: 1, venues: 1, ignored: ['VenueID'], problems: [] })
    expect(report.withheld.map(({ where }) => where)).toContain('venues.json, item 2 (line 3)')
    expect(report.withheld).toHaveLength(5)
  })

  it('a German one tells in one round all that has to change: encoding, separator, dates, commas, x, tags, thousands, zone', async () => {
    const report = await checked('german', '')
    expect(report).toMatchObject({ ok: false, zone: { name: 'UTC', set: false } })
    expect(report.problems.join('\n')).toMatch(
      /events\.csv, line 2: the bytes are not UTF-8.*Windows-1252.*\n.*events\.csv, line 1: .*semicolons/,
    )
    expect(report.problems).toHaveLength(4)
    const groups = report.groups.map(({ column, count, found, remedy }) => [column, count, found[0]?.value, remedy])
    expect(groups).toEqual([
      [
        'ShowOnWeb',
        12,
        'x',
        'Correct ShowOnWeb: write yes for "x", "ja", "WAHR", or set crm.texts.yes: ["x", ja, WAHR].',
      ],
      [
        'Start',
        12,
        '20.12.2026 19:30',
        'Correct Start: write 2026-12-20 19:30 for "20.12.2026 19:30", and so on, or add DD.MM.YYYY hh:mm to crm.texts.dates.',
      ],
      [
        'Finish',
        12,
        '20.12.2026 22:00',
        'Correct Finish: write 2026-12-20 22:00 for "20.12.2026 22:00", and so on, or add DD.MM.YYYY hh:mm to crm.texts.dates.',
      ],
      ['Price', 12, '18,50', `Correct Price: write 18.50 for "18,50", and so on, or set crm.texts.decimal: ','.`],
      ['TicketCapacity', 4, '1.250', 'Correct TicketCapacity: write 1250 for "1.250".'],
      ['Latitude', 1, '49,7913', `Correct Latitude: write 49.7913 for "49,7913", or set crm.texts.decimal: ','.`],
    ])
    expect(report.suspicious.map(({ column, count, example }) => [column, count, example])).toEqual([
      ['Tags', 12, 'events.csv, line 2: Tags is "Oper, Premiere"'],
      ['TicketsAvailable', 1, 'events.csv, line 6: TicketsAvailable is "1.000"'],
    ])
    expect(report.warnings).toEqual([expect.stringContaining('timeZone is not set')])
  })

  it('an English one with a title row tells in one round all that has to change, where it stands in the file', async () => {
    const report = await checked('titled')
    expect(report.problems.map((problem) => problem.replace(/^.*read: /, ''))).toEqual([
      'events.csv: line 1 is above the header row, which is line 3; delete everything above it, or set crm.texts.headerRow: 3',
      'venues.csv: line 1 is above the header row, which is line 2; delete everything above it, or set crm.texts.headerRow: 2',
    ])
    expect(report.groups.map(({ column, count }) => [column, count])).toEqual([
      ['TicketCapacity', 6],
      ['Start', 6],
      ['Finish', 6],
      ['Price', 6],
    ])
    expect(report.groups[0]?.examples[0]?.where).toBe('events.csv, line 4')
    expect(report.groups[3]?.remedy).toContain('write 12.00, without the currency for "£12.00"')
    expect(report.warnings.join('\n')).toMatch(
      /"Name "; did you mean Name\? It begins or ends with a blank.*\n.*"tags".*Tags\? Names are case/,
    )
  })

  it('a workbook that is called .csv is known by its first bytes, and a file that is almost named like a list is named', async () => {
    const { problems } = await checked('workbook')
    expect(problems).toEqual([
      expect.stringMatching(/events\.csv, line 1: this is an Excel .*save it as CSV UTF-8, separated by commas$/),
      expect.stringMatching(
        /there is no venues\.json, .*; Venues\.CSV has almost the right name: rename it to venues\.csv$/,
      ),
    ])
  })
})
