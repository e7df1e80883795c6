import { afterEach, beforeEach, describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { openZone } from '../../domain/zone.ts'
import type { Observation } from '../../observe/observation.ts'
import type { Change, Crm, Cursor, Held, Page, ReadOutcome, ListSource } from '../../sync/port.ts'
import { type Time, systemTime } from '../../time/time.ts'
import { openFilesCrm } from './files-crm.ts'

const london = openZone('Europe/London')
if (london === null) throw new Error('the runtime has no zones')

let directory = ''
let observed: Observation[] = []
let aheadMs = 0
/** The real clocks plus `aheadMs`: the times of files cannot be set to the future. */
const time: Time = {
  ...systemTime,
  now: () => ({ monotonicMs: performance.now() + aheadMs, wallMs: Date.now() + aheadMs }),
}
let limits: { requestTimeoutMs: number; maxAgeMs: number }
let open: () => Crm
let crm: Crm

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'marquee-files-'))
  observed = []
  aheadMs = 60_000
  const plain = { block: null, texts: null }
  const settings = {
    kind: 'files',
    directory,
    timeZone: london,
    idNamespace: null,
    events: plain,
    venues: plain,
  } as const
  const observe = (observation: Observation): unknown => observed.push(observation)
  limits = { requestTimeoutMs: 10_000, maxAgeMs: 30_000 }
  open = () => openFilesCrm(settings, { showIn: london, time, observe, limits: () => limits })
  crm = open()
})

afterEach(() => rmSync(directory, { recursive: true }))

interface Read<Item> {
  readonly changes: readonly Change<Item>[]
  readonly places: readonly string[]
  readonly pages: readonly Page<Item>[]
  readonly outcome: ReadOutcome
}

async function read<Item>(
  source: ListSource<Item>,
  cursor: Cursor | null = null,
  onPage: () => void = () => {},
  size = 0,
  version: Held['version'] = () => Number.NaN,
): Promise<Read<Item>> {
  const held = { version, size }
  const pages: Page<Item>[] = []
  const reading = source.read({ kind: 'full', cursor, held, signal: new AbortController().signal })
  for (;;) {
    const next = await reading.next()
    if (next.done === true) {
      const changes = pages.flatMap((page) => page.changes)
      const places = pages.flatMap((page) => page.changes.map((_, index) => page.whereIs(index)))
      return { changes, places, pages, outcome: next.value }
    }
    pages.push(next.value)
    if (next.value.changes.length > 0) onPage()
  }
}

function write(name: string, content: string | Uint8Array): void {
  writeFileSync(join(directory, name), content)
}

function failureOf(outcome: ReadOutcome): readonly [string, string] | null {
  return outcome.ok ? null : [outcome.failure.kind, outcome.failure.message.replaceAll(directory, 'DIR')]
}

function summary(changes: readonly Change<unknown>[]): readonly string[] {
  return changes.map((change) => {
    if (change.kind === 'withheld') return `${change.withheld.fault} ${change.withheld.column}`
    return change.kind === 'record' ? change.id.slice(-2) : change.kind
  })
}

const id = (number: number): string => `5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e${number.toString(16).padStart(2, '0')}`
const dates = { Start: '2026-07-12T19:30', Finish: '2026-07-12 23:00' }
const event = (number: number): Record<string, unknown> => ({ Id: id(number), ...dates, ShowOnWeb: true })

