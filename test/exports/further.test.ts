import { describe, expect, it } from 'bun:test'
import { suspicionSaid } from '../../src/faults/fault-words.ts'
import { readCrm } from '../../src/app/assemble.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import type { FurtherValue } from '../../src/domain/further.ts'
import { markedByEditor } from '../config/editor-schema.ts'
import { WorkFolder } from '../commands/work-folder.ts'

const HEAD = 'Id,Name,Start,Finish,ShowOnWeb,Cell,Other'

interface Asked {
  readonly type: string
  /** The source of the field; a column of its name if there is no mapping. */
  readonly source?: string
  readonly cells: readonly string[]
  readonly texts?: string
  readonly files?: Readonly<Record<string, string>>
}

/** The values of one further field in rows with these cells, or why each row is withheld. */
async function read({
  type,
  source,
  cells,
  texts = '',
  files = {},
}: Asked): Promise<readonly (FurtherValue | string)[]> {
  const rows = cells.map((cell, index) => `${idAt(index)},N,2036-07-12 19:30,2036-07-12 20:30,yes,${cell}`)
  const mapping =
    source === undefined
      ? ''
      : `, events: { fields: { Id: Id, Name: Name, Start: Start, Finish: Finish, Cell: ${source} } }`
  const text = `timeZone: Europe/London
representation: { further: { events: { Cell: ${type} } } }
crm: { kind: files, directory: .${mapping}${texts === '' ? '' : `, texts: { ${texts} }`} }`
  using folder = new WorkFolder({ 'events.csv': [HEAD, ...rows, ''].join('\n'), 'venues.csv': 'Id,Name\n', ...files })
  const readFile = (): Promise<Uint8Array> => Promise.reject(new Error('no file is read'))
  const loaded = await loadConfiguration({ path: folder.at('m.yaml'), text, env: {}, readFile })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  expect(markedByEditor(text)).toEqual([])
  const { lists, failures } = await readCrm(loaded.configuration)
  expect(failures).toEqual([])
  const { list } = lists.events
  const withheld = new Map([...list.withheldRows()].map((row) => [row.id as string, row.withheld]))
  return cells.map((_, index) => {
    const why = withheld.get(idAt(index))
    if (why !== undefined) return `${why.fault} ${why.column} ${why.found}`
    return list.get(idAt(index) as never)?.Further?.[0] ?? null
  })
}

function idAt(index: number): string {
  return `a0000000-0000-4000-8000-00000000000${index}`
}

