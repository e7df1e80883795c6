import { describe, expect, it } from 'bun:test'
import { workbook } from '../support/workbook-file.ts'
import { served } from './served-proposal.ts'

const EVENTS = [
  ['Title', 'Date', 'Time', 'Venue', 'Status'],
  ...['A', 'B', 'C', 'D', 'E', 'F'].map((title, at) => [title, `2037-06-0${at + 1}`, '19:00', 'Old Mill', 'confirmed']),
]
const INBOX = [
  ['Title', 'Date', 'Time', 'City'],
  ['Unchecked', '2037-05-01', '20:00', 'Arden'],
]
const VENUES = [
  ['Venue Name', 'Address', 'Latitude', 'Longitude'],
  ['Old Mill', '1 Mill Lane', '52.1', '-1.2'],
]
const FEEDS = [
  ['Source Name', 'Type', 'URL'],
  ['Old Mill', 'ics', 'https://calendar.example.org/private-old-mill/basic.ics'],
]

function csv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.join(',')}\n`).join('')
}

const NEITHER = /neither events nor venues/

describe('the right table (issue: files as people have them)', () => {
  it('is the sheet that is called so, whichever comes first', async () => {
    const sheets = [
      { name: 'Inbox', rows: INBOX },
      { name: 'Events', rows: EVENTS },
      { name: 'Venues', rows: VENUES },
      {
        name: 'Towns',
        rows: [
          ['Town', 'County'],
          ['Arden', 'Westshire'],
        ],
      },
    ]
    const { text, said, events, venues } = await served({ 'Office.xlsx': workbook(sheets) })
    expect(text).toContain('from: { file: "Office.xlsx", sheet: Events }')
    expect(events).toHaveLength(6)
    expect(events[0]).toMatchObject({ Name: 'A', place: 'Old Mill' })
    expect(venues).toMatchObject([{ Name: 'Old Mill', AddressStreet1: '1 Mill Lane', Latitude: '52.1' }])
    expect(said).toContain('sheet "Inbox": not used, as another table was taken for the events')
    expect(said).not.toMatch(/(?:Inbox|Events).*neither/)
  })

  it('is the one with plainly more rows', async () => {
    const { text } = await served({ 'a.csv': csv(INBOX), 'b.csv': csv(EVENTS) })
    expect(text).toContain('  events:\n    from: "b.csv"')
  })

  it.each([
    [
      'two files',
      { 'spring.csv': csv(EVENTS), 'autumn.csv': csv(EVENTS) },
      'spring.csv',
      '"spring.csv"',
      "'autumn.csv'",
    ],
    [
      'two sheets',
      {
        'Plan.xlsx': workbook([
          { name: 'Eins', rows: EVENTS },
          { name: 'Zwei', rows: EVENTS },
        ]),
      },
      'Plan.xlsx, sheet "Eins"',
      '"Plan.xlsx"',
      "'Plan.xlsx#Zwei'",
    ],
    [
      'two lists of a JSON file',
      { 'all.json': json({ one: EVENTS, two: EVENTS }) },
      'all.json, list "one"',
      '"all.json"',
      "'all.json#two'",
    ],
  ])('is asked for by name where two may be meant: %s', async (_, files, title, first, again) => {
    const { asked, said, events } = await served(files, { answers: { from: first } })
    expect(asked).toContain('from')
    expect(said).toContain(`from: Which is the list of events: ${title} (6 rows) or `)
    expect(said).toContain(`For the first, write ${first} here`)
    expect(said).toContain(`run init again with --replace --from ${again}.`)
    expect(said).not.toMatch(NEITHER)
    expect(events).toHaveLength(6)
  })

  it.each([
    ['a sheet', 'Plan.xlsx#Zwei', { file: 'Plan.xlsx', sheet: 'Zwei' }],
    ['a hidden sheet', 'Plan.xlsx#Alt', { file: 'Plan.xlsx', sheet: 'Alt' }],
  ])('is the one that --from names: %s', async (_, from, { file, sheet }) => {
    const sheets = [
      { name: 'Eins', rows: INBOX },
      { name: 'Zwei', rows: EVENTS },
      { name: 'Alt', rows: EVENTS, isHidden: true },
    ]
    const { text, events } = await served({ 'Plan.xlsx': workbook(sheets) }, { from: [from] })
    expect(text).toContain(`from: { file: "${file}", sheet: ${sheet} }`)
    expect(events).toHaveLength(6)
  })

  it('is the file whose name has the sign, if there is one', async () => {
    const { text } = await served({ 'Plan#2.csv': csv(EVENTS) })
    expect(text).toContain('from: "Plan#2.csv"')
  })

  it.each([
    ['March 5, 2037', 'English'],
    ['5. März 2037', 'German'],
    ['le 5 mars 2037', 'French'],
    ['5 de marzo de 2037', 'Spanish'],
  ])('keeps events whose days no format reads, and asks with an example: %s', async (day) => {
    const events = `id,title,date,place\n1,A,"${day}",Old Mill\n2,B,"${day}",Old Mill\n`
    const files = { 'concerts.csv': events, 'venues.csv': csv(VENUES).replace('Venue Name', 'name') }
    const { asked, said, text, venues } = await served(files, { answers: { dates: '[YYYY-MM-DD]' } })
    expect(asked).toContain('dates')
    expect(said).toContain(`date has the month in words (e.g. ${day})`)
    expect(text).toContain('  events:\n    from: "concerts.csv"')
    expect(venues).toMatchObject([{ Name: 'Old Mill' }])
  })

  it('takes no sheet without addresses for the venues', async () => {
    const sheets = [
      { name: 'Events', rows: EVENTS },
      { name: 'Feeds', rows: FEEDS },
    ]
    const { text, venues } = await served({ 'Events.xlsx': workbook(sheets) })
    expect(text).not.toContain('calendar.example.org')
    expect(venues).toMatchObject([{ Name: 'Old Mill', Website: null }])
  })

  it.each([
    ['First name,Last name,Email,City\nJane,Doe,jane@example.org,Arden\n'],
    ['name,email,phone,city\nOld Mill,jane@example.org,555,Arden\nJohn Roe,john@example.org,556,Arden\n'],
    ['Vorname;Nachname;Geburtstag;Ort\nJane;Doe;01.02.1990;Arden\n'],
    ['Prénom;Nom de famille;Date de naissance;Ville\nJane;Doe;01/02/1990;Arden\n'],
  ])('never publishes people: %s', async (people) => {
    const plain = csv(EVENTS.map((row) => row.filter((_, at) => at !== 3)))
    const { text, said, venues } = await served({ 'events.csv': plain, 'contacts.csv': people })
    expect(venues).toEqual([])
    expect(text).not.toContain('from: "contacts.csv"')
    expect(said).toContain('contacts.csv: not used, as it lists people')
  })

  it('asks whether another file is the venues, if nothing tells', async () => {
    const plain = csv(EVENTS.map((row) => row.filter((_, at) => at !== 3)))
    const { asked, said } = await served(
      { 'events.csv': plain, 'x.csv': 'name,city\nPier Hall,Hove\n' },
      { answers: { from: 'x.csv' } },
    )
    expect(asked).toContain('from')
    expect(said).toContain('from: Is x.csv (1 row; name, city) the list of venues?')
  })
})

function json(lists: Readonly<Record<string, readonly (readonly string[])[]>>): string {
  return JSON.stringify(
    Object.fromEntries(
      Object.entries(lists).map(([list, [names = [], ...rows]]) => [
        list,
        rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]]))),
      ]),
    ),
  )
}

describe('JSON that wraps its list', () => {
  const rows = json({
    events: EVENTS,
    venues: [
      ['Venue Name', 'Address'],
      ['Old Mill', '1 Mill Lane'],
    ],
  })
  it.each([
    ['both lists in one file', { 'all.json': rows }, ['rows: events', 'rows: venues']],
    [
      'a list in a list of names',
      { 'all.json': `{"meta": {"text": "[{"}, "data": ${rows}}` },
      ['rows: "data.events"', 'rows: "data.venues"'],
    ],
    [
      'a torn row',
      { 'all.json': rows.replace('{"Title":"A"', '{"Title":NaN,"x":1},\n{"Title":"A"') },
      ['rows: events'],
    ],
  ])('is proposed with the paths of its lists: %s', async (_, files, paths) => {
    const { text, events, venues } = await served(files)
    for (const path of paths) expect(text).toContain(path)
    expect(events).toHaveLength(6)
    expect(venues).toMatchObject([{ Name: 'Old Mill', AddressStreet1: '1 Mill Lane' }])
  })

  it('is read as GeoJSON, with its coordinates', async () => {
    const feature = {
      type: 'Feature',
      properties: { name: 'Old Mill' },
      geometry: { type: 'Point', coordinates: [-1.2, 52.1] },
    }
    const places = JSON.stringify({ type: 'FeatureCollection', features: [feature] })
    const { venues } = await served({ 'events.csv': csv(EVENTS), 'venues.geojson': places })
    expect(venues).toMatchObject([{ Name: 'Old Mill', Longitude: '-1.2', Latitude: '52.1' }])
  })
})