describe('the files CRM: the formats', () => {
  const expected = {
    Id: id(1),
    Name: 'Café, "late"',
    VenueId: id(2),
    TicketCapacity: 250,
    TicketsAvailable: 42,
    Start: '2026-07-12T19:30:00+01:00',
    Finish: '2026-07-12T23:00:00+01:00',
    Price: '12.50',
    Tags: ['Dinner', 'Black Tie'],
    Links: [{ Rel: 'search', Href: '~/events{?q}', Title: null }],
  }
  const row = `{"Id":"${id(1)}","Name":"Café, \\"late\\"","VenueId":"${id(2)}","TicketCapacity":250,"TicketsAvailable":"42","Start":"2026-07-12T19:30","Finish":"2026-07-12 23:00","Price":12.50,"Tags":["Dinner",null,"Black Tie"],"ShowOnWeb":"yes","Links":[{"Rel":"search","Href":"~/events{?q}","Title":null}]}`
  const csv = [
    'Id,Name,VenueId,TicketCapacity,TicketsAvailable,Start,Finish,Price,Tags,ShowOnWeb,Active,Links',
    `${id(1)},"Café, ""late""",{${id(2).toUpperCase()}},250, 42 ,2026-07-12T19:30,2026-07-12 23:00,12.50,Dinner; ;Black Tie,1,,"[{""Rel"":""search"",""Href"":""~/events{?q}""}]"`,
  ]

  it.each([
    ['events.json', `[${row}]`],
    ['events.json', `\ufeff[\r\n${row}\r\n]`],
    ['events.ndjson', row],
    ['events.ndjson', `\ufeff\r\n${row}\r\n\r\n`],
    ['events.csv', csv.join('\n')],
    ['events.csv', `\ufeff${csv.join('\r\n')}\r\n\r\n`],
  ])('reads a row of %s', async (name, content) => {
    write(name, content)
    const { changes, outcome } = await read(crm.events)
    expect(changes).toEqual([
      { kind: 'record', id: id(1) as never, record: expected as never, version: expect.any(Number) as never },
    ])
    expect(outcome).toMatchObject({ ok: true, complete: true, unchanged: false, confirms: true })
  })

  it.each([
    ['venues.json', '[]'],
    ['venues.json', ' [\n] '],
    ['venues.ndjson', '\n'],
    ['venues.csv', 'Id,Name'],
    ['venues.csv', 'Id,Name\r\n'],
  ])('takes an empty list: %s holding %j', async (name, content) => {
    write(name, content)
    const { changes, outcome } = await read(crm.venues)
    expect(changes).toEqual([])
    expect(outcome).toMatchObject({ ok: true, complete: true })
  })

  it('tells a blank CSV cell, which is null, from a quoted empty one', async () => {
    write('venues.csv', `Id,Name,Description,Website\n${id(1)},,"", \n`)
    const [change] = (await read(crm.venues)).changes
    expect(change).toMatchObject({ record: { Name: null, Description: '', Website: null } })
  })

  it('says where a row stands', async () => {
    write('events.json', `[\n{},\n\n{"Id":\n1},3]`)
    expect((await read(crm.events)).places).toEqual([
      'events.json, item 1 (line 2)',
      'events.json, item 2 (line 4)',
      'events.json, item 3 (line 5)',
    ])
    write('venues.csv', 'Id,Name\n1,"a\nb"\n\n2,x\n')
    const { places, changes } = await read(crm.venues)
    expect(places).toEqual(['venues.csv, line 2', 'venues.csv, line 5'])
    expect(changes.map((change) => change.kind === 'withheld' && change.withheld.where)).toEqual([...places])
  })
})

const ZERO = 'the file contains U+0000, which no text does; most likely it is incomplete, in UTF-16, or not a list'
const NO_COLUMN =
  'no column has a name that Marquee knows (Id, Name, VenueId, TicketCapacity, TicketsAvailable, Start, Finish, Price, Tags, Links, Active, ShowOnWeb); put the header row first, without a title above it, or set crm.texts.headerRow'

describe('the files CRM: rows of more than 256 KB', () => {
  const large = { ...event(1), Name: 'x'.repeat(256 * 1024) }

  it.each([
    ['events.json', JSON.stringify([large, event(2)])],
    ['events.ndjson', `${JSON.stringify(large)}\n${JSON.stringify(event(2))}\n`],
  ])('are withheld as too large in %s, and others are served', async (name, content) => {
    write(name, content)
    const { changes, places } = await read(crm.events)
    expect(summary(changes)).toEqual(['too-large null', '02'])
    expect(places[0]).toStartWith(name)
  })

  it('fail the read of a CSV: most likely an open quote swallowed other rows', async () => {
    write('events.csv', `Id,Name\n1,a\n2,"${'b\n'.repeat(140_000)}`)
    const { outcome } = await read(crm.events)
    const sentence = 'the row that begins here is larger than 256 KB; most likely a quote is not closed'
    expect(failureOf(outcome)).toEqual(['broken', `events.csv, line 3: ${sentence}`])
  })
})

