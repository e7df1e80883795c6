import { describe, expect, it } from 'bun:test'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { RUNTIMES } from '../support/depth.ts'
import { workbook } from '../support/workbook-file.ts'

const HEAD = `timeZone: Europe/London
operations: null
snapshot: null
crm:
  kind: files
  directory: .
  idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11
`
const NO_SEATS = 'TicketCapacity: null, TicketsAvailable: null, Price: null'
const EVENT_FIELDS = `{ Id: id, Name: title, Start: start, Finish: end, ${NO_SEATS} }`
const TIMES = '"start": "2036-03-01T19:00:00Z", "end": "2036-03-01T21:00:00Z"'

interface Group {
  readonly kind: string
  readonly column: string | null
  readonly fault: string
  readonly count: number
  readonly found: readonly { readonly value: string }[]
  readonly examples: readonly { readonly where: string; readonly id: string | null }[]
}

interface Report {
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
  readonly groups: readonly Group[]
  readonly suspicious: readonly { readonly column: string; readonly what: string; readonly example: string }[]
  readonly records: Readonly<Record<'events' | 'venues', readonly Readonly<Record<string, unknown>>[]>>
}

async function checked(
  files: Readonly<Record<string, string | Uint8Array>>,
  runtime?: 'bun' | 'node',
): Promise<Report> {
  using folder = new WorkFolder(files)
  const { stdout } = await runCommand(['check', '--json', '--show', '20'], {
    cwd: folder.path,
    ...(runtime === undefined ? {} : { runtime }),
  })
  return JSON.parse(stdout) as Report
}

const names = (report: Report, list: 'events' | 'venues' = 'events'): readonly unknown[] =>
  report.records[list].map(({ Name }) => Name)

function wrapped(
  events: string,
  venues = 'venues: { from: venues.geojson, rows: features, fields: { Id: properties.name, Name: properties.name, Longitude: geometry.coordinates.0, Latitude: geometry.coordinates.1 }, active: null }',
): string {
  return `${HEAD}  events: { ${events}, fields: ${EVENT_FIELDS}, showOnWeb: null, active: null }\n  ${venues}\n`
}

const GEOJSON = `{"type": "FeatureCollection", "bbox": [-2, 51, {"features": [1]}], "features": [
  {"type": "Feature", "properties": {"name": "Old Mill"}, "geometry": {"type": "Point", "coordinates": [-1.2, 52.1]}}
], "crs": {"a": [{"b": "}]"}]}}`

describe('a JSON file that wraps its list (rows)', () => {
  it.each(RUNTIMES)('%s: both lists are found at their paths, whatever else the files hold', async (runtime) => {
    const report = await checked(
      {
        'marquee.yaml': wrapped('from: events.json, rows: data.items'),
        'events.json': `{"meta": {"items": [{"id": 9}], "total": 1}, "data": {"n": 1, "items": [{"id": 1, "title": "Lantern Walk", ${TIMES}}], "next": null}, "x": []}`,
        'venues.geojson': GEOJSON,
      },
      runtime,
    )
    expect(report.problems).toEqual([])
    expect(names(report)).toEqual(['Lantern Walk'])
    expect(report.records.venues).toMatchObject([{ Name: 'Old Mill', Longitude: -1.2, Latitude: 52.1 }])
  })

  it('one file may hold both lists', async () => {
    const report = await checked({
      'marquee.yaml': wrapped(
        'from: all.json, rows: events',
        'venues: { from: all.json, rows: venues, fields: { Id: id, Name: name }, active: null }',
      ),
      'all.json': `{"venues": [{"id": "a", "name": "Mühle"}, {"id": "b", "name": "Halle"}], "events": [{"id": 1, "title": "Figaro", ${TIMES}}]}`,
    })
    expect([names(report), names(report, 'venues')]).toEqual([['Figaro'], ['Mühle', 'Halle']])
  })

  it.each([
    ['{"event": [], "total": 0}', 'rows: no list at "events": the names there are "event", "total"'],
    ['[]', 'rows: no list at "events": the file is not an object'],
    ['{"events": {"a": 1}}', 'rows: no list at "events": "events" is not a list'],
    ['{"events": []', 'line 1: the file ends before the object does that contains the list: } is expected'],
    ['{"events": [] "total": 1}', 'line 1: a name in quotes, a comma or } is expected'],
    ['{"events": []}\n[]', 'line 2: the file continues after the end of the object'],
  ])('%s is refused', async (text, sentence) => {
    const report = await checked({
      'marquee.yaml': wrapped('from: events.json, rows: events'),
      'events.json': text,
      'venues.geojson': GEOJSON,
    })
    expect(report.problems.join('\n')).toContain(sentence)
  })

  it('a file that is not JSON has no rows', async () => {
    const report = await checked({ 'marquee.yaml': wrapped('from: events.csv, rows: events') })
    expect(report.problems.join('\n')).toContain('events.csv is not a .json file')
  })
})

