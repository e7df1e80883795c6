import { describe, expect, it } from 'bun:test'
import { columnSource as column } from '../../config/crm/sources.ts'
import { NO_LIMIT } from '../../domain/event.ts'
import { parseGuid } from '../../domain/guid.ts'
import { openZone, WINDOWS_ZONES, openNamedZone } from '../../domain/zone.ts'
import { type Cell, type CellObject, DecimalText } from '../cells/cell.ts'
import { namedIds } from '../../domain/named-ids.ts'
import { type ListSetting, type MappingContext, mappedColumns } from './list-setting.ts'
import { EVENT_ROWS, listMapping, mapRow, VENUE_ROWS } from './map-row.ts'
import { furtherReadersOf } from './readers.ts'
import { Suspicions } from './suspicions.ts'

const GUID = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34'
const utc = openZone('UTC')
const paris = openZone('Europe/Paris')
const namespace = parseGuid('6ba7b810-9dad-11d1-80b4-00c04fd430c8')
if (utc === null || paris === null || namespace === null) throw new Error('the runtime has no zones')

const events: ListSetting = {
  from: 'crm.public_events',
  fields: {
    Id: column('id'),
    Name: column('name'),
    VenueId: column('venue'),
    TicketCapacity: { ...column('capacity'), whenBlank: '100' },
    TicketsAvailable: { kind: 'subtract', columns: ['capacity', 'registered', 'held'] },
    Start: { ...column('start'), wallTimeIn: { kind: 'column', column: 'zone' } },
    Finish: { ...column('finish'), wallTimeIn: { kind: 'zone', zone: paris } },
    Price: { kind: 'value', value: '12.50' },
    Tags: { ...column('tags'), label: true },
    Links: null,
  },
  active: [{ column: 'state', oneOf: [0, 'open'] }],
  showOnWeb: [
    { column: 'published', oneOf: [true] },
    { column: 'template', oneOf: [100000002] },
  ],
}
const context: MappingContext = {
  idNamespace: null,
  venuesFrom: 'crm.venues',
  zone: utc,
  showIn: utc,
  lists: 'text',
  suspicions: new Suspicions(),
}
const good: CellObject = {
  id: GUID,
  name: 'x',
  venue: null,
  capacity: 250,
  registered: 200,
  held: null,
  start: '2026-07-12T19:30:00Z',
  finish: '2026-07-12 23:00',
  zone: 'GMT Standard Time',
  tags: 1,
  'tags@label': 'Dinner; Black Tie',
  state: 0,
  published: true,
  template: new DecimalText('100000002'),
}

function mapped(row: CellObject, changed: Partial<MappingContext> = {}, setting: ListSetting = events): unknown {
  const mapping = listMapping(EVENT_ROWS, setting, { ...context, ...changed })
  const change = mapRow(mapping, row, () => 'here', 0)
  return change.kind === 'record' ? change.record : change.withheld
}