describe('the files CRM: what fails a read', () => {
  it.each([
    ['events.json', `[\n${JSON.stringify(event(1))},\n]`, ['01', 'unreadable null'], 'events.json, item 2 (line 3)'],
    ['events.ndjson', `${JSON.stringify(event(1))}\n{"a":1,}\n`, ['01', 'unreadable null'], 'events.ndjson, line 2'],
    ['events.ndjson', `${JSON.stringify(event(1))}\n{"Id`, ['01', 'unreadable null'], 'events.ndjson, line 2'],
  ])('withholds only the rows of %s that are no JSON: %j', async (name, content, rows, place) => {
    write(name, content)
    const { outcome, changes, places } = await read(crm.events)
    expect([failureOf(outcome), summary(changes), places[1]]).toEqual([null, rows, place])
  })

  it.each([
    ['events.json', '', 'events.json has zero bytes; an empty list is []'],
    ['events.ndjson', '', 'events.ndjson has zero bytes; an empty list is one blank line'],
    ['events.csv', '', 'events.csv has zero bytes; an empty list is a header row alone'],
    ['events.ndjson', '\ufeff', 'events.ndjson, line 1: the file is empty; an empty list is one blank line'],
    [
      'events.json',
      '{}',
      'events.json, line 1: a list in [ ] is expected; if this object contains it, set rows to its path, such as rows: events',
    ],
    ['events.json', '[{"a":1}]\nx', 'events.json, line 2: the file continues after the end of the list'],
    ['events.json', '[\n{"a":1,\n"b":tru}]', 'events.json, line 3: expected a value, found "t"'],
    ['events.json', '[{"a":1},\n{"a":', 'events.json, line 2: expected a value, found the end'],
    ['events.ndjson', '\n{"a":1,}\n', 'events.ndjson, line 2: expected a name in double quotes, found "}"'],
    ['events.ndjson', '[\n', 'events.ndjson, line 1: expected a value, found the end'],
    ['events.csv', '\n', 'events.csv, line 1: a header row is expected'],
    ['events.csv', 'Id,Id\n', 'events.csv, line 1: the header names "Id" twice'],
    ['events.csv', 'Id,Name\n1\n', 'events.csv, line 2: the row has 1 cells, but the header row has 2'],
    [
      'events.csv',
      'Id,Name\n1\n2,b\n3,c,d\n4\n',
      'events.csv, line 2: the row has 1 cells, but the header row has 2; other rows have too few or too many as well: 4, 5',
    ],
    [
      'events.csv',
      `Id,Name\n${'1\n'.repeat(1500)}`,
      `events.csv, line 2: the row has 1 cells, but the header row has 2; other rows have too few or too many as well: ${Array.from({ length: 20 }, (_, at) => at + 3).join(', ')} and 1,479 more`,
    ],
    ['events.csv', 'Id,Name\n1,"x\n', 'events.csv, line 2: the row that begins here has an unclosed quote'],
    ['events.csv', 'ERROR: connection to server failed\n', `events.csv, line 1: ${NO_COLUMN}`],
    ['events.csv', 'ERROR: connection\nto server failed\n', `events.csv, line 1: ${NO_COLUMN}`],
    ['events.csv', '\u0000'.repeat(4096), `events.csv, line 1: ${ZERO}`],
    ['events.csv', 'Id,Name\n\n1,a\u0000b\n2,c\n', `events.csv, line 3: ${ZERO}`],
    ['events.ndjson', `\n${'\u0000'.repeat(4096)}`, `events.ndjson, line 2: ${ZERO}`],
    ['events.json', '[\n{"Name":"\u0000"}]', `events.json, line 2: ${ZERO}`],
  ])('refuses %s holding %j', async (name, content, message) => {
    write(name, content)
    const { outcome } = await read(crm.events)
    expect(failureOf(outcome)).toEqual(['broken', message])
  })

  it.each(['events.json', 'events.ndjson', 'events.csv'])(
    'refuses bytes that are no UTF-8 in %s, with the line',
    async (name) => {
      const lines = { 'events.json': '[\n"', 'events.ndjson': '\n"', 'events.csv': 'Id\nCaf' }[name] ?? ''
      write(name, Buffer.concat([Buffer.from(lines), Buffer.from([0xe9]), Buffer.from('"\n]')]))
      const [kind, message] = failureOf((await read(crm.events)).outcome) ?? []
      expect(kind).toBe('broken')
      expect(message).toStartWith(`${name}, line 2: the bytes are not UTF-8`)
    },
  )

  it('reads characters wherever its chunks of 64 KB are cut, after one byte order mark', async () => {
    for (let shift = 0; shift < 4; shift++) {
      const names = ['a'.repeat(64 * 1024 - 100 + shift), '😀é'.repeat(40_000)]
      const rows = names.map((name, index) => `${id(index + 1)},2036-07-12T19:30Z,2036-07-12T23:00Z,yes,${name}`)
      write('events.csv', `\ufeffId,Start,Finish,ShowOnWeb,Name\n${rows.join('\n')}\n`)
      const { changes } = await read(crm.events)
      const found = changes.map((change) => (change.kind === 'record' ? change.record.Name : change.kind))
      expect(found).toEqual(names)
    }
  })

  it.each([70_000, 200_000])('finds the line of a byte that is no UTF-8 after %d others', async (count) => {
    const lines = '\n'.repeat(100) + 'é'.repeat(count / 2) + '\n'
    write('events.ndjson', Buffer.concat([Buffer.from(lines), Buffer.of(0xe9, 0x0a)]))
    expect(failureOf((await read(crm.events)).outcome)?.[1]).toStartWith('events.ndjson, line 102: the bytes are not')
    write('events.ndjson', Buffer.concat([Buffer.from(lines), Buffer.of(0xe2, 0x82)]))
    expect(failureOf((await read(crm.events)).outcome)?.[1]).toStartWith('events.ndjson, line 102: the bytes are not')
  })

  it.each(['events.json', 'events.ndjson', 'events.csv'])('names what %s is that is no UTF-8', async (name) => {
    const text =
      { 'events.json': '[{"Id":"é"}]', 'events.ndjson': '{"Id":"é"}\n', 'events.csv': 'Id,Name\n1,é\n' }[name] ?? ''
    const wide = (encoding: string): readonly string[] => [
      'broken',
      `${name}, line 1: this is ${encoding.toUpperCase()}, not UTF-8; save the file as UTF-8, or set crm.texts.encoding: ${encoding}`,
    ]
    for (const [bytes, expected] of [
      [Buffer.from(`\ufeff${text}`, 'utf16le'), wide('utf-16le')],
      [Buffer.from(`\ufeff${text}`, 'utf16le').swap16(), wide('utf-16be')],
      [gzipSync(text), ['broken', `${name}, line 1: this is a compressed file (gzip) despite its name; unpack it`]],
    ] as const) {
      write(name, bytes)
      expect(failureOf((await read(crm.events)).outcome)).toEqual(expected as never)
    }
  })

  it('says of a link that nothing is where it leads, and tells what to do with a compressed file', async () => {
    symlinkSync('/nowhere/events.csv', join(directory, 'events.csv'))
    const message = 'DIR/events.csv is a link to /nowhere/events.csv, which does not exist'
    expect(failureOf((await read(crm.events)).outcome)).toEqual(['unreachable', message])
    write('venues.csv.gz', 'x')
    expect(failureOf((await read(crm.venues)).outcome)?.[1]).toEndWith('; venues.csv.gz is compressed: unpack it')
    rmSync(directory, { recursive: true })
    symlinkSync('/nowhere', directory)
    expect(failureOf((await read(crm.events)).outcome)).toEqual([
      'unreachable',
      'DIR is a link to /nowhere, which does not exist',
    ])
    rmSync(directory)
    mkdirSync(directory)
  })

  it('examines the files without reading them: what is missing or may not be read is a problem', async () => {
    write('events.json', '[')
    expect(await crm.examine?.()).toMatchObject({ problems: [{ kind: 'unreachable' }] })
    write('venues.json', '[]')
    expect(await crm.examine?.()).toMatchObject({ problems: [] })
    expect(observed).toEqual([])
  })

  it('names what is missing', async () => {
    expect(failureOf((await read(crm.events)).outcome)).toEqual([
      'unreachable',
      'there is no events.json, events.ndjson or events.csv in DIR; a workbook (.xlsx) is only read if crm.events.from names it',
    ])
    rmSync(directory, { recursive: true })
    expect(failureOf((await read(crm.events)).outcome)).toEqual(['unreachable', 'there is no directory DIR'])
    writeFileSync(directory, '')
    expect(failureOf((await read(crm.events)).outcome)).toEqual(['unreachable', 'DIR is not a directory'])
  })

  it('names both where there are two of one name', async () => {
    write('events.csv', 'Id')
    write('events.json', '[]')
    expect(failureOf((await read(crm.events)).outcome)).toEqual([
      'unreachable',
      'DIR holds events.json and events.csv, but only one of them can be the list',
    ])
  })

  it('opens nothing that is no file: a directory, a pipe, a device', async () => {
    mkdirSync(join(directory, 'events.json'))
    execFileSync('/usr/bin/env', ['mkfifo', join(directory, 'venues.csv')])
    const isNone = (name: string): readonly string[] => ['unreachable', `${name} is not a file that can be read`]
    expect(failureOf((await read(crm.events)).outcome)).toEqual(isNone('events.json') as never)
    expect(failureOf((await read(crm.venues)).outcome)).toEqual(isNone('venues.csv') as never)
    rmSync(join(directory, 'venues.csv'))
    symlinkSync('/dev/zero', join(directory, 'venues.csv'))
    expect(failureOf((await read(crm.venues)).outcome)).toEqual(isNone('venues.csv') as never)
  })

  it('says that a file may not be read', async () => {
    write('events.json', '[]')
    chmodSync(join(directory, 'events.json'), 0)
    const failure = failureOf((await read(crm.events)).outcome)
    // Root can read any file, so there is no failure to see.
    const expected =
      process.getuid?.() === 0 ? null : ['unreachable', 'events.json cannot be read: permission is denied (EACCES)']
    expect(failure).toEqual(expected as never)
  })
})

