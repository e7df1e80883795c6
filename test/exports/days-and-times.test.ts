import { describe, expect, it } from 'bun:test'
import { suspicionSaid } from '../../src/faults/fault-words.ts'
import { idsOf, readCrm } from '../../src/app/assemble.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { insteadOf } from '../../src/faults/fault-words.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { workbook } from '../support/workbook-file.ts'

type Row = Readonly<Record<string, string>>
const FORMATS = ['csv', 'xlsx', 'json', 'ndjson'] as const

/** The file of rows in a format. All cells are texts. */
function fileOf(format: (typeof FORMATS)[number], rows: readonly Row[]): string | Buffer {
  const names = Object.keys(rows[0] ?? {})
  const cells = rows.map((row) => names.map((name) => row[name] ?? ''))
  if (format === 'json') return JSON.stringify(rows)
  if (format === 'ndjson') return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  if (format === 'xlsx') return workbook([{ name: 'x', rows: [names, ...cells] }])
  return [names, ...cells].map((line) => `${line.join(';')}\n`).join('')
}

interface Asked {
  readonly format?: (typeof FORMATS)[number]
  readonly start: string
  readonly finish: string
  readonly dates?: string
  readonly zone?: string
}

/** Start and Finish of each row as they are served, or why it is withheld. */
async function read(
  rows: readonly Row[],
  { format = 'csv', start, finish, dates = '', zone = 'Europe/Berlin' }: Asked,
): Promise<Readonly<Record<'times' | 'suspicious' | 'advice', readonly string[]>>> {
  const file = `events.${format}`
  const numbered = rows.map((row, index) => ({ Nr: String(index), ...row }))
  const fields = `{ Id: Nr, Start: ${start}, Finish: ${finish}, Name: null, Price: null, TicketCapacity: null, TicketsAvailable: null }`
  const texts = `texts: { ${format === 'csv' ? "delimiter: ';', " : ''}dates: [${dates}] }`
  const text = `timeZone: ${zone}
crm: { kind: files, directory: ., idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11, events: { from: ${file}, fields: ${fields}, ${texts}, showOnWeb: null } }`
  using folder = new WorkFolder({ [file]: fileOf(format, numbered), 'venues.csv': 'Id,Name\n' })
  const readFile = (): Promise<Uint8Array> => Promise.reject(new Error('no file is read'))
  const loaded = await loadConfiguration({ path: folder.at('m.yaml'), text, env: {}, readFile })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  const { marquee, lists, failures } = await readCrm(loaded.configuration)
  expect(failures).toEqual([])
  const { list } = lists.events
  const ids = idsOf(loaded.configuration.crm)
  const withheld = new Map([...list.withheldRows()].map((row) => [row.id, row.withheld]))
  const timesOf = (crmId: string): string => {
    const id = ids?.(crmId)[0]
    const event = id === undefined ? null : list.get(id)
    if (event)
      return `${event.Start.slice(0, 19)} ${event.Finish.slice(0, 19)}`.replaceAll(':00 ', ' ').replace(/:00$/, '')
    const why = withheld.get(id ?? null)
    return `${why?.fault} ${why?.column} ${why?.found}`
  }
  const suspicions = marquee.suspicions.events.list(() => true).map(suspicionSaid)
  return {
    times: numbered.map(({ Nr }) => timesOf(Nr)),
    suspicious: suspicions.map(({ column, what, count }) => `${column} ${what} (${count})`),
    advice: suspicions.map(({ example }) => example),
  }
}

const DAY_AND_TIME = { start: '{ join: [date, time] }', finish: '{ join: [date, time], whenBlank: { lasting: 2h } }' }

