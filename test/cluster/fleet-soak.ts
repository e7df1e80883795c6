import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { electionTimeoutMs } from '../../src/cluster/election.ts'
import { Chance } from '../model/chance.ts'
import { changeRows } from '../postgres/change-rows.ts'
import { idOf, World } from '../postgres/world.ts'
import type { Runtime } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { HAS_POSTGRES } from '../support/postgres-server.ts'
import { HAS_REDIS, RedisServer } from '../support/redis-server.ts'
import { RowHistory } from '../support/row-history.ts'
import { HAS_NGINX, startFront } from './nginx.ts'
import type { RealInstance } from './real-instance.ts'
import { leaderOf } from './real-instance.ts'
import type { Asked } from './soak-callers.ts'
import { SoakCallers } from './soak-callers.ts'
import { explainRefusals } from './explain-refusals.ts'
import { SoakFaults, STORE_OPTIONS } from './soak-faults.ts'

export const MAX_AGE_MS = 10_000
const REFRESH_EVERY_MS = 1000
/** How long nothing may come before another reads, or a newcomer does without the store. */
export const ELECTION_TIMEOUT_MS: number = electionTimeoutMs(
  { maxAgeMs: MAX_AGE_MS, refreshEveryMs: REFRESH_EVERY_MS },
  MAX_AGE_MS / 20,
)
/** Longer than the maximum age. */
export const LONGEST_FAULT_MS = 13_000
export const ASK_EVERY_MS = 15
/** The events that change all the time, and are asked for. */
export const WATCHED = 60
const CHANGE_EVERY_MS = 25
const LONGEST_REST_MS = 4000
const RUNTIMES: readonly Runtime[] = ['bun', 'node', 'bun']

/** What this needs and this machine has not, as Debian calls it. */
export const MISSING: readonly string[] = [
  ...(HAS_POSTGRES ? [] : ['postgresql']),
  ...(HAS_REDIS ? [] : ['redis-server']),
  ...(HAS_NGINX ? [] : ['nginx']),
]

export interface FleetSoakSetting {
  readonly seconds: number
  readonly seed: number
  /** In the CRM, those that are watched among them. */
  readonly events: number
}

/** One fault, with what callers saw from its beginning to that of the next. */
interface SeenFault {
  readonly name: string
  readonly answers: number
  /** 502, 504, or nothing at all. */
  readonly refused: number
  /** The longest in which nobody was answered otherwise. */
  readonly refusedForMs: number
  readonly longestWaitMs: number
}

/** A process that was started in the midst of a fault. */
interface Joined {
  readonly fault: string
  readonly runtime: Runtime
  /** From its being spawned until it answered 200, and until the fault was over. */
  readonly readyMs: number
  readonly overMs: number
}

export interface FleetSoakReport {
  readonly setting: FleetSoakSetting
  readonly answers: number
  readonly statuses: Readonly<Record<string, number>>
  readonly changes: number
  readonly wrongs: number
  /** Sentences about some of them. */
  readonly wrong: readonly string[]
  readonly behindOthers: number
  readonly faults: readonly SeenFault[]
  readonly joined: readonly Joined[]
  readonly refusals: ReturnType<typeof explainRefusals>
  /** The folder with what the processes said, and who was refused when. */
  readonly logsIn: string
}

/**
 * Three processes on one PostgreSQL, and one that comes and goes, while faults befall readers and the store in random
 * order.
 */
export async function soakFleet(setting: FleetSoakSetting): Promise<FleetSoakReport> {
  const world = await World.create()
  const redis = await RedisServer.start(STORE_OPTIONS)
  const soak = new FleetSoak(setting, world, redis)
  try {
    return await soak.run()
  } catch (cause) {
    throw new Error(`the soak of seed ${setting.seed} broke off; what was said is in ${soak.keepLogs()}`, { cause })
  } finally {
    redis.continue()
    await soak.end()
    await redis.remove()
    await world.remove()
  }
}

class FleetSoak {
  readonly #setting: FleetSoakSetting
  readonly #world: World
  readonly #chance: Chance
  readonly #faults: SoakFaults
  readonly #history = new RowHistory()
  readonly #ids: readonly string[] = Array.from({ length: WATCHED }, (_, row) => idOf(row))
  readonly #begun: { readonly name: string; readonly atMs: number }[] = []
  readonly #joined: Joined[] = []

