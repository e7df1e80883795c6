import { describe, expect, it } from 'bun:test'
import { suspicionSaid } from '../../faults/fault-words.ts'
import type { EventRecord } from '../../domain/event.ts'
import { columnSource } from '../../config/crm/sources.ts'
import { openZone } from '../../domain/zone.ts'
import { ListRows } from '../connector/list-rows.ts'
import { listFile } from '../files/list-file.ts'
import { type CellObject, DecimalText } from '../cells/cell.ts'
import { EVENT_ROWS } from './map-row.ts'
import { Suspicions } from './suspicions.ts'

const GUID = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34'
const utc = openZone('UTC')
if (utc === null) throw new Error('the runtime has no zones')
const plain = { block: null, texts: null }
const zone = utc
const context = { showIn: utc, suspicions: new Suspicions(), further: [] }
const from = { events: 'events', venues: 'venues' }
const written = { lists: 'native', texts: null, days: new Set<string>() } as const

function eventRows(
  events: Parameters<typeof listFile>[1]['events'] = plain,
  suspicions = context.suspicions,
): ListRows<EventRecord> {
  const { shape } = listFile(EVENT_ROWS.table, { events, venues: plain }, context)
  const rows = new ListRows(EVENT_ROWS, shape, { idNamespace: null, zone, from, ...context, suspicions })
  rows.begin(written)
  return rows
}

function mapperOf(events: Parameters<typeof eventRows>[0] = plain): ListRows<EventRecord>['map'] {
  const rows = eventRows(events)
  return (row, where, version) => rows.map(row, where, version)
}

const mapEvent = mapperOf()
const good: CellObject = { Id: GUID, Start: '2026-07-12T19:30Z', Finish: '2026-07-12T23:00Z', ShowOnWeb: true }

function mapped(row: CellObject): unknown {
  const change = mapEvent(row, () => 'here', 7)
  if (change === null) throw new Error('only venues have rows that add nothing')
  return change.kind === 'record' ? change.record : [change.id, change.withheld.fault, change.withheld.column]
}

