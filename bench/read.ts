import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crmSection, fill, eventValues, idOf as dataverseId, openEnvironment } from '../test/dataverse/environment.ts'
import { idOf as postgresId, World } from '../test/postgres/world.ts'
import { type Child, programOf } from '../test/support/child.ts'
import { type Server, startMarquee } from './contestants.ts'
import { type Lists, writeCsv, writeLists } from './lists.ts'
import { pacedResult, startPaced } from './load.ts'
import { CLIENT_CORE, pinned, RUNTIME_NAMES, RUNTIMES, usageOf } from './machine.ts'
import { show, type Table } from './report.ts'
import type { Scale, Workshop } from './workshop.ts'

/** Requests a second, for random events in all formats. */
const RATE = 500

/** A CRM with one list of events, of which one row in a hundred can change each second. */
interface Source {
  readonly name: string
  readonly crm: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
  readonly idsFile: string
  readonly lastId: string
  /** Starts the changes; returns how to end them. */
  readonly change: () => Promise<() => Promise<unknown>>
  readonly close?: () => Promise<unknown>
}

/** What a full read costs by connector, and what callers see while one row in a hundred changes each second. */
export async function read(workshop: Workshop, { sizes: [, rows], seconds }: Scale): Promise<readonly Table[]> {
  const table: string[][] = []
  for (const open of [ndjson, csv, module, postgres, dataverse]) {
    const source = await open(workshop, rows)
    for (const runtime of RUNTIMES) {
      const freshness = { maxAge: '5m', refreshEvery: '1s', fullReadEvery: `${3 * seconds}s` }
      const server = await startMarquee(workshop, runtime, source.lastId, { crm: source.crm, freshness }, source.env)
      const loadSeconds = 5 * seconds
      const idle = await steadyLoad(server, source, loadSeconds)
      const end = await source.change()
      const changing = await steadyLoad(server, source, loadSeconds)
      await end()
      if (!hasServedChanges(server)) throw new Error(`${source.name}: no change was served`)
      table.push([
        source.name,
        RUNTIME_NAMES[runtime],
        show(firstReadMs(server) / 1000),
        `${show(idle.core * 100)} %`,
        `${show(changing.core * 100)} %`,
        `${show(idle.p999Ms)} / ${show(idle.worstMs)}`,
        `${show(changing.p999Ms)} / ${show(changing.worstMs)}`,
      ])
      await workshop.tidy()
    }
    await source.close?.()
  }
  const head = ['CRM', 'runtime', 'full read s', 'core, idle', 'core, 1 % changing', 'idle ms', '1 % changing ms']
  return [{ title: `${rows} events`, head, rows: table }]
}

async function steadyLoad(server: Server, { idsFile }: Source, seconds: number) {
  const before = usageOf(server.pid).cpuUs
  const fromMs = performance.now()
  const paced = await pacedResult(startPaced(server.port, idsFile, RATE, seconds), seconds)
  const core = (usageOf(server.pid).cpuUs - before) / 1000 / (performance.now() - fromMs)
  if (paced.errors > 0) throw new Error(`${server.name}: ${paced.errors} of ${paced.requests} requests failed`)
  return { ...paced, core }
}

interface ReadOfEvents {
  readonly durationMs: number
  readonly changed: number
}

/** The reads of events, by the log. */
function readsOfEvents({ child }: Server): readonly ReadOfEvents[] {
  const lines = child.stdout.split('\n')
  const reads = lines.filter((line) => line.includes('"read-ended"') && line.includes('"list":"events"'))
  return reads.map((line) => JSON.parse(line) as ReadOfEvents)
}

function firstReadMs(server: Server): number {
  return readsOfEvents(server)[0]?.durationMs ?? Number.NaN
}

function hasServedChanges(server: Server): boolean {
  return readsOfEvents(server)
    .slice(1)
    .some(({ changed }) => changed > 0)
}

/**
 * Starts a program that rewrites a list every so many seconds with one row in a hundred changed. Resolves once it has
 * read the list, its most expensive step.
 */
export async function startListWriter(
  file: string,
  roundSeconds: number,
  mark = '"TicketsAvailable":',
): Promise<Child> {
  const args = [join(import.meta.dirname, 'list-writer.ts'), file, String(roundSeconds), 'Infinity', '100', mark]
  const child = pinned(CLIENT_CORE, programOf('bun'), args)
  if ((await child.line((line) => line.includes('ready'))) === null) throw new Error(child.stderr)
  return child
}

