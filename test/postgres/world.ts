import type { Client } from 'pg'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { assembleAlone } from '../../src/app/assemble.ts'
import type { Configuration } from '../../src/config/configuration.ts'
import { parseGuid } from '../../src/domain/guid.ts'
import type { EventRecord } from '../../src/domain/event.ts'
import type { Observation } from '../../src/observe/observation.ts'
import { systemTime } from '../../src/time/time.ts'
import { eventually } from '../support/eventually.ts'
import { PostgresServer } from '../support/postgres-server.ts'
import { SET_UP } from './guide.ts'

export interface Given {
  /** Further lines of the `crm` section. */
  readonly crm?: Readonly<Record<string, unknown>>
  readonly freshness?: Readonly<Record<string, unknown>>
  readonly url?: string
}

type Marquee = Awaited<ReturnType<typeof assembleAlone>>

/** A database as the guide sets it up, and the Marquee in front of it. */
export class World {
  readonly server: PostgresServer
  admin: Client
  readonly #running: Running[] = []

  private constructor(server: PostgresServer, admin: Client) {
    this.server = server
    this.admin = admin
  }

  /** `rows` events are there before the guide adds anything to the tables. */
  static async create(settings: Readonly<Record<string, string>> = {}, rows = 0): Promise<World> {
    const server = await PostgresServer.create(settings)
    const world = new World(server, await server.admin())
    for (const [step, sql] of SET_UP.entries()) {
      await world.query(sql)
      if (step === 0) await world.fill(rows)
    }
    return world
  }

  /** As the role that the guide makes. */
  get url(): string {
    return this.server.url({ user: 'marquee', password: 'change-me' })
  }

  async configuration({ crm = {}, freshness = {}, url = this.url }: Given = {}): Promise<Configuration> {
    const lists = { events: { from: 'crm.public_events' }, venues: { from: 'crm.public_venues' } }
    const text = JSON.stringify({
      operations: null,
      freshness,
      crm: { kind: 'postgres', url: { env: 'DATABASE_URL' }, listen: 'marquee', ...lists, ...crm },
    })
    const source = { path: '/etc/marquee.yaml', text, env: { DATABASE_URL: url }, readFile: notThere }
    const loaded = await loadConfiguration(source)
    if (!loaded.ok) throw new Error(loaded.problems.map(({ key, message }) => `${key} ${message}`).join('\n'))
    return loaded.configuration
  }

  /** Starts a Marquee in this process and waits for its first reads. */
  async start(given: Given = {}): Promise<Running> {
    const running = await this.begin(given)
    await running.loaded()
    return running
  }

  /** As `start`, but does not wait until the lists were read. */
  async begin(given: Given = {}): Promise<Running> {
    const running = await Running.start(await this.configuration(given))
    this.#running.push(running)
    return running
  }

  async query(text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    const result = await this.admin.query<Record<string, unknown>>(text, [...values])
    return result.rows
  }

  /** Makes `count` events, published, with ids that `idOf` gives. */
  async fill(count: number, from = 0): Promise<void> {
    await this.query(
      `INSERT INTO crm.event (event_id, title, venue_id, seats, starts_at, ends_at, price, tags, status, on_web)
       SELECT (lpad(to_hex(n), 8, '0') || '-0000-4000-8000-000000000000')::uuid, 'Event ' || n, NULL, 100,
         timestamptz '2027-01-01' + n * interval '1 minute', timestamptz '2027-01-01 02:00' + n * interval '1 minute',
         12.50, ARRAY['Music', 'Jazz'], 'planned', true
       FROM generate_series($1::int, $2::int) n`,
      [from, from + count - 1],
    )
  }

  async reconnect(): Promise<void> {
    await this.admin.end().catch(() => {})
    this.admin = await this.server.admin()
  }

  async stopAll(): Promise<void> {
    for (const running of this.#running.splice(0)) await running.stop()
  }

  async remove(): Promise<void> {
    await this.stopAll()
    await this.admin.end().catch(() => {})
    await this.server.remove()
  }
}

/** A Marquee in this process, with the real clock. */
export class Running {
  readonly marquee: Marquee
  readonly observations: readonly Observation[]

  private constructor(marquee: Marquee, observations: readonly Observation[]) {
    this.marquee = marquee
    this.observations = observations
  }

  static async start(configuration: Configuration): Promise<Running> {
    const observations: Observation[] = []
    const marquee = await assembleAlone(configuration, systemTime, (observation) => void observations.push(observation))
    marquee.reading.replica.start()
    return new Running(marquee, observations)
  }

  async loaded(): Promise<void> {
    const { events, venues } = this.marquee.reading.replica
    await eventually(
      async () => [events.ageMs(systemTime.now()), venues.ageMs(systemTime.now()), events.lastFailure] as const,
      ([eventsAge, venuesAge]) => eventsAge !== null && venuesAge !== null,
    )
  }

  event(id: string): EventRecord | null {
    const guid = parseGuid(id)
    return guid === null ? null : this.marquee.reading.replica.events.list.get(guid)
  }

  /** Waits until the event is as `isIt` wants it. */
  async until(id: string, isIt: (event: EventRecord | null) => boolean, patienceMs?: number): Promise<void> {
    await eventually(async () => this.event(id), isIt, patienceMs)
  }

  /** Waits until so many more reads of the events have ended. */
  async furtherReads(count: number): Promise<void> {
    const ended = (): number => this.reads().filter((read) => read.startsWith('events')).length
    const before = ended()
    await eventually(
      async () => ended(),
      (now) => now >= before + count,
    )
  }

  get served(): number {
    return this.marquee.reading.replica.events.list.served
  }

  /** How old the events are, by what is confirmed. */
  get ageMs(): number {
    return this.marquee.reading.replica.events.ageMs(systemTime.now()) ?? Infinity
  }

  reads(): readonly string[] {
    return this.observations.flatMap((seen) =>
      seen.kind === 'read-ended' ? [`${seen.read.list} ${seen.read.kind} ${seen.read.outcome}`] : [],
    )
  }

  async stop(): Promise<void> {
    const stopped = this.marquee.reading.replica.stop()
    await this.marquee.crm.close()
    await stopped
  }
}

export function idOf(number: number): string {
  return `${number.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
}

function notThere(): Promise<never> {
  return Promise.reject(new Error('no file is asked for'))
}