describe('mapping a row (contract §2)', () => {
  it('serves what is left blank as 0, null and empty, with no venue', () => {
    expect(mapEvent(good, () => 'here', 7)).toEqual({
      kind: 'record',
      id: GUID as never,
      version: 7,
      record: {
        Id: GUID as never,
        Name: null,
        VenueId: '00000000-0000-0000-0000-000000000000' as never,
        TicketCapacity: 0,
        TicketsAvailable: 0,
        Start: '2026-07-12T19:30:00+00:00' as never,
        Finish: '2026-07-12T23:00:00+00:00' as never,
        Price: '0' as never,
        Tags: [],
        Links: [],
      },
    })
  })

  it('says what was expected and what was found, and where', () => {
    expect(mapEvent({ ...good, TicketCapacity: '1,000' }, () => 'events.json, item 3 (line 41)', 7)).toEqual({
      kind: 'withheld',
      id: GUID as never,
      version: 7,
      withheld: {
        fault: 'unreadable',
        column: 'TicketCapacity',
        where: 'events.json, item 3 (line 41)',
        expected: { kind: 'integer', sign: null, currency: [] },
        found: '"1,000"',
      },
    })
  })

  it('gives the first reason: the id, then active, then shown, then the values', () => {
    const bad: CellObject = { Id: 'x', Active: 'x', ShowOnWeb: 'x', Start: 'x' }
    expect(mapped(bad)).toEqual([null, 'no-id', 'Id'])
    expect(mapped({ ...bad, Id: GUID })).toEqual([GUID, 'unreadable', 'Active'])
    expect(mapped({ ...bad, Id: GUID, Active: false })).toEqual([GUID, 'inactive', 'Active'])
    expect(mapped({ ...bad, Id: GUID, Active: null })).toEqual([GUID, 'unreadable', 'ShowOnWeb'])
    expect(mapped({ ...bad, Id: GUID, Active: '1', ShowOnWeb: 0 })).toEqual([GUID, 'not-shown', 'ShowOnWeb'])
    expect(mapped({ ...bad, Id: GUID, Active: '1', ShowOnWeb: null })).toEqual([GUID, 'not-shown', 'ShowOnWeb'])
    expect(mapped({ ...good, Start: 'x' })).toEqual([GUID, 'unreadable', 'Start'])
    expect(mapped({ ...good, Start: null })).toEqual([GUID, 'missing', 'Start'])
  })

  it('tells all that is wrong with a row, and what it is called', () => {
    const bad: CellObject = { ...good, Name: 'Gala', Start: null, Finish: 'late', Price: '1,5' }
    expect(mapEvent(bad, () => 'here', 7)).toMatchObject({
      withheld: {
        fault: 'missing',
        column: 'Start',
        name: 'Gala',
        also: [
          { fault: 'unreadable', column: 'Finish', found: '"late"' },
          { fault: 'unreadable', column: 'Price', found: '"1,5"' },
        ],
      },
    })
    const long = mapEvent({ ...bad, Name: '😀'.repeat(100) }, () => 'here', 7)
    expect(long?.kind === 'withheld' && long.withheld.name).toBe('😀'.repeat(40))
  })

  it('tells one fault of a column that two fields read', () => {
    const fields = {
      Id: columnSource('Id'),
      TicketCapacity: columnSource('Seats'),
      TicketsAvailable: { kind: 'subtract', columns: ['Seats', 'Sold'] },
    } as const
    const block = { from: null, rows: null, fields, active: null, showOnWeb: null, texts: {} }
    const events = { block, texts: null }
    const map = mapperOf(events)
    expect(map({ Id: 'x', Seats: 'many', Sold: 1 }, () => 'here', 7)).toMatchObject({
      withheld: {
        fault: 'no-id',
        also: [
          { fault: 'unreadable', column: 'Seats' },
          { fault: 'missing', column: 'Start' },
          { fault: 'missing', column: 'Finish' },
        ],
      },
    })
  })

  it('tells no other fault of a row that is withheld on purpose; where there is no such column nobody meant it', () => {
    const bad: CellObject = { ...good, Start: 'x', Active: false, ShowOnWeb: false }
    expect(mapEvent(bad, () => 'here', 7)).toMatchObject({
      withheld: { fault: 'inactive', also: [{ fault: 'not-shown', column: 'ShowOnWeb' }] },
    })
    const { Id = null, Finish = null } = good
    expect(mapEvent({ Id, Finish, Start: 'x' }, () => 'here', 7)).toMatchObject({
      withheld: { fault: 'not-shown', also: [{ fault: 'unreadable', column: 'Start' }] },
    })
  })

  it.each([
    ['Name', true],
    ['VenueId', 'Guildhall'],
    ['TicketsAvailable', new DecimalText('1.5')],
    ['Finish', 5],
    ['Price', '12,50'],
    ['Tags', 'Dinner'],
    ['Links', [{}]],
  ])('withholds a row whose %s cannot be read', (column, cell) => {
    expect(mapped({ ...good, [column]: cell })).toEqual([GUID, 'unreadable', column])
  })
})

it('keeps what is suspicious in the first row of an id, which a file serves, whatever a second one has', () => {
  const suspicions = new Suspicions()
  const rows = eventRows(plain, suspicions)
  const early: CellObject = { ...good, Finish: '2026-07-12T18:00Z' }
  const sentences = (): readonly string[] =>
    suspicions
      .list(() => true)
      .map(suspicionSaid)
      .map(({ example, count }) => `${count}: ${example}`)
  for (const second of [good, { ...early, Finish: '2026-07-12T17:00Z' }]) {
    rows.begin(written)
    for (const [at, row] of [early, second].entries()) rows.map(row, () => `row ${at}`)
    expect(sentences()).toEqual(['1: row 0: Finish is 2026-07-12T18:00:00+00:00, and Start 2026-07-12T19:30:00+00:00'])
  }
  // The next read of the file finds the row corrected.
  rows.begin(written)
  rows.map(good, () => 'row 0')
  expect(sentences()).toEqual([])
})