const GOOD = (id: number): string => `{"id": ${id}, "title": "Show ${id}", ${TIMES}}`
/** A cell that is not JSON, an item that lost its end, one that lost a quote, and one with too many brackets. */
const TORN = [
  `{"id": 2, "title": "Show 2", "price": NaN, ${TIMES}}`,
  '{"id": 2, "title": ',
  '{"id": 2, "title": "Show 2, ',
  `{"id": 2, "title": "Show 2", ${TIMES}}}`,
]

describe('a row that is not JSON', () => {
  const cases = RUNTIMES.flatMap((runtime) => TORN.map((torn) => [runtime, torn] as const))

  it.each(cases)('%s: of NDJSON is withheld alone, with its line: %s', async (runtime, torn) => {
    const report = await checked(
      {
        'marquee.yaml': wrapped('from: events.ndjson'),
        'events.ndjson': `${GOOD(1)}\n${torn}\n${GOOD(3)}\n`,
        'venues.geojson': GEOJSON,
      },
      runtime,
    )
    expect(names(report)).toEqual(['Show 1', 'Show 3'])
    expect(report.groups).toMatchObject([
      { fault: 'unreadable', column: null, count: 1, examples: [{ where: 'events.ndjson, line 2' }] },
    ])
  })

  it.each(cases)('%s: of a JSON list is withheld alone, with its place: %s', async (runtime, torn) => {
    const report = await checked(
      {
        'marquee.yaml': wrapped('from: events.json, rows: events'),
        'events.json': `{"events": [\n  ${GOOD(1)},\n  ${torn},\n  ${GOOD(3)},\n  ${GOOD(4)}\n], "total": 3}`,
        'venues.geojson': GEOJSON,
      },
      runtime,
    )
    expect(report.problems.filter((problem) => !problem.includes('withheld'))).toEqual([])
    expect(names(report).slice(-2)).toEqual(['Show 3', 'Show 4'])
    expect(report.groups).toHaveLength(1)
    expect(report.groups[0]?.fault).toBe('unreadable')
    expect(report.groups[0]?.examples[0]?.where).toMatch(/events\.json, item [23] \(line 3\)/)
  })

  it('is withheld with the place of its fault', async () => {
    const report = await checked({
      'marquee.yaml': wrapped('from: events.ndjson'),
      'events.ndjson': `${GOOD(1)}\n${TORN[0]}\n`,
      'venues.geojson': GEOJSON,
    })
    const [group] = report.groups
    expect(group?.found.map(({ value }) => value)).toContain('line 2: expected a value, found "N"')
  })

  it('of a list in one line is withheld alone if its brackets close', async () => {
    const report = await checked({
      'marquee.yaml': wrapped('from: events.json'),
      'events.json': `[${GOOD(1)}, ${TORN[0]}, ${GOOD(3)}]`,
      'venues.geojson': GEOJSON,
    })
    expect(names(report)).toEqual(['Show 1', 'Show 3'])
  })

  it.each([
    ['no line tells where the next row begins', `[${GOOD(1)}, ${TORN[1]}, ${GOOD(3)}]`],
    ['objects within rows begin lines as rows do', `[\n{\n"id": 1,\n"x": [\n{\n"a": "b\n}\n]\n}\n]`],
    ['the list has no end', `[\n${GOOD(1)},\n${TORN[1]}`],
    ['no row can be read', `[\n${TORN[0]}\n]`],
  ])('makes the file unusable if %s', async (_, text) => {
    const report = await checked({
      'marquee.yaml': wrapped('from: events.json'),
      'events.json': text,
      'venues.geojson': GEOJSON,
    })
    expect(report.problems.join('\n')).toMatch(/events\.json, line \d+: /)
  })

  it('in rows of several lines ends where the next row begins', async () => {
    const rows = [1, 2, 3].map((id) =>
      JSON.stringify(
        { id, title: `Show ${id}`, start: '2036-03-01T19:00:00Z', end: '2036-03-01T21:00:00Z', at: [{ a: 1 }] },
        null,
        2,
      ).replaceAll('\n', '\n  '),
    )
    const text = `[\n  ${rows.join(',\n  ')}\n]\n`.replace('"title": "Show 2"', '"title": "Show 2')
    const report = await checked({
      'marquee.yaml': wrapped('from: events.json'),
      'events.json': text,
      'venues.geojson': GEOJSON,
    })
    expect(names(report)).toEqual(['Show 1', 'Show 3'])
  })
})