describe('the files CRM: rows', () => {
  it('serves a good row whatever its neighbours are', async () => {
    const neighbour = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(
        fc.constantFrom('Id', 'Name', 'Start', 'Tags', 'Links', 'Active', 'ShowOnWeb', 'Price', '__proto__'),
        fc.jsonValue(),
      ),
      fc.record(
        { Id: fc.constant(id(9)), ShowOnWeb: fc.jsonValue(), Active: fc.jsonValue() },
        { requiredKeys: ['Id'] },
      ),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(neighbour, { maxLength: 4 }),
        fc.array(neighbour, { maxLength: 4 }),
        async (before, after) => {
          const all = [...before, event(1), ...after]
          for (const [name, content] of [
            ['events.json', JSON.stringify(all, null, 1)],
            ['events.ndjson', all.map((item) => JSON.stringify(item)).join('\n')],
          ] as const) {
            write(name, content)
            const { changes, outcome } = await read(crm.events)
            rmSync(join(directory, name))
            expect(outcome.ok).toBe(true)
            expect(changes).toHaveLength(all.length)
            expect(changes[before.length]).toMatchObject({ kind: 'record', id: id(1) })
          }
        },
      ),
      { numRuns: 60 },
    )
  })

  it('withholds what is no object, and what is nested beyond measure', async () => {
    const deep = `{"Id":"${id(1)}","Price":1.5,"Links":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    write('events.ndjson', `null\n[1]\n"x"\n${deep}\n${JSON.stringify(event(2))}\n`)
    const { changes } = await read(crm.events)
    expect(summary(changes).slice(0, 3)).toEqual(['unreadable null', 'unreadable null', 'unreadable null'])
    expect(changes[3]?.kind).toBe('withheld')
    expect(changes[4]?.kind).toBe('record')
  })

  it('reports each ignored column once', async () => {
    write(
      'events.ndjson',
      `${JSON.stringify({ ...event(1), name: 'x', Organiser: 'y' })}\n${JSON.stringify({ ...event(2), name: 'x' })}`,
    )
    await read(crm.events)
    expect(observed).toEqual([{ kind: 'columns-ignored', list: 'events', columns: ['name', 'Organiser'] }])
    write('events.ndjson', JSON.stringify({ ...event(1), name: 'x', Room: 3 }))
    await read(crm.events)
    expect(observed.slice(1)).toEqual([{ kind: 'columns-ignored', list: 'events', columns: ['Room'] }])
    write('venues.csv', `Id,name,\n${id(1)},x,\n`)
    await read(crm.venues)
    expect(observed.slice(2)).toEqual([{ kind: 'columns-ignored', list: 'venues', columns: ['name'] }])
  })
})

describe('the files CRM: when a file is read', () => {
  it('takes a stat for a read where nothing changed, as of before the stat', async () => {
    write('events.json', JSON.stringify([event(1)]))
    const first = await read(crm.events)
    const cursor = first.outcome.ok ? first.outcome.cursor : null
    const before = time.now()
    const { pages, outcome } = await read(crm.events, cursor)
    expect(pages).toEqual([])
    expect(outcome).toMatchObject({ ok: true, complete: false, unchanged: true, confirms: true, cursor })
    expect(outcome.ok && (outcome.asOf?.monotonicMs ?? 0) >= before.monotonicMs).toBe(true)
  })

  it('maps every row again once a column has another time than midnight, or no longer', async () => {
    const days = { Start: '2026-07-12T00:00:00Z', Finish: '2026-07-13T00:00:00Z' }
    const rows = [1, 2].map((number) => ({ ...event(number), ...days }))
    const timed = { ...event(3), Start: '2026-07-12T20:00', Finish: '2026-07-12T22:00' }
    let versions = new Map<string, number>()
    const finishesAfter = async (all: readonly unknown[]): Promise<readonly string[]> => {
      write('events.json', JSON.stringify(all))
      const { changes } = await read(
        crm.events,
        null,
        undefined,
        versions.size,
        (one) => versions.get(one) ?? Number.NaN,
      )
      const records = changes.flatMap((change) => (change.kind === 'record' ? [change] : []))
      versions = new Map([...versions, ...records.map(({ id: one, version }) => [one, version] as const)])
      return changes.map((change) => (change.kind === 'record' ? change.record.Finish : change.kind))
    }
    const ends = '2026-07-13T23:59:59+01:00'
    const midnight = '2026-07-13T01:00:00+01:00'
    expect(await finishesAfter(rows)).toEqual([ends, ends])
    expect(await finishesAfter([...rows, { ...rows[0], Id: id(4) }])).toEqual(['unchanged', 'unchanged', ends])
    expect(await finishesAfter([...rows, timed])).toEqual([midnight, midnight, '2026-07-12T22:00:00+01:00'])
    expect(await finishesAfter([...rows, timed])).toEqual(['unchanged', 'unchanged', 'unchanged'])
    expect(await finishesAfter(rows)).toEqual([ends, ends])
  })

  it('maps every row of an unchanged file once after a restart, at the second look', async () => {
    write('events.json', JSON.stringify([event(1), event(2)]))
    const first = await read(crm.events)
    const cursor = first.outcome.ok ? first.outcome.cursor : null
    const { events } = open()
    const looks = [await read(events, cursor), await read(events, cursor), await read(events, cursor)]
    expect(looks.map(({ changes }) => changes.length)).toEqual([0, 2, 0])
    expect(looks.map(({ outcome }) => outcome)).toMatchObject([
      { unchanged: true, confirms: true },
      { unchanged: false, complete: true, cursor },
      { unchanged: true, confirms: true },
    ])
  })

  it('reads again until a change of the same size and time would show', async () => {
    aheadMs = 0
    write('events.json', JSON.stringify([event(1)]))
    const first = await read(crm.events)
    const fresh = first.outcome.ok ? first.outcome.cursor : null
    const second = await read(crm.events, fresh)
    expect(second.changes).toHaveLength(1)
    aheadMs = 60_000
    const third = await read(crm.events, second.outcome.ok ? second.outcome.cursor : null)
    expect(third.changes).toHaveLength(1)
    const fourth = await read(crm.events, third.outcome.ok ? third.outcome.cursor : null)
    expect(fourth.outcome).toMatchObject({ unchanged: true })
    aheadMs = -60_000
    const future = await read(crm.events, null)
    expect((await read(crm.events, future.outcome.ok ? future.outcome.cursor : null)).changes).toHaveLength(1)
  })

  it('reads what was written, renamed into place, or given another format', async () => {
    write('events.json', JSON.stringify([event(1)]))
    const first = await read(crm.events)
    const cursor = first.outcome.ok ? first.outcome.cursor : null
    write('next.json', JSON.stringify([event(2)]))
    renameSync(join(directory, 'next.json'), join(directory, 'events.json'))
    const second = await read(crm.events, cursor)
    expect(summary(second.changes)).toEqual(['02'])
    rmSync(join(directory, 'events.json'))
    write('events.ndjson', JSON.stringify(event(3)))
    expect(summary((await read(crm.events, cursor)).changes)).toEqual(['03'])
  })

  it('does not parse a broken file again while it stays what it is, and reads the mended one', async () => {
    write('events.json', '[1,')
    const first = await read(crm.events)
    const second = await read(crm.events)
    expect(second.outcome).toEqual(first.outcome)
    write('events.json', '[]')
    expect((await read(crm.events)).outcome.ok).toBe(true)
  })

  it('tells whether there is another file than the last read found, or one at last', async () => {
    const hasChanged = async (): Promise<boolean> => (await crm.events.hasChanged?.()) ?? false
    await read(crm.events)
    expect(await hasChanged()).toBe(false)
    write('events.json', '[1,')
    expect(await hasChanged()).toBe(true)
    await read(crm.events)
    expect(await hasChanged()).toBe(false)
    write('events.json', JSON.stringify([event(1)]))
    expect(await hasChanged()).toBe(true)
    await read(crm.events)
    expect(await hasChanged()).toBe(false)
    rmSync(join(directory, 'events.json'))
    expect(await hasChanged()).toBe(true)
  })

  it('takes a small file that is replaced faster than it is read, each time as of its beginning', async () => {
    const rows = (name: string): string =>
      `${Array.from({ length: 20_000 }, (_, index) => JSON.stringify({ ...event(index % 256), Name: name })).join('\n')}\n`
    write('events.ndjson', rows('0'))
    let writes = 0
    const replacedAtMs: number[] = [0]
    const ending = new AbortController()
    const replacing = (async () => {
      while (!ending.signal.aborted) {
        write('next', rows(String(++writes)))
        renameSync(join(directory, 'next'), join(directory, 'events.ndjson'))
        replacedAtMs.push(time.now().monotonicMs)
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    })()
    try {
      for (let reads = 0; reads < 3 || replacedAtMs.length < 8; reads++) {
        const begun = writes
        const { changes, outcome } = await read(crm.events)
        const names = new Set(changes.map((change) => (change.kind === 'record' ? change.record.Name : change.kind)))
        expect([changes.length, names.size]).toEqual([20_000, 1])
        const shown = Number([...names][0])
        expect(shown).toBeGreaterThanOrEqual(begun)
        // The file was still what was read at the time as of which it was read.
        expect(outcome.ok && outcome.asOf?.monotonicMs).toBeLessThan(replacedAtMs[shown + 1] ?? Infinity)
        while ((await crm.events.hasChanged?.()) === false) await new Promise((resolve) => setTimeout(resolve, 1))
      }
    } finally {
      ending.abort()
      await replacing
    }
  })

  it('shows nothing of a small file that changes while it is read, and reads it again at once', async () => {
    const rows = Array.from({ length: 2000 }, (_, index) => JSON.stringify(event(index % 256)))
    write('events.ndjson', `${rows.join('\n')}\n`)
    const reading = read(crm.events)
    let writes = 0
    const timer = setInterval(() => {
      if (writes++ < 2) appendFileSync(join(directory, 'events.ndjson'), `${JSON.stringify(event(1))}\n`)
    }, 1)
    const { changes, outcome } = await reading
    clearInterval(timer)
    expect(outcome.ok).toBe(true)
    expect(changes.length).toBeGreaterThanOrEqual(2000)
    expect(changes.length).toBeLessThanOrEqual(2002)
  })
})

describe('the files CRM: large files', () => {
  const COUNT = 30_000

  function writeLarge(name: string): void {
    const padding = 'x'.repeat(300)
    const rows = Array.from({ length: COUNT }, (_, index) =>
      JSON.stringify({
        ...dates,
        ShowOnWeb: true,
        Name: padding,
        Id: `5f6c2a3e-8d0b-4c57-9e21-${String(index).padStart(12, '0')}`,
      }),
    )
    write(name, `${rows.join('\n')}\n`)
  }

  it('shows pages of at most 1,000 rows as they are read', async () => {
    writeLarge('events.ndjson')
    const { pages, places, outcome } = await read(crm.events)
    expect(outcome).toMatchObject({ ok: true, complete: true })
    expect(places).toHaveLength(COUNT)
    expect(places.at(-1)).toBe(`events.ndjson, line ${COUNT}`)
    expect(Math.max(...pages.map((page) => page.changes.length))).toBeLessThanOrEqual(1000)
    expect(pages.length).toBeGreaterThan(30)
  })

  it('fails where a file changes after some of it was shown', async () => {
    writeLarge('events.ndjson')
    let touched = false
    const { outcome } = await read(crm.events, null, () => {
      if (!touched) appendFileSync(join(directory, 'events.ndjson'), '\n')
      touched = true
    })
    expect(failureOf(outcome)).toEqual(['broken', 'events.ndjson changed while it was read'])
  })

  it('believes a whole file that another one replaced meanwhile, as of when it was opened', async () => {
    writeLarge('events.ndjson')
    write('next', JSON.stringify(event(1)))
    let replaced = false
    let shownAt = Number.NaN
    const { outcome, changes } = await read(crm.events, null, () => {
      if (replaced) return
      shownAt = time.now().monotonicMs
      renameSync(join(directory, 'next'), join(directory, 'events.ndjson'))
      replaced = true
    })
    expect(changes).toHaveLength(COUNT)
    expect(outcome.ok && (outcome.asOf?.monotonicMs ?? Number.NaN) < shownAt).toBe(true)
    const next = await read(crm.events, outcome.ok ? outcome.cursor : null)
    expect(summary(next.changes)).toEqual(['01'])
  })

  it('ends soon once the read is given up', async () => {
    writeLarge('events.ndjson')
    const controller = new AbortController()
    const held = { version: () => Number.NaN, size: 0 }
    const reading = crm.events.read({ kind: 'full', cursor: null, held, signal: controller.signal })
    await reading.next()
    controller.abort()
    let pages = 0
    while ((await reading.next()).done !== true) pages++
    expect(pages).toBeLessThan(5)
  })

  it('lets other work pass while it reads', async () => {
    writeLarge('events.ndjson')
    let turns = 0
    const timer = setInterval(() => turns++, 0)
    await read(crm.events)
    clearInterval(timer)
    expect(turns).toBeGreaterThan(20)
  })
})