describe('the mapping that all connectors share', () => {
  it('reads columns, labels, constants, differences and wall times', () => {
    expect(mapped(good)).toEqual({
      Id: GUID,
      Name: 'x',
      VenueId: '00000000-0000-0000-0000-000000000000',
      TicketCapacity: 250,
      TicketsAvailable: 50,
      Start: '2026-07-12T18:30:00+00:00',
      Finish: '2026-07-12T21:00:00+00:00',
      Price: '12.50',
      Tags: ['Dinner', 'Black Tie'],
      Links: [],
    })
  })

  it('reads a blank as what whenBlank says, and never leaves less than 0', () => {
    expect(mapped({ ...good, capacity: null })).toMatchObject({ TicketCapacity: 100, TicketsAvailable: 0 })
    expect(mapped({ ...good, capacity: ' ' })).toMatchObject({ TicketCapacity: 100, TicketsAvailable: 0 })
    expect(mapped({ ...good, registered: -2_147_483_648 })).toMatchObject({ TicketsAvailable: 2_147_483_647 })
  })

  it('reads a difference from a blank as what whenBlank says: no limit, for example', () => {
    const left = { kind: 'subtract', columns: ['capacity', 'registered'], whenBlank: String(NO_LIMIT) } as const
    const unlimited = { ...events, fields: { ...events.fields, TicketsAvailable: left } }
    for (const capacity of [null, ' '])
      expect(mapped({ ...good, capacity }, {}, unlimited)).toMatchObject({ TicketsAvailable: NO_LIMIT })
    expect(mapped({ ...good, capacity: 0 }, {}, unlimited)).toMatchObject({ TicketsAvailable: 0 })
    expect(mapped(good, {}, unlimited)).toMatchObject({ TicketsAvailable: 50 })
    expect(mapped({ ...good, capacity: null, registered: 'x' }, {}, unlimited)).toMatchObject({ fault: 'unreadable' })
  })

  it('names the column that is at fault', () => {
    expect(mapped({ ...good, registered: 'x' })).toMatchObject({
      fault: 'unreadable',
      column: 'registered',
      found: '"x"',
    })
    expect(mapped({ ...good, start: '12/07/2026' })).toMatchObject({ fault: 'unreadable', column: 'start' })
    expect(mapped({ ...good, start: null })).toMatchObject({ fault: 'missing', column: 'start' })
    expect(mapped({ ...good, id: 17 })).toMatchObject({ fault: 'no-id', column: 'id' })
  })

  it.each<[Cell, string | null]>([
    ['Europe/Paris', '2026-07-12T17:30:00+00:00'],
    ['Romance Standard Time', '2026-07-12T17:30:00+00:00'],
    ['Romance Standard Time', '2026-07-12T17:30:00+00:00'],
    ['+02:00', '2026-07-12T17:30:00+00:00'],
    ['UTC-3.5', '2026-07-12T23:00:00+00:00'],
    ['Paris', null],
    ['UTC+25', null],
    [105, null],
  ])('reads a wall time in the zone that a column names: %j', (zone, start) => {
    const expected =
      start === null ? { fault: 'unreadable', column: 'zone', found: JSON.stringify(zone) } : { Start: start }
    expect(mapped({ ...good, zone })).toMatchObject(expected)
  })

  it.each([null, '', ' '])('reads a wall time in the zone of the list if the column of zones is blank: %j', (zone) => {
    const suspicions = new Suspicions()
    const listZone = openZone('Europe/Paris') ?? utc
    const row = { ...good, start: '2026-07-12 19:30', zone }
    expect(mapped(row, { zone: listZone, suspicions })).toMatchObject({ Start: '2026-07-12T17:30:00+00:00' })
    // `check` counts the date, and warns if the zone of the list is not set.
    expect([...suspicions.wallDates]).toEqual([['start', 1]])
    mapped(good, { zone: listZone, suspicions })
    expect([...suspicions.wallDates]).toEqual([['start', 1]])
  })

  it('reads a date from another column if the first is blank, in the zone of that one', () => {
    const zoned = { kind: 'column', column: 'zone' } as const
    const local = { ...column('start'), wallTimeIn: zoned }
    const source = { ...column('utc_start'), wallTimeIn: { kind: 'zone', zone: utc }, whenBlank: local } as const
    const setting = { ...events, fields: { ...events.fields, Start: source } }
    const row = { ...good, start: '2026-07-12 19:30', zone: 'UTC-3.5' }
    const read = (more: CellObject): unknown => mapped({ ...row, ...more }, {}, setting)
    expect(read({ utc_start: '2026-07-12 17:30' })).toMatchObject({ Start: '2026-07-12T17:30:00+00:00' })
    // Neither the zone nor the other column matters then.
    expect(read({ utc_start: '2026-07-12 17:30', zone: 'Paris', start: 'x' })).toMatchObject({
      Start: '2026-07-12T17:30:00+00:00',
    })
    for (const blank of [null, ' '])
      expect(read({ utc_start: blank })).toMatchObject({ Start: '2026-07-12T23:00:00+00:00' })
    expect(read({ utc_start: null, zone: 'Paris' })).toMatchObject({ fault: 'unreadable', column: 'zone' })
    expect(read({ utc_start: 'x' })).toMatchObject({ fault: 'unreadable', column: 'utc_start' })
    expect(read({ utc_start: null, start: null })).toMatchObject({ fault: 'missing', column: 'utc_start' })
    const columns = mappedColumns(setting).flatMap(({ key, column: name }) => (key === 'fields.Start' ? [name] : []))
    expect(columns).toEqual(['utc_start', 'start', 'zone'])
  })

  it('names the column of zones once if both dates are in it', () => {
    const zoned = { kind: 'column', column: 'zone' } as const
    const fields = { ...events.fields, Finish: { ...column('finish'), wallTimeIn: zoned } }
    const withheld = mapped({ ...good, zone: 'Paris' }, {}, { ...events, fields })
    expect(withheld).toMatchObject({ fault: 'unreadable', column: 'zone' })
    expect(withheld).not.toHaveProperty('also')
  })

  it('takes Z behind a wall time for nothing, and any other offset for what it says', () => {
    expect(mapped({ ...good, finish: '2026-07-12T23:00:00Z' })).toMatchObject({ Finish: '2026-07-12T21:00:00+00:00' })
    expect(mapped({ ...good, finish: '2026-07-12T23:00:00+00:00' })).toMatchObject({
      Finish: '2026-07-12T23:00:00+00:00',
    })
    expect(mapped({ ...good, finish: '2026-07-12T23:00:00+01:00Z' })).toMatchObject({ fault: 'unreadable' })
  })

  it('takes a date without an offset for a wall time of the CRM, where its field says nothing else', () => {
    const fields = { ...events.fields, Start: column('start') }
    const setting = { ...events, fields }
    expect(mapped({ ...good, start: '2026-07-12T19:30' }, { zone: paris }, setting)).toMatchObject({
      Start: '2026-07-12T17:30:00+00:00',
    })
    expect(mapped(good, { zone: paris }, setting)).toMatchObject({ Start: '2026-07-12T19:30:00+00:00' })
  })

  it.each<[CellObject, object]>([
    [
      { state: 1 },
      { fault: 'inactive', column: 'state', expected: { kind: 'one-of', values: ['0', 'open'] }, found: '1' },
    ],
    [{ state: null }, { fault: 'inactive', column: 'state', found: 'null' }],
    [{ state: 1, published: false }, { fault: 'inactive' }],
    [{ state: 'open' }, { Name: 'x' }],
    [{ published: false }, { fault: 'not-shown', column: 'published', expected: { kind: 'one-of', values: ['true'] } }],
    [{ published: null }, { fault: 'not-shown', column: 'published' }],
    [{ template: 100000001 }, { fault: 'not-shown', column: 'template' }],
    [{ template: [100000002] }, { fault: 'not-shown', column: 'template' }],
  ])('serves a row only where every column holds one of its values: %j', (cells, expected) => {
    expect(mapped({ ...good, ...cells })).toMatchObject(expected)
  })

  it('makes ids of other kinds UUIDs that last, apart for each table', () => {
    const from = namedIds(namespace, '')
    expect(mapped({ ...good, id: 17, venue: 17 }, { idNamespace: namespace })).toMatchObject({
      Id: from('crm.public_events/17'),
      VenueId: from('crm.venues/17'),
    })
    expect(mapped({ ...good, id: 'A-1', venue: null }, { idNamespace: namespace })).toMatchObject({
      Id: from('crm.public_events/A-1'),
      VenueId: '00000000-0000-0000-0000-000000000000',
    })
    expect(mapped({ ...good, id: ' ' }, { idNamespace: namespace })).toMatchObject({ fault: 'no-id', column: 'id' })
  })

  it('computes the UUIDs that RFC 9562 computes (appendix A.4)', () => {
    expect(namedIds(namespace, '')('www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2' as never)
  })

  it('maps venues, a dropped field and an absent condition included', () => {
    const dropped = null
    const venues: ListSetting = {
      from: 'crm.venues',
      active: null,
      showOnWeb: null,
      fields: {
        Id: column('id'),
        Name: column('name'),
        AddressStreet1: dropped,
        AddressStreet2: dropped,
        AddressStreet3: dropped,
        AddressCity: dropped,
        AddressPostalCode: dropped,
        AddressState: dropped,
        AddressCountry: { kind: 'value', value: 'United Kingdom' },
        Longitude: dropped,
        Latitude: column('latitude'),
        Telephone: dropped,
        Description: dropped,
        Website: dropped,
        Links: column('links'),
      },
    }
    const mapping = listMapping(VENUE_ROWS, venues, context)
    const row: CellObject = { id: GUID, name: 'Hall', latitude: '51.50', links: '[{"Rel":"a","Href":"b"}]' }
    expect(mapRow(mapping, row, () => 'here', 3)).toMatchObject({
      kind: 'record',
      version: 3,
      record: {
        Name: 'Hall',
        AddressStreet1: null,
        AddressCountry: 'United Kingdom',
        Longitude: '0',
        Latitude: '51.50',
        Links: [{ Rel: 'a', Href: 'b', Title: null }],
      },
    })
    expect(mappedColumns(venues).map((mappedColumn) => mappedColumn.column)).toEqual([
      'id',
      'name',
      'latitude',
      'links',
    ])
  })

  it('lists the columns that it reads, and who named them', () => {
    expect(
      mappedColumns(events).map(({ column: name, label, key }) => `${key}: ${name}${label ? ' (label)' : ''}`),
    ).toEqual([
      'fields.Id: id',
      'fields.Name: name',
      'fields.VenueId: venue',
      'fields.TicketCapacity: capacity',
      'fields.TicketsAvailable: capacity',
      'fields.TicketsAvailable: registered',
      'fields.TicketsAvailable: held',
      'fields.Start: start',
      'fields.Start: zone',
      'fields.Finish: finish',
      'fields.Tags: tags (label)',
      'active.state: state',
      'showOnWeb.published: published',
      'showOnWeb.template: template',
    ])
  })

  it('knows every zone of Windows that it names', () => {
    for (const name of WINDOWS_ZONES.keys()) expect(openNamedZone(name)?.id ?? name).not.toBe(name)
  })
})

it('a further field reads its cell once a row', () => {
  let reads = 0
  const row = {
    get cell() {
      reads++
      return '1'
    },
  }
  const types = ['text', 'integer', 'decimal', 'date-time', 'flag', 'texts'] as const
  const further = types.map((type, at) => ({ name: `Field${at}`, type }))
  const sources = further.map(({ name }) => [name, column('cell')] as const)
  const setting: ListSetting = { ...events, fields: { ...events.fields, ...Object.fromEntries(sources) }, further }
  for (const read of furtherReadersOf('events', further, setting, context)) {
    reads = 0
    read(row)
    expect(reads).toBe(1)
  }
})