describe('a column that no row has', () => {
  const row = `{"id": 1, "title": "Show 1", ${TIMES}}`

  it.each(RUNTIMES.flatMap((runtime) => ['json', 'ndjson'].map((format) => [runtime, format] as const)))(
    '%s, %s: is blank, because JSON may leave out what is blank, and told with the nearest name',
    async (runtime, format) => {
      const fields = EVENT_FIELDS.replace('Name: title', 'Name: titel').replace(
        'Price: null',
        "Price: { column: cost, whenBlank: '5' }",
      )
      const report = await checked(
        {
          'marquee.yaml': wrapped(`from: events.${format}`).replace(EVENT_FIELDS, fields),
          [`events.${format}`]: format === 'json' ? `[${row}]` : `${row}\n`,
          'venues.geojson': GEOJSON,
        },
        runtime,
      )
      expect(report.problems).toEqual([])
      expect(report.records.events).toMatchObject([{ Name: null, Price: 5 }])
      expect(report.warnings.join('\n')).toContain(
        `events.${format} has no column "titel" (crm.events.fields.Name; did you mean "title"?), "cost" (crm.events.fields.Price)`,
      )
    },
  )

  it('is a mistake in a table with a header', async () => {
    const report = await checked({
      'marquee.yaml': wrapped('from: events.csv'),
      'events.csv': 'id,titel,start,end\n1,Show,2036-03-01T19:00Z,2036-03-01T21:00Z\n',
      'venues.geojson': GEOJSON,
    })
    expect(report.problems.join('\n')).toContain('events.csv has no column "title"')
  })
})

const HEADER = ['Nr', 'Titel', 'Beginn', 'Ende', 'Web', 'Ort', 'Stadt', 'Straße']
const ROWS = [
  ['1', 'Figaro', '2036-06-21T19:30Z', '2036-06-21T22:00Z', 'ja', 'Rathaus', 'Köln', 'Markt 1'],
  ['2', 'Tosca', '2036-06-22T19:30Z', '2036-06-22T22:00Z', 'ja', 'Rathaus', 'Köln', 'Markt 1'],
  ['3', 'Faust', '2036-06-23T19:30Z', '2036-06-23T22:00Z', 'ja', '', '', ''],
  ['4', 'Carmen', '2036-06-24T19:30Z', '2036-06-24T22:00Z', 'ja', 'Rathaus', 'Bonn', 'Platz 2'],
  ['5', 'Aida', '2036-06-25T19:30Z', '2036-06-25T22:00Z', 'nein', 'Villa', 'Köln', 'Privatweg 3'],
  ['6', 'Norma', '2036-06-26T19:30Z', '2036-06-26T22:00Z', 'ja', 'Rathaus', 'Bonn', 'Platz 22'],
]
const asJson = JSON.stringify({
  events: ROWS.map((row) => Object.fromEntries(HEADER.map((name, at) => [name, row[at] === '' ? null : row[at]]))),
})
const FILES = {
  csv: ['Plan.csv', 'from: Plan.csv', [HEADER, ...ROWS].map((row) => `${row.join(',')}\n`).join('')],
  xlsx: ['Plan.xlsx', 'from: { file: Plan.xlsx, sheet: Plan }', workbook([{ name: 'Plan', rows: [HEADER, ...ROWS] }])],
  json: ['Plan.json', 'from: Plan.json, rows: events', asJson],
} as const

