import { describe, expect, it } from 'bun:test'
import { suspicionSaid } from '../../src/faults/fault-words.ts'
import { readCrm } from '../../src/app/assemble.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { workbook } from '../support/workbook-file.ts'
import { writeFileSync } from 'node:fs'
import { WorkFolder } from '../commands/work-folder.ts'
import { markedByEditor } from '../config/editor-schema.ts'

interface Asked {
  /** The source of the field, as the configuration writes it. */
  readonly source: string
  readonly cells: readonly unknown[]
  readonly field?: string
  readonly texts?: string
  readonly further?: string
}

const FORMATS = ['csv', 'json'] as const

/** Reads a field of events in a file: returns its values, or why each row is withheld. */
async function read(format: (typeof FORMATS)[number], asked: Asked): Promise<readonly unknown[]> {
  const { source, cells, field = 'Price', texts = '', further = '' } = asked
  const rows = cells.map((Cell, index) => ({ Nr: idAt(index), From: '2036-07-12 19:30', To: '2036-07-12 22:00', Cell }))
  const csv = rows.map(({ Nr, From, To, Cell }) => `${Nr},${From},${To},"${String(Cell).replaceAll('"', '""')}"`)
  const named = { Id: 'Nr', Start: 'From', Finish: 'To', [field]: source }
  const fields = Object.entries(named).map(([name, from]) => `${name}: ${from}`)
  const text = `timeZone: Europe/London
representation: { further: { events: { ${further} } } }
crm:
  kind: files
  directory: .
  texts: { ${texts} }
  events: { from: events.${format}, showOnWeb: null, active: null, fields: { ${fields.join(', ')} } }
`
  using folder = new WorkFolder({
    [`events.${format}`]: format === 'csv' ? ['Nr,From,To,Cell', ...csv, ''].join('\n') : JSON.stringify(rows),
    'venues.json': '[]',
  })
  const readFile = (): Promise<Uint8Array> => Promise.reject(new Error('no file is read'))
  const loaded = await loadConfiguration({ path: folder.at('m.yaml'), text, env: {}, readFile })
  if (!loaded.ok) return loaded.problems.map(({ message }) => message)
  expect(markedByEditor(text)).toEqual([])
  const { lists, failures } = await readCrm(loaded.configuration)
  expect(failures).toEqual([])
  const { list } = lists.events
  const withheld = new Map([...list.withheldRows()].map((row) => [row.id as string, row.withheld]))
  return cells.map((_, index) => {
    const why = withheld.get(idAt(index))
    if (why !== undefined) return `${why.fault} ${why.found}`
    const record = list.get(idAt(index) as never)
    return further === '' ? (record as Record<string, unknown> | null)?.[field] : record?.Further?.[0]
  })
}

function idAt(index: number): string {
  return `a0000000-0000-4000-8000-0000000000${String(index).padStart(2, '0')}`
}

