import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConnectorList } from '../../src/config/configuration.ts'
import { ListRows } from '../../src/crm/connector/list-rows.ts'
import { NO_FURTHER } from '../../src/domain/further.ts'
import { RECORDS } from '../../src/crm/mapping/map-row.ts'
import { openFilesCrm } from '../../src/crm/files/files-crm.ts'
import { EVENT_ROWS } from '../../src/crm/mapping/map-row.ts'
import { Suspicions } from '../../src/crm/mapping/suspicions.ts'
import { listTable } from '../../src/crm/postgres/list-table.ts'
import { type EventRecord, EVENTS } from '../../src/domain/event.ts'
import { parseGuid } from '../../src/domain/guid.ts'
import { type VenueRecord, VENUES } from '../../src/domain/venue.ts'
import type { Zone } from '../../src/domain/zone.ts'
import { openZone } from '../../src/domain/zone.ts'
import { type Packing, packingOf } from '../../src/records/packing.ts'
import type { Change, Crm, Cursor, ListSource } from '../../src/sync/port.ts'
import { systemTime } from '../../src/time/time.ts'
import { eventValues, fill, idOf, openEnvironment, venueValues } from '../dataverse/environment.ts'
import { rigOf } from '../dataverse/rig.ts'

export const GOLDEN: string = join(import.meta.dirname, 'mapped-rows.txt')

/** What rows of every CRM become, a line each, under the number that says so. */
export async function mappedRows(): Promise<string> {
  const lines = [...(await ofFiles()), ...(await ofDataverse()), ...ofPostgres()]
  return `RECORDS ${RECORDS}\n${lines.join('\n')}\n`
}

/** The same as it was when the number was last raised. */
export function goldenRows(): string {
  return readFileSync(GOLDEN, 'utf8')
}

const GUIDS = Array.from({ length: 12 }, (_, index) => `5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e${(index + 16).toString(16)}`)
const TIMES = [
  ['2026-07-12T19:30:00Z', '2026-07-12T23:00:00+02:00'],
  ['2026-03-29T01:30', '2026-10-25 01:30:00'],
  ['2026-12-31T23:59:59.9999999Z', '2027-01-01T00:00:00Z'],
  ['12/07/2026', 'soon'],
]
const EVENT_VALUES: readonly Readonly<Record<string, unknown>>[] = [
  {
    Name: '  A "quoted" name\u0000 ',
    Price: 12.5,
    TicketCapacity: 100,
    TicketsAvailable: 7,
    Tags: ['Jazz', ' Rock ', ''],
  },
  { Name: '', Price: '0.10', TicketCapacity: '250', TicketsAvailable: -3, Tags: 'Jazz, Rock; Folk' },
  { Name: 'Ünïcode \u{1f3b5}', Price: null, Tags: [], Links: [{ Rel: 'r', Href: '/x', Title: null }] },
  { Name: 7, Price: '1,000', TicketCapacity: 2147483648 },
  { Name: 'Hidden', ShowOnWeb: false },
  { Name: 'Gone', Active: 'no' },
]

function eventRows(): readonly Record<string, unknown>[] {
  return GUIDS.map((Id, index) => {
    const [Start, Finish] = TIMES[index % TIMES.length] ?? []
    return {
      Id: index === 11 ? 'no id' : Id,
      Start,
      Finish,
      ShowOnWeb: true,
      ...EVENT_VALUES[index % EVENT_VALUES.length],
    }
  })
}

const VENUE_ROWS = GUIDS.slice(0, 4).map((Id, index) => ({
  Id: Id.toUpperCase(),
  Name: ` Hall ${index} `,
  AddressCity: index === 1 ? '' : 'Leeds',
  Longitude: [-1.5491, '1.50', null, 'east'][index],
  Latitude: [53.8, '00.10', '', 91][index],
  Website: 'https://example.org/?q=a b',
}))

async function ofFiles(): Promise<readonly string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'marquee-rows-'))
  const crm = openFilesCrm(
    {
      kind: 'files',
      directory,
      timeZone: zoneOf('Europe/London'),
      idNamespace: null,
      events: { block: null, texts: null },
      venues: { block: null, texts: null },
    },
    {
      showIn: zoneOf('Europe/Berlin'),
      time: systemTime,
      observe: () => {},
      limits: () => ({ requestTimeoutMs: 5000, maxAgeMs: 30_000 }),
    },
  )
  writeFileSync(join(directory, 'events.json'), JSON.stringify(eventRows()))
  writeFileSync(join(directory, 'venues.csv'), csvOf(VENUE_ROWS))
  const lines = await rowsOf('files', crm)
  rmSync(join(directory, 'events.json'))
  writeFileSync(join(directory, 'events.csv'), csvOf(eventRows().map((row) => ({ ...row, Links: undefined }))))
  const written = await rowsOf('CSV', crm)
  rmSync(directory, { recursive: true })
  return [...lines, ...written.filter((line) => line.startsWith('CSV events'))]
}

