import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startInstance } from '../cluster/real-instance.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { askOperations } from '../support/operations-client.ts'
import { RedisServer } from '../support/redis-server.ts'

/**
 * What a running Marquee shows and stores. The fixtures of a release are one of these (scripts/release-fixtures.ts).
 */
export interface ReleaseRun {
  /** The configuration, JSON, with the absolute path of the lists: it is part of the fingerprint. */
  readonly configuration: string
  readonly status: string
  readonly metrics: string
  readonly openapi: string
  /** By path: bodies as JSON. */
  readonly answers: Readonly<Record<string, unknown>>
  /** The name of the file in the snapshot directory, and its bytes. */
  readonly snapshot: { readonly name: string; readonly bytes: Buffer }
}

const VENUE = 'f0000000-0000-4000-8000-000000000000'

const id = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

/** Rows with each field, each kind of value, and each reason why a row is withheld. */
function lists(): { readonly events: string; readonly venues: string } {
  const times = { Start: '2036-07-12T19:30:00Z', Finish: '2036-07-12T22:00:00.1234567Z', ShowOnWeb: true }
  const full = {
    Id: id(1),
    Name: 'Gala: "Tosca" & <Aida> 音楽',
    VenueId: VENUE,
    TicketCapacity: 250,
    TicketsAvailable: 100,
    ...times,
    Price: '12.50',
    Tags: ['Opera', 'Café'],
    Links: [{ Rel: 'tickets', Href: 'https://tickets.example.org/1', Title: 'Book' }],
  }
  const events = [
    full,
    { Id: id(2), Name: null, ...times },
    { Id: id(3), Name: 'not shown', ...times, ShowOnWeb: false },
    { Id: id(4), Name: 'inactive', ...times, Active: false },
    { Id: id(5), Name: 'unreadable', ...times, Price: 'twelve' },
    { Id: id(6), Name: 'without an end', Start: times.Start, ShowOnWeb: true },
    { Id: 'seven', Name: 'without an id', ...times },
    { ...full, Name: 'a second row' },
  ]
  const venue = { Id: VENUE, Name: 'Hall', AddressCity: 'Bristol', Longitude: '-2.5879', Latitude: '51.4545' }
  return { events: JSON.stringify(events), venues: JSON.stringify([venue]) }
}

/** Starts a Marquee with a store, a snapshot, lists and feeds, and takes what it shows and stores. */
export async function releaseRun(): Promise<ReleaseRun> {
  const crm = new FilesDirectory({}, lists())
  const directory = mkdtempSync(join(tmpdir(), 'marquee-snapshot-'))
  const redis = await RedisServer.start()
  const settings = {
    crm: { kind: 'files', directory: crm.crm },
    snapshot: { directory },
    cluster: { url: redis.url },
    representation: { currency: 'GBP', page: 'https://www.example.org/{Id}' },
    feeds: { calendar: true, jsonLd: true, atom: true, changes: true },
    lists: true,
  }
  const instance = await startInstance('bun', settings)
  try {
    const { address, operations } = instance.process.listening
    await eventually(
      () => instance.status(),
      (told) => told?.ready === true && told.snapshot !== null,
    )
    const paths = [...[1, 2].map((number) => `api/events/${id(number)}`), `api/venues/${VENUE}`]
    const answers: Record<string, unknown> = {}
    for (const path of paths) answers[path] = await (await fetch(address + path)).json()
    const name = await eventually(
      async () => readdirSync(directory).find((file) => file.endsWith('.snapshot')) ?? '',
      (file) => file !== '',
    )
    const text = async (path: string): Promise<string> => (await askOperations(`${operations}${path}`))?.text ?? ''
    return {
      configuration: JSON.stringify(settings),
      status: await text('status'),
      metrics: await text('metrics'),
      openapi: await (await fetch(`${address}api/openapi.json`)).text(),
      answers,
      snapshot: { name, bytes: readFileSync(join(directory, name)) },
    }
  } finally {
    await instance.end()
    await redis.remove()
    crm.remove()
    rmSync(directory, { recursive: true })
  }
}