describe.each(FORMATS)('values of any field, in %s', (format) => {
  it('are numbers for words, whatever the decimal sign', async () => {
    const source = "{ column: Cell, values: { Free: 0, 'Eintritt frei': '0', Early: 12.5, TBD: null } }"
    const cells = ['free', ' EINTRITT FREI ', 'early', '9,50', 'TBD', 'see website']
    expect(await read(format, { source, cells, texts: "decimal: ','" })).toEqual([
      '0',
      '0',
      '12.5',
      '9.50',
      '0',
      'unreadable "see website"',
    ])
  })

  it.each(['sold out', 'ausverkauft', 'complet'])('are tickets left: %s', async (word) => {
    const source = `{ column: Cell, values: { ${word}: 0, '∞': 999 } }`
    expect(await read(format, { field: 'TicketsAvailable', source, cells: [word, '12', '∞'] })).toEqual([0, 12, 999])
  })

  it('are what whenBlank says for null', async () => {
    const source = "{ column: Cell, values: { '-': null }, whenBlank: '7' }"
    expect(await read(format, { field: 'TicketCapacity', source, cells: ['-', '', '5'] })).toEqual([7, 7, 5])
  })

  it('are dates', async () => {
    const source = "{ column: Cell, values: { midnight: '2036-07-13 00:00', open: null }, whenBlank: { lasting: 2h } }"
    expect(await read(format, { field: 'Finish', source, cells: ['Midnight', 'open', '2036-07-12 20:00'] })).toEqual([
      '2036-07-13T00:00:00+01:00',
      '2036-07-12T21:30:00+01:00',
      '2036-07-12T20:00:00+01:00',
    ])
  })

  it('are each of the tags', async () => {
    const source = "{ column: Cell, values: { kino: Film, intern: null, 'rock': pop, pop: jazz } }"
    const cells = ['Kino; intern;Theater', '["KINO","Rock/Pop","rock"]', 'intern']
    expect(await read(format, { field: 'Tags', source, cells, texts: "tags: [';']" })).toEqual([
      ['Film', 'Theater'],
      ['Film', 'Rock/Pop', 'pop'],
      [],
    ])
  })

  it('are those of further fields, too', async () => {
    const [flag, number] = ['{ column: Cell, values: { rollstuhl: true } }', '{ column: Cell, values: { keine: 0 } }']
    expect(
      await read(format, { field: 'Step', further: 'Step: flag', source: flag, cells: ['Rollstuhl', 'no', ''] }),
    ).toEqual([true, false, null])
    expect(
      await read(format, { field: 'Age', further: 'Age: integer', source: number, cells: ['keine', '16', ''] }),
    ).toEqual([0, 16, null])
  })

  it('must not stand for blank cells, which whenBlank does', async () => {
    const source = "{ column: Cell, values: { ' ': 0 } }"
    expect(await read(format, { source, cells: [''] })).toEqual([
      'replaces blank cells; write whenBlank beside it for these',
    ])
  })

  it('are those of each column that is joined or subtracted', async () => {
    const joined = '{ join: [Cell, From], values: { neu: Alt } }'
    expect(await read(format, { source: joined, field: 'Name', cells: ['Alt', 'Neu'] })).toEqual([
      'Alt 2036-07-12 19:30',
      'Alt 2036-07-12 19:30',
    ])
    const rest = `{ subtract: [Cell, Nr], values: { open: 20, none: null, ${idAt(0)}: 8, ${idAt(1)}: 3 } }`
    expect(await read(format, { source: rest, field: 'TicketsAvailable', cells: ['Open', 'none'] })).toEqual([12, 0])
    const date =
      "{ join: [Cell, To], values: { heute: 2036-07-12, '2036-07-12 22:00': 23-24 Uhr, TBA: null }, whenBlank: { lasting: 1h } }"
    expect(await read(format, { source: date, field: 'Finish', cells: ['Heute', 'TBA'] })).toEqual([
      '2036-07-13T00:00:00+01:00',
      '2036-07-12T20:30:00+01:00',
    ])
  })

  it('are those of ids, so that a row with another id stays the same record', async () => {
    const source = `{ column: Nr, values: { ${idAt(0)}: ${idAt(7)} } }`
    using folder = new WorkFolder({ 'x.json': JSON.stringify([{ Nr: idAt(0), Ort: 'Halle' }]) })
    const text = `crm: { kind: files, directory: ., events: { from: x.json, rows: none }, venues: { from: x.json, fields: { Id: ${source}, Name: Ort } } }`
    const readFile = (): Promise<Uint8Array> => Promise.reject(new Error('no file is read'))
    const loaded = await loadConfiguration({ path: folder.at('m.yaml'), text, env: {}, readFile })
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
    const { lists } = await readCrm(loaded.configuration)
    expect(lists.venues.list.get(idAt(7) as never)?.Name).toBe('Halle')
  })

  it('must be numbers where the field is one', async () => {
    const source = '{ column: Cell, values: { Free: nothing } }'
    expect(await read(format, { source, cells: ['1'] })).toEqual(['must be a number, or null for a blank cell'])
  })
})

