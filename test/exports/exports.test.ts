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
async function checked(name: string, zone = 'timeZone: Europe/London\n', keys = ''): Promise<Report> {
  const configuration = CONFIGURATION.replace('./crm }', keys === '' ? './crm }' : `./crm, ${keys} }`)
  using folder = new WorkFolder({ 'marquee.yaml': `${zone}${configuration}` })
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

  it('a German one tells its encoding first, then its separator', async () => {
    const report = await checked('german', '')
    expect(report).toMatchObject({ ok: false, zone: { name: 'UTC', set: false } })
    expect(report.problems).toHaveLength(2)
    expect(report.problems[0]).toMatch(
      /events\.csv, line 2: the bytes are not UTF-8.*Windows-1252.*set crm\.texts\.encoding: windows-1252$/,
    )
    const { problems } = await checked('german', '', 'texts: { encoding: windows-1252 }')
    expect(problems[0]).toMatch(/events\.csv, line 1: .*semicolons; .*set crm\.texts\.delimiter: ';'$/)
  })

  it('an English one with a title row tells that the header row has to be first', async () => {
    const { problems } = await checked('titled')
    expect(problems).toHaveLength(2)
    for (const problem of problems)
      expect(problem).toMatch(/\.csv, line 1: .*; put the header row first, .* or set crm\.texts\.headerRow$/)
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