describe('a range of times in one cell', () => {
  it.each(FORMATS)('is the start and the end, beside a day, in %s', async (format) => {
    const rows = [
      { date: '2027-03-01', time: '7:00 PM – 9:00 PM' },
      { date: '2027-03-02', time: '10p-2a' },
      { date: '2027-03-03T00:00:00.000', time: '10h - 13h' },
      { date: '2027-03-04 00:00:00', time: '12:00-13:00' },
      { date: '2027-03-05', time: '19.30–22 Uhr' },
      { date: '2027-03-06', time: '20–24 Uhr' },
      { date: '2027-03-07', time: '7:30 PM' },
      { date: '2027-03-08', time: 'soon' },
    ]
    const { times } = await read(rows, { ...DAY_AND_TIME, format })
    expect(times).toEqual([
      '2027-03-01T19:00 2027-03-01T21:00',
      '2027-03-02T22:00 2027-03-03T02:00',
      '2027-03-03T10:00 2027-03-03T13:00',
      '2027-03-04T12:00 2027-03-04T13:00',
      '2027-03-05T19:30 2027-03-05T22:00',
      '2027-03-06T20:00 2027-03-07T00:00',
      '2027-03-07T19:30 2027-03-07T21:30',
      'unreadable date + time "2027-03-08 soon"',
    ])
  })

  it.each([
    ['DD.MM.YYYY', '01.03.2027', '18:30 bis 20:00'],
    ['DD.MM.YYYY', '1. 3. 2027', 'unreadable'],
    ['D.M.YY hh:mm', '1. 3. 27', '18:30 – 20 Uhr'],
    ['ddd DD/MM/YYYY', 'lun. 01/03/2027', '18h30 à 20h'],
    ['D/M/YYYY', '1/3/2027', 'de 18.30 a 20'],
    ['YYYY-MM-DD hhmm', '2027-03-01', '1830-2000'],
    ['M/D/YYYY 12:00:00 AM', '3/1/2027 12:00:00 AM', '6:30 – 8 p.m.'],
  ])('has the days and times of the formats %s: %s %s', async (format, date, time) => {
    const isRead = time !== 'unreadable'
    const asked = { ...DAY_AND_TIME, dates: `'${format}'` }
    const { times } = await read([{ date, time: isRead ? time : '18:30 bis 20:00' }], asked)
    expect(times).toEqual([
      isRead ? '2027-03-01T18:30 2027-03-01T20:00' : 'unreadable date + time "1. 3. 2027 18:30 bis 20:00"',
    ])
  })

  it.each(FORMATS)('may follow its day in one column, in %s', async (format) => {
    const rows = [
      { when: '2027-03-01 7:00 PM – 9:00 PM' },
      { when: '2027-03-02, 22-2 Uhr' },
      { when: '2027-03-03T19:00' },
      { when: '2027-03-04 7 PM' },
      { when: '2027-03-05T7 PM' },
      { when: '2027-03-06 10:00-12:00' },
      { when: '2027-03-07 19:30:00.0000000 -05:00' },
      { when: '2027-03-08 7:30 PM -05:00' },
      { when: '2027-03-09 9-5' },
    ]
    const { times } = await read(rows, {
      start: 'when',
      finish: '{ column: when, whenBlank: { lasting: day } }',
      format,
    })
    expect(times).toEqual([
      '2027-03-01T19:00 2027-03-01T21:00',
      '2027-03-02T22:00 2027-03-03T02:00',
      '2027-03-03T19:00 2027-03-03T23:59:59',
      '2027-03-04T19:00 2027-03-04T23:59:59',
      'unreadable when "2027-03-05T7 PM"',
      '2027-03-06T10:00 2027-03-06T12:00',
      '2027-03-08T01:30 2027-03-08T23:59:59',
      'unreadable when "2027-03-08 7:30 PM -05:00"',
      'unreadable when "2027-03-09 9-5"',
    ])
  })

  it('ends at its start where a time stands alone, unless whenBlank says when', async () => {
    const rows = [{ date: '2027-03-01', time: '19:00', end: '2027-03-01 21:30' }]
    const start = '{ join: [date, time] }'
    expect((await read(rows, { start, finish: start })).times).toEqual(['2027-03-01T19:00 2027-03-01T19:00'])
    const finish = '{ join: [date, time], whenBlank: { column: end } }'
    expect((await read(rows, { start, finish })).times).toEqual(['2027-03-01T19:00 2027-03-01T21:30'])
    const one = { start: 'end', finish: 'end' }
    expect((await read(rows, one)).times).toEqual(['2027-03-01T21:30 2027-03-01T21:30'])
  })

  it('may be read by a format as a whole', async () => {
    const rows = [{ date: '2027-03-01', time: '19:00-21' }]
    const asked = { start: '{ join: [date, time] }', finish: '{ lasting: 1h }', dates: "'YYYY-MM-DD hh:mm-ss'" }
    expect((await read(rows, asked)).times).toEqual(['2027-03-01T19:00:21 2027-03-01T20:00:21'])
  })
})