function placesIn(from: string, more = ''): string {
  return `${HEAD}  events:
    ${from.replace(', rows', '\n    rows')}
    fields: { Id: { join: [Nr, Titel, Beginn] }, Name: Titel, Start: Beginn, Finish: Ende, VenueId: { join: [Ort, Stadt] }, ${NO_SEATS} }
    showOnWeb: { Web: [ja] }
    active: null
  venues:
    ${from.replace(', rows', '\n    rows')}
    fields: { Id: { join: [Ort, Stadt] }, Name: Ort, AddressCity: Stadt, AddressStreet1: Straße }
${more}`
}

describe('venues within the rows of events: both lists name the same rows', () => {
  it.each(
    RUNTIMES.flatMap((runtime) => (['csv', 'xlsx', 'json'] as const).map((format) => [runtime, format] as const)),
  )('%s, %s: each place is one venue; copies and rows without a place are no faults', async (runtime, format) => {
    const [name, from, content] = FILES[format]
    const report = await checked({ 'marquee.yaml': placesIn(from), [name]: content }, runtime)
    expect(report.problems).toEqual([])
    expect(report.records.venues).toMatchObject([
      { Name: 'Rathaus', AddressCity: 'Köln', AddressStreet1: 'Markt 1' },
      { Name: 'Rathaus', AddressCity: 'Bonn', AddressStreet1: 'Platz 2' },
    ])
    // Only the event that is not to be shown is withheld, and its place is not published.
    expect(report.groups).toMatchObject([{ kind: 'event', fault: 'not-shown', count: 1 }])
    expect(report.suspicious).toMatchObject([
      {
        column: 'Straße',
        what: 'differs from the first row of this venue, which is served',
        example: expect.stringMatching(
          /(?:line|row|item) (?:6|7).*: Straße is "Platz 22", and "Platz 2" before$/,
        ) as never,
      },
    ])
    expect(report.warnings).toEqual([])
  })

  it('the venues may have a condition of their own', async () => {
    const [name, from, content] = FILES.csv
    const report = await checked({ 'marquee.yaml': placesIn(from, '    active: null\n'), [name]: content })
    expect(names(report, 'venues')).toEqual(['Rathaus', 'Rathaus', 'Villa'])
  })

  it('the column of a condition of the events is not suspicious for being blank in the places', async () => {
    const rows =
      'Nr,Beginn,Ende,Ort,Status\n1,2036-06-21T19:30Z,2036-06-21T22:00Z,Mill,\n2,2036-06-21T19:30Z,2036-06-21T22:00Z,Barn,abgesagt\n'
    const report = await checked({
      'marquee.yaml': `${HEAD}  events:
    from: a.csv
    fields: { Id: Nr, Name: Nr, VenueId: Ort, Start: Beginn, Finish: Ende, ${NO_SEATS} }
    showOnWeb: null
    active: { Status: { not: [abgesagt] } }
  venues: { from: a.csv, fields: { Id: Ort, Name: Ort } }\n`,
      'a.csv': rows,
    })
    expect(names(report, 'venues')).toEqual(['Mill'])
    expect(report.suspicious).toEqual([])
  })

  it('a place is read from its first row that can be read', async () => {
    const rows =
      'Nr,Beginn,Ende,Ort,Lat\n1,2036-06-21T19:30Z,2036-06-21T22:00Z,Mill,north\n2,2036-06-21T19:30Z,2036-06-21T22:00Z,Mill,52\n3,2036-06-21T19:30Z,2036-06-21T22:00Z,Barn,x\n4,2036-06-21T19:30Z,2036-06-21T22:00Z,Barn,y\n'
    const report = await checked({
      'marquee.yaml': `${HEAD}  events: { from: a.csv, fields: { Id: Nr, VenueId: Ort, Start: Beginn, Finish: Ende }, showOnWeb: null, active: null }
  venues: { from: a.csv, fields: { Id: Ort, Name: Ort, Latitude: Lat } }\n`,
      'a.csv': rows,
    })
    expect(report.records.venues).toMatchObject([{ Name: 'Mill', Latitude: 52 }])
    expect(report.groups).toMatchObject([
      { kind: 'venue', column: 'Lat', fault: 'unreadable', count: 1, examples: [{ where: 'a.csv, line 4' }] },
    ])
  })
})