  constructor(setting: FleetSoakSetting, world: World, redis: RedisServer) {
    this.#setting = setting
    this.#world = world
    this.#chance = new Chance(setting.seed)
    const lists = { events: { from: 'crm.public_events' }, venues: { from: 'crm.public_venues' } }
    this.#faults = new SoakFaults({
      redis,
      chance: this.#chance.fork(),
      longestMs: LONGEST_FAULT_MS,
      settings: {
        crm: { kind: 'postgres', url: { env: 'DATABASE_URL' }, listen: 'marquee', ...lists },
        freshness: { maxAge: `${MAX_AGE_MS}ms`, refreshEvery: `${REFRESH_EVERY_MS}ms` },
        // As in deploy/container/instances.yaml.
        limits: { waitFor: '2s' },
      },
      env: { DATABASE_URL: world.url },
    })
  }

  async run(): Promise<FleetSoakReport> {
    await this.#fill()
    for (const runtime of RUNTIMES) await this.#faults.start(runtime)
    await leaderOf(this.#faults.instances)
    const front = await startFront(this.#faults.instances.map(({ process }) => process.port))
    await eventually(
      () => statusOf(front.address),
      (status) => status !== 0,
    )
    const through = this.#callers(front.address)
    const untilMs = performance.now() + this.#setting.seconds * 1000
    const isOver = (): boolean => performance.now() > untilMs
    const writing = { rows: WATCHED, chance: this.#chance.fork(), isOver, pauseMs: CHANGE_EVERY_MS }
    const changing = changeRows(this.#world, this.#history, writing)
    const all = [through]
    for (let round = 0; !isOver(); round++) all.push(await this.#round(round, isOver))
    await changing
    await leaderOf(this.#faults.instances)
    const unequal = (await Promise.all(this.#faults.instances.map((instance) => this.#differencesOf(instance)))).flat()
    await through.end()
    await front.stop()
    return this.#report(through, all, unequal, untilMs)
  }

  async end(): Promise<void> {
    await this.#faults.end()
  }

  keepLogs(asked: readonly Asked[] = []): string {
    const folder = mkdtempSync(join(tmpdir(), 'marquee-fleet-soak-'))
    for (const [name, said] of this.#faults.logs) writeFileSync(join(folder, name), said())
    const told = [
      ...this.#begun.map(({ name, atMs }) => ({ atMs, what: name })),
      ...asked
        .filter(({ status }) => status !== 200 && status !== 404)
        .map(({ sentMs, endMs, status, by }) => ({
          atMs: sentMs,
          what: `${status} after ${endMs - sentMs} ms by ${by}`,
        })),
    ].toSorted((left, right) => left.atMs - right.atMs)
    const lines = told.map(({ atMs, what }) => `${new Date(performance.timeOrigin + atMs).toISOString()} ${what}\n`)
    writeFileSync(join(folder, 'faults'), lines.join(''))
    return folder
  }

  async #fill(): Promise<void> {
    // Each may read for itself while the store is lost.
    await this.#world.query('ALTER ROLE marquee CONNECTION LIMIT 20')
    const atMs = performance.now()
    for (const [row, id] of this.#ids.entries()) this.#history.begin({ id, atMs, value: `Event ${row}` })
    await this.#world.fill(this.#setting.events)
    for (const id of this.#ids) this.#history.end({ id, atMs: performance.now() })
  }

  /**
   * All faults, once each in random order; in the midst of the first, which is another in each round, a fourth instance
   * is started.
   */
  async #round(number: number, isOver: () => boolean): Promise<SoakCallers> {
    const faults = this.#faults
    await leaderOf(faults.instances)
    faults.keepAsOld()
    const names = Object.keys(faults.faults)
    const first = names[(this.#setting.seed + number) % names.length] ?? ''
    const others = this.#shuffled(names.filter((name) => name !== first))
    const { listening, port } = (await this.#join(first, RUNTIMES[number % 2] ?? 'bun')).process
    const callers = this.#callers(listening.address)
    for (const name of others) {
      await new Promise((resolve) => setTimeout(resolve, this.#chance.next() * LONGEST_REST_MS))
      if (isOver()) break
      await this.#befall(name)
    }
    await callers.end()
    // By its port: it may have been killed, and another started there.
    await faults.stop(port)
    return callers
  }

  /** Starts an instance in the midst of a fault; resolves when that is over, and the instance has answered. */
  async #join(fault: string, runtime: Runtime): Promise<RealInstance> {
    const begun = Promise.withResolvers<void>()
    const joining = begun.promise.then(() => this.#start(runtime))
    const [overAtMs, { instance, spawnedMs, readyMs }] = await Promise.all([
      this.#befall(fault, begun.resolve),
      joining,
    ])
    this.#joined.push({ fault, runtime, readyMs, overMs: overAtMs - spawnedMs })
    return instance
  }

  async #befall(name: string, begun: () => void = () => {}): Promise<number> {
    this.#begun.push({ name, atMs: performance.now() })
    await this.#faults.faults[name]?.(begun)
    return performance.now()
  }

  async #start(runtime: Runtime): Promise<{ readonly instance: RealInstance; spawnedMs: number; readyMs: number }> {
    const spawnedMs = performance.now()
    const instance = await this.#faults.start(runtime)
    await eventually(
      () => statusOf(`${instance.process.listening.address}api/events/${idOf(this.#setting.events - 1)}`),
      (status) => status === 200,
    )
    return { instance, spawnedMs, readyMs: performance.now() - spawnedMs }
  }

  #callers(address: string): SoakCallers {
    return new SoakCallers({
      address,
      history: this.#history,
      ids: this.#ids,
      maxAgeMs: MAX_AGE_MS,
      chance: this.#chance.fork(),
      everyMs: ASK_EVERY_MS,
      processes: () => this.#faults.processes,
    })
  }

  #shuffled<Item>(items: readonly Item[]): readonly Item[] {
    return items
      .map((item) => ({ item, place: this.#chance.next() }))
      .toSorted((left, right) => left.place - right.place)
      .map(({ item }) => item)
  }

  /** How an instance differs from the CRM in the end, once it has had time for it. */
  async #differencesOf({ process: { listening } }: RealInstance): Promise<readonly string[]> {
    const shown = async (id: string): Promise<string | null> => {
      const response = await fetch(`${listening.address}api/events/${id}`, { headers: { accept: 'application/json' } })
      const text = await response.text()
      return response.ok ? (JSON.parse(text) as { readonly Name: string }).Name : null
    }
    const differences = async (): Promise<readonly string[]> => {
      const names = await Promise.all(this.#ids.map((id) => shown(id)))
      return this.#ids.flatMap((id, row) =>
        names[row] === this.#history.last(id) ? [] : [`${id} ended as ${names[row]}, not ${this.#history.last(id)}`],
      )
    }
    const isEqual = ({ length }: readonly string[]): boolean => length === 0
    return eventually(differences, isEqual).catch(differences)
  }

  #report(
    through: SoakCallers,
    all: readonly SoakCallers[],
    unequal: readonly string[],
    untilMs: number,
  ): FleetSoakReport {
    const statuses: Record<string, number> = {}
    const wrongs = all.reduce((sum, { wrongs: some }) => sum + some, 0) + unequal.length
    for (const { asked } of all) for (const { status } of asked) statuses[status] = (statuses[status] ?? 0) + 1
    return {
      setting: this.#setting,
      answers: all.reduce((sum, { asked }) => sum + asked.length, 0),
      statuses,
      changes: this.#history.states,
      wrongs,
      wrong: [...all.flatMap(({ wrong }) => wrong), ...unequal],
      behindOthers: through.behindOthers,
      faults: this.#begun.map(({ name, atMs }, index) => {
        const endMs = this.#begun[index + 1]?.atMs ?? untilMs
        return { name, ...seenBetween(through.asked, atMs, endMs) }
      }),
      joined: this.#joined,
      refusals: explainRefusals(
        all.flatMap(({ asked }) => asked),
        new Map([...this.#faults.logs].map(([name, said]) => [name, said()])),
        this.#begun,
      ),
      logsIn: this.keepLogs(all.flatMap(({ asked }) => asked)),
    }
  }
}

/** What callers saw who asked in this time. */
function seenBetween(asked: readonly Asked[], fromMs: number, toMs: number): Omit<SeenFault, 'name'> {
  const those = asked
    .filter(({ sentMs }) => sentMs >= fromMs && sentMs < toMs)
    .toSorted((left, right) => left.sentMs - right.sentMs)
  let [refused, refusedForMs, longestWaitMs, sinceMs] = [0, 0, 0, Number.NaN]
  for (const { status, sentMs, endMs } of those) {
    longestWaitMs = Math.max(longestWaitMs, endMs - sentMs)
    if (status === 200 || status === 404) {
      sinceMs = Number.NaN
      continue
    }
    refused++
    if (Number.isNaN(sinceMs)) sinceMs = sentMs
    refusedForMs = Math.max(refusedForMs, sentMs - sinceMs + ASK_EVERY_MS)
  }
  return { answers: those.length, refused, refusedForMs, longestWaitMs }
}

/** 0 where nobody answers. */
async function statusOf(url: string): Promise<number> {
  try {
    const response = await fetch(url)
    await response.arrayBuffer()
    return response.status
  } catch {
    return 0
  }
}