describe('a range of days in one cell', () => {
  const rows = [
    { Termin: '07.05. – 10.05.2027' },
    { Termin: 'Fr 7. - So 9.5.2027' },
    { Termin: 'vom 28.12.2026 bis 02.01.2027' },
    { Termin: '2027-05-07 - 2027-05-10' },
    { Termin: '07.05.2027 19:30' },
    { Termin: '10.05. – 07.05.2027' },
  ]
  const dates = 'D.M.YYYY h:mm'

  it.each(FORMATS)('is the first day and the last, if Start and Finish are read from it, in %s', async (format) => {
    const both = { start: 'Termin', finish: '{ column: Termin, whenBlank: { lasting: 2h } }', dates }
    expect((await read(rows, { format, ...both })).times).toEqual([
      '2027-05-07T00:00 2027-05-10T23:59:59',
      '2027-05-07T00:00 2027-05-09T23:59:59',
      '2026-12-28T00:00 2027-01-02T23:59:59',
      '2027-05-07T00:00 2027-05-10T23:59:59',
      '2027-05-07T19:30 2027-05-07T21:30',
      'unreadable Termin "10.05. – 07.05.2027"',
    ])
  })

  it.each([
    ['{ join: [Tag, von] }', '{ join: [Tag, bis] }', '2027-03-12T20:00 2027-03-12T22:00'],
    ['{ join: [Tag, von] }', '{ join: [Tag, bis], whenBlank: { lasting: 2h } }', '2027-03-12T20:00 2027-03-12T22:00'],
    ['{ join: [Tag, von] }', '{ join: [Tag, von], whenBlank: { lasting: 90m } }', '2027-03-12T20:00 2027-03-12T21:30'],
    ['{ join: [Tag, von] }', '{ lasting: day }', '2027-03-12T20:00 2027-03-12T23:59:59'],
    ['{ join: [Tag, von] }', '{ column: Ende, whenBlank: { lasting: 1h } }', '2027-03-12T20:00 2027-03-12T21:00'],
  ])(
    'is the first day and the last, if its time is blank, with Start %s and Finish %s',
    async (start, finish, single) => {
      const cells = [
        { Tag: '05.03.2027 – 08.03.2027', von: '', bis: '', Ende: '' },
        { Tag: '5.-8.3.2027', von: '', bis: '', Ende: '' },
        { Tag: '12.03.2027', von: '20:00', bis: '22:00', Ende: '' },
        { Tag: '5.-8.3.2027', von: '19:30', bis: '', Ende: '' },
      ]
      for (const format of FORMATS) {
        expect((await read(cells, { format, start, finish, dates })).times).toEqual([
          '2027-03-05T00:00 2027-03-08T23:59:59',
          '2027-03-05T00:00 2027-03-08T23:59:59',
          single,
          `unreadable Tag + von "5.-8.3.2027 19:30"`,
        ])
      }
    },
  )

  it('is withheld if nothing reads its last day, with the remedy', async () => {
    const apart = [{ Termin: '07.05. – 10.05.2027', Ende: '10.05.2027 22:00' }]
    const { times } = await read(apart, { start: 'Termin', finish: 'Ende', dates })
    expect(times).toEqual(['unreadable Termin "07.05. – 10.05.2027"'])
    expect(insteadOf('07.05. – 10.05.2027', { kind: 'any-date-time' })).toContain('read both Start and Finish from')
  })
})