function csvOf(rows: readonly Readonly<Record<string, unknown>>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const cell = (value: unknown): string => `"${textOf(value).replaceAll('"', '""').replaceAll('\0', '')}"`
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((cells) => cells.map(cell).join()).join('\n')
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : Array.isArray(value) ? value.join() : JSON.stringify(value)
}

async function ofDataverse(): Promise<readonly string[]> {
  const environment = await openEnvironment()
  fill(environment, 2)
  const { events, venues, standIn } = environment
  events.put(idOf(3), eventValues(3, { msevtmgt_registrationcount: 200, msevtmgt_eventtimezone: 35 }))
  events.put(idOf(4), eventValues(4, { msevtmgt_name: null, cr5_price: 9.5, cr5_tags: '2,8' }))
  events.put(idOf(5), eventValues(5, { statecode: 1 }))
  events.put(idOf(6), eventValues(6, { msevtmgt_publishstatus: 1 }))
  venues.put(idOf(0x1_0009), venueValues(9, { msevtmgt_wifipassword: 'no', cr5_latitude: 53.8 }))
  const fields = { Tags: { kind: 'column', column: 'cr5_tags', whenBlank: null, label: true } } as const
  const { crm } = await rigOf(standIn, { settings: { events: { from: 'msevtmgt_events', fields } } })
  const lines = await rowsOf('Dataverse', crm)
  await crm.close()
  standIn.close()
  return lines
}

function ofPostgres(): readonly string[] {
  const idNamespace = parseGuid('6ba7b810-9dad-11d1-80b4-00c04fd430c8')
  return [null, idNamespace].flatMap((namespace) => {
    const settings = { from: 'crm.events', updatedAt: null, updatedAtIn: null, fields: {} } as const
    const { stock } = listTable(EVENTS, settings, [])
    const own = readConnectorList('events', stock, 'PostgreSQL', NO_FURTHER)
    if (!own.ok) throw new Error(own.problem)
    const shape = { active: null, showOnWeb: null, updatedAt: null, fields: {}, ...own.list }
    const list = new ListRows(
      EVENT_ROWS,
      { ...shape, fields: own.list.fields ?? {}, ways: new Set(['full'] as const), repeats: 'neither' },
      {
        idNamespace: namespace,
        from: { events: 'crm.events', venues: 'crm.venues' },
        zone: zoneOf('Europe/London'),
        showIn: zoneOf('Europe/Berlin'),
        suspicions: new Suspicions(),
        further: [],
      },
    )
    const rows = eventRows().map((row, index) => ({
      id: namespace === null ? row['Id'] : String(index),
      venue_id: index % 3 === 0 ? null : namespace === null ? GUIDS[1] : '17',
      name: row['Name'],
      start: row['Start'],
      finish: row['Finish'],
      price: row['Price'],
      ticket_capacity: '100',
      tickets_available: '50',
      tags: 'Jazz, Rock',
      active: true,
      show_on_web: index !== 2,
    }))
    return rows.map((row) => {
      const cells = Object.fromEntries(
        Object.entries(row).map(([column, value]) => [
          column,
          value === null || typeof value === 'boolean' ? value : textOf(value),
        ]),
      )
      const { change } = list.read(
        cells,
        () => ({ place: 'here', isWhole: true }),
        { size: 0, version: () => NaN },
        new Set(),
      )
      return lineOf('PostgreSQL', 'events', change, packingOf<EventRecord>(EVENTS, []))
    })
  })
}

async function rowsOf(crm: string, { events, venues }: Crm): Promise<readonly string[]> {
  return [
    ...(await changesOf(events)).map((change) => lineOf(crm, 'events', change, packingOf<EventRecord>(EVENTS, []))),
    ...(await changesOf(venues)).map((change) => lineOf(crm, 'venues', change, packingOf<VenueRecord>(VENUES, []))),
  ]
}

async function changesOf<Item>(source: ListSource<Item>): Promise<readonly Change<Item>[]> {
  const cursor: Cursor | null = null
  const changes: Change<Item>[] = []
  const pages = source.read({
    kind: 'full',
    cursor,
    held: { size: 0, version: () => NaN },
    signal: new AbortController().signal,
  })
  for (;;) {
    const next = await pages.next()
    if (next.done === true) {
      if (!next.value.ok) throw new Error(next.value.failure.message)
      return changes
    }
    changes.push(...next.value.changes)
  }
}

function lineOf<Item>(crm: string, list: string, change: Change<Item>, packing: Packing<Item>): string {
  if (change.kind === 'record') return `${crm} ${list} ${change.id} ${JSON.stringify(packing.pack(change.record))}`
  if (change.kind !== 'withheld') return `${crm} ${list} ${change.id} ${change.kind}`
  const { fault, column } = change.withheld
  return `${crm} ${list} ${change.id} withheld: ${fault} ${column}`
}

function zoneOf(name: string): Zone {
  const zone = openZone(name)
  if (zone === null) throw new Error(`${name} is not a zone`)
  return zone
}