describe.each([...FORMATS, 'ndjson', 'xlsx'] as const)('a row that is not to be served, in %s', (format) => {
  const at = { From: '2036-07-12 19:30', To: '2036-07-12 22:00' }
  const bytesOf = (rows: readonly Readonly<Record<string, string>>[]): string | Buffer => {
    const cells = rows.map((row) => Object.values(row))
    const names = ['From', 'To', 'Nr', 'Titel', 'Status']
    if (format === 'xlsx') return workbook([{ name: 'x', rows: [names, ...cells] }])
    if (format === 'csv') return [names, ...cells, []].join('\n')
    return format === 'json' ? JSON.stringify(rows) : `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`
  }

  it.each(['active', 'showOnWeb'])('hides no other of its id: %s', async (key) => {
    const [gone, shown] = [
      { ...at, Nr: '7', Titel: 'gone', Status: 'abgesagt' },
      { ...at, Nr: '7', Titel: 'shown', Status: 'fest' },
    ]
    for (const rows of [
      [gone, shown],
      [shown, gone],
      [gone, gone, shown, gone],
    ]) {
      const others = { active: 'null', showOnWeb: 'null', [key]: '{ Status: [fest] }' }
      using folder = new WorkFolder({ 'venues.json': '[]' })
      writeFileSync(folder.at(`events.${format}`), bytesOf(rows))
      const text = `timeZone: Europe/London
crm:
  kind: files
  directory: .
  idNamespace: 3f2c7a10-5b1d-4c55-9a7e-0d1f2a3b4c5d
  events:
    from: events.${format}
    active: ${others.active}
    showOnWeb: ${others.showOnWeb}
    fields: { Id: Nr, Name: Titel, Start: From, Finish: To }
`
      const readFile = (): Promise<Uint8Array> => Promise.reject(new Error('no file is read'))
      const loaded = await loadConfiguration({ path: folder.at('m.yaml'), text, env: {}, readFile })
      if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
      const { list } = (await readCrm(loaded.configuration)).lists.events
      const served = Array.from(list.rows(), (row) => list.read(row)?.Name ?? null)
      expect(served).toEqual(['shown'])
      const faults = [...list.withheldRows(), ...list.unidentified].map(({ withheld }) => withheld.fault)
      expect(faults.filter((fault) => fault === 'duplicate-id')).toEqual([])
    }
  })
})

describe.each(FORMATS)('tags written as a list, in %s', (format) => {
  const cells = [
    '["music","family"]',
    "['Rock', 'Indie/Folk']",
    '[]',
    ' ["a, b", 7, null] ',
    `["L'été", 'x;y']`,
    "['Rock\\'n\\'Roll',]".replaceAll('\\\\', '\\'),
    String.raw`['Caf\xe9', 'Kom\u00f6die\n', '\U0001F3AD', 'a\\b']`,
  ]
  const expected = [
    ['music', 'family'],
    ['Rock', 'Indie/Folk'],
    [],
    ['a, b', '7'],
    ["L'été", 'x;y'],
    ["Rock'n'Roll"],
    ['Café', 'Komödie\n', '🎭', 'a\\b'],
  ]

  it.each(['', "tags: [';']", "tags: ['/', ',']"])('are that list, with texts { %s }', async (texts) => {
    expect(await read(format, { field: 'Tags', source: 'Cell', cells, texts })).toEqual(expected)
  })

  it('are the list of a further field', async () => {
    const asked = { field: 'Genres', further: 'Genres: texts', source: 'Cell', cells, texts: "tags: ['/', ',']" }
    expect(await read(format, asked)).toEqual(expected)
  })

  it.each([`['a'`, '{Rock,Pop}', "('a', 'b')", "[u'a', 'b']", '[“a”]', '[a b]', "['a']['b']"])(
    'are suspicious if they only look like one: %s',
    async (cell) => {
      const rows = JSON.stringify([
        { Nr: idAt(0), Cell: cell },
        { Nr: idAt(1), Cell: '[1] Rock' },
      ])
      using folder = new WorkFolder({
        'x.json': rows,
        'x.csv': `Nr,Cell\n${idAt(0)},"${cell}"\n${idAt(1)},[1] Rock\n`,
        'v.json': '[]',
      })
      const text = `crm: { kind: files, directory: ., events: { from: x.${format}, showOnWeb: null, fields: { Id: Nr, Tags: Cell, Start: { value: 2036-07-12T10:00 }, Finish: { lasting: 1h } } }, venues: { from: v.json } }`
      const readFile = (): Promise<Uint8Array> => Promise.reject(new Error('no file is read'))
      const loaded = await loadConfiguration({ path: folder.at('m.yaml'), text, env: {}, readFile })
      if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
      const { lists, marquee } = await readCrm(loaded.configuration)
      expect(lists.events.list.get(idAt(0) as never)?.Tags).toEqual([cell])
      const found = marquee.suspicions.events
        .list(() => true)
        .map(suspicionSaid)
        .filter(({ column }) => column === 'Cell')
      expect(found.map(({ what, count }) => `${what} (${count})`)).toEqual([
        'looks like a list, but is none in JSON or Python, and is served as text (1)',
      ])
    },
  )

  it('are split as before if they are no list', async () => {
    const asked = {
      field: 'Tags',
      source: 'Cell',
      texts: "tags: [',']",
      cells: ['Rock, Pop', '[Sold out] Rock', '[x]'],
    }
    expect(await read(format, asked)).toEqual([['Rock', 'Pop'], ['[Sold out] Rock'], ['[x]']])
  })
})