function fileSource(name: string, lists: Lists, crm: Source['crm'], mark?: string): Source {
  const change: Source['change'] = async () => {
    const writer = await startListWriter(lists.eventsFile, 1, mark)
    return () => writer.stop()
  }
  return { name, crm, idsFile: lists.idsFile, lastId: lists.lastId, change }
}

function ndjson(workshop: Workshop, rows: number): Promise<Source> {
  const lists = writeLists(workshop.folder(), rows)
  return Promise.resolve(fileSource('NDJSON', lists, { kind: 'files', directory: lists.directory }))
}

function csv(workshop: Workshop, rows: number): Promise<Source> {
  const lists = writeCsv(workshop.folder(), rows)
  // The tickets are the first cell of a line.
  return Promise.resolve(fileSource('CSV', lists, { kind: 'files', directory: lists.directory }, '\n'))
}

/** A connector of one's own that reads the lines of NDJSON, as `your-own.md` shows it. */
function module(workshop: Workshop, rows: number): Promise<Source> {
  const lists = writeLists(workshop.folder(), rows)
  const file = join(lists.directory, 'connector.mjs')
  writeFileSync(
    file,
    `import { readFileSync } from 'node:fs'
const rowsOf = (name) => async function* () {
  const lines = readFileSync(new URL(name + '.ndjson', import.meta.url), 'utf8').trimEnd().split('\\n')
  for (let at = 0; at < lines.length; at += 1000) yield lines.slice(at, at + 1000).map((line) => JSON.parse(line))
}
const same = (names) => Object.fromEntries(names.map((name) => [name, name]))
export default {
  api: 1,
  events: { full: rowsOf('events'), fields: same(['Id', 'Name', 'VenueId', 'TicketCapacity', 'TicketsAvailable', 'Start', 'Finish', 'Price', 'Tags']) },
  venues: { full: rowsOf('venues'), fields: same(['Id', 'Name', 'AddressStreet1', 'AddressCity', 'Longitude', 'Latitude']) },
}
`,
  )
  return Promise.resolve(fileSource('a connector of one’s own', lists, { kind: 'module', path: file }))
}

async function postgres(workshop: Workshop, rows: number): Promise<Source> {
  const world = await World.create({ shared_buffers: '256MB', autovacuum: 'off' })
  await world.fill(rows)
  await world.query('VACUUM ANALYZE')
  const from = { events: { from: 'crm.public_events' }, venues: { from: 'crm.public_venues' } }
  let round = 0
  return {
    name: 'PostgreSQL',
    crm: { kind: 'postgres', url: { env: 'DATABASE_URL' }, listen: 'marquee', ...from },
    env: { DATABASE_URL: world.url },
    ...writtenIds(workshop, rows, postgresId),
    change: () =>
      everySecond(() => {
        round++
        const share = Math.ceil(rows / 100)
        const ids = Array.from({ length: share }, (_, index) => postgresId(((round % 100) + index * 100) % rows))
        return world.query('UPDATE crm.event SET seats = $1 WHERE event_id = ANY ($2::uuid[])', [100 + round, ids])
      }),
    close: () => world.remove(),
  }
}

async function dataverse(workshop: Workshop, rows: number): Promise<Source> {
  const environment = await openEnvironment()
  fill(environment, rows)
  let round = 0
  return {
    name: 'Dataverse (stand-in)',
    crm: crmSection(environment.standIn),
    env: { SECRET: environment.standIn.directory.secret },
    ...writtenIds(workshop, rows, (index) => dataverseId(index + 1)),
    change: () =>
      everySecond(() => {
        round++
        for (let number = 1 + (round % 100); number <= rows; number += 100) {
          environment.events.put(dataverseId(number), eventValues(number, { msevtmgt_registrationcount: round % 100 }))
        }
        return Promise.resolve()
      }),
    close: () => Promise.resolve(environment.standIn.close()),
  }
}

function writtenIds(workshop: Workshop, count: number, idOf: (index: number) => string) {
  const ids = Array.from({ length: count }, (_, index) => idOf(index))
  const idsFile = join(workshop.folder(), 'ids.txt')
  writeFileSync(idsFile, ids.map((id) => `${id}\n`).join(''))
  return { idsFile, lastId: ids.at(-1) ?? '' }
}

/** Does the work each second; returns how to end it. */
function everySecond(work: () => Promise<unknown>): Promise<() => Promise<unknown>> {
  const ended = new AbortController()
  const loop = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await work()
      await Bun.sleep(1000)
    }
  }
  const ending = loop()
  return Promise.resolve(() => {
    ended.abort()
    return ending
  })
}