describe('a day and a time in two columns', () => {
  const asked = { start: '{ join: [day, from] }', finish: '{ join: [day, to] }' }

  it.each([
    ['2027-06-01T00:00:00', '18:30', '20:00'],
    ['2027-06-01T00:00:00.000', '5:30 PM', '8:00 PM'],
    ['2027-06-01T00:00:00Z', '1899-12-30 18:30:00', '1899-12-30 20:00:00'],
    ['2027-06-01T00:00:00.000Z', '1899-12-30T18:30:00.000Z', '1899-12-30T20:00:00.000Z'],
    ['2027-06-01 00:00', '1970-01-01T18:30:00', '1970-01-01T20:00:00Z'],
    ['2027-06-01T00:00:00+02:00', '1900-01-00 18:30', '1900-01-01 20:00'],
    ['2027-06-01', '30.12.1899 18:30:00', '30.12.1899 20:00:00'],
    ['2027-06-01', '12/30/99 18:30', '12/30/1899 8:00 PM'],
    ['2027-06-01', '2000-01-01T18:30:00.000Z', '2000-01-01T20:00:00.000Z'],
    ['2027-06-01', '18:30:00.000Z', '20:00:00.000Z'],
    ['2027-06-01', '18:30:00+00', '20:00+0000'],
    ['2027-06-01', '18:30:00-05', '20:00:00-05:00'],
    ['2027-06-01 12:00:00 AM', '18h30', '20h'],
  ])('are one time, whatever the day and the time are written with: %s and %s', async (day, from, to) => {
    for (const format of FORMATS) {
      const { times } = await read([{ day, from, to }], { ...asked, format })
      const begins = from.startsWith('5') ? '2027-06-01T17:30' : '2027-06-01T18:30'
      expect(times).toEqual([`${begins} 2027-06-01T20:00`])
    }
  })

  it.each([
    '1899-12-30 18:30:00',
    '1970-01-01T18:30:00',
    '1970-01-01T18:30:00Z',
    '1899-12-31T00:00:00',
    '1900-01-01 18:30',
  ])('are never one in %s alone', async (from) => {
    for (const format of FORMATS) {
      const { times } = await read([{ from }], { start: 'from', finish: '{ lasting: 1h }', format })
      expect(times).toEqual([`unreadable from "${from}"`])
      expect(insteadOf(from, { kind: 'date-time', formats: [] })).toContain('{ join: [DAY, TIME] }')
    }
  })

  it('stay what they are where the day is no midnight, or the time is no time', async () => {
    const rows = [
      { day: '2027-06-01T10:00:00', from: '18:30', to: '20:00' },
      { day: '2027-06-01', from: '2027-06-01T18:30', to: '20:00' },
    ]
    expect((await read(rows, asked)).times).toEqual([
      'unreadable day + from "2027-06-01T10:00:00 18:30"',
      'unreadable day + from "2027-06-01 2027-06-01T18:30"',
    ])
  })
})

const STARTS = 'start is at midnight in every row: all events start at 00:00'
const ENDS_WITH_DAY = 'finish is at midnight in every row: all events last until the end of that day'