describe.each(FORMATS)('the lowest amount in a text, in %s', (format) => {
  const german = "decimal: ',', currency: [€, EUR]"
  const source = '{ column: Cell, pick: least }'

  it.each([
    ['ab 18,00 €', '18.00'],
    ['18,00 – 52,00 €', '18.00'],
    ['10/8 EUR', '8'],
    ['VVK 12 € / AK 15 €', '12'],
    ['15,- / erm. 12,-', '12'],
    ['18.–', '18'],
    ['0,-', '0'],
    ['ab 6 Jahren: 12 €', '12'],
    ['1.250,00 €', '1250.00'],
    ['Erwachsene 20 €, Kinder (bis 14 Jahre) 10,50 €', '10.50'],
    ['TBD', 'unreadable "TBD"'],
    ['12,3,4 oder 5', 'unreadable "12,3,4 oder 5"'],
    ['12 € + 2 € Gebühr', '12'],
    ['ab 18 € zzgl. 1,50 € VVK-Gebühr', '18'],
    ['12€50 / 8€', '8'],
    ['de 9€50 à 12€50', '9.50'],
    ['frei ab 18 Jahren', 'unreadable "frei ab 18 Jahren"'],
    ['10 % Rabatt', 'unreadable "10 % Rabatt"'],
  ])('%s', async (cell, price) => {
    expect(await read(format, { source, cells: [cell], texts: german })).toEqual([price])
  })

  it.each([
    ['$10 adv / $12 door', '10'],
    ['from £18.50', '18.50'],
    ['£1,250 to £2,000', '1250'],
    ['doors 7:30, £9', '9'],
    ['under 12: ¥500', '500'],
    ['£10 plus £1 booking fee', '10'],
    ['50p', 'unreadable "50p"'],
  ])('%s', async (cell, price) => {
    expect(await read(format, { source, cells: [cell], texts: "decimal: '.', currency: [$, £]" })).toEqual([price])
  })

  it('is that of the words in values, too', async () => {
    const worded = "{ column: Cell, pick: least, values: { 'Eintritt frei': 0, 'auf Anfrage': null } }"
    const cells = ['Eintritt frei', 'ab 5 €', 'auf Anfrage']
    expect(await read(format, { source: worded, cells, texts: german })).toEqual(['0', '5', '0'])
  })
})

it('a list of prices has its lowest by number, with the decimal sign of the texts', async () => {
  const cells = [
    ['12,50', '9,50', 'ab 11 €'],
    [18, '7.5'],
    ['10,00', 'TBD'],
  ]
  const texts = "decimal: ',', currency: [€]"
  expect(await read('json', { source: '{ column: Cell, pick: least }', cells, texts })).toEqual([
    '9.50',
    'unreadable "7.5"',
    'unreadable "TBD"',
  ])
})

it.each(FORMATS)('a dash for the cents is read where the decimal sign or the currency is set: %s', async (format) => {
  const cells = ['18,-', '0,- €', '18.–', 'CHF 1.250,--', '5-']
  const texts = "decimal: ',', currency: [€, CHF]"
  expect(await read(format, { source: 'Cell', cells, texts })).toEqual(['18', '0', '18', '1250', 'unreadable "5-"'])
  expect(await read(format, { source: 'Cell', cells: ['18,-'] })).toEqual(['unreadable "18,-"'])
})