describe('further fields of files (contract §7)', () => {
  it('are columns of their names in files without blocks', async () => {
    expect(await read({ type: 'text', cells: ['one,', ',', '"",', '"  ",'] })).toEqual(['one', null, '', null])
  })

  it.each(['csv', 'json'])('are addresses, and what is none is suspicious: %s', async (format) => {
    const cells = ['https://a.example/x', 'HTTP://a.example', '/tickets', 'mailto:a@a.example', 'www.a.example', '']
    const rows = cells.map((Link, index) => ({ Id: idAt(index), Name: 'N', Link }))
    const csv = ['Id,Name,Link', ...rows.map(({ Id, Name, Link }) => `${Id},${Name},${Link}`), '']
    using folder = new WorkFolder({
      [`venues.${format}`]: format === 'csv' ? csv.join('\n') : JSON.stringify(rows),
      'events.json': '[]',
    })
    const text = 'representation: { further: { venues: { Link: url } } }\ncrm: { kind: files, directory: . }'
    const readFile = (): Promise<Uint8Array> => Promise.reject(new Error('no file is read'))
    const loaded = await loadConfiguration({ path: folder.at('m.yaml'), text, env: {}, readFile })
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
    expect(markedByEditor(text)).toEqual([])
    const { lists, marquee } = await readCrm(loaded.configuration)
    const found = cells.map((_, index) => lists.venues.list.get(idAt(index) as never)?.Further?.[0])
    expect(found).toEqual(cells.map((cell) => (cell === '' && format === 'csv' ? null : cell)))
    const suspicious = marquee.suspicions.venues.list(() => true).map(suspicionSaid)
    expect(suspicious.map(({ column, what, count }) => `${column} ${what}: ${count}`)).toEqual([
      'Link is not an absolute http or https URL, and is served as it is: set prefix to complete it: 3',
    ])
  })

  it('are columns of their names in a block without fields', async () => {
    const files = { 'venues.csv': 'Id,Name\n' }
    expect(await read({ type: 'integer', cells: ['12,', ','], files, texts: "delimiter: ','" })).toEqual([12, null])
  })

  it('are read by the type that is declared, and null if blank', async () => {
    const blank = [',', '"",', '" ",']
    expect(await read({ type: 'integer', cells: ['" 42 ",', '1e3,', '1.5,', ...blank] })).toEqual([
      42,
      1000,
      'unreadable Cell "1.5"',
      null,
      null,
      null,
    ])
    expect(await read({ type: 'decimal', cells: ['012.50,', 'x,', ...blank] })).toEqual([
      '12.50',
      'unreadable Cell "x"',
      null,
      null,
      null,
    ])
    expect(
      await read({ type: 'date-time', cells: ['2036-07-12 18:00,', '2036-01-12T18:00Z,', '12.7.2036,', ...blank] }),
    ).toEqual([
      '2036-07-12T18:00:00+01:00',
      '2036-01-12T18:00:00+00:00',
      'unreadable Cell "12.7.2036"',
      null,
      null,
      null,
    ])
    expect(await read({ type: 'flag', cells: ['yes,', 'FALSE,', 'maybe,', ...blank] })).toEqual([
      true,
      false,
      'unreadable Cell "maybe"',
      null,
      null,
      null,
    ])
    expect(await read({ type: 'texts', cells: ['a; b ;,', ';,', ...blank] })).toEqual([
      ['a', 'b'],
      [],
      null,
      null,
      null,
    ])
  })

  it('follow how the texts of a file are written', async () => {
    const texts = "decimal: ',', dates: [DD.MM.YYYY hh:mm], yes: [ja], no: [nein], tags: ['/']"
    expect(await read({ type: 'decimal', texts, cells: ['"1.250,50",'] })).toEqual(['1250.50'])
    expect(await read({ type: 'date-time', texts, cells: ['12.07.2036 18:00,'] })).toEqual([
      '2036-07-12T18:00:00+01:00',
    ])
    expect(await read({ type: 'flag', texts, cells: ['Ja,', 'nein,'] })).toEqual([true, false])
    expect(await read({ type: 'texts', texts, cells: ['a/b;c,'] })).toEqual([['a', 'b;c']])
  })

  it('are mapped as other fields are', async () => {
    expect(await read({ type: 'text', source: 'Other', cells: [',x'] })).toEqual(['x'])
    expect(await read({ type: 'text', source: '{ join: [Cell, Other] }', cells: ['a,b'] })).toEqual(['a b'])
    expect(await read({ type: 'text', source: "{ column: Cell, whenBlank: '-' }", cells: [',', 'a,'] })).toEqual([
      '-',
      'a',
    ])
    for (const source of ["{ column: Cell, whenBlank: '' }", "{ value: '' }"])
      expect(await read({ type: 'text', source, cells: [',', '" ",'] })).toEqual(['', ''])
    const left = '{ subtract: [Cell, Other] }'
    expect(await read({ type: 'integer', source: left, cells: ['9,4', '9,', '4,9', ',4', ','] })).toEqual([
      5,
      9,
      0,
      null,
      null,
    ])
    expect(await read({ type: 'flag', source: "{ value: 'yes' }", cells: [','] })).toEqual([true])
    const zone = '{ column: Cell, wallTimeIn: America/New_York }'
    expect(await read({ type: 'date-time', source: zone, cells: ['2036-07-12 18:00,'] })).toEqual([
      '2036-07-12T23:00:00+01:00',
    ])
    expect(await read({ type: 'text', source: 'null', cells: ['a,b'] })).toEqual([null])
  })

  it('withhold the row for what cannot be read, even if the value would be null', async () => {
    const [left, zoned] = ['{ subtract: [Cell, Other] }', '{ column: Cell, wallTimeIn: { column: Other } }']
    expect(await read({ type: 'integer', source: left, cells: [',x', ',4'] })).toEqual(['unreadable Other "x"', null])
    expect(await read({ type: 'date-time', source: zoned, cells: [',nowhere', ',Europe/Paris'] })).toEqual([
      'unreadable Other "nowhere"',
      null,
    ])
  })

  it('translate the values that are listed, trimmed and in any case, and leave all others', async () => {
    const source = "{ column: Cell, values: { abgesagt: cancelled, ' Verlegt': postponed, '1': one, true: yes } }"
    expect(
      await read({ type: 'text', source, cells: ['Abgesagt,', '" VERLEGT ",', '1,', ' Neu,', 'TRUE,', ','] }),
    ).toEqual(['cancelled', 'postponed', 'one', ' Neu', 'yes', null])
  })

  it('translate numbers, yes and no of JSON too', async () => {
    const source = '{ column: Cell, values: { 100000001: cancelled, true: postponed } }'
    const cells = ['100000001', 'true', '7', 'false']
    const rows = cells.map(
      (cell, index) =>
        `{"Id":"${idAt(index)}","Start":"2036-07-12T19:30Z","Finish":"2036-07-12T19:30Z","ShowOnWeb":true,"Cell":${cell}}`,
    )
    using folder = new WorkFolder({ 'events.json': `[${rows.join(',')}]`, 'venues.json': '[]' })
    const text = `representation: { further: { events: { Cell: text } } }
crm: { kind: files, directory: ., events: { fields: { Id: Id, Start: Start, Finish: Finish, Cell: ${source} } } }`
    const readFile = (): Promise<Uint8Array> => Promise.reject(new Error('no file is read'))
    const loaded = await loadConfiguration({ path: folder.at('m.yaml'), text, env: {}, readFile })
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
    const { lists } = await readCrm(loaded.configuration)
    const { list } = lists.events
    expect([0, 1, 2].map((index) => list.get(idAt(index) as never)?.Further)).toEqual([
      ['cancelled'],
      ['postponed'],
      ['7'],
    ])
    expect([...list.withheldRows()].map(({ withheld }) => withheld.found)).toEqual(['false'])
  })

  it('are the text of an HTML cell if the mapping says so', async () => {
    const source = '{ column: Cell, html: true }'
    const cells = ['"<p>A &amp; B</p><script>x</script><p>C</p>",', 'plain,', '"",', ',']
    expect(await read({ type: 'text', source, cells })).toEqual(['A & B\nC', 'plain', '', null])
    const both = "{ column: Cell, html: true, values: { 'a b': cancelled } }"
    expect(await read({ type: 'text', source: both, cells: ['<b>A</b> <i>B</i>,'] })).toEqual(['cancelled'])
  })
})