describe('a column that is at midnight in every row', () => {
  it.each(FORMATS)('is a column of days, in %s', async (format) => {
    const rows = [
      { start: '2027-06-01T00:00:00Z', finish: '2027-06-01T00:00:00.000Z' },
      { start: '2027-06-02 00:00:00', finish: '2027-06-04 00:00' },
      { start: '', finish: '2027-06-05' },
      { start: '2027-06-03T00:00:00+02:00', finish: '2027-06-03T00:00:00+02:00' },
    ]
    const { times, suspicious } = await read(rows, { start: 'start', finish: 'finish', format })
    expect(times).toEqual([
      '2027-06-01T00:00 2027-06-01T23:59:59',
      '2027-06-02T00:00 2027-06-04T23:59:59',
      'missing start null',
      '2027-06-03T00:00 2027-06-03T23:59:59',
    ])
    expect(suspicious).toEqual([`${STARTS} (3)`, `${ENDS_WITH_DAY} (3)`])
  })

  it.each([
    ['DD.MM.YYYY hh:mm', '01.06.2027 00:00', '04.06.2027 00:00'],
    ['M/D/YYYY h:mm:ss A', '6/1/2027 12:00:00 AM', '6/4/2027 12:00:00 AM'],
  ])('is one in the spelling %s too', async (dates, start, finish) => {
    const { times, suspicious } = await read([{ start, finish }], {
      start: 'start',
      finish: 'finish',
      dates: `'${dates}'`,
    })
    expect(times).toEqual(['2027-06-01T00:00 2027-06-04T23:59:59'])
    expect(suspicious).toEqual([`${STARTS} (1)`, `${ENDS_WITH_DAY} (1)`])
  })

  it('is silently one where a format of days says so', async () => {
    const rows = [{ start: '2027-06-01T00:00:00Z', finish: '2027-06-04 00:00:00' }]
    const dates = "'YYYY-MM-DDT00:00:00Z', 'YYYY-MM-DD 00:00:00'"
    const { times, suspicious } = await read(rows, { start: 'start', finish: 'finish', dates })
    expect(times).toEqual(['2027-06-01T00:00 2027-06-04T23:59:59'])
    expect(suspicious).toEqual([])
  })

  it.each(FORMATS)('is none if one row has a time, be it the last, in %s', async (format) => {
    const rows = Array.from({ length: 300 }, () => ({ start: '2027-06-01T00:00:00', finish: '2027-06-02T00:00:00' }))
    const last = { start: '2027-06-01T20:00:00', finish: '2027-06-01T22:00:00' }
    const { times, suspicious } = await read([...rows, last], { start: 'start', finish: 'finish', format })
    expect(new Set(times)).toEqual(new Set(['2027-06-01T00:00 2027-06-02T00:00', '2027-06-01T20:00 2027-06-01T22:00']))
    expect(suspicious).toEqual([])
  })

  it('is one of times if every event lasts from an hour of the day to the midnight after it', async () => {
    const evenings = [
      { start: '2027-06-01T20:00', finish: '2027-06-02T00:00' },
      { start: '2027-06-05T21:00', finish: '2027-06-06T00:00' },
    ]
    const asked = { start: 'start', finish: 'finish' }
    const { times, suspicious } = await read(evenings, asked)
    expect(times).toEqual(['2027-06-01T20:00 2027-06-02T00:00', '2027-06-05T21:00 2027-06-06T00:00'])
    expect(suspicious).toEqual(['finish is at midnight in every row: all events end at 00:00 (2)'])
    const fair = { start: '2027-06-07T10:00', finish: '2027-06-07T00:00' }
    expect((await read([...evenings, fair], asked)).times).toEqual([
      '2027-06-01T20:00 2027-06-02T23:59:59',
      '2027-06-05T21:00 2027-06-06T23:59:59',
      '2027-06-07T10:00 2027-06-07T23:59:59',
    ])
  })

  it.each([
    ['2027-06-01T00:00:00.000Z', '', 'YYYY-MM-DDT00:00:00.000Z'],
    ['01.06.2027 00:00', 'DD.MM.YYYY hh:mm', 'DD.MM.YYYY 00:00'],
    ['6/1/2027 12:00:00 AM', 'M/D/YYYY h:mm:ss A', 'M/D/YYYY 12:00:00 AM'],
  ])('tells the format that says so: %s', async (start, dates, format) => {
    const asked = { start: 'start', finish: '{ lasting: day }' }
    const before = await read([{ start }], { ...asked, dates: dates && `'${dates}'` })
    expect(before.advice).toEqual([
      `if another column has the times, join both; if these are days, add '${format}' to crm.texts.dates`,
    ])
    const after = await read([{ start }], { ...asked, dates: `'${format}'` })
    expect([after.times, after.suspicious]).toEqual([['2027-06-01T00:00 2027-06-01T23:59:59'], []])
  })

  it.each(FORMATS)('is one of times if instants end at the midnight after their start, in %s', async (format) => {
    const rows = [
      { from: '2027-06-01T19:00:00+02:00', to: '2027-06-02T00:00:00+02:00' },
      { from: '2027-12-01T19:00:00+01:00', to: '2027-12-02T00:00:00+01:00' },
    ]
    const { times } = await read(rows, { start: 'from', finish: 'to', format })
    expect(times).toEqual(['2027-06-01T19:00 2027-06-02T00:00', '2027-12-01T19:00 2027-12-02T00:00'])
  })

  it.each(FORMATS)('is one of times if a row has one that no format describes, in %s', async (format) => {
    const rows = [
      { from: '2027-06-01 19:00', to: '2027-06-03 00:00' },
      { from: '2027-06-02 19:00', to: '2027-06-02 9.30 p.m.' },
    ]
    const { times } = await read(rows, { start: 'from', finish: 'to', format })
    expect(times).toEqual(['2027-06-01T19:00 2027-06-03T00:00', '2027-06-02T19:00 2027-06-02T21:30'])
  })

  it('lasts the day of its start, if the configuration says so', async () => {
    const rows = [{ start: '2027-06-01T00:00:00.000Z' }, { start: '2027-10-31T00:00:00.000Z' }]
    const { times, suspicious } = await read(rows, { start: 'start', finish: '{ lasting: day }' })
    expect(times).toEqual(['2027-06-01T00:00 2027-06-01T23:59:59', '2027-10-31T00:00 2027-10-31T23:59:59'])
    expect(suspicious).toEqual([`${STARTS} (2)`])
  })
})

