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
}

/** What `./marquee check --json` says of an export; docs/publishing-from-files.md shows what it says to a person. */
async function checked(name: string): Promise<Report> {
  using folder = new WorkFolder({ 'marquee.yaml': `timeZone: Europe/London\n${CONFIGURATION}` })
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
    for (const problem of report.problems)
      expect(problem).toContain('separated by semicolons here, and commas are expected')
  })

  it('a nightly NDJSON: ids in another form, nulls, whole numbers with a point, columns of its own', async () => {
    const report = await checked('nightly')
    expect(report).toMatchObject({ ok: true, events: 4, venues: 2, ignored: ['ModifiedOn', 'OwnerId'], problems: [] })
    expect(places(report)).toEqual([4, 5, 6, 7].map((line) => `events.ndjson, line ${line}`))
  })

  it('a JSON file written by hand: one list has a comma too many, the other one good row', async () => {
    const report = await checked('handwritten')
    expect(report).toMatchObject({ ok: false, events: 1, venues: 0, ignored: ['VenueID'] })
    expect(report.problems).toEqual([expect.stringMatching(/^the venues could not be read: venues\.json, line 3: /)])
    expect(report.withheld).toHaveLength(4)
  })
})