describe('a day whose time is blank, in columns that are joined', () => {
  const start = '{ join: [date, time] }'
  const rows = [
    { date: '05.06.2027', time: '', end: '' },
    { date: '06.06.2027', time: '19h30', end: '' },
  ]

  it.each([
    ...FORMATS.map((format) => [format, '{ join: [date, end], whenBlank: { lasting: 2h } }'] as const),
    ['csv', '{ lasting: 2h }'],
  ] as const)('is a whole day if no end is written, in %s, with Finish %s', async (format, finish) => {
    const more = [...rows, { date: '07.06.2027', time: '20h', end: '22h' }]
    const { times, suspicious } = await read(more, { start, finish, dates: 'DD.MM.YYYY', format })
    expect(times.slice(0, 2)).toEqual(['2027-06-05T00:00 2027-06-05T23:59:59', '2027-06-06T19:30 2027-06-06T21:30'])
    expect([times.length, suspicious]).toEqual([3, []])
  })

  it('is suspicious if its end has a time', async () => {
    const ended = rows.map((row) => ({ ...row, end: '22h45' }))
    const { times, suspicious } = await read(ended, { start, finish: '{ join: [date, end] }', dates: 'DD.MM.YYYY' })
    expect(times).toEqual(['2027-06-05T00:00 2027-06-05T22:45', '2027-06-06T19:30 2027-06-06T22:45'])
    expect(suspicious).toEqual([
      'date + time is a day without a time, so the event starts at 00:00, though it ends at a time of day (1)',
    ])
  })
})
